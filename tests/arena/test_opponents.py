"""Whom a newcomer plays: cheap opponents first, near ones more, the same again, and after an
interruption.
"""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournaments import lines, play

from skyenv.arena.folder import Folder
from skyenv.arena.opponents import (
    FIRST_STAGE,
    LEAST,
    LONGEST_STAGE,
    fields_of_a_stage,
    information,
    stage_after,
)
from skyenv.arena.ratings import GameResults
from skyenv.arena.schedule import Group, Rung, Settings, entrants
from skyenv.errors import CheckpointError

NOTHING = GameResults(
    np.zeros(0, np.int64), np.zeros((0, 2), np.int64), np.zeros((0, 2)), np.zeros((0, 2), np.int64)
)
LADDER = ("random", "crowd", "hoard")
pytestmark = pytest.mark.usefixtures("odd_agents")


def won_all_against(rung: int, games: int) -> GameResults:
    """Games of the newcomer, agent 0, against one of the ladder, all won, half of them from each
    seat.
    """
    seats = np.array([[0, 1 + rung], [1 + rung, 0]] * games)
    return GameResults(np.repeat(np.arange(games), 2), seats, (seats == 0) * 1.0, (seats == 0) * 50)


def settings(players: int = 2, **options: object) -> Settings:
    """A newcomer and a ladder of cheap agents, in which hoard is said to be slow."""
    rungs = tuple(
        Rung(rating, seconds) for rating, seconds in ((900.0, 1e-6), (1000.0, 1e-6), (1100.0, 1e-2))
    )
    return Settings(
        entrants(["odd_agents:Moody", *LADDER], 2),
        players,
        newcomer=True,
        rungs=rungs,
        **options,  # type: ignore[arg-type]
    )


def test_stages() -> None:
    ends = list(itertools.accumulate(range(9), lambda end, _: end + stage_after(end), initial=0))
    assert ends[:6] == [
        0,
        FIRST_STAGE,
        2 * FIRST_STAGE,
        4 * FIRST_STAGE,
        8 * FIRST_STAGE,
        16 * FIRST_STAGE,
    ]
    assert ends[-1] - ends[-2] == LONGEST_STAGE


def test_without_games_all_tell_alike_and_later_those_who_are_near() -> None:
    rungs = [Rung(rating, 0.0) for rating in (400.0, 1000.0, 1400.0, 1800.0)]
    assert (information(NOTHING, rungs) == 0.25).all()
    weak, par, near, strong = information(won_all_against(1, 40), rungs)
    assert LEAST <= weak < par < near <= 0.25
    assert strong > weak


@given(
    st.lists(st.tuples(st.floats(0, 2000), st.floats(0, 10)), min_size=1, max_size=9),
    st.integers(2, 4),
    st.integers(0, 3),
)
def test_fields(ladder: list[tuple[float, float]], players: int, stages: int) -> None:
    """The newcomer always plays, a table's opponents at least, each once; who costs less plays as
    often or more.
    """
    rungs = [Rung(1000.0, seconds) for _, seconds in ladder]
    fields: list[Group] = []
    for _ in range(stages + 1):
        fields += fields_of_a_stage(NOTHING, rungs, fields, players)
    counts = Counter(agent for field in fields for agent in field)
    for field in fields:
        assert field[0] == 0
        assert list(field) == sorted(set(field))
        assert len(field) > min(max(2, players - 1), len(rungs))
    for one, other in itertools.permutations(range(len(rungs)), 2):
        if rungs[one].seconds < rungs[other].seconds:
            assert counts[1 + one] >= counts[1 + other]


def test_time_is_shared_by_what_it_tells() -> None:
    """Slow agents begin late, and have the same time as the others when all tell alike."""
    rungs = [Rung(1000.0, 0.0), Rung(1000.0, 0.0), Rung(1000.0, 0.0019)]
    fields: list[Group] = []
    while len(fields) < 512:
        fields += fields_of_a_stage(NOTHING, rungs, fields, 2)
    counts = Counter(agent for field in fields for agent in field)
    assert 3 not in fields[0]
    assert counts[3] * 20 == pytest.approx(counts[1], rel=0.1)


def test_processes_do_not_matter(tmp_path: Path) -> None:
    """A stage is chosen when all games before it are finished, in whatever order they end."""
    wanted = settings(2, secret=8)
    for workers in (1, 3):
        play(tmp_path / str(workers), wanted, 20, workers=workers)
    assert lines(tmp_path / "1") == lines(tmp_path / "3")


def test_a_folder_that_does_not_say_who_plays(tmp_path: Path) -> None:
    """Games of paired seeds that nobody has been chosen for are those of a damaged file."""
    wanted = settings(3, secret=8)
    play(tmp_path, wanted, 1)
    path = tmp_path / "games.jsonl"
    path.write_text(
        "".join(
            line for line in path.read_text().splitlines(keepends=True) if '"fields"' not in line
        )
    )
    with pytest.raises(
        CheckpointError, match="paired seed 0 has a game that this tournament doesn't play"
    ):
        Folder(tmp_path, wanted)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("players", [2, 3])
def test_the_same_games_again_and_after_an_interruption(players: int, tmp_path: Path) -> None:
    wanted = settings(players, secret=7)
    play(tmp_path / "whole", wanted, 20)
    with Folder(tmp_path / "whole", wanted) as folder:
        fields = folder.fields
        assert len(fields) == 32
        assert folder.whole_paired_seeds() == list(range(20))
        played = Counter(agent for game in folder.results().seats for agent in set(game.tolist()))
    assert played[0] == sum(len(games) for games in folder.games.values())
    assert played[1] > 0

    play(tmp_path / "again", wanted, 20)
    assert lines(tmp_path / "again") == lines(tmp_path / "whole")

    text = (tmp_path / "whole" / "games.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (1, len(text) // 3, len(text) // 2, len(text) - 1):
        part = tmp_path / f"part-{cut}"
        part.mkdir()
        (part / "config.json").write_bytes((tmp_path / "whole" / "config.json").read_bytes())
        (part / "games.jsonl").write_bytes(b"".join(text[:cut]) + b'{"paired')
        play(part, wanted, 20)
        assert lines(part) == lines(tmp_path / "whole")
        with Folder(part, wanted) as folder:
            assert folder.fields == fields
