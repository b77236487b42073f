"""Agents by specification: names, paths of checkpoints, ``"module:Name"``, objects, classes and
functions.

Agents have names by entry points of installed packages, ours and anybody's. A package declares in
its ``pyproject.toml``::

    [project.entry-points."skyenv.agents"]
    cautious = "my_package.cautious:CautiousAgent"

and ``"cautious"`` is an agent in every interface, on the page and in tournaments. A name that
several packages declare is ours, or nobody's; theirs is ``"package/cautious"``. In the same way
the group ``skyenv.checkpoints`` names the players of files by suffix, without its dot (``npz``),
and ``skyenv.checkpoint_folders`` the players of folders that other libraries write, by the word
before the path (``rllib:runs/rllib/model``).
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from skyenv.agents.interface import Agent
from skyenv.agents.simple import CallableAgent
from skyenv.errors import AgentError, CheckpointError, SkyenvError, cause, shown

# Groups of entry points. Agents are classes, or anything else that make_agent takes; players of
# checkpoints and folders are called with a path and `deterministic`, and return an agent.
AGENTS: Final = "skyenv.agents"
CHECKPOINTS: Final = "skyenv.checkpoints"
FOLDERS: Final = "skyenv.checkpoint_folders"
MODULE: Final = "module"
"""Instead of a group: ``"module:Name"``."""
OURS: Final = "skyenv"
"""The package whose names nobody else's replace."""
NETWORK: Final = "npz"
"""Suffix of the checkpoints that hold numbers alone: nothing in them is imported or unpickled."""


class Parsed(NamedTuple):
    """A specification, parsed: nothing is imported or read for it.

    Attributes:
        group: of the entry point; MODULE: an attribute of a module.
        name: of the entry point, or of the module.
        path: of the checkpoint; None: there is none.
    """

    group: str
    name: str
    path: Path | None = None


def parse(spec: str | Path) -> Parsed:
    """Parse a specification.

    A name, also with more behind a hyphen (``"ismcts-100"``), means the agent and no folder of that
    name in the working directory, which is written with a slash (``"./ismcts-100"``).

    Raises:
        AgentError: it means nothing. CheckpointError: it is a folder without a network.
    """
    text = str(spec)
    word, colon, rest = text.partition(":")
    if isinstance(spec, str):
        names = sorted(_declared(AGENTS), key=len, reverse=True)
        for name in names:
            more = spec[len(name) :]
            if spec == name or (spec.startswith(f"{name}-") and os.path.basename(more) == more):
                return Parsed(AGENTS, name)
        for group in (FOLDERS, CHECKPOINTS):
            if colon and word in _declared(group) and (group == FOLDERS or "/" in word):
                return Parsed(group, word, Path(rest))
    if text and os.path.isdir(spec):
        file = Path(spec, f"model.{NETWORK}")
        if file.is_file():
            return Parsed(CHECKPOINTS, NETWORK, file)
        raise CheckpointError(
            f"the folder {shown(text, 80)} has no {file.name}; a checkpoint of another kind is "
            "named by its file"
        )
    suffix = Path(spec).suffix
    if suffix in checkpoint_suffixes():
        return Parsed(CHECKPOINTS, suffix[1:], Path(spec))
    if word and rest and isinstance(spec, str):
        return Parsed(MODULE, word)
    raise AgentError(f"unknown agent {shown(text, 80)}; there are {agents_help()}")


def make_agent(
    spec: Agent | Callable[..., Any] | str | Path, *, deterministic: bool = False
) -> Agent:
    """Return the agent that a specification means.

    Args:
        spec: an agent; a class of agents; a function from :class:`Decisions` to actions;
            ``"module:Name"`` of any of these; a name that an installed package declares (see the
            module's text; ``"ismcts-100"`` and ``"rollout-50ms"`` have another budget than the
            plain names); or the path of a checkpoint (``"runs/maskable/model.zip"``), of a folder
            with a ``model.npz`` (``"runs/first"``), or of a folder of another library after that
            one's word (``"rllib:runs/rllib/model"``).
        deterministic: whether a checkpoint takes its most probable action instead of sampling one.

    Raises:
        AgentError: there is no such agent, or what makes it fails, whatever it raises.
        CheckpointError: the checkpoint is missing, damaged, or made for something else.
    """
    if isinstance(spec, (str, Path)):
        parsed = parse(spec)
        if parsed.group != MODULE:
            return _of_entry_point(parsed, str(spec), deterministic)
        attribute = str(spec).partition(":")[2]
        with _reporting(f"agent {spec!r}: can't import {attribute} from {parsed.name}"):
            target = getattr(importlib.import_module(parsed.name), attribute)
        return make_agent(target)
    if isinstance(spec, type):
        with _reporting(f"agent class {spec.__name__} can't be made without arguments"):
            spec = spec()
    if isinstance(spec, Agent):
        return spec
    if callable(spec):
        return CallableAgent(spec)
    raise AgentError(
        "an agent is an Agent, a class of them, a function of decisions, a name, the path of a "
        f"checkpoint or 'module:Name', not {shown(spec, 80)}"
    )


