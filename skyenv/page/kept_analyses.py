"""Analyses that are done, kept in the database: the same game and agent have the same one, whoever asks and after a restart."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
from typing import Final, NamedTuple

import numpy as np

from skyenv.errors import StorageError
from skyenv.page.catalogue import Catalogue
from skyenv.page.replays import Replay
from skyenv.page.storage import Storage, StoredAnalysis
from skyenv.rules.actions import NUM_ACTIONS

MOST: Final = 500
"""Analyses kept, the newest ones; each takes some ten kilobytes."""
_log = logging.getLogger("skyenv.page")


class Opinion(NamedTuple):
    """What an agent holds of one decision.

    Attributes:
        step: actions played before it.
        best: what it would have done.
        sure: how sure it is of that, and of what was played: probabilities, or VP compared with the best; None: it can't tell.
        share: the share of the win that it expects for the seat; None: it can't tell.
    """

    step: int
    best: int
    sure: tuple[float, float] | None
    share: float | None


class Kept(NamedTuple):
    """An analysis that is done: what the agent tells, as in hints; its version; its opinions by step."""

    kind: str
    version: str
    opinions: dict[int, Opinion]


def digest_of(replay: Replay) -> str:
    """What a game is found by: its positions and actions, to the last card, whatever record tells of them."""
    digest = hashlib.blake2b(replay.states.tobytes(), digest_size=16)
    digest.update(np.array(replay.actions(), np.int64).tobytes())
    return digest.hexdigest()


class KeptAnalyses:
    """The analyses in a database. A database that can't be asked now has none, and is given none.

    Args:
        storage: the database.
        catalogue: the agents, which know their versions.
    """

    def __init__(self, storage: Storage, catalogue: Catalogue) -> None:
        self._storage = storage
        self._catalogue = catalogue

    async def all_of(self, replay: Replay) -> list[StoredAnalysis]:
        """Those of a game by agents as they are now, the newest first."""
        with contextlib.suppress(StorageError):
            kept = await self._storage.read(self._storage.analyses, digest_of(replay))
            return [one for one in kept if self._is_true(one)]
        return []

    async def find(self, replay: Replay, agent: str, open_hands: bool) -> Kept | None:
        """One of them; None: there is none."""
        for one in await self.all_of(replay):
            if (one.agent, one.open_hands) == (agent, open_hands):
                return _read(one, replay.steps)
        return None

    async def keep(self, replay: Replay, agent: str, open_hands: bool, kept: Kept) -> None:
        """Store one, in the place of an earlier one."""
        opinions = json.dumps([[one.step, one.best, one.sure, one.share] for one in kept.opinions.values()])
        stored = StoredAnalysis(digest_of(replay), agent, kept.version, open_hands, kept.kind, opinions)
        with contextlib.suppress(StorageError):
            await self._storage.write(self._storage.keep_analysis, stored, MOST)

    def _is_true(self, one: StoredAnalysis) -> bool:
        """Whether the agent is here, and is none of another version as far as that is known."""
        about = self._catalogue.readiness.get(one.agent)
        return about is not None and about.version in ("", one.version)


def _read(one: StoredAnalysis, steps: int) -> Kept | None:
    """A stored analysis; None: it is damaged."""
    try:
        rows = json.loads(one.opinions)
        opinions = [_opinion(step, best, sure, share) for step, best, sure, share in rows]
        if not all(0 <= each.step <= steps and 0 <= each.best < NUM_ACTIONS for each in opinions):
            raise ValueError
    except (TypeError, ValueError, RecursionError):
        _log.warning("an analysis by %s in the database is damaged; it is made again", one.agent)
        return None
    return Kept(one.kind, one.version, {each.step: each for each in opinions})


def _opinion(step: object, best: object, sure: object, share: object) -> Opinion:
    """One, from what was stored.

    Raises:
        ValueError, TypeError: it is none.
    """
    if type(step) is not int or type(best) is not int:
        raise ValueError
    both = None
    if isinstance(sure, list):
        own, played = sure
        both = float(own), float(played)
    return Opinion(step, best, both, None if share is None else float(share))  # type: ignore[arg-type]
