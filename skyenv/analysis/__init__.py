"""Estimates and analyses of positions and recorded games.

* :class:`Recording`: a recorded game with all its positions
* :class:`Analysis`: its mistakes by cost, and each seat's chance to win at every decision
* :func:`advise`: an agent's whole choices for a decision, with its values and chances to win
* :func:`win_chances`: estimates by the network; :func:`play_out`: results of games played out
* :func:`draw_odds`: exact odds of the next cards; :func:`bid_worth`: what an auction is worth
* :func:`variation`, :func:`continued`: the same past with other hidden cards and new chance
* :func:`choice_text`: a whole choice in words

``python -m skyenv analyse GAME.jsonl`` lists a game's mistakes.
"""

from skyenv.analysis.choices import text as choice_text
from skyenv.analysis.hints import advise
from skyenv.analysis.mistakes import Analysis
from skyenv.analysis.odds import bid_worth, draw_odds
from skyenv.analysis.playouts import play_out
from skyenv.analysis.recording import Recording
from skyenv.analysis.variations import continued, variation
from skyenv.analysis.win_chance import win_chances

__all__ = [
    "Analysis",
    "Recording",
    "advise",
    "bid_worth",
    "choice_text",
    "continued",
    "draw_odds",
    "play_out",
    "variation",
    "win_chances",
]
