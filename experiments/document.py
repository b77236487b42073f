"""Write the generated parts of the docs anew: ``python -m experiments.document`` (or ``make docs``).

A generated part stands between the comments ``<!-- NAME -->`` and ``<!-- end -->``. A test holds docs and code together.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from experiments.files import write_atomically
from skyenv.observation import OBSERVATION_SIZE, markdown_table
from skyenv.rules.actions import ACTION_NAMES

ROOT: Final = Path(__file__).resolve().parent.parent


def actions_table() -> str:
    """Every action's number and name."""
    return "\n".join(["| number | name |", "|---|---|", *(f"| {i} | `{name}` |" for i, name in enumerate(ACTION_NAMES))])


def observation_size() -> str:
    """The length of the observation, as a sentence."""
    return f"The observation has **{OBSERVATION_SIZE}** entries."


PARTS: Final[dict[str, Callable[[], str]]] = {
    "observation table": markdown_table,
    "observation size": observation_size,
    "actions table": actions_table,
}
PAGES: Final = (Path("docs/observation.md"), Path("docs/actions.md"))


def filled(page: str) -> str:
    """A page's text with its generated parts as the code has them now."""
    for name, make in PARTS.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = make()
        page = pattern.sub(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)  # type: ignore[misc]
    return page


def main() -> int:
    """Write every page anew."""
    for path in PAGES:
        page = (ROOT / path).read_text(encoding="utf-8")
        write_atomically(ROOT / path, filled(page))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
