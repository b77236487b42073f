"""The heuristic agents ``greedy`` and ``appraiser``: the action with the highest expected VP.

They score every legal action one action ahead, without search or learning. A score adds the
immediate victory points (VP) and the change in value of plots, cards, skyscrapers in the supply and
future auctions. VP of others count against it. See :mod:`skyenv_agents.heuristic.scores`;
``weights.toml`` has the weights.

The appraiser differs from greedy in four points:

* A bidder's win probability in an auction depends on its points *and* on its value of winning.
* A district that fills up can be stopped.
* Cards are priced by the plots for which they are needed.
* A move is valued by the scorings that both commissioners together leave to each seat.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import ClassVar, Final, TypeAlias

import numpy as np

from skyenv.agents import Agent, Decisions, sample
from skyenv.array_types import Float64, Int64, RecordArray
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.record import as_records, new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE
from skyenv_agents.heuristic.scores import decide_all

Weights: TypeAlias = Mapping[str, float]
"""All weights of an agent by name."""
# By the table's name and the weight's: values for games of two, three and four players.
TABLES: Final[Mapping[str, Mapping[str, Sequence[float]]]] = tomllib.loads(
    files("skyenv_agents.heuristic").joinpath("weights.toml").read_text(encoding="utf-8")
)
GREEDY: Final = TABLES["greedy"]
ADDITIONAL: Final = TABLES["additional"]


def by_players(table: Mapping[str, Sequence[float]]) -> dict[int, Weights]:
    """Return the weights for every number of players."""
    return {
        players: {name: values[players - 2] for name, values in table.items()}
        for players in (2, 3, 4)
    }


GREEDY_WEIGHTS: Final = by_players(GREEDY)
APPRAISER_WEIGHTS: Final = by_players({**GREEDY, **TABLES["overrides"], **ADDITIONAL})
# Weights for compiled functions, with a flag for the appraiser's rules.
WEIGHTS_DTYPE: Final = np.dtype(
    [("appraises", np.bool_), *((name, np.float64) for name in (*GREEDY, *ADDITIONAL))], align=True
)
# Nonzero values of the appraiser's additional weights in greedy's scores.
NEUTRAL: Final = {"limit": 1.0, "park": 1.0, "bonus": 1.0}


def weights_record(weights: Weights) -> RecordArray:
    """Return the record of some weights, WEIGHTS_DTYPE (1,)."""
    record = new_records(1, WEIGHTS_DTYPE)
    record["appraises"] = ADDITIONAL.keys() <= weights.keys()
    for name, value in {**NEUTRAL, **weights}.items():
        record[name] = value
    return record


class HeuristicAgent(Agent):
    """An agent that takes the action with the highest heuristic score.

    Args:
        weights: weights by number of players; None: the default ones.

    Attributes:
        default_weights: the weights by number of players, if none are given.

    Raises:
        AgentError: missing or unknown names of weights.
    """

    uses_view = True
    default_weights: ClassVar[Mapping[int, Weights]]

    def __init__(self, weights: Mapping[int, Weights] | None = None) -> None:
        given = self.default_weights if weights is None else weights
        for players, default in self.default_weights.items():
            if given[players].keys() != default.keys():
                wrong = sorted(given[players].keys() ^ default.keys())
                raise AgentError(f"missing or unknown weights of {self.name}: {shown(wrong)}")
        self._records = {
            players: weights_record(given[players]) for players in self.default_weights
        }

    def weights(self, num_players: int) -> RecordArray:
        """Return the weights for a number of players as a record, WEIGHTS_DTYPE (1,)."""
        return self._records[num_players]

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        return self._decide(decisions, np.zeros((0, NUM_ACTIONS)))

    def scores(self, decisions: Decisions) -> Float64:
        """Return the expected VP of each action, float64 (k, 103); only entries of legal actions
        are defined, and −10⁹ excludes an action.
        """
        scores = np.zeros((len(decisions), NUM_ACTIONS))
        self._decide(decisions, scores)
        return scores

    def _decide(self, decisions: Decisions, scores: Float64) -> Int64:
        """Return the best actions; write all scores into `scores` if it has rows."""
        actions = np.zeros(len(decisions), np.int64)
        views = as_records(decisions.trusted_view(), VIEW_DTYPE)
        weights, memory = self.weights(decisions.num_players), new_records(1, HEURISTIC_DTYPE)
        decide_all(views, decisions.mask, decisions.uniform, weights, memory, actions, scores)
        return actions


class GreedyAgent(HeuristicAgent):
    """The agent ``greedy``; see :class:`HeuristicAgent`."""

    name = "greedy"
    version = "1"
    description = "scores every legal action by its expected VP, one action ahead"
    default_weights = GREEDY_WEIGHTS

    @classmethod
    def variant(cls, name: str) -> "Agent":
        """Return the weaker agent of a name such as ``"greedy-2vp"``: :class:`SampledAgent`."""
        temperature = re.fullmatch(r"greedy-(\d{1,2}(?:\.\d)?)vp", name, re.ASCII)
        if temperature is None or not float(temperature[1]):
            return super().variant(name)
        return SampledAgent(name, float(temperature[1]))


class SampledAgent(GreedyAgent):
    """A weaker greedy agent: it samples actions in proportion to exp(score / temperature).

    Args:
        name: such as ``"greedy-2vp"``.
        temperature: in VP, above 0; the higher, the weaker.
    """

    def __init__(self, name: str, temperature: float) -> None:
        super().__init__()
        self.name, self.temperature = name, temperature
        self.description = (
            f"samples greedy's actions by their VP, at a temperature of {temperature:g}"
        )

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        scores = np.where(decisions.mask != 0, self.scores(decisions), -np.inf)
        losses = scores - scores.max(axis=1, keepdims=True)
        return sample(np.exp(losses / self.temperature), decisions.uniform)


class AppraiserAgent(HeuristicAgent):
    """The agent ``appraiser``; see the module."""

    name = "appraiser"
    version = "1"
    description = "scores actions by expected VP, and auctions by every seat's likely bid"
    default_weights = APPRAISER_WEIGHTS
