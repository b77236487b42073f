"""INF: what the environments' pictures show to whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from skyenv import fifth_avenue_v0
from skyenv.engine.games import Games
from skyenv.engine.knowledge import resample, view
from skyenv.envs.aec import raw_env
from skyenv.envs.registration import ENV_ID
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.vector import FifthAvenueVectorEnv

SEAT = 1
KINDS: dict[str, Callable[..., Any]] = {
    "gymnasium": lambda **options: gymnasium.make(ENV_ID, num_players=3, seat=SEAT, **options),
    "vector": lambda **options: gymnasium.make_vec(
        ENV_ID, num_envs=2, num_players=3, seat=SEAT, **options
    ),
    "pettingzoo": lambda **options: fifth_avenue_v0.env(num_players=3, **options),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def games_of(env: Any) -> Games:
    games: Games = (
        env.unwrapped.games if isinstance(env.unwrapped, raw_env) else env.unwrapped.core.games
    )
    return games


def started(kind: str, **options: Any) -> Any:
    """An environment after some decisions, with SEAT to act in the first row."""
    env = KINDS[kind](**options)
    env.reset(seed=5)
    for _ in range(40):
        mask = games_of(env).mask
        actions = (
            mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        )  # the highest: taking, moving, bidding
        env.step(actions if kind == "vector" else int(actions[0]))
    while games_of(env).seat[0] != SEAT:
        env.step(int(games_of(env).mask[0].argmax()))
    return env


def pictures(env: Any) -> list[Any]:
    """What render() gives, row by row."""
    rendered = env.render()
    return list(rendered) if isinstance(rendered, tuple) else [rendered]


def deal_hidden_cards_anew(env: Any, seat: int) -> None:
    """Another position, which `seat` can't tell from the one there."""
    games = games_of(env)
    seeds = games.seeds.copy()
    hands = games.state["hand"].copy()
    games.state[:] = resample(view(games.state, seat), range(games.num_games))
    games.state["seed"] = seeds
    games.refresh()
    others = [other for other in range(3) if other != seat]
    assert (games.state["hand"][:, others] != hands[:, others]).any(axis=(1, 2, 3)).all()


@each_kind
@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_pictures_tell_nothing_that_the_seat_cannot_know(kind: str, mode: str) -> None:
    env = started(kind, render_mode=mode)
    before = pictures(env)
    deal_hidden_cards_anew(env, SEAT)
    assert all(np.array_equal(now, then) for now, then in zip(pictures(env), before, strict=True))


@each_kind
@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_all_hands_are_shown_on_request(kind: str, mode: str) -> None:
    env = started(kind, render_mode=mode, render_all_hands=True)
    before = pictures(env)
    assert not any(
        np.array_equal(one, hidden)
        for one, hidden in zip(before, pictures(started(kind, render_mode=mode)), strict=True)
    )
    deal_hidden_cards_anew(env, SEAT)
    assert not any(
        np.array_equal(now, then) for now, then in zip(pictures(env), before, strict=True)
    )


@each_kind
def test_the_window_shows_what_the_pixels_show(kind: str) -> None:
    for open_hands in (False, True):
        env = started(kind, render_mode="rgb_array", render_all_hands=open_hands)
        windowed = started(kind, render_mode="human", render_all_hands=open_hands)
        shown: list[Any] = []
        windowed.unwrapped._renderer.window.show = shown.append
        assert windowed.render() is None
        if kind != "vector":  # which shows its rows beside each other
            assert np.array_equal(shown[0], pictures(env)[0])
        deal_hidden_cards_anew(windowed, SEAT)
        windowed.render()
        assert np.array_equal(shown[1], shown[0]) == (not open_hands)
        windowed.close()


def test_pettingzoos_picture_is_that_of_the_agent_on_turn() -> None:
    env = fifth_avenue_v0.env(num_players=3, render_mode="ansi")
    env.reset(seed=1)
    for _ in range(12):
        seat = int(env.agent_selection.removeprefix("seat_"))
        assert f"as seat {seat + 1} sees it" in env.render()
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))


def test_after_the_end_hands_stay_hidden() -> None:
    for open_hands in (False, True):
        env = FifthAvenueEnv(
            num_players=3, seat=SEAT, max_turns=6, render_mode="ansi", render_all_hands=open_hands
        )
        env.reset(seed=1)
        while not env.core.done[0]:
            env.step(env.action_masks().argmax())
        picture = env.render()
        assert isinstance(picture, str)
        assert (f"as seat {SEAT + 1} sees it" in picture) is not open_hands


def test_another_seats_choice_is_not_marked() -> None:
    """Legal actions tell of a hand: what glows in a picture is what the seat that looks may
    choose.
    """
    env = FifthAvenueVectorEnv(1, 3, render_mode="rgb_array", seat=SEAT)
    env.reset(seed=1)
    games = env.core.games
    (mine,) = pictures(env)
    games.mask[:] = 0
    (unmarked,) = pictures(env)
    assert (mine != unmarked).any()
    env.reset(seed=1)
    env.core.learner[:] = 0
    (others,) = pictures(env)
    games.mask[:] = 0
    assert (others == pictures(env)[0]).all()
