"""A training wholly on a device, as far as Numba's simulator of CUDA shows it; on a GPU where there
is one.

This file is also a program, ``python tests/experiments/training/test_on_device.py``: what it does
in the simulator, it prints.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

if __name__ == "__main__":  # before anything asks Numba for CUDA
    os.environ |= {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    sys.path[:0] = [
        str(Path(__file__).resolve().parents[3] / folder) for folder in ("", "agents", "tests")
    ]

from trainings import begun, lessons, tiny, updated, weights

import experiments.training.on_device as training_there
from experiments.training.network import PolicyNetwork
from experiments.training.on_device import (
    DeviceCollector,
    DeviceTables,
    device_advantages,
    plays_there,
)
from experiments.training.rollouts import Rollout, advantages
from experiments.training.throughput import on_device
from experiments.training.train import Training
from processes import printed, python
from skyenv.agents import RandomAgent, decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.errors import OptionError
from skyenv_agents.heuristic.device import DevicePlayer
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.learned.architecture import VALUES, Sizes
from skyenv_agents.learned.networks import NetworkAgent, ThingsNetwork
from skyenv_agents.learned.pool import OpponentPool

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
SIZES = Sizes(8, 1, 4)
SHORT: dict[str, Any] = {"observation": "codes", "max_turns": 4}


class OnHost:
    """The processor's engine with the arrays of the GPU's."""

    def __init__(self, games: Games) -> None:
        self.engine, self.looked_back = games, False
        self.num_games, self.num_players, self.side = games.num_games, games.num_players, games.side
        self.mask, self.seat, self.observation, self.reward = (
            games.mask,
            games.seat,
            games.observation,
            games.reward,
        )
        self.done, self.truncated = games.done, games.truncated
        self.state, self.finished = (
            SimpleNamespace(bytes=np.asarray(games_of).view(np.uint8).reshape(games.num_games, -1))
            for games_of in (games.state, games.finished)
        )

    def step(self, actions: torch.Tensor) -> None:
        self.engine.step(actions.numpy())

    def observe(self, seats: Any, rows: Any, state: Any) -> Any:
        assert state is self.finished
        self.looked_back = True
        return self.engine.observe(seats, rows, self.engine.finished)

    def check(self) -> None:
        """Everything has been checked."""


class OnHostPlayer:
    """A heuristic agent there, as it plays everywhere else."""

    def __init__(self, agent: HeuristicAgent, games: OnHost) -> None:
        self.agent, self.engine = agent, games.engine
        self.actions = np.zeros(games.num_games, np.int64)

    def decide(self, rows: torch.Tensor, uniforms: torch.Tensor) -> None:
        decisions = decisions_in(self.engine, self.agent, rows.numpy())
        self.actions[rows.numpy()] = self.agent.act(replace(decisions, uniform=uniforms.numpy()))
        DECIDED[self.agent.name] += len(rows)


DECIDED: Counter[str] = Counter()
"""How often each has decided."""


def player_of(agent: HeuristicAgent, games: Any) -> Any:
    """What lets a heuristic agent decide, wherever games are."""
    return (OnHostPlayer if isinstance(games, OnHost) else DevicePlayer)(agent, games)


def network(seed: int) -> PolicyNetwork:
    """An untrained network with preferences."""
    torch.manual_seed(seed)
    made = PolicyNetwork(SIZES, 0.0)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made


def opponents() -> OpponentPool:
    """A random one, two heuristic ones and a past policy."""
    pool = OpponentPool([RandomAgent(), make_agent("greedy"), make_agent("appraiser")])
    pool.add(NetworkAgent(network(2).frozen({}), name="past-1"))
    return pool


def collector(engines: list[Any]) -> DeviceCollector:
    """What plays in some engines, with opponents in most games."""
    return DeviceCollector(
        [DeviceTables(engine) for engine in engines],
        opponents(),
        40,
        0.8,
        1.0,
        0.9,
        3,
        0.5,
        False,
        0.5,
    )


def told(rollout: Rollout) -> list[Any]:
    """All that a rollout brings, to compare."""
    arrays = [
        getattr(rollout.batch, name).numpy()
        for name in ("codes", "masks", "action", "log_probability", "advantage")
    ]
    arrays += [rollout.batch.target.numpy(), rollout.batch.weight.numpy()]
    return [
        [array.tobytes() for array in arrays],
        rollout.decisions,
        rollout.ended,
        rollout.figures,
    ]


def test_advantages_are_those_of_the_processor() -> None:
    """Of games of three with ends, truncations and forced moves in any order."""
    rng = np.random.default_rng(1)
    shape, players = (30, 7), 3
    value = rng.normal(size=(*shape, VALUES)).astype(np.float32)
    seat, chooses, done = (
        rng.integers(players, size=shape),
        rng.random(shape) < 0.7,
        rng.random(shape) < 0.1,
    )
    reward = rng.normal(size=(*shape, players, VALUES)).astype(np.float32)
    ending = (rng.normal(size=reward.shape) * done[..., None, None]).astype(np.float32)
    there = torch.from_numpy
    estimates, whole = device_advantages(
        there(value),
        there(seat),
        there(chooses),
        there(reward),
        there(done),
        there(ending),
        0.97,
        0.8,
    )
    for kind in range(VALUES):
        parts = value[..., kind], seat, chooses, reward[..., kind], done, ending[..., kind]
        expected, known = advantages(*parts, 0.97, 0.8)
        assert known.any()
        assert np.array_equal(whole.numpy(), known)
        np.testing.assert_allclose(estimates[..., kind].numpy(), expected, rtol=1e-5, atol=1e-6)


def test_what_one_rollout_leaves_open_a_later_one_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many rollouts of a few steps teach what a long one does: the same decisions with the same
    one-step advantages.
    """
    monkeypatch.setattr(training_there, "SIMULATED", True)
    taught: list[list[tuple[bytes, list[float]]]] = []
    for steps, number in ((5, 40), (200, 1)):
        engines: list[Any] = [
            OnHost(Games(8, players, seed=5, reward="points", **SHORT)) for players in (2, 4)
        ]
        pool = OpponentPool([])
        plays = DeviceCollector(
            [DeviceTables(engine) for engine in engines], pool, steps, 0.0, 1.0, 0.0, 3
        )
        taught.append([])
        for _ in range(number):
            taught[-1] += lessons(plays.collect(network(1)).batch)
    often, once = taught
    assert len(often) == len(once) > 300
    for mine, other in zip(
        sorted(often, key=lambda one: one[0]), sorted(once, key=lambda one: one[0]), strict=True
    ):
        assert mine[0] == other[0]
        assert mine[1] == pytest.approx(other[1], abs=1e-4)


