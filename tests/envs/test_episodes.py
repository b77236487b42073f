"""What the infos of ended episodes tell, in every interface."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3.common.vec_env import VecMonitor

from skyenv import Game, fifth_avenue_v0
from skyenv.engine.games import Games, results
from skyenv.envs.episodes import episode_infos
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.vector import FifthAvenueVectorEnv

TOLD = {
    "win_share",
    "own_vp",
    "best_other_vp",
    "scores",
    "seat",
    "opponents",
    "decisions",
    "turns",
    "end_reason",
}


def test_they_tell_how_games_ended() -> None:
    games = Games(200, 3, seed=1, autoreset=False, observation=None, max_turns=40)
    games.play_random(2000)
    seats = np.arange(200) % 3
    infos = episode_infos(games.state, seats, [["a", "b", "c"]] * 200, np.zeros(200, bool))
    reasons = set()
    for row, info in enumerate(infos):
        seat, state = int(seats[row]), games.state[row]
        assert set(info) == TOLD
        scores = state["score"][:3].tolist()
        assert info["scores"] == scores
        assert info["own_vp"] == scores.pop(seat)
        assert info["best_other_vp"] == max(scores)
        assert info["win_share"] == results(games.state)[0][row, seat]
        assert info["opponents"] == [
            name if other != seat else None for other, name in enumerate("abc")
        ]
        assert (info["seat"], info["turns"], info["decisions"]) == (
            seat,
            state["turns"],
            state["decisions"],
        )
        assert (info["end_reason"] == "truncated") == games.truncated[row] == (info["turns"] == 40)
        reasons.add(info["end_reason"])
        for name in ("win_share", "own_vp", "best_other_vp", "seat", "decisions", "turns"):
            assert isinstance(info[name], np.generic)  # TorchRL asks for their dtype
    assert reasons == {"businesses", "stops", "truncated"}
    assert {info["win_share"] for info in infos} >= {0, 1}
    assert episode_infos(games.state[:0], seats[:0], [], np.zeros(0, bool)) == []


@pytest.mark.parametrize("make", [fifth_avenue_v0.raw_env, fifth_avenue_v0.env])
@pytest.mark.parametrize("mask", ["observation", "info"])
def test_pettingzoo_tells_every_agent(make: Any, mask: str) -> None:
    env, game = make(3, mask=mask), Game(3, seed=4)
    env.reset(seed=4)
    while not game.is_over:
        assert not any("win_share" in info for info in env.infos.values())
        action = game.legal_actions[game.state["decisions"] % len(game.legal_actions)]
        env.step(action)
        game.play(action)
    assert game.outcome is not None
    told = dict(env.infos)
    assert sum(info["win_share"] for info in told.values()) == 1
    for seat, (agent, info) in enumerate(told.items()):
        assert set(info) == TOLD | ({"action_mask"} if mask == "info" else set())
        assert (info["win_share"] > 0) == (seat in game.outcome.winners)
        assert info["scores"] == list(game.outcome.scores)
        assert info["end_reason"] == game.outcome.reason
        assert info["opponents"] == [
            None if other == agent else other for other in env.possible_agents
        ]
    for agent in env.agent_iter():
        assert env.last()[4] is told[agent]
        env.step(None)


def test_nobody_wins_by_an_illegal_action() -> None:
    env = fifth_avenue_v0.env(3)
    env.reset(seed=4)
    env.step(int(env.last()[0]["action_mask"].argmin()))
    infos: list[dict[str, Any]] = [dict(info) for info in env.infos.values()]
    single = FifthAvenueEnv()
    _, info = single.reset(seed=4)
    infos.append(single.step(int(info["action_mask"].argmin()))[4])
    for info in infos:
        assert (info["win_share"], info["end_reason"]) == (0, "illegal")


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_gymnasiums_statistics_go_beside_it(mode: AutoresetMode) -> None:
    envs: Any = RecordEpisodeStatistics(
        FifthAvenueVectorEnv(3, autoreset_mode=mode, reward="points", max_turns=9)
    )
    _, info = envs.reset(seed=1)
    ended = 0
    for _ in range(60):
        assert "win_share" not in info
        _, _, terminations, truncations, info = envs.step(
            envs.unwrapped.action_masks().argmax(axis=1)
        )
        over = terminations | truncations
        if over.any():
            told = info["final_info"] if mode is AutoresetMode.SAME_STEP else info
            assert told["_win_share"].tolist() == over.tolist()
            assert told["win_share"].dtype == np.float64
            assert (info["episode"]["r"][over] == told["own_vp"][over]).all()
            assert set(told["end_reason"][over]) == {"truncated"}
            ended += int(over.sum())
            if mode is AutoresetMode.DISABLED:
                envs.reset(options={"reset_mask": over})
        info = (
            {}
            if mode is not AutoresetMode.SAME_STEP
            else {name: info[name] for name in ("action_mask", "seat")}
        )
    assert ended > 3
    single: Any = gymnasium.wrappers.RecordEpisodeStatistics(
        FifthAvenueEnv(reward="points", max_turns=3)
    )
    single.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = single.step(
            int(single.unwrapped.action_masks().argmax())
        )
        over = terminated or truncated
    assert info["episode"]["r"] == info["own_vp"]


def test_sb3s_monitor_writes_it_down(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # SB3 says that this monitor takes the place of ours
        env: Any = VecMonitor(
            SkyenvVecEnv(3, 3, seed=1, max_turns=5),
            str(tmp_path / "it"),
            info_keywords=("win_share", "own_vp"),
        )
    env.reset()
    episodes = []
    for _ in range(40):
        _, _, dones, infos = env.step(
            np.array([mask.argmax() for mask in env.env_method("action_masks")])
        )
        for info, done in zip(infos, dones, strict=True):
            assert (set(info) >= TOLD) == done
            if done:
                episodes.append(f"{info['win_share']},{info['own_vp']}")
    env.close()
    lines = (tmp_path / "it.monitor.csv").read_text().splitlines()
    assert lines[1] == "r,l,t,win_share,own_vp"
    assert [line.split(",", 3)[3] for line in lines[2:]] == episodes
    assert len(episodes) > 3
