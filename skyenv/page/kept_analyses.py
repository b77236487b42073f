"""Analyses that are done, kept in the database: the same game and agent have the same one, whoever
asks and after a restart.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.page.catalogue import Catalogue
from skyenv.page.errors import StorageError
from skyenv.page.preparing import Preparation
from skyenv.page.replays import Replay
from skyenv.page.storage import Storage, StoredAnalysis
from skyenv.rules.actions import NUM_ACTIONS

MOST: Final = 500
"""Analyses kept; each takes some ten kilobytes. Who fills that throws out his own first."""
_log = logging.getLogger("skyenv.page")


class Opinion(NamedTuple):
    """What an agent holds of one decision.

    Attributes:
        step: actions played before it.
        best: what it would have done.
        sure: how sure it is of that, and of what was played: probabilities, or VP compared with the
            best; None: it can't tell.
        share: the share of the win that it expects for the seat; None: it can't tell.
    """

    step: int
    best: int
    sure: tuple[float, float] | None
    share: float | None


class Judgement(NamedTuple):
    """An analysis that is done: what the agent tells, as in hints; its version; its opinions by
    step.
    """

    kind: str
    version: str
    opinions: dict[int, Opinion]


class KeptAnalyses:
    """The analyses in a database. A database that can't be asked now has none, and is given none.

    What takes its time is done in other threads, as games can be long.

    Args:
        storage: the database.
        catalogue: the agents, which know their versions.
        preparation: of these agents.
        client: the browser for which analyses are kept.
    """

    def __init__(
        self, storage: Storage, catalogue: Catalogue, preparation: Preparation, client: str
    ) -> None:
        self._storage = storage
        self._catalogue = catalogue
        self._preparation = preparation
        self._client = client

    async def all_of(self, replay: Replay) -> list[StoredAnalysis]:
        """Those of a game by agents as they are now, the newest first; of an agent that isn't ready
        it may not be known yet.
        """
        with contextlib.suppress(StorageError):
            return await self._storage.read(self._all_of, await _digest_of(replay))
        return []

    async def find(
        self, replay: Replay, agent: str, steps: npt.NDArray[np.int64]
    ) -> Judgement | None:
        """One of them; None: there is none.

        It is waited for the agent, whose version is known then.

        Args:
            replay: the game.
            agent: its name.
            steps: int64, where there is something to decide, in any order: an analysis has an
                opinion of each.

        Raises:
            PageError: the agent can't be had.
        """
        await self._preparation.agent(agent)
        with contextlib.suppress(StorageError):
            return await self._storage.read(self._find, await _digest_of(replay), agent, steps)
        return None

    async def keep(self, replay: Replay, agent: str, judgement: Judgement) -> None:
        """Store one, in the place of an earlier one."""
        with contextlib.suppress(StorageError):
            await self._storage.write(self._keep, await _digest_of(replay), agent, judgement)

    def _all_of(self, digest: str) -> list[StoredAnalysis]:
        return [one for one in self._storage.analyses(digest) if self._is_true(one)]

    def _find(self, digest: str, agent: str, steps: npt.NDArray[np.int64]) -> Judgement | None:
        same = (one for one in self._all_of(digest) if one.agent == agent)
        return next((_read(one, steps) for one in same), None)

    def _keep(self, digest: str, agent: str, judgement: Judgement) -> None:
        opinions = json.dumps(
            [[one.step, one.best, one.sure, one.share] for one in judgement.opinions.values()]
        )
        stored = StoredAnalysis(digest, agent, judgement.version, judgement.kind, opinions)
        self._storage.keep_analysis(stored, self._client, MOST)

    def _is_true(self, one: StoredAnalysis) -> bool:
        """Whether the agent is here, and known to be of that version."""
        about = self._catalogue.readiness.get(one.agent)
        return about is not None and about.version == one.version


async def _digest_of(replay: Replay) -> str:
    return await asyncio.to_thread(lambda: replay.digest)


def _read(one: StoredAnalysis, steps: npt.NDArray[np.int64]) -> Judgement | None:
    """A stored analysis; None: it is damaged."""
    try:
        rows = json.loads(one.opinions)
        opinions = [_opinion(step, best, sure, share) for step, best, sure, share in rows]
        if sorted(each.step for each in opinions) != sorted(steps.tolist()):
            raise ValueError
    except (TypeError, ValueError, OverflowError, RecursionError):
        _log.warning("an analysis by %s in the database is damaged; it is made again", one.agent)
        return None
    return Judgement(one.kind, one.version, {each.step: each for each in opinions})


def _opinion(step: object, best: object, sure: object, share: object) -> Opinion:
    """One, from what was stored.

    Raises:
        ValueError, TypeError, OverflowError: it is none.
    """
    if type(step) is not int or type(best) is not int or not 0 <= best < NUM_ACTIONS:
        raise ValueError
    both = None
    if isinstance(sure, list):
        own, played = sure
        both = _finite(own), _finite(played)
    return Opinion(step, best, both, None if share is None else _finite(share))


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise ValueError
    return number
