"""Compiling what the page calls, in workers that report each function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from skyenv.engine.game import Game
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.jobs import advise, move
from skyenv.page.payloads import Look
from skyenv.page.workers import Report
from skyenv.rules.compiling import progress_to


@dataclass(frozen=True)
class Step:
    """How far compiling has come.

    Attributes:
        about: what is compiled now, in words.
        done: functions that this process has compiled.
        total: of so many as it knows to be needed so far.
    """

    about: str
    done: int
    total: int


@dataclass(frozen=True)
class Prospect:
    """What is known of an agent once it has been made.

    Attributes:
        description: its own, a line.
        version: its own.
    """

    description: str
    version: str


def play_a_little() -> None:
    """Call all of the rules' entry points; they are loaded from disk, or compiled."""
    game = Game(2, seed=1, max_turns=1)
    while not game.is_over:
        Look(game, 0, ["", ""]).payload()
        game.observation()
        game.games.uniforms()
        game.play(game.legal_actions[-1])
    Look(game, 0, ["", ""]).payload()
    game.rewind(game.position())  # as replays do


def compile_rules(report: Report) -> None:
    """A job: have the rules on disk; reports :class:`Step`."""
    with _reporting(report):
        play_a_little()


def look_at(entry: CatalogueEntry, report: Report) -> Prospect:
    """A job: make an agent.

    Raises:
        AgentError, CheckpointError: it can't be made.
    """
    return Prospect(entry.agent.description, entry.agent.version)


def compile_agent(entry: CatalogueEntry, report: Report) -> None:
    """A job: have on disk what an agent needs for its turns and hints; reports :class:`Step`.

    Raises:
        AgentError, CheckpointError: it can't be made, or its answer to an ordinary decision is
            none.
    """
    with _reporting(report):
        game = Game(2, seed=1)
        advise(entry, game, _tell_nobody)
        move(entry, game, _tell_nobody)


def _tell_nobody(found: object) -> None:
    """What a search has come to so far interests nobody here."""


@contextmanager
def _reporting(report: Report) -> Iterator[None]:
    """Report what is compiled in this process meanwhile."""

    def listen(about: str, number: int, total: int) -> None:
        report(Step(about, number - 1, total))

    with progress_to(listen):
        yield
