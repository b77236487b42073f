"""What ``skyenv`` offers: all of it there, documented, typed, and with errors of its own."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import skyenv
from skyenv import errors

OPTIONAL = {"skyenv.envs", "skyenv.fifth_avenue_v0", "skyenv.page.web"}
"""Modules that may need libraries which a bare installation lacks."""


def modules() -> Iterator[ModuleType]:
    """All modules that can be imported here, the package itself first."""
    yield skyenv
    for found in pkgutil.walk_packages(skyenv.__path__, "skyenv."):
        if found.name == "skyenv.__main__":
            continue
        try:
            yield importlib.import_module(found.name)
        except ModuleNotFoundError:
            if not any(found.name.startswith(name) for name in OPTIONAL):
                raise


def public_things(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions and classes that a module defines under a public name, with the public methods of the classes."""
    for name, thing in vars(module).items():
        function = getattr(thing, "py_func", thing)
        if name.startswith("_") or getattr(function, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(function) or inspect.isclass(function):
            yield f"{module.__name__}.{name}", function
        if inspect.isclass(function):
            for method_name, method in vars(function).items():
                if method_name.startswith("_"):
                    continue
                inner = method.fget if isinstance(method, property) else inspect.unwrap(getattr(method, "__func__", method))
                if inspect.isfunction(inner):
                    yield f"{module.__name__}.{name}.{method_name}", inner


THINGS = dict(sorted(thing for module in modules() for thing in public_things(module)))


def test_everything_offered_is_there() -> None:
    assert len(skyenv.__all__) == len(set(skyenv.__all__))
    assert all(hasattr(skyenv, name) for name in skyenv.__all__)
    offered = {
        name
        for name, thing in vars(skyenv).items()
        if not name.startswith("_") and not inspect.ismodule(thing) and name not in ("annotations", "register")
    } - {"PackageNotFoundError", "version", "ModuleType"}
    assert offered == set(skyenv.__all__)


def test_what_issue_and_docs_promise_is_offered() -> None:
    assert {"Game", "Games", "Outcome", "Board", "Agent", "SkyenvError", "OBSERVATION_SIZE", "ACTION_NAMES"} <= set(
        skyenv.__all__
    )
    assert skyenv.NUM_ACTIONS == len(skyenv.ACTION_NAMES) == 103
    assert isinstance(skyenv.OBSERVATION_SIZE, int)
    assert skyenv.__version__[0].isdigit()


def test_every_module_says_what_it_is_for() -> None:
    assert [module.__name__ for module in modules() if not (module.__doc__ or "").strip()] == []


@pytest.mark.parametrize("name", THINGS)
def test_public_things_have_docstrings(name: str) -> None:
    """Of their own; a method may take over that of the method which it overrides."""
    assert (inspect.getdoc(THINGS[name]) or _inherited_doc(name) or "").strip(), f"{name} has no docstring"
    assert not (inspect.isclass(THINGS[name]) and THINGS[name].__doc__ is None)


def _inherited_doc(name: str) -> str | None:
    owner, _, method = name.rpartition(".")
    kind = THINGS.get(owner)
    for base in inspect.getmro(kind)[1:] if inspect.isclass(kind) else ():
        if method in vars(base):
            return inspect.getdoc(vars(base)[method])
    return None


@pytest.mark.parametrize("name", [name for name, thing in THINGS.items() if inspect.isfunction(thing)])
def test_public_functions_are_typed(name: str) -> None:
    """Every parameter and what is returned."""
    signature = inspect.signature(THINGS[name])
    untyped = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name not in ("self", "cls")
    ]
    if name.startswith("skyenv.kernels."):  # compiled: typed by Numba for the arrays that it is given
        return
    assert untyped == []
    assert signature.return_annotation is not signature.empty


@pytest.mark.parametrize("name", [name for name, thing in THINGS.items() if inspect.isclass(thing)])
def test_public_classes_are_made_from_typed_arguments(name: str) -> None:
    make = vars(THINGS[name]).get("__init__")
    if make is None or make.__module__ == "typing":  # of a protocol, of which nothing is made
        return
    parameters = list(inspect.signature(make).parameters.values())[1:]
    assert [parameter.name for parameter in parameters if parameter.annotation is parameter.empty] == []


def test_names_can_be_resolved() -> None:
    """Annotations of what the package offers name things that exist where they stand."""
    for name in skyenv.__all__:
        thing = getattr(skyenv, name)
        if inspect.isfunction(thing):
            inspect.signature(thing, eval_str=True)
        elif inspect.isclass(thing):
            for member in vars(thing).values():
                function: Callable[..., Any] | None = member.fget if isinstance(member, property) else member
                if inspect.isfunction(function):
                    inspect.signature(function, eval_str=True)


def test_errors() -> None:
    """One small class for each kind of mistake: all are SkyenvError, all are offered."""
    kinds = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind)}
    assert set(kinds) <= set(skyenv.__all__)
    assert all(issubclass(kind, skyenv.SkyenvError) for kind in kinds.values())
    assert all(kind.__module__ == "skyenv.errors" for kind in kinds.values())
    assert all(issubclass(kind, ValueError) for name, kind in kinds.items() if name != "SkyenvError")
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
    assert fifth_avenue_v0.__all__ == ["env", "raw_env"]


IMPORTS = """
import sys
import skyenv
heavy = {"torch", "stable_baselines3", "matplotlib", "pyspiel", "open_spiel", "agents", "experiments"}
print(sorted(name for name in sys.modules if name.split(".")[0] in heavy))
"""


def test_importing_it_imports_no_heavy_library() -> None:
    result = subprocess.run([sys.executable, "-W", "error", "-c", IMPORTS], capture_output=True, encoding="utf-8", check=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


@pytest.mark.parametrize("layer", ["rules", "knowledge", "observation", "kernels", "games", "game", "record"])
def test_imports_point_one_way(layer: str) -> None:
    """Rules know nothing of games, games nothing of environments, pictures and agents (but where a method asks for them)."""
    above = "envs render agents page cli"
    order = ["errors files", "rules", "knowledge observation kernels", "games", "events", "game", "record", above]
    place = {name: i for i, names in enumerate(order) for name in names.split()}
    for module in modules():
        parts = module.__name__.split(".")
        if len(parts) < 2 or parts[1] != layer:
            continue
        for thing in vars(module).values():
            origin = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", None)
            if isinstance(origin, str) and origin.startswith("skyenv."):
                assert place[origin.split(".")[1]] <= place[layer], f"{module.__name__} imports from {origin}"
