"""Tournaments: games, workers, misbehaving agents, rounds."""

import shutil
from pathlib import Path

import pytest
from tournaments import played, settings

from processes import ROOT, Threads
from skyenv.agents import make_agent
from skyenv.arena.matches import play_game
from skyenv.arena.schedule import Group, GroupSeeds, agent_of, rounds, shared_out
from skyenv.arena.tournament import play_job
from skyenv.errors import AgentError
from skyenv.seeds import LADDERS

pytestmark = pytest.mark.usefixtures("odd_agents")


@pytest.mark.parametrize("secret", [None, 2**61 + 1])
@pytest.mark.parametrize("group", [(0, 2), (0, 1, 2)])
def test_a_tournament_plays_the_games_of_single_matches(secret: int | None, group: Group) -> None:
    """So every game of a ladder can be replayed by its seed and seats."""
    wanted = settings("random", "crowd", "hoard", players=3, side="back", seed=5, secret=secret)
    agents = [make_agent(agent.spec) for agent in wanted.agents]
    games = play_job(wanted, GroupSeeds(group, (0, 3)))
    assert {index for game in games for index in game["seats"]} == set(group)
    for game in games:
        alone = play_game(
            [agents[index] for index in game["seats"]],
            5 + game["paired_seed"],
            secret=secret,
            purpose=LADDERS,
            options=wanted.options,
        )
        assert list(alone.scores) == game["scores"]
        assert (alone.turn, int(alone.state.decisions)) == (game["turns"], game["decisions"])


def test_results_do_not_depend_on_the_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    wanted = settings("hoard", "crowd", "random", secret=3)
    process = played(tmp_path / "process", wanted, 4)
    request.getfixturevalue("in_this_process")
    assert played(tmp_path / "one", wanted, 4) == process
    monkeypatch.setattr(Threads, "size", lambda _: 5)
    assert played(tmp_path / "five", wanted, 4) == process
    assert len(process) == 4 * 6


def test_a_checkpoint_that_differs_on_a_worker_is_refused(tmp_path: Path) -> None:
    network, other = (
        ROOT / "agents" / "skyenv_agents" / "trained" / f"{players}-players.npz"
        for players in (2, 3)
    )
    path = tmp_path / "model.npz"
    shutil.copy(network, path)
    wanted, job = settings(str(path), "random", max_turns=2), GroupSeeds((0, 1), (0,))
    assert play_job(wanted, job)
    shutil.copy(other, path)
    agent_of.cache_clear()  # as in another process
    with pytest.raises(AgentError, match=r"on .* differs from the file with which the games began"):
        play_job(wanted, job)


@pytest.mark.parametrize(("seconds", "paired_seeds"), [(1, 7), (19, 3)])
def test_a_time_limit_ends_a_tournament_after_whole_rounds(seconds: int, paired_seeds: int) -> None:
    """Three rounds fit; rounds grow while they are quick."""
    clock = iter([*(seconds * tick for tick in (0, 0, 1, 1, 1, 2, 2, 2, 3)), 60])
    tasks = rounds(lambda _: [(0, 1)], 1000, lambda: 1, minutes=1, clock=lambda: next(clock))
    assert [one for task in tasks for one in task.paired_seeds] == [*range(paired_seeds)]


def test_a_round_is_split_when_workers_outnumber_groups() -> None:
    missing: dict[Group, list[int]] = {(0, 1): [4, 5, 6, 7], (0, 2): [6, 7]}
    whole = [GroupSeeds((0, 1), (4, 5, 6, 7)), GroupSeeds((0, 2), (6, 7))]
    assert [*shared_out(missing, 1)] == whole
    assert [*shared_out(missing, 3)] == [
        GroupSeeds((0, 1), (4, 5)),
        GroupSeeds((0, 1), (6, 7)),
        whole[1],
    ]
    assert [*shared_out({}, 2)] == []
