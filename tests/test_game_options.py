"""GameOptions: one immutable value in all interfaces."""

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

from skyenv import Game, GameOptions, Games, OptionError, fifth_avenue_v0, make_board
from skyenv.engine.options import GameKeywords, options_of
from skyenv.envs.aec import AecKeywords
from skyenv.envs.learner import LearnerGames, LearnerKeywords
from skyenv.envs.registration import ENV_ID
from skyenv.envs.sb3 import SkyenvVecEnv

REVERSED = make_board("back", {"TSQ": list(reversed(make_board("back").rings[3]))})
INTERFACES: dict[str, Callable[..., Games]] = {
    "Game": lambda **options: Game(**options).batch,
    "Games": lambda **options: Games(2, **options),
    "learner": lambda **options: LearnerGames(2, **options).games,
    "gymnasium": lambda **options: gymnasium.make(ENV_ID, **options).unwrapped.core.games,  # type: ignore[attr-defined]
    "vector": lambda **options: (
        gymnasium.make_vec(ENV_ID, num_envs=2, **options).unwrapped.core.games  # type: ignore[attr-defined]
    ),
    "sb3": lambda **options: SkyenvVecEnv(2, **options).core.games,
    "pettingzoo": lambda **options: fifth_avenue_v0.env(**options).unwrapped.games,
}


GIVEN: dict[str, Any] = {
    "num_players": 3,
    "side": "back",
    "board": REVERSED,
    "max_turns": 7,
    "reward": "margin",
}
OTHER_THAN_BOARDS: list[Any] = [3, ["W34"], {"rings": {}}, b"board.toml", True]
each_interface = pytest.mark.parametrize("interface", INTERFACES)


def test_game_options_are_immutable_values() -> None:
    options, default = GameOptions(**GIVEN), GameOptions()
    assert default == GameOptions(2, "front", max_turns=500, reward="outcome")
    assert default.board == make_board("front")
    assert options.board is REVERSED
    same = (pickle.loads(pickle.dumps(options)), dataclasses.replace(options, max_turns=7))
    assert len({options, *same}) == 1
    assert options != GameOptions(3, "back", max_turns=7, reward="margin")
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.max_turns = 8  # type: ignore[misc]


@each_interface
def test_every_interface_takes_the_same_options(interface: str) -> None:
    """As keywords or as one value, not both."""
    options = GameOptions(**GIVEN)
    assert INTERFACES[interface](**GIVEN).options == options
    assert INTERFACES[interface]().options == GameOptions()
    assert INTERFACES[interface](options=options).options is options
    for wrong in ({"max_turns": 8}, {"num_players": 4}, {"side": "back"}):
        with pytest.raises(OptionError, match="options"):
            INTERFACES[interface](options=options, **wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_players": 5}, "num_players must be a whole number from 2 to 4, not 5"),
        ({"num_players": "3"}, "num_players must be a whole number from 2 to 4, not '3'"),
        ({"side": "top"}, "side must be one of front, back, not 'top'"),
        *(
            ({"board": board}, "board must be a Board, the path of a board file, or None")
            for board in OTHER_THAN_BOARDS
        ),
        ({"board": REVERSED}, "the board given is the back side, but side is 'front'"),
        ({"max_turns": 0}, "max_turns must be a whole number from 1 to"),
        ({"max_turns": 2**31}, "max_turns must be a whole number from 1 to"),
        ({"reward": "money"}, "reward must be one of outcome, margin, points, not 'money'"),
        ({"options": 3}, "options must be GameOptions"),
    ],
)
def test_invalid_options_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        options_of(**wrong)


def test_keyword_types_match_the_fields() -> None:
    """Except positional ones."""
    names = [field.name for field in dataclasses.fields(GameOptions)]
    assert names == ["num_players", "side", *list(GameKeywords.__annotations__)[1:]]
    for more in (AecKeywords, LearnerKeywords):
        assert more.__annotations__.keys() > GameKeywords.__annotations__.keys()


@each_interface
def test_every_interface_plays_tasks(interface: str) -> None:
    games = INTERFACES[interface](task="three-3")
    assert (games.num_players, str(games.options.task)[:7]) == (3, "three-3")
    assert (games.state["auctions_left"] == 1).all()
