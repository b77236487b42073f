"""Rendering of environments: every mode shows only what the seat may know (INF)."""

import copy
import importlib.util
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from skyenv import fifth_avenue_v0
from skyenv.engine.games import Games
from skyenv.engine.knowledge import resample, view
from skyenv.envs.registration import ENV_ID
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import MissingExtraError

SEAT = 1
KINDS: dict[str, Callable[..., Any]] = {
    "gymnasium": lambda **options: gymnasium.make(ENV_ID, seat=SEAT, **options),
    "vector": lambda **options: gymnasium.make_vec(ENV_ID, num_envs=2, seat=SEAT, **options),
    "sb3": lambda **options: SkyenvVecEnv(2, seat=SEAT, seed=5, **options),
    "pettingzoo": lambda **options: fifth_avenue_v0.env(**options),
}


def games_of(env: Any) -> Games:
    """The games of an environment."""
    inner: Any = env if isinstance(env, SkyenvVecEnv) else env.unwrapped
    games: Games = getattr(inner, "core", inner).games
    return games


def started(kind: str, **options: Any) -> Any:
    """An environment after some decisions, with SEAT to act in the first row."""
    env = KINDS[kind](num_players=3, **options)
    env.reset(**({} if kind == "sb3" else {"seed": 5}))
    games = games_of(env)
    while games.state["decisions"][0] < 40 or games.seat[0] != SEAT:
        # The highest: taking, moving, bidding.
        actions = 102 - games.mask[:, ::-1].argmax(axis=1)
        env.step(actions if kind in ("vector", "sb3") else int(actions[0]))
    return env


def pictures(env: Any) -> list[Any]:
    """Return the output of render()."""
    rendered = env.render()
    return list(rendered) if isinstance(rendered, tuple) else [rendered]


def deal_hidden_cards_anew(env: Any) -> None:
    """Another position, which SEAT can't tell from the one there."""
    games = games_of(env)
    hands, seeds = games.state["hand"].copy(), games.seeds.copy()
    games.state[:] = resample(view(games.state, SEAT), range(games.num_games))
    games.state["seed"] = seeds
    games.refresh()
    assert (games.state["hand"] != hands).any(axis=(1, 2, 3)).all()


@pytest.mark.parametrize(
    ("kind", "mode"),
    [
        ("gymnasium", "human"),
        ("gymnasium", "rgb_array"),
        ("vector", "rgb_array"),
        ("sb3", "rgb_array"),
        *((kind, "ansi") for kind in KINDS if kind != "sb3"),
    ],
)
def test_pictures_hide_what_a_seat_cannot_know(
    kind: str, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    env = started(kind, render_mode=mode)
    shown: list[Any] = []
    window: Any = (env if isinstance(env, SkyenvVecEnv) else env.unwrapped)._renderer.window
    if mode == "human":
        window.show = shown.append
    for deal in range(2):
        if deal:
            deal_hidden_cards_anew(env)
        given = pictures(env)
        assert mode != "human" or given == [None]
        shown += given if mode != "human" else []
    half = len(shown) // 2
    assert half
    for one, other in zip(shown[:half], shown[half:], strict=True):
        assert np.array_equal(one, other)
        assert mode != "ansi" or "as seat 2 sees it" in one
        assert mode == "ansi" or one.shape[1:] in ((1200, 3), (2400, 3))
    assert capsys.readouterr().out == ""
    env.close()
    assert window.is_closed


def test_sb3_renders_every_row() -> None:
    """One image of all rows; one text per row."""
    env = started("sb3", render_mode="rgb_array")
    assert env.render().shape[0] == 2 * env.get_images()[0].shape[0]
    assert all(
        "as seat 2" in text for text in started("sb3", render_mode="ansi").env_method("render")
    )
    assert all(pictures(started(kind)) == [None] for kind in KINDS if kind != "sb3")


def test_legal_actions_of_other_seats_are_not_marked() -> None:
    """Legal actions reveal a hand, so only the viewing seat's are marked."""
    for learner, marks in ((SEAT, True), (0, False)):
        env = FifthAvenueVectorEnv(1, 3, render_mode="rgb_array", seat=SEAT)
        env.reset(seed=1)
        env.core.learner[:] = learner
        (before,) = pictures(env)
        env.core.games.mask[:] = 0
        assert np.array_equal(before, pictures(env)[0]) is not marks


def test_each_copy_has_its_own_window() -> None:
    env: Any = fifth_avenue_v0.raw_env(render_mode="human")
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    shown: list[Any] = []
    env._renderer.window.show = shown.append
    env.reset(seed=1)
    env.step(int(env.games.mask[0].argmax()))
    assert len(shown) == 2
    assert (shown[0] != shown[1]).any()
    twin.render()
    env.close()
    assert env._renderer.window.is_closed
    assert not twin._renderer.window.is_closed
    twin.close()


def test_a_missing_pictures_extra_is_reported_on_construction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "skyenv.errors.find_spec",
        lambda name: None if name == "thorvg_python" else find(name),
    )
    assert fifth_avenue_v0.raw_env(render_mode="ansi").render_mode == "ansi"
    for mode in ("human", "rgb_array"):
        with pytest.raises(MissingExtraError, match="pip install"):
            fifth_avenue_v0.raw_env(render_mode=mode)
