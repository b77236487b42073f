"""Progress bars on terminals."""

import io
import re
import sys

import pytest

from skyenv.console.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "wanted", "visible"),
    [(Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)],
)
def test_progress_bars_appear_on_terminals_and_are_cleared(
    stream: type[io.StringIO], wanted: bool, visible: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress(9, "deal", shown=wanted, done=2, mininterval=0) as bar:
        bar.set_description("dealing")
        bar.update(3)
    output = screen.getvalue()
    assert bool(re.fullmatch(r"(?s).*dealing: [^\n]*5/9 [^\n]*deal[^\n]*\r +\r", output)) == visible
