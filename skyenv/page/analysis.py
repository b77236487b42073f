"""What an agent thinks of a whole game: the share of the win that it expects at each decision,
swings, and mistakes.

An agent is asked about each decision with a choice, from the view of the seat that was to act
there, as hints are. So a seat's line changes where it decides itself, and the lines of a step
needn't sum to 1.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent
from skyenv.engine.games import Games, results
from skyenv.engine.kernels import share_of
from skyenv.page.background import Work
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.chart import SHARE, Rows
from skyenv.page.hints import as_decisions, worth_of
from skyenv.page.kept_analyses import Judgement, KeptAnalyses, Opinion
from skyenv.page.payloads import Payload
from skyenv.page.playouts import batch_of
from skyenv.page.replays import Replay
from skyenv.page.workers import Priority, Report, Workers
from skyenv.render import words
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import NONE

MOST_MISTAKES: Final = 12
MOST_SWINGS: Final = 8
SMALLEST_SWING: Final = 0.05
"""Of the share of the win; less is noise."""
SHORT: Final = 0.2
LONG: Final = 0.8
"""Seconds that a bunch of decisions should take: shorter ones are made larger, longer ones smaller.
"""
LARGEST: Final = 128


# ---- in a worker ----


def assess(
    entry: CatalogueEntry,
    states: npt.NDArray[np.void],
    steps: npt.NDArray[np.int64],
    played: npt.NDArray[np.int64],
    report: Report,
) -> tuple[str, str]:
    """Have an agent judge decisions, and report them bunch by bunch: what it tells, and a list of
    :class:`Opinion`.

    Args:
        entry: the agent.
        states: the positions, GAME_DTYPE (k,), in which somebody has a choice; in the order in
            which they are wanted.
        steps: int64 (k,), where they stand in the game.
        played: int64 (k,), what was played there; NONE: nothing yet.
        report: told each bunch.

    Returns:
        What it said: "probability", "vp" or "none", as in hints; and the agent's version.

    Raises:
        AgentError: the agent's answer is none.
    """
    kind, first, number = "none", 0, 1
    while first < len(states):
        began = time.monotonic()
        bunch = slice(first, first + number)
        kind, opinions = _opinions(entry.agent, states[bunch], steps[bunch], played[bunch])
        report((kind, opinions))
        first += number
        took = time.monotonic() - began
        number = (
            min(2 * number, LARGEST)
            if took < SHORT
            else max(number // 2, 1)
            if took > LONG
            else number
        )
    return kind, entry.agent.version


def _opinions(
    agent: Agent,
    states: npt.NDArray[np.void],
    steps: npt.NDArray[np.int64],
    played: npt.NDArray[np.int64],
) -> tuple[str, list[Opinion]]:
    games = batch_of(states)
    decisions = as_decisions(games, agent)
    evaluations = agent.evaluate(decisions)
    shares = None
    if evaluations is not None:
        kind, sure = "probability", np.asarray(evaluations[0], np.float64)
        if evaluations[1] is not None:
            shares = np.clip(
                share_of(np.asarray(evaluations[1], np.float64), games.num_players), 0.0, 1.0
            )
    else:
        worth = worth_of(agent, decisions)
        if worth is None:
            best = np.asarray(agent.act(decisions)).astype(np.int64)
            return "none", [
                Opinion(int(step), int(action), None, None)
                for step, action in zip(steps, best, strict=True)
            ]
        kind, sure = "vp", worth
    opinions = []
    for row, step in enumerate(steps):
        legal = np.flatnonzero(decisions.mask[row])
        best_action = int(legal[np.argmax(sure[row, legal])])
        done = best_action if played[row] == NONE else int(played[row])
        both = float(sure[row, best_action]), float(sure[row, done])
        opinions.append(
            Opinion(int(step), best_action, both, None if shares is None else float(shares[row]))
        )
    return kind, opinions


def coarse_to_fine(number: int) -> Iterator[int]:
    """0 … number − 1, so that the first few lie far apart: every 64th, then those between them, and
    so on.
    """
    stride = 64
    yield from range(0, number, stride)
    while stride > 1:
        yield from range(stride // 2, number, stride)
        stride //= 2


# ---- in the server ----


class Analysis(Work):
    """An agent's judgement of a game, as far as it has come.

    Args:
        replay: the game.
        entry: the agent.
        known: those that are kept; None: none are.

    Attributes:
        wanted: how many decisions there are with a choice; 0 until it is known.
        kind: what the agent tells, as in hints; "" until it is known.
        version: the agent's; "" until the analysis is done.
        opinions: by step.
    """

    def __init__(
        self,
        replay: Replay,
        entry: CatalogueEntry,
        known: KeptAnalyses | None = None,
    ) -> None:
        super().__init__()
        self.replay = replay
        self.entry = entry
        self.wanted = 0
        self.kind = self.version = ""
        self._known = known
        self.opinions: dict[int, Opinion] = {}

    async def run(self, workers: Workers) -> None:
        """See :class:`~skyenv.page.background.Work`."""
        positions = await asyncio.to_thread(choices_of, self.replay)
        self.wanted, game = len(positions[1]), (self.replay, self.entry.name)
        if self._known is not None and (kept := await self._known.find(*game, positions[1])):
            self.kind, self.version, self.opinions = kept
            return
        job = partial(assess, self.entry, *positions)
        told = await workers.ask(job, Priority.ANALYSIS, self.add)
        self.kind, self.version = told
        if self._known is not None:
            await self._known.keep(*game, Judgement(self.kind, self.version, self.opinions))

    def add(self, bunch: tuple[str, list[Opinion]]) -> None:
        """Note what is reported, in a new dict: what is found may be told by another thread
        meanwhile.
        """
        self.kind, opinions = bunch
        self.opinions = self.opinions | {opinion.step: opinion for opinion in opinions}

    def rows(self) -> Rows:
        """``[step][seat]``: the share of the win that the agent saw for the seat when it last
        decided; at the end, what came.
        """
        now: list[float | None] = [None] * self.replay.players
        rows: list[list[float | None]] = []
        opinions = self.opinions
        for step, seat in enumerate(self.replay.states["seat"].tolist()):
            opinion = opinions.get(step)
            if opinion is not None and opinion.share is not None:
                now[seat] = opinion.share
            rows.append(list(now))
        if self.replay.game.is_over and any(share is not None for share in now):
            rows[-1] = results(self.replay.states[-1:])[0][0, : self.replay.players].tolist()
        return rows

    def mistakes(self) -> list[Payload]:
        """Decisions that the agent would have taken otherwise, by how much surer it is of its own
        choice, the worst first.
        """
        played = self.replay.actions()
        found = []
        for opinion in self.opinions.values():
            if (
                opinion.sure is None
                or opinion.step >= len(played)
                or opinion.best == played[opinion.step]
            ):
                continue
            loss = opinion.sure[0] - opinion.sure[1]
            if loss > 0:
                found.append((loss, opinion))
        found.sort(key=lambda one: (-one[0], one[1].step))
        return [
            self._mistake(loss, opinion, played[opinion.step])
            for loss, opinion in found[:MOST_MISTAKES]
        ]

    def _mistake(self, loss: float, opinion: Opinion, played: int) -> Payload:
        position: Any = self.replay.states.view(np.recarray)[opinion.step]
        assert opinion.sure is not None
        return {
            "step": opinion.step,
            "seat": int(position["seat"]),
            "played": words.action_text(position, played),
            "best": words.action_text(position, opinion.best),
            "sure": [round(number, 4) for number in opinion.sure],
            "loss": round(loss, 4),
        }

    def swings(self) -> list[Payload]:
        """Where the share that a seat could expect changed most from one decision of its own to the
        next, or to the end.
        """
        rows = self.rows()
        found: list[tuple[float, Payload]] = []
        for seat in range(self.replay.players):
            before: tuple[int, float] | None = None
            for step, row in enumerate(rows):
                share = row[seat]
                if share is None or (before is not None and share == before[1]):
                    continue
                if before is not None and abs(share - before[1]) >= SMALLEST_SWING:
                    change = {
                        "step": step,
                        "since": before[0],
                        "seat": seat,
                        "before": round(before[1], 4),
                        "after": round(share, 4),
                    }
                    found.append((abs(share - before[1]), change))
                before = step, share
        found.sort(key=lambda one: (-one[0], one[1]["step"]))
        return [change for _, change in found[:MOST_SWINGS]]

    def found(self) -> Payload:
        """See :class:`~skyenv.page.background.Work`."""
        rows = self.rows()
        has_shares = any(share is not None for share in rows[-1])
        mistakes = self.mistakes()
        marks = [
            (one["step"], one["seat"])
            for one in mistakes
            if rows[one["step"]][one["seat"]] is not None
        ]
        return {
            "agent": self.entry.name,
            "version": self.version,
            "kind": self.kind,
            "done": len(self.opinions),
            "of": self.wanted,
            "chart": self.replay.charts(rows, SHARE, marks) if has_shares else None,
            "mistakes": mistakes,
            "swings": self.swings() if has_shares else [],
        }


def choices_of(
    replay: Replay,
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """What :func:`assess` wants: the positions in which somebody has a choice, where they stand,
    and what was played.
    """
    steps = np.flatnonzero(replay.states["seat"] != NONE)
    masks = (
        batch_of(replay.states[steps]).mask if len(steps) else np.zeros((0, NUM_ACTIONS), np.int8)
    )
    choices = steps[masks.sum(axis=1) > 1]
    order = choices[list(coarse_to_fine(len(choices)))].astype(np.int64)
    actions = np.array([*replay.actions(), NONE], np.int64)
    return replay.states[order], order, actions[order]
