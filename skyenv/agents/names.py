"""From what a person writes to an agent: names, paths of checkpoints, ``"module:Name"``, objects,
classes and functions.

Agents have names by entry points of installed packages, ours and anybody's. A package declares in
its ``pyproject.toml``::

    [project.entry-points."skyenv.agents"]
    cautious = "my_package.cautious:CautiousAgent"

and ``"cautious"`` is an agent in every interface, on the page and in tournaments. In the same way
the group ``skyenv.checkpoints`` names what plays the files with a suffix, by the suffix without its
dot (``npz``), and ``skyenv.checkpoint_folders`` what plays folders that other libraries write, by
the word before the path (``rllib:runs/rllib/model``).
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeGuard

from skyenv.agents.interface import Agent
from skyenv.agents.simple import CallableAgent
from skyenv.errors import AgentError, CheckpointError, SkyenvError, cause, shown

AGENTS: Final = "skyenv.agents"
"""Group of the entry points that name agents: classes, or what else :func:`make_agent` makes an
agent of.
"""
CHECKPOINTS: Final = "skyenv.checkpoints"
"""Group of the entry points that play checkpoints: called with a path and ``deterministic``, they
return an agent.
"""
FOLDERS: Final = "skyenv.checkpoint_folders"
"""Group of the entry points that play folders, written ``name:path``; called as those of
CHECKPOINTS.
"""
BUDGETS: Final = ("ismcts-100", "rollout-50ms")
"""What names with a budget look like: so many simulations for each decision, or so much time."""


def make_agent(
    spec: Agent | Callable[..., Any] | str | Path, *, deterministic: bool = False
) -> Agent:
    """The agent that a specification means.

    Args:
        spec: an agent; a class of agents or a function without arguments that returns one; a
            function from :class:`Decisions` to actions; ``"module:Name"`` of any of these; a name
            that an installed package declares (see the module's text; ``"ismcts-100"`` and
            ``"rollout-50ms"`` have another budget than the plain names); or the path of a
            checkpoint (``"runs/first/model.npz"``) or of a folder with one (``"runs/first"``), with
            the word of another library before a folder of that one (``"rllib:runs/rllib/model"``).
        deterministic: whether a checkpoint takes its most probable action instead of drawing one.

    Raises:
        AgentError: there is no such agent, or what makes it fails, whatever it raises.
        CheckpointError: the checkpoint is missing, damaged, or made for something else.
    """
    if isinstance(spec, (str, Path)):
        path = checkpoint_in(spec)
        return (
            _named(str(spec))
            if path is None
            else _from_checkpoint(path, _folder_kind(spec), deterministic)
        )
    if _makes_one(spec):
        kind = "class" if isinstance(spec, type) else "function"
        with _naming(
            f"agent {kind} {getattr(spec, '__name__', shown(spec))} can't be made without arguments"
        ):
            made = spec()
        return make_agent(made)
    if isinstance(spec, Agent):
        return spec
    if callable(getattr(spec, "act", None)):
        return _adopted(spec)
    if callable(spec):
        return CallableAgent(spec)
    raise AgentError(
        "an agent is an object with act(), a function, a name, the path of a checkpoint or "
        f"'module:Name', not {shown(spec, 80)}"
    )


def agent_names() -> list[str]:
    """The names of agents that installed packages declare, in alphabetical order.

    None of them is imported.
    """
    return sorted(_declared(AGENTS))


def evaluating_names() -> list[str]:
    """The names of agents whose classes evaluate decisions, in alphabetical order; all that can be
    imported are.
    """
    names = []
    for name in agent_names():
        with suppress(AgentError):
            kind = _loaded(AGENTS, name)
            names += (
                [name] if getattr(kind, "evaluate", Agent.evaluate) is not Agent.evaluate else []
            )
    return names


def checkpoint_suffixes() -> list[str]:
    """What the paths of checkpoints end in (``".npz"``), in alphabetical order."""
    return sorted(f".{suffix}" for suffix in _declared(CHECKPOINTS))


def checkpoint_in(spec: str | Path) -> Path | None:
    """The path of the checkpoint that a specification means: itself, or what a trainer left in that
    folder; None: another agent.

    It is a file, or, where a word before it names another library, a folder.

    A name, with a budget too, means the agent and no folder that happens to be called so.

    Raises:
        CheckpointError: the folder has none.
    """
    if isinstance(spec, str) and (not spec or spec in agent_names()):
        return None
    kind = _folder_kind(spec)
    if kind is not None:
        return Path(str(spec)[len(kind) + 1 :])
    if not os.path.isdir(spec):
        path = Path(spec)
        return path if isinstance(spec, Path) or path.suffix in checkpoint_suffixes() else None
    if isinstance(spec, str) and _is_variant(spec):
        return None
    names = [f"model{suffix}" for suffix in checkpoint_suffixes()]
    for name in names:
        if os.path.isfile(os.path.join(spec, name)):
            return Path(spec, name)
    raise CheckpointError(f"the folder {shown(str(spec), 80)} has no {' or '.join(names)}")


def check_specification(spec: str) -> None:
    """Refuse what :func:`make_agent` would refuse, as far as that can be told without importing or
    reading anything.

    Raises:
        AgentError: there is no such name or module.
        CheckpointError: there is no such file.
    """
    path = checkpoint_in(spec)
    if path is not None:
        if _folder_kind(spec) is not None and not path.is_dir():
            raise CheckpointError(f"agent {shown(spec, 80)}: there is no such folder")
        if _folder_kind(spec) is None and not path.is_file():
            raise CheckpointError(f"agent {shown(str(path), 80)}: there is no such file")
    elif ":" in spec:
        module = spec.partition(":")[0].partition(".")[0]
        try:
            found = bool(module) and find_spec(module) is not None
        except ValueError:  # a program's own __main__ has none
            found = True
        if not found:
            raise AgentError(f"agent {spec!r}: can't import {spec.partition(':')[0]}")
    elif not any(spec == name or spec.startswith(f"{name}-") for name in agent_names()):
        raise _unknown(spec)


def agents_help() -> str:
    """What can be written where an agent is asked for, for ``--help`` and errors.

    No agent is imported.
    """
    budgets = [example for example in BUDGETS if example.rpartition("-")[0] in agent_names()]
    with_budgets = f" (with a budget: {', '.join(budgets)})" if budgets else ""
    suffixes = ", ".join(checkpoint_suffixes())
    folders = "".join(f", {name}:FOLDER" for name in sorted(_declared(FOLDERS)))
    return f"{', '.join(agent_names())}{with_budgets}, a checkpoint ({suffixes}, or a folder with one){folders}, module:Name"


@cache
def _declared(group: str) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by name; looking through all installed packages takes
    milliseconds, so it is done once.
    """
    declared: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=group):
        same = declared.setdefault(entry.name, [])
        if entry.value not in [
            other.value for other in same
        ]:  # a package can be found twice, installed and in its folder
            same.append(entry)
    return declared


