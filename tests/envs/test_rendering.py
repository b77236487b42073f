"""Pictures of the environments: in every mode what a seat may know (INF), or all hands."""

from __future__ import annotations

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
from skyenv.errors import RenderError

SEAT = 1
KINDS: dict[str, Callable[..., Any]] = {
    "gymnasium": lambda **options: gymnasium.make(ENV_ID, seat=SEAT, **options),
    "vector": lambda **options: gymnasium.make_vec(ENV_ID, num_envs=2, seat=SEAT, **options),
    "sb3": lambda **options: SkyenvVecEnv(2, seat=SEAT, seed=5, **options),
    "pettingzoo": lambda **options: fifth_avenue_v0.env(**options),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


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
    """What render() gives."""
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


@each_kind
@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "human"])
@pytest.mark.parametrize("all_hands", [False, True])
def test_pictures_show_hidden_cards_on_request_alone(
    kind: str, mode: str, all_hands: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    env = started(kind, render_mode=mode, render_all_hands=all_hands)
    shown: list[Any] = []
    if mode == "human":
        renderer = (env if kind == "sb3" else env.unwrapped)._renderer
        renderer.window.show = lambda picture: shown.append([picture])
    for deal in range(2):
        if deal:
            deal_hidden_cards_anew(env)
        given = pictures(env)
        if mode == "human":
            assert given == [None]
        else:
            shown.append(given)
    for one, other in zip(*shown, strict=True):
        assert np.array_equal(one, other) == (not all_hands)
    if mode == "ansi":
        assert all(("as seat 2 sees it" in text) is not all_hands for text in shown[0])
    assert capsys.readouterr().out == ""
    env.close()


def test_forms_of_pictures() -> None:
    """Pixels of one width; SB3's are those of all rows in one, and its text is a tuple."""
    (single,) = pictures(started("gymnasium", render_mode="rgb_array"))
    assert single.shape[1:] == (1200, 3)
    env = started("sb3", render_mode="rgb_array")
    images: Any = env.get_images()
    assert all(image.shape == single.shape for image in images)
    assert env.render().shape[0] == 2 * single.shape[0]
    env = started("sb3", render_mode="ansi")
    assert env.render() == env.render("ansi") == tuple(env.env_method("render"))
    with pytest.warns(UserWarning, match="has to be the same as the environment render mode"):
        assert env.render("rgb_array") is None
    assert all(pictures(started(kind)) == [None] for kind in KINDS if kind != "sb3")


def test_another_seats_choice_is_not_marked() -> None:
    """Legal actions tell of a hand: a picture marks those of the seat that looks."""
    for learner, marks in ((SEAT, True), (0, False)):
        env = FifthAvenueVectorEnv(1, 3, render_mode="rgb_array", seat=SEAT)
        env.reset(seed=1)
        env.core.learner[:] = learner
        (before,) = pictures(env)
        env.core.games.mask[:] = 0
        assert np.array_equal(before, pictures(env)[0]) is not marks


def test_the_window_shows_every_position_and_is_a_copys_own() -> None:
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


def test_without_the_extra_pictures_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "skyenv.render.extras.find_spec",
        lambda name: None if name == "thorvg_python" else find(name),
    )
    assert fifth_avenue_v0.raw_env(render_mode="ansi").render_mode == "ansi"
    for mode in ("human", "rgb_array"):
        with pytest.raises(RenderError, match="pip install"):
            fifth_avenue_v0.raw_env(render_mode=mode)
