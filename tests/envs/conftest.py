"""What several of these tests share."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest


def through_pickle(thing: Any) -> Any:
    """A copy made by pickling."""
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(params=[copy.deepcopy, through_pickle], ids=["deepcopy", "pickle"])
def copier(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The two ways to copy an environment."""
    function: Callable[[Any], Any] = request.param
    return function
