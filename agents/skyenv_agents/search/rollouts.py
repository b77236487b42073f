"""Compiled rollouts of the searches, from determinizations to evaluated positions.

Arguments that many functions share: `game`, a determinization; `s`, a record of SEARCH_DTYPE; `w`,
the greedy player's weights; `scratch`, a :class:`Scratch`.
"""

from typing import Final, NamedTuple

import numpy as np

from skyenv.array_types import Float32, Float64, Int8, RecordArray
from skyenv.checks import check_choice, check_integer, check_number
from skyenv.engine.knowledge import VIEW_DTYPE, ViewRecord, redact, sample_determinization
from skyenv.engine.numbers import uniform32
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.event_log import LOG_DTYPE
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.record import F64, I64, Array, Record, field, new_records
from skyenv.rules.scoring import winners
from skyenv.rules.state import GAME_DTYPE, PHASE_OVER, GameRecord
from skyenv_agents.heuristic.features import (
    HEURISTIC_DTYPE,
    WeightsRecord,
    extract_board,
    extract_features,
)
from skyenv_agents.heuristic.scores import choose_best, score_actions
from skyenv_agents.heuristic.win_probability import EARLY, LATE, write_win_probabilities
from skyenv_agents.search.leaf_network import MEMORY, NUM_WEIGHTS, extract_open_hands, predict

# Evaluations of an unfinished position: by the seats' holdings, or by the leaf network.
LEAF_VALUES: Final = ("holdings", "network")
NETWORK: Final = LEAF_VALUES.index("network")


class SearchRecord(Record):
    """A search's options for rollouts, evaluations and the expansion of its tree."""

    turns = field(I64)  # length of a rollout, in turns of all seats together
    # VP of lead that multiply the odds of winning by e, at the start and the end of the game
    early = field(F64)
    late = field(F64)
    # weight of VP in the value of a finished game; the win has the remaining weight
    margin = field(F64)
    exploration = field(F64)  # exploration constant of PUCT
    temperature = field(F64)  # of the prior, a softmax of greedy's scores, in VP
    leaf_value = field(I64)  # evaluation of unfinished positions, an index of LEAF_VALUES


SEARCH_DTYPE: Final = SearchRecord.dtype
# Lowest, highest and default values of a search's numeric options.
NUMBERS: Final = {
    "early": (0.1, 1e6, EARLY),
    "late": (0.1, 1e6, LATE),
    "margin": (0.0, 1.0, 0.2),
    "exploration": (0.0, 1e6, 0.25),
    "temperature": (1e-3, 1e6, 2.0),
}


class Scratch(NamedTuple):
    """Working memory for the compiled functions of one search; all records have length 1.

    Attributes:
        games: the game of a rollout.
        views: a seat's view of it.
        shown_games: the game in that view.
        heuristic: greedy's features and scores.
        log: the chance events.
        mask: legal actions, int8 (103,).
        prior: prior probabilities of actions, float64 (103,).
        network: the leaf network's weights, float32 (NUM_WEIGHTS,).
        memory: the leaf network's inputs and activations, float32 (MEMORY,).
    """

    games: RecordArray
    views: RecordArray
    shown_games: RecordArray
    heuristic: RecordArray
    log: RecordArray
    mask: Int8
    prior: Float64
    network: Float32
    memory: Float32


def new_scratch(network: Float32 | None = None) -> Scratch:
    """Return the working memory for one search.

    Args:
        network: the leaf network's weights, float32 (NUM_WEIGHTS,); None for searches without it.
    """
    views = new_records(1, VIEW_DTYPE)
    return Scratch(
        new_records(1, GAME_DTYPE),
        views,
        views["game"],
        new_records(1, HEURISTIC_DTYPE),
        new_records(1, LOG_DTYPE),
        np.zeros(NUM_ACTIONS, np.int8),
        np.zeros(NUM_ACTIONS),
        np.zeros(NUM_WEIGHTS, np.float32) if network is None else network,
        np.zeros(MEMORY, np.float32),
    )


