"""Progress bars: for terminals alone, with tqdm and without."""

from __future__ import annotations

import io
import sys

import pytest

from skyenv.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(params=["tqdm", "plain"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With tqdm, and as if it weren't installed."""
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setattr("skyenv.progress._PlainBar.SECONDS", 0.0)
    return str(request.param)


def shown(
    stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, total: float | None, wanted: bool = True
) -> str:
    """What a bar writes on a stream while 2 to 5 are done."""
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(total, "deal", shown=wanted, done=2, mininterval=0) as bar:
        bar.set_description("dealing")
        bar.set_postfix_str("almost there")
        bar.update(1)
        bar.update(2)
        assert bar.n == 5
    return stream.getvalue()


@pytest.mark.parametrize("total", [None, 9])
def test_terminals_see_how_much_is_done_and_are_left_clean(
    total: float | None, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = shown(Terminal(), monkeypatch, total)
    for part in ("dealing: ", "5", "deal", "almost there", *(["9"] if total else [])):
        assert part in output
    assert output.endswith("\r")
    assert output.rstrip("\r").rpartition("\r")[2].strip() == ""
    assert "\n" not in output


def test_nobody_else_sees_anything(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(io.StringIO(), monkeypatch, 9) == ""
    assert shown(Terminal(), monkeypatch, 9, wanted=False) == ""
