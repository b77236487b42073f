"""Every seat's probability to win by what it has: its VP, and what greedy holds its skyscrapers,
cards and supply to be worth.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.engine.knowledge import VIEW_DTYPE, ViewRecord, as_views
from skyenv.engine.validation import as_games
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_COLOURS, NUM_DISTRICTS, NUM_RANKS
from skyenv.rules.state import PHASE_OVER, Array, GameRecord, as_records, new_records
from skyenv_agents.heuristic.features import (
    HEURISTIC_DTYPE,
    HeuristicRecord,
    WeightsRecord,
    look_up,
    park_value,
    point_worth,
)
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.heuristic.worth import supply_worth

EARLY: Final = 20.0
"""VP ahead that make the odds to win e times as high at the start of a game, as networks with a
prior take it …
"""
LATE: Final = 6.0
"""… and at its end."""


@called_rule
def holdings_worth(
    game: GameRecord, view: ViewRecord, w: WeightsRecord, h: HeuristicRecord, seat: int
) -> float:
    """VP that a seat has, and those that its skyscrapers, cards and supply should bring; `h` has
    looked up the position.
    """
    worth = (
        float(game.score[seat])
        + int(game.park[seat]) * park_value(game)
        + supply_worth(w, h, int(game.supply[seat]))
    )
    for district in range(NUM_DISTRICTS):
        for plot in range(NUM_COLOURS):
            if game.owner[district, plot] == seat:
                worth += int(game.floors[district, plot]) * h.worth[district, plot]
    number = 0
    points = 0.0
    for colour in range(NUM_COLOURS + 1):
        number += int(view.unknown[seat, colour])
        for rank in range(NUM_RANKS):
            number += int(view.game.hand[seat, colour, rank])
        points += h.points[seat, colour] * (w.black if colour == BLACK else 1.0)
    return float(worth + points * point_worth(w, h, number))


@called_rule
def write_win_probabilities(
    game: GameRecord,
    view: ViewRecord,
    early: float,
    late: float,
    w: WeightsRecord,
    h: HeuristicRecord,
) -> None:
    """Write every seat's probability to win into `h.win`; `h` has looked up the position unless the
    game is over.
    """
    over = game.phase == PHASE_OVER
    temperature = late + (0.0 if over else (early - late) * h.left)
    best = 0.0
    for seat in range(game.num_players):
        h.win[seat] = float(game.score[seat]) if over else holdings_worth(game, view, w, h, seat)
        best = max(best, h.win[seat])
    total = 0.0
    for seat in range(game.num_players):
        h.win[seat] = math.exp((h.win[seat] - best) / temperature)
        total += h.win[seat]
    for seat in range(game.num_players):
        h.win[seat] /= total


@entry_point("win probabilities")
def _of_games(
    games: Array,
    early: float,
    late: float,
    weights: Array,
    blank_views: Array,
    shown_games: Array,
    heuristic: Array,
    probabilities: Array,
) -> None:
    """Write every seat's probability, all hands open, into `probabilities` [game, seat]; in
    `blank_views` nothing is unknown.
    """
    for i in range(len(games)):
        if games[i].phase != PHASE_OVER:
            shown_games[0] = games[i]
            look_up(blank_views[0], weights[0], heuristic[0])
        write_win_probabilities(games[i], blank_views[0], early, late, weights[0], heuristic[0])
        for seat in range(games[i].num_players):
            probabilities[i, seat] = heuristic[0].win[seat]


@entry_point("win probabilities")
def _of_views(
    views: Array, early: float, late: float, weights: Array, heuristic: Array, probabilities: Array
) -> None:
    """The same as each view's seat sees it; the games go on."""
    for i in range(len(views)):
        look_up(views[i], weights[0], heuristic[0])
        write_win_probabilities(views[i].game, views[i], early, late, weights[0], heuristic[0])
        for seat in range(views[i].game.num_players):
            probabilities[i, seat] = heuristic[0].win[seat]


_GREEDY: Final = GreedyAgent()


def win_probabilities(
    state: npt.NDArray[np.void], early: float = EARLY, late: float = LATE
) -> npt.NDArray[np.float64]:
    """Every seat's probability to win by what it has, all hands open: float64 (n, 4), each row sums
    to 1 over the game's seats.

    Args:
        state: games of one number of players, GAME_DTYPE (n,).
        early, late: VP ahead that make the odds e times as high at the start and at the end of the
            game, above 0.
    """
    probabilities = np.zeros((len(state), MAX_PLAYERS))
    if len(state):
        weights = _GREEDY.weights(int(state["num_players"][0]))
        blank_views = new_records(1, VIEW_DTYPE)
        scratch = new_records(1, HEURISTIC_DTYPE)
        _of_games(
            as_games(state),
            float(early),
            float(late),
            weights,
            blank_views,
            blank_views["game"],
            scratch,
            probabilities,
        )
    return probabilities


def win_probabilities_seen(
    views: npt.NDArray[np.void], early: float = EARLY, late: float = LATE, *, trusted: bool = False
) -> npt.NDArray[np.float64]:
    """As :func:`win_probabilities`, but as far as each view's seat can see.

    Args:
        views: what seats see of games that go on, VIEW_DTYPE (n,).
        early, late: as there.
        trusted: the views are known to be views, such as those of decisions that have been checked,
            and aren't checked again.
    """
    probabilities = np.zeros((len(views), MAX_PLAYERS))
    if len(views):
        weights = _GREEDY.weights(int(views["game"]["num_players"][0]))
        checked = as_records(views, VIEW_DTYPE) if trusted else as_views(views)
        _of_views(
            checked,
            float(early),
            float(late),
            weights,
            new_records(1, HEURISTIC_DTYPE),
            probabilities,
        )
    return probabilities
