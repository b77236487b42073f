"""Win probabilities by the seats' holdings: VP, and greedy's values of skyscrapers and cards."""

import math
from typing import Final

import numpy as np

from skyenv.array_types import Float64, RecordArray
from skyenv.engine.knowledge import VIEW_DTYPE, ViewRecord
from skyenv.engine.validation import as_games
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_COLOURS, NUM_DISTRICTS, NUM_RANKS
from skyenv.rules.record import Array, new_records
from skyenv.rules.state import PHASE_OVER, GameRecord
from skyenv_agents.heuristic.features import (
    HEURISTIC_DTYPE,
    HeuristicRecord,
    WeightsRecord,
    extract_features,
    park_value,
    point_value,
)
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.heuristic.values import supply_value

# VP of lead that multiply the odds of winning by e at the start of a game, for networks with a
# prior.
EARLY: Final = 20.0
LATE: Final = 6.0  # the same at its end


@called_rule
def holdings_value(
    game: GameRecord, view: ViewRecord, w: WeightsRecord, h: HeuristicRecord, seat: int
) -> float:
    """Return a seat's VP plus the value of its skyscrapers, cards and supply; `h` holds the
    features.
    """
    value = (
        float(game.score[seat])
        + int(game.park[seat]) * park_value(game)
        + supply_value(w, h, int(game.supply[seat]))
    )
    for district in range(NUM_DISTRICTS):
        for plot in range(NUM_COLOURS):
            if game.owner[district, plot] == seat:
                value += int(game.floors[district, plot]) * h.value[district, plot]
    number = 0
    points = 0.0
    for colour in range(NUM_COLOURS + 1):
        number += int(view.unknown[seat, colour])
        for rank in range(NUM_RANKS):
            number += int(view.game.hand[seat, colour, rank])
        points += h.points[seat, colour] * (w.black if colour == BLACK else 1.0)
    return float(value + points * point_value(w, h, number))


@called_rule
def write_win_probabilities(
    game: GameRecord,
    view: ViewRecord,
    early: float,
    late: float,
    w: WeightsRecord,
    h: HeuristicRecord,
) -> None:
    """Write every seat's win probability into `h.win`; `h` holds the features unless the game is
    over.
    """
    over = game.phase == PHASE_OVER
    for seat in range(game.num_players):
        h.win[seat] = float(game.score[seat]) if over else holdings_value(game, view, w, h, seat)
    softmax(game, h, late + (0.0 if over else (early - late) * h.left))


@called_rule
def softmax(game: GameRecord, h: HeuristicRecord, temperature: float) -> None:
    """Turn the seats' strengths in `h.win` into win probabilities."""
    best = -math.inf
    for seat in range(game.num_players):
        best = max(best, h.win[seat])
    total = 0.0
    for seat in range(game.num_players):
        h.win[seat] = math.exp((h.win[seat] - best) / temperature)
        total += h.win[seat]
    for seat in range(game.num_players):
        h.win[seat] /= total


@entry_point("win probabilities")
def _write_all(views: Array, weights: Array, heuristic: Array, probabilities: Array) -> None:
    """Write every seat's probability by each view into `probabilities` [game, seat]."""
    for i in range(len(views)):
        game = views[i].game
        if game.phase != PHASE_OVER:
            extract_features(views[i], weights[0], heuristic[0])
        write_win_probabilities(game, views[i], EARLY, LATE, weights[0], heuristic[0])
        for seat in range(game.num_players):
            probabilities[i, seat] = heuristic[0].win[seat]


_GREEDY: Final = GreedyAgent()


def win_probabilities(state: RecordArray) -> Float64:
    """Return every seat's win probability by its holdings, with open hands: float64 (n, 4); each
    row sums to 1 over the game's seats.

    Args:
        state: games of one number of players, GAME_DTYPE (n,).
    """
    views = new_records(len(state), VIEW_DTYPE)  # without hidden information
    views["game"] = as_games(state)
    probabilities = np.zeros((len(views), MAX_PLAYERS))
    if len(views):
        weights = _GREEDY.weights(int(views["game"]["num_players"][0]))
        scratch = new_records(1, HEURISTIC_DTYPE)
        _write_all(views, weights, scratch, probabilities)
    return probabilities
