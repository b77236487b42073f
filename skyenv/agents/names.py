"""Specifications of agents: names, checkpoints, ``"module:Name"``, objects, classes and
functions.

Entry points of installed packages name agents. A package declares in its ``pyproject.toml``::

    [project.entry-points."skyenv.agents"]
    cautious = "my_package.cautious:CautiousAgent"

and ``"cautious"`` is an agent in every interface, on the page and in tournaments. A name that
several packages declare belongs to skyenv, or to none of them; the others are
``"package/cautious"``. In the same way the group ``skyenv.checkpoints`` maps suffixes of files,
without the dot (``npz``), to players.
"""

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
from skyenv.runtime import shortage

# Groups of entry points. Agents are classes, or anything else that make_agent accepts; players of
# checkpoints are called with a path and `deterministic`, and return an agent.
AGENTS: Final = "skyenv.agents"
CHECKPOINTS: Final = "skyenv.checkpoints"
MODULE: Final = "module"
"""The group of ``"module:Name"``."""
# The package whose names take precedence.
OURS: Final = "skyenv"
NETWORK: Final = "npz"
"""Suffix of checkpoints that hold only numbers: loading imports and unpickles nothing."""


# Agents that no list shows: they reach rare rules, for tests; shipped ladders rate the first.
UNLISTED: Final = frozenset({"crowd", "hoard"})


class Parsed(NamedTuple):
    """A parsed specification; parsing imports and reads nothing.

    Attributes:
        group: group of the entry point; MODULE: an attribute of a module.
        name: name of the entry point or of the module.
        path: path of the checkpoint, or None.
    """

    group: str
    name: str
    path: Path | None = None


def parse(spec: str | Path) -> Parsed:
    """Parse a specification.

    A name, also with a suffix after a hyphen (``"ismcts-100"``), means the agent, even if there is
    such a folder; a path to it contains a slash (``"./ismcts-100"``).

    Raises:
        AgentError: there is no such agent. CheckpointError: it is a folder without a network.
    """
    text = str(spec)
    word, colon, rest = text.partition(":")
    if isinstance(spec, str):
        names = sorted(_declared(AGENTS), key=len, reverse=True)
        for name in names:
            more = spec[len(name) :]
            if spec == name or (spec.startswith(f"{name}-") and os.path.basename(more) == more):
                return Parsed(AGENTS, name)
        if colon and "/" in word and word in _declared(CHECKPOINTS):
            return Parsed(CHECKPOINTS, word, Path(rest))
    if text and os.path.isdir(spec):
        file = Path(spec, f"model.{NETWORK}")
        if file.is_file():
            return Parsed(CHECKPOINTS, NETWORK, file)
        raise CheckpointError(
            f"the folder {shown(text, 80)} has no {file.name}; name another kind of "
            "checkpoint by its file"
        )
    suffix = Path(spec).suffix
    if suffix in checkpoint_suffixes():
        return Parsed(CHECKPOINTS, suffix[1:], Path(spec))
    if word and rest and isinstance(spec, str):
        return Parsed(MODULE, word)
    raise AgentError(f"unknown agent {shown(text, 80)}; choose from {agents_help()}")


def make_agent(
    spec: Agent | Callable[..., Any] | str | Path, *, deterministic: bool = False
) -> Agent:
    """Return the agent of a specification.

    Args:
        spec: an agent; a class of agents; a function from :class:`Decisions` to actions;
            ``"module:Name"`` of any of these; a name that an installed package declares (see the
            module's text; ``"ismcts-100"`` and ``"rollout-50ms"`` set another budget); or the path
            of a checkpoint (``"runs/maskable/model.zip"``) or of a folder with a ``model.npz``
            (``"runs/first"``).
        deterministic: whether a checkpoint's player takes the argmax instead of sampling actions.

    Raises:
        AgentError: there is no such agent, or its constructor fails.
        CheckpointError: the checkpoint is missing, damaged, or made for another kind of game or
            agent.
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
        with _reporting(f"agent class {spec.__name__} can't be constructed without arguments"):
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
    """Return the names of agents that installed packages declare, in alphabetical order; not those
    of :data:`UNLISTED`.

    None of them is imported.
    """
    return sorted(_declared(AGENTS).keys() - UNLISTED)


def checkpoint_suffixes() -> list[str]:
    """Return the suffixes of checkpoints (``".npz"``), in alphabetical order."""
    return sorted(f".{suffix}" for suffix in _declared(CHECKPOINTS) if "/" not in suffix)


def checkpoint_in(spec: str | Path) -> Path | None:
    """Return the path of a specification's checkpoint; None if it isn't one.

    Raises:
        CheckpointError: it is a folder without a checkpoint.
    """
    try:
        return parse(spec).path
    except AgentError:
        return None


def running_code(specs: Iterable[str], file: Path) -> set[str]:
    """Return those agents named in a file that the command line must confirm.

    Loading them imports or unpickles code chosen by the author of the file. Agents of installed
    packages and networks (``.npz``) in or below the file's folder are exempt.

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
    """Check that a name, module or file exists, without importing or reading it.

    Raises:
        AgentError: there is no such name or module.
        CheckpointError: there is no such file.
    """
    group, name, path = parse(spec)
    package = name.partition(".")[0]
    if path is not None:
        if not path.is_file():
            raise CheckpointError(f"agent {shown(spec, 80)}: there is no such file")
    elif group == MODULE and not (package in sys.modules or find_spec(package)):
        raise AgentError(f"agent {spec!r}: can't import {name}")


def agents_help() -> str:
    """Return the valid specifications of agents, for ``--help`` and errors.

    No agent is imported.
    """
    suffixes = ", ".join(checkpoint_suffixes())
    return (
        f"{', '.join(agent_names())} (with a budget: ismcts-100, rollout-50ms), a checkpoint "
        f"({suffixes}, or a folder with a model.npz), module:Name"
    )


@cache
def _declared(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; cached, as searching all packages takes
    milliseconds.

    If several packages declare a name, it is skyenv's; the others get ``package/name``, with a note
    on stderr.
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
            if multiprocessing.parent_process() is None:  # printed once, not by workers
                print(f"skyenv: {name} of the package {package} is named {other}", file=sys.stderr)
    return declared


def _of_entry_point(parsed: Parsed, spec: str, deterministic: bool) -> Agent:
    """Return an entry point's agent."""
    group, name, path = parsed
    entry = _declared(group)[name]
    with _reporting(f"agent {name!r} can't be imported from {entry.value}"):
        target = entry.load()
    with _reporting(f"agent {shown(spec, 80)} ({entry.value}) can't be constructed"):
        if path is not None:
            agent: Agent = target(path, deterministic=deterministic)
            return agent
        if spec == name:
            return make_agent(target() if isinstance(target, type) else target)
        variant: Agent = target.variant(spec.rpartition("/")[2])
        return variant


@contextmanager
def _reporting(what: str) -> Iterator[None]:
    """Convert any error of a package, but a shortage of the machine, to an AgentError that names
    what failed.
    """
    try:
        yield
    except (SkyenvError, KeyboardInterrupt):
        raise
    except BaseException as error:  # including SystemExit, which would end the command
        if shortage(error):
            raise
        raise AgentError(f"{what}: {cause(error)}") from error