def test_who_can_play_there() -> None:
    assert plays_there(RandomAgent())
    assert plays_there(NetworkAgent(network(1).frozen({})))
    assert all(plays_there(make_agent(name)) for name in ("greedy", "appraiser", "style-2"))
    assert not plays_there(make_agent("trained"))
    guided = ThingsNetwork(
        dict(network(1).frozen({}).weights),
        {"prior": "greedy", "prior_version": make_agent("greedy").version},
    )
    assert not plays_there(NetworkAgent(guided))


def test_seats_are_taken_as_asked() -> None:
    """One opponent at every seat but one, or several; nobody moves where no game begins."""
    tables: Any = DeviceTables(OnHost(Games(4000, 3, seed=1, **SHORT)))  # type: ignore[arg-type]
    guests, odds = torch.tensor([5, 9]), torch.tensor([0.25, 0.75], dtype=torch.float64)
    generator = torch.Generator().manual_seed(1)
    over = torch.arange(4000) % 2 == 0
    tables.take_seats(over, guests, odds, 0.5, 0.4, generator)
    assert (tables.seats[~over] == -1).all()
    seated = tables.seats[over]
    own = (seated == -1).sum(dim=1)
    assert torch.bincount(own, minlength=4).float().div(2000).tolist() == pytest.approx(
        [0, 0.4, 0.1, 0.5], abs=0.04
    )
    alone = seated[own == 1]
    others = alone[alone >= 0].view(-1, 2)
    assert (others[:, 0] == others[:, 1]).double().mean() == pytest.approx(
        (0.3 + 0.1 * 0.625) / 0.4, abs=0.05
    )
    assert (others == 9).double().mean() == pytest.approx(0.75, abs=0.05)
    assert (alone == -1).double().mean(dim=0).tolist() == pytest.approx([1 / 3] * 3, abs=0.05)


def test_rollouts_are_those_of_the_cpus_engine() -> None:
    """In the simulator: all that is learned from, action by action, with games that end, of two
    kinds of tables.
    """
    said = json.loads(printed(__file__, "rollouts", environment=SIMULATED))
    assert said.pop("judged") == ["appraiser", "greedy"]
    assert said == {
        "same": [True, True, True],
        "ended": True,
        "truncated": True,
        "illegal": 0.0,
        "sure": True,
    }


def test_a_training_goes_on_as_if_it_had_not_ended() -> None:
    """In the simulator: from what a checkpoint keeps, with a past policy at the tables; the weights
    have changed in between.
    """
    assert json.loads(printed(__file__, "training", environment=SIMULATED)) == {
        "learnt": True,
        "same": True,
        "past": True,
    }


def test_its_pace_is_measured() -> None:
    """In the simulator, where the figure means nothing."""
    said = json.loads(printed(__file__, "pace", environment=SIMULATED))
    assert said["name"] == "trainer wholly on the GPU, 4 games, 8 steps, width 8"
    assert said["unit"] == "learner decisions/s"
    assert said["median"] > 0


