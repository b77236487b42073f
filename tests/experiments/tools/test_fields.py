"""Tables of records' fields: every field with its type and what the source says of it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from experiments.tools.fields import SPARE, fields_table, meanings
from skyenv.engine import knowledge
from skyenv.rules import state

SOURCE = """
import numpy as np
from typing import Final

THINGS: Final = np.dtype(
    [
        # -- what there is
        ("one", np.int8),  # the first
        ("two", np.int8, (3, 2)),  # the second,
        # and more of it
        # -- what else there is
        (
            "three",
            np.float32,
        ),  # the third
        ("record", np.dtype([("x", np.int8)])),{said}
        ("spare", np.int8, (2,)),
    ]
)
"""


def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> ModuleType:
    """A module with a dtype called THINGS."""
    import importlib

    name = f"things{len(said)}"
    (tmp_path / f"{name}.py").write_text(SOURCE.replace("{said}", said), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module(name)


def test_fields_have_their_types_and_meanings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fields_table(module(tmp_path, monkeypatch, "  # the last"), "THINGS").splitlines()[
        2:
    ] == [
        "| **what there is** | | |",
        "| `one` | int8 | the first |",
        "| `two` | int8 (3, 2) | the second, and more of it |",
        "| **what else there is** | | |",
        "| `three` | float32 | the third |",
        "| `record` | record | the last |",
    ]


def test_a_field_without_a_meaning_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="nothing is said of record in THINGS"):
        fields_table(module(tmp_path, monkeypatch, ""), "THINGS")


def test_another_name_is_told() -> None:
    with pytest.raises(ValueError, match="no list of fields called NOTHING"):
        meanings(state, "NOTHING")


@pytest.mark.parametrize(("where", "name"), [(state, "GAME_DTYPE"), (knowledge, "VIEW_DTYPE")])
def test_every_field_of_the_records_is_told(where: ModuleType, name: str) -> None:
    dtype: np.dtype[np.void] = getattr(where, name)
    assert dtype.names is not None
    assert [field for field, _ in meanings(where, name) if field] == list(dtype.names)
    table = fields_table(where, name)
    assert all(f"| `{field}` |" in table for field in dtype.names if field != SPARE)
