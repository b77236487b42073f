"""Behaviour cloning: reading datasets, learning, and the saved agent."""

from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.baselines import behaviour_cloning
from skyenv.agents import decide, make_agent
from skyenv.dataset.folder import Plan, write
from skyenv.dataset.sources import Matches
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE


@pytest.mark.usefixtures("in_this_process")
def test_only_decisions_with_a_choice_are_read(tmp_path: Path) -> None:
    source = Matches.new(("random", "hoard"), 2, "front", 6, 1, 9)
    write(Plan(source, ("parquet",), shard_games=4), tmp_path)
    kept = source.trajectories("outcome")
    names = np.array(
        [(kept.agents[game] or ())[seat] for game, seat in zip(kept.game, kept.seat, strict=True)]
    )
    for imitate in ([], ["hoard"]):
        wanted = (kept.mask.sum(axis=1) > 1) & (np.isin(names, imitate) if imitate else True)
        decisions = behaviour_cloning.Decisions(tmp_path, imitate, "")
        assert np.array_equal(decisions.codes[:, :OBSERVATION_SIZE], kept.codes[wanted])
        assert not decisions.codes[:, OBSERVATION_SIZE:].any()
        assert np.array_equal(decisions.mask, kept.mask[wanted])
        assert np.array_equal(decisions.action, kept.action[wanted])
        whose = (kept.game[wanted], kept.seat[wanted])
        assert np.allclose(
            decisions.values,
            np.stack([2 * kept.shares[whose] - 1, kept.margin()[whose] / 50], axis=1),
        )
    with pytest.raises(SystemExit, match="has no Parquet files"):
        behaviour_cloning.Decisions(tmp_path / "parquet", [], "")


@pytest.mark.usefixtures("in_this_process")
def test_cloning_learns_and_the_saved_agent_plays_it(tmp_path: Path) -> None:
    """Taking the first legal action is learned within a few steps and played without PyTorch."""
    source = Matches.new(("skyenv.agents:RandomAgent",), 2, "front", 12, 1, 9)
    write(Plan(source, ("parquet",)), tmp_path)
    decisions = behaviour_cloning.Decisions(tmp_path, [], "")
    decisions.action = decisions.mask.argmax(1)  # as if the first legal action had been taken
    words = "--epochs 30 --batch 64 --trunk 32 --entity-dim 8 --learning-rate 0.01 --held-out 4"
    options = behaviour_cloning.options_of([str(tmp_path), *words.split(), "--prior", ""])
    network = behaviour_cloning.train(decisions, options)
    with torch.no_grad():
        _, _, foreseen = behaviour_cloning.losses(
            network, decisions.batch(torch.arange(len(decisions)))
        )
    assert foreseen > 0.9

    path = tmp_path / "model.npz"
    path.write_bytes(network.frozen({"reward": "outcome"}).to_bytes())
    games = Games(32, 2, seed=5)
    games.play_random(40)
    played = decide(games, make_agent(path, deterministic=True))
    assert (played == games.mask.argmax(axis=1)).mean() > 0.9