def _entry(group: str, name: str) -> EntryPoint:
    """The entry point of that name, which only one package may declare."""
    entries = _declared(group)[name]
    if len(entries) > 1:
        packages = " and ".join(sorted(_package(entry) for entry in entries))
        raise AgentError(f"agent {name!r}: {packages} both declare it; name it as 'module:Name'")
    return entries[0]


def _loaded(group: str, name: str) -> Any:
    """What an entry point stands for."""
    entry = _entry(group, name)
    with _naming(f"agent {name!r} of {_package(entry)} can't be imported from {entry.value}"):
        return entry.load()


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Packages of others may raise anything: let it be an AgentError that tells what failed, so
    that the rest can go on.
    """
    try:
        yield
    except SkyenvError:
        raise
    except Exception as error:
        raise AgentError(f"{what}: {cause(error)}") from error


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


def _folder_kind(spec: str | Path) -> str | None:
    """The word before the path of another library's folder; None: the specification means something
    else.
    """
    kind, colon, _ = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    return kind if colon and kind in _declared(FOLDERS) else None


def _from_checkpoint(path: Path, folder_kind: str | None, deterministic: bool) -> Agent:
    group, name = (CHECKPOINTS, path.suffix[1:]) if folder_kind is None else (FOLDERS, folder_kind)
    if name not in _declared(group):
        known = " or ".join(checkpoint_suffixes()) or "nothing, as no installed package plays any"
        raise AgentError(f"agent {shown(str(path), 80)}: checkpoints end in {known}")
    player = _loaded(group, name)
    with _naming(f"agent {shown(str(path), 80)}, played by {_package(_entry(group, name))}"):
        agent: Agent = player(path, deterministic=deterministic)
    return agent


def _named(spec: str) -> Agent:
    if ":" in spec:
        return make_agent(_imported(spec))
    if spec in _declared(AGENTS):
        thing, entry = _loaded(AGENTS, spec), _entry(AGENTS, spec)
        with _naming(f"agent {spec!r} of {_package(entry)} can't be made from {entry.value}"):
            return make_agent(thing() if _makes_one(thing) else thing)
    variant = _variant(spec)
    if variant is None:
        raise _unknown(spec)
    return variant


def _variant(spec: str) -> Agent | None:
    """The agent that a name and more behind a hyphen mean; None: no name begins it.

    Raises:
        AgentError: the agent of that name has no such variant.
    """
    for name in sorted(_declared(AGENTS), key=len, reverse=True):
        if spec.startswith(f"{name}-"):
            kind = _loaded(AGENTS, name)
            if isinstance(kind, type) and issubclass(kind, Agent):
                with _naming(
                    f"agent {shown(spec, 80)} of {_package(_entry(AGENTS, name))} can't be made"
                ):
                    return kind.variant(spec)
    return None


def _is_variant(spec: str) -> bool:
    try:
        return _variant(spec) is not None
    except SkyenvError:
        return False


def _unknown(spec: str) -> AgentError:
    if not agent_names():
        return AgentError(
            f"unknown agent {shown(spec, 80)}: no installed package declares any, as skyenv itself "
            "isn't installed"
        )
    return AgentError(f"unknown agent {shown(spec, 80)}; there are {agents_help()}")


def _makes_one(thing: Any) -> TypeGuard[Callable[[], Any]]:
    """Whether a class, or a function without arguments, that makes an agent."""
    if isinstance(thing, type):
        return True
    is_one = isinstance(thing, Agent) or callable(getattr(thing, "act", None))
    return callable(thing) and not is_one and _takes_nothing(thing)


def _takes_nothing(function: Callable[..., Any]) -> bool:
    """Whether a function has no parameters: then it makes an agent instead of being one."""
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions may not tell
        return False


def _adopted(thing: Any) -> Agent:
    """An object that has act() but is no Agent, as an Agent."""
    agent = CallableAgent(thing.act)
    agent.name = str(getattr(thing, "name", type(thing).__name__))
    agent.uses_observation = bool(getattr(thing, "uses_observation", True))
    agent.uses_view = bool(getattr(thing, "uses_view", False))
    if callable(getattr(thing, "evaluate", None)):
        agent.evaluate = thing.evaluate  # type: ignore[method-assign]
    return agent


def _imported(spec: str) -> Any:
    module_name, colon, attribute = spec.partition(":")
    if not (colon and module_name and attribute):
        raise _unknown(spec)
    with _naming(f"agent {spec!r}: can't import {module_name}"):
        module = importlib.import_module(module_name)
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        raise AgentError(f"agent {spec!r}: module {module_name} has no {attribute}") from error
