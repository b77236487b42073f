"""Unknown options of every interface: one line with the interface's name and a similar option."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import pytest

from skyenv import Game, GameOptions, Games, OptionError, cuda, fifth_avenue_v0
from skyenv.agents import RandomAgent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.matches import play_games
from skyenv.envs.learner import LearnerGames
from skyenv.envs.open_spiel import SHORT_NAME, FifthAvenueGame
from skyenv.envs.registration import ENV_ID, UNMASKED_ID
from skyenv.envs.sb3 import SkyenvVecEnv

INTERFACES: dict[str, tuple[Callable[..., Any], str, str]] = {
    "Game": (Game, "Game()", "agent_seed"),
    "Games": (partial(Games, 1), "Games()", "autoreset"),
    "cuda.Games": (partial(cuda.Games, 1), "cuda.Games()", "autoreset"),
    "GameOptions": (GameOptions, "a game", "reward"),
    "LearnerGames": (partial(LearnerGames, 1), "LearnerGames()", "opponents"),
    "env": (fifth_avenue_v0.env, "env()", "render_mode"),
    "raw_env": (fifth_avenue_v0.raw_env, "raw_env()", "render_mode"),
    "parallel_env": (fifth_avenue_v0.parallel_env, "parallel_env()", "render_mode"),
    "make": (partial(gymnasium.make, ENV_ID), ENV_ID, "opponents"),
    "make unmasked": (partial(gymnasium.make, UNMASKED_ID), ENV_ID, "opponents"),
    "make_vec": (
        partial(gymnasium.make_vec, ENV_ID, vectorization_mode="vector_entry_point"),
        ENV_ID,
        "threads",
    ),
    "SkyenvVecEnv": (partial(SkyenvVecEnv, 1), "SkyenvVecEnv()", "opponents"),
    "evaluate": (partial(evaluate, "random", "random"), "a game", "reward"),
    "play_games": (partial(play_games, [RandomAgent()], [[0, 0]], [1]), "a game", "reward"),
    "OpenSpiel": (lambda **options: FifthAvenueGame(options), SHORT_NAME, "players"),
}


@pytest.mark.parametrize("interface", INTERFACES)
def test_an_unknown_option_is_named_with_a_similar_one(interface: str) -> None:
    """An option of the game, and one of the interface's own; some options are similar to none."""
    make, name, own = INTERFACES[interface]
    for option in ("max_turns", own):
        with pytest.raises(OptionError) as caught:
            make(**{option[:-1]: 1})
        refused = f"{name} got an unexpected keyword argument '{option[:-1]}'"
        # Gymnasium adds where the error is from.
        assert str(caught.value).startswith(f"{refused}; did you mean {option}?")
    refused = f"{name} got an unexpected keyword argument 'xyz'"
    with pytest.raises(TypeError, match=f"{re.escape(refused)}; choose from .*{own}"):
        make(xyz=1)