def search_options(
    *, turns: int = 0, leaf_value: str = LEAF_VALUES[0], **numbers: float
) -> RecordArray:
    """Return the options of a search as a record of SEARCH_DTYPE (1,).

    Args:
        turns: length of a rollout by the greedy agent, in turns of all seats together, at least 0.
        leaf_value: the evaluation of unfinished positions: ``"holdings"``, by the seats' holdings
            (:mod:`skyenv_agents.heuristic.win_probability`), or ``"network"``, by a small compiled
            network (:mod:`skyenv_agents.search.leaf_network`).
        numbers: the options in NUMBERS, with ranges and defaults; see SEARCH_DTYPE.

    Raises:
        AgentError: an option has an invalid value.
        TypeError: there is no such option.
    """
    if unknown := numbers.keys() - NUMBERS.keys():
        raise TypeError(f"unknown search options: {', '.join(sorted(unknown))}")
    options = new_records(1, SEARCH_DTYPE)
    check_choice("leaf_value", leaf_value, LEAF_VALUES, AgentError)
    options["leaf_value"] = LEAF_VALUES.index(leaf_value)
    options["turns"] = check_integer("turns", turns, 0, 2**31 - 1, AgentError)
    for name, (low, high, usual) in NUMBERS.items():
        options[name] = check_number(name, numbers.get(name, usual), low, high, AgentError)
    return options


@called_rule
def copy_game(games: Array, row: int, game: GameRecord) -> None:
    """Copy a game to a row.

    The compiler takes half a second for every copy of a record, so there is only this one.
    """
    games[row] = game


@called_rule
def determinize(view: ViewRecord, game: GameRecord, scratch: Scratch, seed: int) -> None:
    """Turn a copy of the view's game into a determinization; every view of a reachable game has at
    least one.
    """
    sample_determinization(view, game, scratch.log[0], scratch.mask, seed)


@called_rule
def write_view(game: GameRecord, scratch: Scratch, seat: int) -> None:
    """Write a seat's view of a game into the scratch memory."""
    copy_game(scratch.shown_games, 0, game)
    redact(scratch.views[0], seat)


@called_rule
def greedy_action(game: GameRecord, w: WeightsRecord, scratch: Scratch, salt: int) -> int:
    """Return the greedy agent's action for the seat to act, by that seat's view."""
    h = scratch.heuristic[0]
    if refresh_mask(game, scratch.mask) > 1:
        write_view(game, scratch, int(game.seat))
        score_actions(scratch.views[0], w, h, scratch.mask)
    return int(choose_best(h, scratch.mask, uniform32(game, salt) / 4294967296.0))


@called_rule
def rollout(game: GameRecord, w: WeightsRecord, scratch: Scratch, last: int, salt: int) -> None:
    """Play all seats by the greedy agent until `last` turns are over, or to the end."""
    while game.phase != PHASE_OVER and game.turns < last:
        apply(game, scratch.log[0], greedy_action(game, w, scratch, salt))


@called_rule
def evaluate(
    game: GameRecord, s: SearchRecord, w: WeightsRecord, scratch: Scratch, me: int
) -> None:
    """Write every seat's win probability to `scratch.heuristic`.

    It is exact if the game is over. Otherwise the holdings are those in the view of `me`; the leaf
    network uses all hands, whose hidden cards were sampled for the determinization.
    """
    h = scratch.heuristic[0]
    if game.phase != PHASE_OVER:
        if s.leaf_value == NETWORK:
            extract_board(game, w, h)
            extract_open_hands(game, h)
            predict(game, h, scratch.network, scratch.memory)
            return
        write_view(game, scratch, me)
        extract_features(scratch.views[0], w, h)
        write_win_probabilities(game, scratch.views[0], s.early, s.late, w, h)
        return
    write_win_probabilities(game, scratch.views[0], s.early, s.late, w, h)
    best_seats = winners(game)
    number = 0
    for seat in range(game.num_players):
        number += (best_seats >> seat) & 1
    for seat in range(game.num_players):
        share = ((best_seats >> seat) & 1) / number
        h.win[seat] = s.margin * h.win[seat] + (1.0 - s.margin) * share


@entry_point("rollouts")
def try_actions(
    views: Array,
    actions: Array,
    seeds: Array,
    options: Array,
    weights: Array,
    games: Array,
    scratch: Scratch,
    values: Array,
) -> None:
    """Evaluate every action by a rollout in one determinization per seed.

    Writes the win probabilities into `values` [seed, action]; `games` is memory for one game.
    """
    me = int(views[0].seat)
    for i in range(len(seeds)):
        copy_game(games, 0, views[0].game)
        determinize(views[0], games[0], scratch, seeds[i])
        for j in range(len(actions)):
            copy_game(scratch.games, 0, games[0])
            game = scratch.games[0]
            last = int(game.turns) + int(options[0].turns)
            apply(game, scratch.log[0], actions[j])
            rollout(game, weights[0], scratch, last, int(seeds[i]))
            evaluate(game, options[0], weights[0], scratch, me)
            values[i, j] = scratch.heuristic[0].win[me]
