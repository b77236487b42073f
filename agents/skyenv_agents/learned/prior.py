"""The heuristic prior of networks: scores, expected outcome and features, as codes.

A network may have a heuristic agent's scores of the legal actions among its inputs and as the
starting point of its policy; see :mod:`skyenv_agents.learned.layout` for the codes.
"""

from typing import Final, NamedTuple

import numpy as np

from skyenv.agents import Decisions
from skyenv.array_types import Float32, Int8, Int16, RecordArray
from skyenv.engine.knowledge import VIEW_DTYPE, ViewRecord
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.rewards import compiled_outcome_of
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.record import Array, as_records, new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE, extract_features
from skyenv_agents.heuristic.inputs import NUM_POSITION_INPUTS, write_position
from skyenv_agents.heuristic.player import GreedyAgent, HeuristicAgent
from skyenv_agents.heuristic.scores import score_actions
from skyenv_agents.heuristic.win_probability import EARLY, LATE, write_win_probabilities
from skyenv_agents.learned.layout import (
    NUM_INPUTS,
    OUTCOME_PARTS,
    POSITION_PARTS,
    PRIOR_PARTS,
)

# VP behind the best action at which heuristic scores are clipped, so that networks can still learn
# to take such actions.
WORST_PRIOR: Final = 3.0
NUM_CODES: Final = NUM_INPUTS - OBSERVATION_SIZE
LARGEST_CODE: Final = np.iinfo(np.int16).max
GREEDY: Final = GreedyAgent()


class PriorMemory(NamedTuple):
    """The heuristics' weights, and working memory.

    Attributes:
        weights: of the prior's heuristic, WEIGHTS_DTYPE (1,).
        greedy: of the greedy agent, which values the seats' holdings, WEIGHTS_DTYPE (1,).
        heuristic: HEURISTIC_DTYPE (1,).
        position: float32 (NUM_POSITION_INPUTS,).
        with_outcome: whether there is an expected outcome; if not, its code is 0.
    """

    weights: RecordArray
    greedy: RecordArray
    heuristic: RecordArray
    position: Float32
    with_outcome: bool


def prior_memory(heuristic: HeuristicAgent, players: int, with_outcome: bool) -> PriorMemory:
    """Return the memory for the prior of a heuristic agent at tables of some players."""
    return PriorMemory(
        heuristic.weights(players),
        GREEDY.weights(players),
        new_records(1, HEURISTIC_DTYPE),
        np.zeros(NUM_POSITION_INPUTS, np.float32),
        with_outcome,
    )


@called_rule
def write_prior(view: ViewRecord, mask: Int8, memory: PriorMemory, codes: Int16) -> None:
    """Write the codes of a decision's prior, int16 (NUM_CODES,)."""
    h, position, me = memory.heuristic[0], memory.position, int(view.seat)
    players = int(view.game.num_players)
    extract_features(view, memory.greedy[0], h)
    write_win_probabilities(view.game, view, EARLY, LATE, memory.greedy[0], h)
    outcome = compiled_outcome_of(h.win[me], players) if memory.with_outcome else 0.0
    codes[NUM_ACTIONS] = np.int16(np.rint(outcome * OUTCOME_PARTS))
    score_actions(view, memory.weights[0], h, mask)
    best = -np.inf
    for action in range(NUM_ACTIONS):
        if mask[action]:
            best = max(best, h.score[action])
    for action in range(NUM_ACTIONS):
        behind = max(h.score[action] - best, -WORST_PRIOR) if mask[action] else 0.0
        codes[action] = np.int16(np.rint(np.float32(behind) * np.float32(PRIOR_PARTS)))
    extract_features(view, memory.weights[0], h)
    write_position(view, h, position)
    for k in range(NUM_POSITION_INPUTS):
        code = np.rint(position[k] * np.float32(POSITION_PARTS))
        codes[NUM_ACTIONS + 1 + k] = np.int16(min(max(code, -LARGEST_CODE), LARGEST_CODE))


@entry_point("priors of networks")
def _write_priors(views: Array, masks: Array, memory: PriorMemory, codes: Array) -> None:
    """Write the codes of each decision's prior, int16 (n, NUM_CODES)."""
    for i in range(len(views)):
        write_prior(views[i], masks[i], memory, codes[i])


def prior_codes(heuristic: HeuristicAgent, decisions: Decisions, with_outcome: bool) -> Int16:
    """Return the codes of a heuristic prior, int16 (k, NUM_CODES).

    They are each legal action's score minus the best one's, from −WORST_PRIOR to 0 VP, and 0 if
    illegal; the expected outcome by the seats' holdings; and the features of
    :mod:`skyenv_agents.heuristic.inputs`.

    Args:
        with_outcome: whether the network was trained with the outcome as reward; if not, the code
            of the expected outcome is 0.
    """
    views = as_records(decisions.trusted_view(), VIEW_DTYPE)
    codes = np.empty((len(decisions), NUM_CODES), np.int16)
    memory = prior_memory(heuristic, decisions.num_players, with_outcome)
    _write_priors(views, decisions.mask, memory, codes)
    return codes
