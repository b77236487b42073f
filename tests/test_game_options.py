"""What kind of game is played: one frozen value behind all interfaces."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

from skyenv import GameOptions, Games, OptionError, fifth_avenue_v0, make_board
from skyenv.engine.options import GameKeywords
from skyenv.envs.aec import AecKeywords
from skyenv.envs.learner import LearnerGames, LearnerKeywords
from skyenv.envs.registration import ENV_ID
from skyenv.envs.sb3 import SkyenvVecEnv

REVERSED = make_board("back", {"TSQ": list(reversed(make_board("back").rings[3]))})
INTERFACES: dict[str, Callable[..., Games]] = {
    "Games": lambda **options: Games(2, **options),
    "learner": lambda **options: LearnerGames(2, **options).games,
    "gymnasium": lambda **options: gymnasium.make(ENV_ID, **options).unwrapped.core.games,  # type: ignore[attr-defined]
    "vector": lambda **options: (
        gymnasium.make_vec(ENV_ID, num_envs=2, **options).unwrapped.core.games  # type: ignore[attr-defined]
    ),
    "sb3": lambda **options: SkyenvVecEnv(2, **options).core.games,
    "pettingzoo": lambda **options: fifth_avenue_v0.env(**options).unwrapped.games,
}


def test_defaults() -> None:
    options = GameOptions()
    assert (options.num_players, options.side, options.max_turns, options.reward) == (
        2,
        "front",
        500,
        "outcome",
    )
    assert options.board == make_board("front")


def test_a_value_that_cannot_change() -> None:
    options = GameOptions(3, "back", board=REVERSED, max_turns=7, reward="margin")
    assert options.board is REVERSED
    assert options == GameOptions(3, "back", board=REVERSED, max_turns=7, reward="margin")
    assert (
        len(
            {
                options,
                pickle.loads(pickle.dumps(options)),
                dataclasses.replace(options, max_turns=7),
            }
        )
        == 1
    )
    assert options != GameOptions(3, "back", max_turns=7, reward="margin")
    assert repr(options).startswith("GameOptions(num_players=3, side='back', board=Board(")
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.max_turns = 8  # type: ignore[misc]


@pytest.mark.parametrize("interface", INTERFACES)
def test_the_same_behind_every_interface(interface: str) -> None:
    given: dict[str, Any] = {
        "num_players": 3,
        "side": "back",
        "board": REVERSED,
        "max_turns": 7,
        "reward": "margin",
    }
    games = INTERFACES[interface](**given)
    assert games.options == GameOptions(**given)
    assert (games.num_players, games.side, games.board, games.max_turns) == (3, "back", REVERSED, 7)
    assert INTERFACES[interface]().options == GameOptions()


@pytest.mark.parametrize("interface", INTERFACES)
def test_what_no_interface_takes(interface: str) -> None:
    for wrong in (
        {"num_players": 5},
        {"side": "top"},
        {"board": 3},
        {"max_turns": 0},
        {"reward": "money"},
    ):
        with pytest.raises(OptionError, match=f"{next(iter(wrong))} must be "):
            INTERFACES[interface](**wrong)
    library = interface in (
        "Games",
        "learner",
    )  # environments tell by one error which options they have
    message = (
        "unexpected keyword argument 'colour'"
        if library
        else "has no option 'colour'; it has .*board, .*max_turns"
    )
    with pytest.raises(TypeError if library else OptionError, match=message):
        INTERFACES[interface](colour="green")


def test_keywords_are_the_fields() -> None:
    """All but those that may stand without a keyword."""
    names = [field.name for field in dataclasses.fields(GameOptions)]
    assert names == ["num_players", "side", *list(GameKeywords.__annotations__)[1:]]
    for more in (AecKeywords, LearnerKeywords):
        assert more.__annotations__.keys() > GameKeywords.__annotations__.keys()


@pytest.mark.parametrize("interface", INTERFACES)
def test_options_are_handed_on_whole(interface: str) -> None:
    """And nothing beside them."""
    options = GameOptions(3, "back", board=REVERSED, max_turns=7, reward="margin")
    assert INTERFACES[interface](options=options).options is options
    for wrong in ({"max_turns": 8}, {"num_players": 4}, {"side": "back"}):
        with pytest.raises(OptionError, match="options"):
            INTERFACES[interface](options=options, **wrong)
    with pytest.raises(OptionError, match="options must be GameOptions"):
        INTERFACES[interface](options=3)
