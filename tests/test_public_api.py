"""What ``skyenv`` offers: all of it there, importable from where it says, and with errors of its
own.

That public things have docstrings and types, Ruff's rules D and strict mypy say.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import skyenv
from processes import python
from skyenv import errors


def test_everything_offered_is_there() -> None:
    assert len(skyenv.__all__) == len(set(skyenv.__all__))
    assert all(hasattr(skyenv, name) for name in skyenv.__all__)
    offered = {
        name
        for name, thing in vars(skyenv).items()
        if not name.startswith("_")
        and not inspect.ismodule(thing)
        and name not in ("annotations", "register")
    } - {"PackageNotFoundError", "version", "ModuleType"}
    assert offered == set(skyenv.__all__)


def test_what_issue_and_docs_promise_is_offered() -> None:
    assert {
        "Game",
        "Games",
        "Outcome",
        "Board",
        "Agent",
        "SkyenvError",
        "OBSERVATION_SIZE",
        "ACTION_NAMES",
    } <= set(skyenv.__all__)
    assert skyenv.NUM_ACTIONS == len(skyenv.ACTION_NAMES) == 103
    assert isinstance(skyenv.OBSERVATION_SIZE, int)
    assert skyenv.__version__[0].isdigit()


def test_names_can_be_resolved() -> None:
    """Annotations of what the package offers name things that exist where they stand."""
    for name in skyenv.__all__:
        thing = getattr(skyenv, name)
        if inspect.isfunction(thing):
            inspect.signature(thing, eval_str=True)
        elif inspect.isclass(thing):
            for member in vars(thing).values():
                function: Callable[..., Any] | None = (
                    member.fget if isinstance(member, property) else member
                )
                if inspect.isfunction(function):
                    inspect.signature(function, eval_str=True)


def test_errors() -> None:
    """One small class for each kind of mistake: all are SkyenvError, all are offered."""
    kinds = {
        name: kind
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, BaseException)
    }
    assert set(kinds) <= set(skyenv.__all__)
    assert all(issubclass(kind, skyenv.SkyenvError) for kind in kinds.values())
    assert all(kind.__module__ == "skyenv.errors" for kind in kinds.values())
    assert all(
        issubclass(kind, ValueError) for name, kind in kinds.items() if name != "SkyenvError"
    )
    assert issubclass(skyenv.GameOverError, skyenv.IllegalActionError)
    assert issubclass(skyenv.BoardError, skyenv.OptionError)


def test_offered_classes_say_where_they_can_be_found() -> None:
    """So that pickles and tracebacks name modules that can be imported."""
    for name in skyenv.__all__:
        thing = getattr(skyenv, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert getattr(importlib.import_module(thing.__module__), thing.__name__) is thing


def test_unknown_attributes() -> None:
    with pytest.raises(AttributeError, match="module 'skyenv' has no attribute 'nothing'"):
        skyenv.nothing  # noqa: B018


def test_fifth_avenue_v0_comes_with_the_package() -> None:
    """In both ways of writing, if PettingZoo is there."""
    pytest.importorskip("pettingzoo")
    from skyenv import fifth_avenue_v0

    assert skyenv.fifth_avenue_v0 is fifth_avenue_v0
    assert fifth_avenue_v0.__all__ == ["env", "parallel_env", "raw_env"]


IMPORTS = """
import sys
import skyenv, skyenv.envs
heavy = {"torch", "stable_baselines3", "matplotlib", "pyspiel", "open_spiel"}
heavy |= {"skyenv_agents", "experiments"}
print(sorted(name for name in sys.modules if name.split(".")[0] in heavy))
"""


def test_importing_it_imports_no_heavy_library() -> None:
    result = python("-W", "error", "-c", IMPORTS)
    assert (result.stdout, result.stderr) == ("[]\n", "")
