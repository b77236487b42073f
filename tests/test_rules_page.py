"""The rules page: complete, linked and current."""

import gzip
import re

import pytest

from docs.build import rules_page
from docs.build.document import ROOT
from skyenv.render.words import seat_name
from skyenv.rules.components import BUSINESSES, DISTRICTS, NUM_COLOURS, PLOTS
from skyenv.rules.state import NONE
from test_rule_ids import rule_ids

PAGE = rules_page.page()
STATIC = ROOT / rules_page.STATIC


def test_every_rule_is_quoted_exactly_and_explained_once() -> None:
    assert list(rules_page.exact_rules()) == rule_ids()
    anchors = re.findall(r' id="([A-Z]+-\d+)"', PAGE)
    assert sorted(anchors) == sorted(rule_ids())
    assert sorted(re.findall(r"<dt>(.*?)</dt>", PAGE)) == sorted(rule_ids())
    for name, text in rules_page.exact_rules().items():
        (decided,) = re.findall(rf'id="{name}" href="#{name}">{name}( \(d\))?<', PAGE)
        assert bool(decided) == ("(d" in text)


@pytest.mark.rule("SCO-2")
def test_the_example_describes_its_drawing() -> None:
    """Owners, VP and types of business beside each skyscraper."""
    state = rules_page.game_before(rules_page.SHOWN["example"]).state
    district = DISTRICTS.index("TSQ")
    ring = [int(plot) for plot in state["ring"][district][:NUM_COLOURS]]
    assert {PLOTS[plot] for plot in ring if state["owner"][district][plot] != NONE} == {
        "green",
        "brown",
    }
    for owner, plot, beside, kinds, vp in (
        (1, "green", {"gray", "violet"}, {"perfumery"}, 2),
        (0, "brown", {"violet", "orange"}, {"boutique", "perfumery"}, 3),
    ):
        number = PLOTS.index(plot)
        place = ring.index(number)
        sides = [ring[place - 1], ring[(place + 1) % len(ring)]]
        there = state["tiles"][district][sides].any(axis=0).nonzero()[0]
        assert {PLOTS[side] for side in sides} == beside
        assert {BUSINESSES[kind] for kind in there} == kinds
        assert state["owner"][district][number] == owner
        assert state["value"][district][number] == vp
        assert f"The skyscraper of {seat_name(owner)} stands on {plot};" in PAGE


def test_links_and_pictures_exist() -> None:
    ids = re.findall(r' id="([^"]+)"', PAGE)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'href="#([^"]+)"', PAGE)) <= set(ids)
    pictures = re.findall(r'<img [^>]*src="/static/(rules/[^"]+)" alt="([^"]+)"', PAGE)
    assert len(pictures) == len(rules_page.pictures())
    assert all((STATIC / path).is_file() and len(words) > 30 for path, words in pictures)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in (ROOT / rules_page.PICTURES).iterdir())
)
def test_pictures_are_small(name: str) -> None:
    text = (ROOT / rules_page.PICTURES / name).read_text(encoding="utf-8")
    assert len(gzip.compress(text.encode())) < 12_000
    assert "<title" not in text
    assert not re.search(r" data-(?!theme)", text)
