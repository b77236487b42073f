"""What all tests share: the rules are compiled once, before workers start, and randomness has fixed seeds."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # windows open nowhere

settings.register_profile(
    "skyenv", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("skyenv")


def pytest_configure(config: pytest.Config) -> None:
    """Compile before parallel workers start, so that they find everything on disk; one process compiles what it needs."""
    if "PYTEST_XDIST_WORKER" in os.environ or not config.getoption("numprocesses", None):
        return
    from skyenv.rules.compiling import COMPILED

    if COMPILED:
        from compile_first import compile_all

        print("compiling what isn't on disk yet …", flush=True)
        compile_all()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests may take longer than the limit of the others."""
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(3600))


def through_pickle(thing: Any) -> Any:
    """A copy made by pickling."""
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(params=[copy.deepcopy, through_pickle], ids=["deepcopy", "pickle"])
def copier(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The two ways to copy an environment."""
    function: Callable[[Any], Any] = request.param
    return function
