"""Progress bars: on terminals alone."""

from __future__ import annotations

import io
import sys

import pytest

from skyenv.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "wanted", "visible"),
    [(Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)],
)
@pytest.mark.parametrize("total", [None, 9])
def test_terminals_see_how_much_is_done_and_are_left_clean(
    stream: type[io.StringIO],
    wanted: bool,
    visible: bool,
    total: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress(total, "deal", shown=wanted, done=2, mininterval=0) as bar:
        bar.set_description("dealing")
        bar.update(3)
    output = screen.getvalue()
    assert bool(output) == visible
    if visible:
        for part in ("dealing: ", "5", "deal", *(["9"] if total else [])):
            assert part in output
        assert output.rstrip("\r").rpartition("\r")[2].strip() == ""
        assert "\n" not in output
