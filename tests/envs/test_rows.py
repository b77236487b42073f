"""What libraries ask of the rows of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import OptionError


def test_gymnasiums_questions() -> None:
    env = FifthAvenueVectorEnv(3, 3, seat="rotate", opponents="crowd")
    env.reset(seed=7)
    assert env.get_attr("seed") == env.call("seed") == (7, 8, 9)
    assert env.get_attr("seat") == (1, 2, 0)
    assert env.get_attr("render_mode") == (None, None, None)
    assert env.get_attr("opponents")[0] == ["crowd", None, "crowd"]
    masks = env.action_masks()
    assert (np.stack(env.call("action_masks")) == masks).all()
    assert (env.get_attr("action_masks")[2]() == masks[2]).all()
    assert env.call("render") == (None, None, None)
    assert env.call("set_opponents", ["random", "hoard"], pool=True) == (None, None, None)
    env.reset()
    assert {name for names in env.get_attr("opponents") for name in names} <= {
        None,
        "random",
        "hoard",
    }
    for ask in (env.get_attr, env.call):
        with pytest.raises(
            AttributeError, match="no attribute 'nonsense'; they have action_masks, opponents"
        ):
            ask("nonsense")
    with pytest.raises(AttributeError, match=r"'seat' can't be set: .* set_opponents\(\)"):
        env.set_attr("seat", 1)


def test_masks_are_those_that_are_shown() -> None:
    env = FifthAvenueVectorEnv(2, max_turns=1, noop=True, autoreset_mode="Disabled")
    env.reset(seed=1)
    while not env.core.done.all():
        rows = np.flatnonzero(~env.core.done)
        env.core.step(env.action_masks()[rows].argmax(axis=1), rows)
    for mask in env.call("action_masks"):
        assert np.flatnonzero(mask).tolist() == [0]


def test_pictures_of_rows() -> None:
    for make in (SkyenvVecEnv, FifthAvenueVectorEnv):
        env: Any = make(2, render_mode="ansi")
        env.reset()
        texts = (
            env.env_method("render", indices=[1]) if make is SkyenvVecEnv else env.call("render")
        )
        assert all("TSQ" in text for text in texts)


def test_sb3_renders_all_rows_as_one_picture() -> None:
    env = SkyenvVecEnv(2, 3, seed=1, render_mode="rgb_array")
    env.reset()
    images: Any = env.get_images()
    assert env.render_mode == "rgb_array"
    assert all(image.shape[1:] == (1200, 3) for image in images)
    picture = env.render()
    assert picture is not None
    assert picture.shape[0] == 2 * images[0].shape[0]


def test_sb3_renders_text_of_every_row() -> None:
    env = SkyenvVecEnv(2, 3, seed=1, render_mode="ansi")
    env.reset()
    texts = env.render()
    assert texts == env.render("ansi") == tuple(env.env_method("render"))
    assert len(set(texts)) == 2
    with pytest.warns(UserWarning, match="has to be the same as the environment render mode"):
        assert env.render("rgb_array") is None


def test_sb3_shows_the_first_rows_in_a_window() -> None:
    env = SkyenvVecEnv(2, seed=1, render_mode="human")
    shown: list[Any] = []
    env._renderer.window.show = shown.append  # type: ignore[assignment, method-assign]
    env.reset()
    env.render()
    assert len(shown) == 1
    env.close()
    assert env._renderer.window.is_closed


def test_opponents_are_those_of_all_rows() -> None:
    env = SkyenvVecEnv(3, seed=1)
    env.env_method("set_opponents", "crowd")
    env.reset()
    assert env.get_attr("opponents", [0]) == [
        ["crowd" if seat != env.get_attr("seat", [0])[0] else None for seat in range(2)]
    ]
    with pytest.raises(OptionError, match="only be set for all rows together"):
        env.env_method("set_opponents", "random", indices=[1])
