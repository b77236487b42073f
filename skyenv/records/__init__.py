"""Game records (INTERFACE.md, "A game record"): their format, reading them, replaying and verifying
them.

A :class:`skyenv.Game` writes its own, :meth:`~skyenv.Game.to_record`, and is made from one by
:meth:`~skyenv.Game.from_record`, :meth:`~skyenv.Game.replay` and :meth:`~skyenv.Game.positions`.
"""

from skyenv.records.reader import GameLines, iter_games, nth_game
from skyenv.records.replay import VerifySummary, verify

__all__ = ["GameLines", "VerifySummary", "iter_games", "nth_game", "verify"]
