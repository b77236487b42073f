"""One table of colours: what is drawn, plotted and shown on the page takes them from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skyenv.render.colours import THEMES

ROOT = Path(__file__).resolve().parents[2]
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")


def test_plots_and_programs_name_no_colours_of_their_own() -> None:
    """Pictures have some more, of wood and ink that are the same by day and by night."""
    files = [
        path for top in ("skyenv", "agents", "experiments") for path in (ROOT / top).rglob("*.py")
    ]
    naming = {
        path.relative_to(ROOT) for path in files if COLOUR.search(path.read_text(encoding="utf-8"))
    }
    assert {path for path in naming if path.parent != Path("skyenv/render")} == set()


@pytest.mark.parametrize("name", THEMES)
def test_the_pages_seats_have_the_colours_of_the_table(name: str) -> None:
    sheet = (ROOT / "skyenv" / "page" / "static" / "page.css").read_text(encoding="utf-8")
    (block,) = re.findall(rf"color-scheme: {name};(.*?)\}}", sheet, re.DOTALL)
    assert tuple(re.findall(r"--seat-\d: (#\w+);", block)) == THEMES[name].seat_lines