def agent_names() -> list[str]:
    """Return the names of agents that installed packages declare, in alphabetical order.

    None of them is imported.
    """
    return sorted(_declared(AGENTS))


def checkpoint_suffixes() -> list[str]:
    """Return the suffixes of checkpoints (``".npz"``), in alphabetical order."""
    return sorted(f".{suffix}" for suffix in _declared(CHECKPOINTS) if "/" not in suffix)


def checkpoint_in(spec: str | Path) -> Path | None:
    """Return the path of the checkpoint that a specification means, a file or another library's
    folder; None: another agent, or none at all.

    Raises:
        CheckpointError: it is a folder without a checkpoint.
    """
    try:
        return parse(spec).path
    except AgentError:
        return None


def running_code(specs: Iterable[str], file: Path) -> set[str]:
    """Return those agents named in a file that the command line must name, too.

    They import or unpickle what the author of the file has chosen. Agents of installed packages and
    networks (``.npz``) in the folder of the file, or below it, do not.

    Raises:
        AgentError, CheckpointError: as for :func:`parse`.
    """
    folder = file.resolve().parent
    parsed = {spec: parse(spec) for spec in specs}
    return {
        spec
        for spec, (group, name, path) in parsed.items()
        if group != AGENTS
        and not (path and name == NETWORK and path.resolve().is_relative_to(folder))
    }


def check_specification(spec: str) -> None:
    """Refuse what :func:`make_agent` would refuse, as far as that can be seen without importing or
    reading anything.

    Raises:
        AgentError: there is no such name or module.
        CheckpointError: there is no such file.
    """
    group, name, path = parse(spec)
    package = name.partition(".")[0]
    if path is not None:
        kind, there = ("folder", path.is_dir()) if group == FOLDERS else ("file", path.is_file())
        if not there:
            raise CheckpointError(f"agent {shown(spec, 80)}: there is no such {kind}")
    elif group == MODULE and not (package in sys.modules or find_spec(package)):
        raise AgentError(f"agent {spec!r}: can't import {name}")


def agents_help() -> str:
    """Return what can be written as an agent, for ``--help`` and errors.

    No agent is imported.
    """
    suffixes = ", ".join(checkpoint_suffixes())
    folders = "".join(f", {name}:FOLDER" for name in sorted(_declared(FOLDERS)))
    return (
        f"{', '.join(agent_names())} (with a budget: ismcts-100, rollout-50ms), a checkpoint "
        f"({suffixes}, or a folder with a model.npz){folders}, module:Name"
    )


@cache
def _declared(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; searching all installed packages takes
    milliseconds, so it is done once.

    Of several packages that declare one name, ours has it; another one's is ``package/name``, which
    is told on stderr.
    """
    found: dict[str, dict[str, EntryPoint]] = {}
    for entry in entry_points(group=group):
        package = entry.dist.name if entry.dist else entry.module.partition(".")[0]
        found.setdefault(entry.name, {})[package] = entry
    declared = {}
    for name, packages in found.items():
        ours = packages.pop(OURS, None)
        if ours is None and len(packages) == 1:
            (ours,) = packages.values()
            packages = {}
        if ours is not None:
            declared[name] = ours
        for package, entry in packages.items():
            other = f"{package}/{name}"
            declared[other] = entry
            if multiprocessing.parent_process() is None:  # workers needn't repeat it
                print(f"skyenv: {name} of the package {package} is called {other}", file=sys.stderr)
    return declared


def _of_entry_point(parsed: Parsed, spec: str, deterministic: bool) -> Agent:
    """Return the agent of an entry point."""
    group, name, path = parsed
    entry = _declared(group)[name]
    with _reporting(f"agent {name!r} can't be imported from {entry.value}"):
        target = entry.load()
    with _reporting(f"agent {shown(spec, 80)} ({entry.value}) can't be made"):
        if path is not None:
            agent: Agent = target(path, deterministic=deterministic)
            return agent
        if spec == name:
            return make_agent(target() if isinstance(target, type) else target)
        variant: Agent = target.variant(spec.rpartition("/")[2])
        return variant


@contextmanager
def _reporting(what: str) -> Iterator[None]:
    """Turn whatever a package raises into an AgentError that says what failed."""
    try:
        yield
    except (SkyenvError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit among them, with which it would end the command
        raise AgentError(f"{what}: {cause(error)}") from error
