"""The benchmark of pictures measures what it says; how much that is no test can know."""

from __future__ import annotations

import pytest

from experiments.benchmarks import pictures as picture_speed

pytestmark = pytest.mark.programs


def test_positions_lie_between_the_beginning_and_the_end() -> None:
    games = picture_speed.games_on_the_way(3, 4)
    turns = [game.turn for game in games]
    assert [game.is_over for game in games] == [False, False, False, True]
    assert turns == sorted(turns)
    assert turns[0] == 0 < turns[1] < turns[2]


def test_every_picture_is_measured() -> None:
    figures = picture_speed.pictures(2, 1, number=2, max_turns=2)
    assert [figure.unit for figure in figures] == ["frames/s"] * 5 + ["bytes"]
    assert len({figure.name for figure in figures}) == 6
    assert all(figure.median > 0.1 for figure in figures)
    assert 20_000 < figures[-1].median < 1_000_000


def test_an_export_is_measured_with_its_size() -> None:
    time, size = picture_speed.export_of_a_game(2, max_turns=3)
    assert (time.unit, size.unit) == ("s", "bytes")
    assert time.median > 0
    assert 20_000 < size.median < 3_000_000
