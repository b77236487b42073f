"""Who plays the other seats: the same in every interface of one learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skyenv.envs.learner import LearnerGames
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import OptionError

INTERFACES: dict[str, Callable[..., Any]] = {
    "core": lambda **options: LearnerGames(40, 3, **options),
    "single": lambda **options: FifthAvenueEnv(3, **options),
    "vector": lambda **options: FifthAvenueVectorEnv(40, 3, **options),
    "sb3": lambda **options: SkyenvVecEnv(40, 3, **options),
}
each_interface = pytest.mark.parametrize("interface", INTERFACES)


def tables(env: Any, episodes: int = 1) -> list[list[str | None]]:
    """Who sits where in new games, all games of a batch one after the other, or so many of one."""
    core = env if isinstance(env, LearnerGames) else env.core
    met = []
    for _ in range(episodes if core.all_rows.size > 1 else 40):
        env.reset()
        met += [core.opponents(row) for row in core.all_rows.tolist()]
    return met


@each_interface
def test_a_list_is_one_player_per_other_seat(interface: str) -> None:
    env = INTERFACES[interface](opponents=["crowd", "hoard"], seat=1)
    assert {tuple(table) for table in tables(env)} == {("hoard", None, "crowd")}


@each_interface
@pytest.mark.parametrize(
    "how",
    [{"pool": True}, {"opponent_weights": [1, 1]}, {"opponent_weights": [1, 1], "pool": True}],
)
def test_of_a_pool_one_is_drawn_for_every_seat(interface: str, how: dict[str, Any]) -> None:
    env = INTERFACES[interface](opponents=["crowd", "hoard"], seat=1, **how)
    assert {(table[0], table[2]) for table in tables(env)} == {
        (one, other) for one in ("crowd", "hoard") for other in ("crowd", "hoard")
    }


@each_interface
def test_one_opponent_of_a_pool(interface: str) -> None:
    env = INTERFACES[interface](opponents=["crowd", "hoard"], seat=1, one_opponent=True)
    assert {(table[0], table[2]) for table in tables(env)} == {
        ("crowd", "crowd"),
        ("hoard", "hoard"),
    }


@each_interface
def test_setting_opponents(interface: str) -> None:
    """What a list is stays as the environment was told, unless it is told anew."""
    seated, drawn = INTERFACES[interface](seat=0), INTERFACES[interface](seat=0, pool=True)
    for env in (seated, drawn):
        env.set_opponents(["crowd", "hoard"])
    assert {table[1] for table in tables(seated)} == {"crowd"}
    assert {table[1] for table in tables(drawn)} == {"crowd", "hoard"}
    seated.set_opponents(["crowd", "hoard", "random"], [1, 0, 1])
    assert {table[1] for table in tables(seated)} == {"crowd", "random"}
    drawn.set_opponents(["crowd", "hoard"], pool=False)
    assert {table[1] for table in tables(drawn)} == {"crowd"}


@each_interface
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"opponents": ["crowd"]},
            "1 entries, but there are 2 other seats; pool=True draws of them",
        ),
        ({"opponents": ["crowd"] * 3}, "3 entries"),
        (
            {"opponents": ["crowd"] * 2, "pool": False, "opponent_weights": [1, 1]},
            "opponent_weights are for a pool",
        ),
        ({"opponents": ["crowd"] * 2, "pool": "yes"}, "pool must be True or False"),
        ({"one_opponent": 1}, "one_opponent must be True or False"),
        (
            {"opponents": ["crowd"] * 2, "opponent_weights": [1]},
            "opponent_weights must have 2 entries",
        ),
        ({"illegal": "ignore"}, "illegal must be one of end, raise"),
    ],
)
def test_what_does_not_fit_is_named(interface: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        INTERFACES[interface](**options)
