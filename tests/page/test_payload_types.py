"""The types with which the page's scripts are checked name what the server tells."""

from __future__ import annotations

import re
from pathlib import Path

from pages import begin, client_of, make_app, payload

TYPES = Path(__file__).parent / "js" / "types.d.ts"


def test_types_of_a_table_have_the_fields_that_the_server_tells() -> None:
    with client_of(make_app()) as client:
        state = payload(client, begin(client, ["me", "agent:greedy"]))
    told = {"State": state, "Decision": state["decision"], "Log": state["log"]}
    told["Choice"] = state["legal"][0]
    for name, value in told.items():
        body = re.search(rf"interface {name} {{\n(.*?)\n}}", TYPES.read_text("utf-8"), re.DOTALL)
        assert body
        assert set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE)) == value.keys(), name
