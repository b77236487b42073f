"""Game records (INTERFACE.md, "A game record"): format, reading, replay and verification.

A :class:`skyenv.Game` writes its record by :meth:`~skyenv.Game.to_record`, and is created from one
by :meth:`~skyenv.Game.from_record`, :meth:`~skyenv.Game.replay` and :meth:`~skyenv.Game.positions`.
"""

from skyenv.records.reader import GameLines, iter_games, nth_game
from skyenv.records.replay import VerifySummary, verify

__all__ = ["GameLines", "VerifySummary", "iter_games", "nth_game", "verify"]