def test_the_trainers_command_line(tmp_path: Path) -> None:
    """In the simulator: a run, its curve, its checkpoint, gone on with; its agent plays."""
    run = tmp_path / "run"
    options = "--engine cuda --games 4 --steps 24 --batch 32 --hidden 8 --blocks 1 --thing 4 --minutes 0 --paired-seeds 0"
    words = [
        *options.split(),
        "--max-turns",
        "4",
        "--fixed-opponents",
        "random",
        "--snapshot",
        "1",
        "--past-policies",
        "1",
    ]
    command = ["-m", "experiments.training.train", "--run", str(run)]
    printed(*command, *words, "--decisions", "60", environment=SIMULATED)
    before = (run / "model.npz").read_bytes()
    printed(*command, "--resume", "--decisions", "160", environment=SIMULATED)
    assert (run / "model.npz").read_bytes() != before
    assert isinstance(make_agent(run), NetworkAgent)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processes": 2}, "processes must be 1 with engine cuda"),
        (
            {"prior": "greedy"},
            "prior must be '' with engine cuda: greedy decides on the processor alone",
        ),
        (
            {"fixed_opponents": ("greedy", "trained")},
            "must be random, heuristic agents or networks without .* not trained",
        ),
        ({"device": "cuda"}, "device must be auto or cpu with engine cuda"),
    ],
)
def test_what_does_not_go_together(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.training.on_device.SIMULATED", True)
    with pytest.raises(OptionError, match=message):
        tiny(**{"engine": "cuda", "fixed_opponents": ("random",), **options}).check()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so() -> None:
    done = python(
        "-m", "experiments.training.train", "--engine", "cuda", "--fixed-opponents", "random"
    )
    assert done.returncode == 2
    assert (
        "engine cuda needs a GPU that PyTorch and Numba can use, and there is none; install the "
        "extra [cuda]" in done.stderr
    )


@pytest.mark.skipif(
    not torch.cuda.is_available(),
    reason="needs a GPU of NVIDIA's: nothing else shows it on a real one",
)
def test_on_a_gpu_all_stays_there() -> None:
    """And a training goes on from what it kept as it would have."""
    said = goes_on()
    assert said == {"learnt": True, "same": True, "past": True}


def goes_on() -> dict[str, bool]:
    """Whether a training learns, and goes on from its checkpoint as it would have."""
    config = tiny(
        engine="cuda",
        games=6,
        fixed_opponents=("random", "greedy"),
        snapshot=1,
        opponent_share=0.9,
        max_turns=3,
    )
    training = begun(config)
    before = weights(training)
    updated(training, 2)
    kept = copy.deepcopy(training.pack())
    again = Training(config)
    again.unpack(kept)
    again.updates, again.decisions = training.updates, training.decisions
    changed = weights(training)
    updated(training, 2)
    updated(again, 2)
    playing: Any = training.actors.actor.collector  # type: ignore[union-attr]
    assert {array.device.type for array in playing.tables[0].seats} == {training.device.type}
    return {
        "learnt": changed != before,
        "same": weights(training) == weights(again) != changed,
        "past": any(agent.name.startswith("past-") for agent in playing.pool.agents),
    }


def compared() -> dict[str, Any]:
    """Whether rollouts of both engines are the same."""
    from skyenv.cuda import Games as DeviceGames

    kinds = ((3, 2, "front", 5), (2, 3, "back", 6))
    with mock.patch.object(training_there, "DevicePlayer", player_of):
        mine = collector([DeviceGames(*kind, check=False, **SHORT) for kind in kinds])
        other = collector([OnHost(Games(*kind, **SHORT)) for kind in kinds])
    played = [(mine.collect(network(1)), other.collect(network(1))) for _ in range(3)]
    rollouts = [one for one, _ in played]
    return {
        "same": [told(one) == told(another) for one, another in played],
        "ended": any(game.opponent is not None for rollout in rollouts for game in rollout.ended),
        "truncated": any(table.games.looked_back for table in other.tables),  # type: ignore[attr-defined]
        "illegal": sum(rollout.figures["illegal"] for rollout in rollouts),
        "judged": sorted(DECIDED),
        "sure": all(bool((rollout.batch.weight >= 1).all()) for rollout in rollouts),
    }


def paced() -> dict[str, Any]:
    """A figure of a trainer that is far too small."""
    return asdict(on_device(4, 8, width=8, batch=8, repeats=1, warm_up=1))


if __name__ == "__main__":
    made: dict[str, Any] = {"rollouts": compared, "training": goes_on, "pace": paced}
    print(json.dumps(made[sys.argv[1]]()))
