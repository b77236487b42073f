"""Playing tournaments: the games of single matches, agents that misbehave, the time that is
given.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest
from tournaments import lines, play, settings

from processes import ROOT
from skyenv.agents import make_agent
from skyenv.arena import tournament
from skyenv.arena.folder import Folder
from skyenv.arena.matches import play_game
from skyenv.arena.schedule import Group, timed_agent
from skyenv.arena.tournament import GroupSeeds, play_task, shared_out
from skyenv.errors import AgentError
from skyenv.seeds import LADDERS
from skyenv.work import WorkerDiedError

pytestmark = pytest.mark.usefixtures("odd_agents")


@pytest.mark.parametrize("secret", [None, 2**61 + 1])
def test_games_are_those_of_a_single_match(secret: int | None, tmp_path: Path) -> None:
    wanted = settings("random", "crowd", "hoard", players=3, side="back", seed=5, secret=secret)
    games, _ = play_task(wanted, GroupSeeds((0, 1, 2), (0, 1)))
    with Folder(tmp_path, wanted) as folder:
        folder.add((0, 1, 2), games, {})
    agents = [make_agent(name) for name in ("random", "crowd", "hoard")]
    for line in lines(tmp_path):
        game = json.loads(line)
        seats = [agents[index] for index in game["seats"]]
        alone = play_game(seats, 5 + game["paired_seed"], "back", secret=secret, purpose=LADDERS)
        assert list(alone.scores) == game["scores"]
        assert (alone.turn, int(alone.state.decisions)) == (game["turns"], game["decisions"])


def test_a_worker_that_dies_loses_nothing_and_workers_do_not_matter(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wanted = settings("odd_agents:Mortal", "crowd", "random", secret=3)
    play(tmp_path / "dying", wanted, 2, workers=2)
    assert Path(sys.path[0], "died").exists()
    request.getfixturevalue("in_this_process")
    play(tmp_path / "living", wanted, 2)
    assert lines(tmp_path / "dying") == lines(tmp_path / "living")
    assert len(lines(tmp_path / "dying")) == 2 * 6
    assert play(tmp_path / "dying", wanted, 2).played == 0


@pytest.mark.usefixtures("in_this_process")
def test_a_deadly_agent_is_named_with_its_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*_: object) -> None:
        raise WorkerDiedError("3 processes died")

    monkeypatch.setattr(tournament, "play_task", dying)
    told = r"3 processes died while random and crowd played seeds 7 to 7$"
    with pytest.raises(AgentError, match=told):
        play(tmp_path, settings("random", "crowd", seed=7))


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Faulty", r"agent faulty failed at .*odd_agents\.py:\d+: EOFError: oh no$"),
        ("Wrong", r"agent wrong chose action"),
        ("Impatient", "agent impatient raised KeyboardInterrupt"),
    ],
)
def test_an_agent_that_keeps_failing(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker ignores SIGINT, so KeyboardInterrupt is the agent's own."""
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)
    with pytest.raises(AgentError, match=rf"^in paired seed 0 \(seed 7\): {message}") as caught:
        play(tmp_path, settings(f"odd_agents:{spec}", "random", seed=7))
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("in_this_process")
def test_an_agent_that_fails_once(tmp_path: Path) -> None:
    play(tmp_path, settings("odd_agents:Moody", "random"), 2)
    assert len(lines(tmp_path)) == 4


def test_a_checkpoint_that_is_another_where_it_plays(tmp_path: Path) -> None:
    network, other = (
        ROOT / "agents" / "skyenv_agents" / "trained" / f"{players}-players.npz"
        for players in (2, 3)
    )
    path = tmp_path / "model.npz"
    shutil.copy(network, path)
    wanted, task = settings(str(path), "random"), GroupSeeds((0, 1), (0,))
    assert play_task(wanted, task)[0]
    shutil.copy(other, path)
    timed_agent.cache_clear()  # as in another process
    with pytest.raises(
        AgentError, match=r"model\.npz on .* isn't the file that the games were begun with"
    ):
        play_task(wanted, task)


@pytest.mark.usefixtures("in_this_process")
def test_time_ends_it_after_whole_rounds(tmp_path: Path) -> None:
    wanted = settings("random", "crowd", "hoard")
    play(tmp_path, wanted, minutes=0.03)
    with Folder(tmp_path, wanted) as folder:
        assert len(folder.whole_paired_seeds()) * 6 == folder.number() > 0


def test_a_round_is_shared_out_where_there_are_more_workers_than_groups() -> None:
    missing: dict[Group, list[int]] = {(0, 1): [4, 5, 6, 7], (0, 2): [6, 7]}
    whole = [GroupSeeds((0, 1), (4, 5, 6, 7)), GroupSeeds((0, 2), (6, 7))]
    assert (
        list(shared_out(missing, 1))
        == list(shared_out({**missing, (1, 2): [4, 5, 6]}, 3))[:2]
        == whole
    )
    assert list(shared_out(missing, 3)) == [
        GroupSeeds((0, 1), (4, 5)),
        GroupSeeds((0, 1), (6, 7)),
        GroupSeeds((0, 2), (6, 7)),
    ]
    assert len(list(shared_out(missing, 100))) == 6
    assert list(shared_out({}, 2)) == []
