"""The interface of agents, the simplest agents, and letting agents decide.

An agent decides in batches, one decision in each of many games, from what its seat may see: the action mask, and where it
asks for it the observation or the seat's view. Its only source of chance is the decision's own random number, so a seed
decides a game however games are batched.
"""

from __future__ import annotations

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from skyenv.errors import AgentError, shown
from skyenv.game import Game
from skyenv.games import Games
from skyenv.knowledge import view
from skyenv.rules.actions import (
    BID_DONE,
    BUILD,
    NUM_ACTIONS,
    OPTION_A,
    OPTION_B,
    OPTION_C,
    OPTION_D,
    PASS,
    PLOT,
    STOP,
)

if TYPE_CHECKING:
    from skyenv.render.scene import Mind

Thoughts: TypeAlias = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]
"""Probabilities of all actions, float64 (k, 103), 0 for illegal ones, and the outcomes expected, float64 (k,), or None."""

REGISTRY: Final = "agents.registry"
"""The module of a clone of the project that knows more agents by name than the package does, and checkpoints."""
CHECKPOINTS: Final = (".npz", ".zip")
"""What the paths of trained agents end in."""


@dataclass(frozen=True)
class Decisions:
    """k decisions to take, each in a game of its own.

    Attributes:
        mask: int8 (k, 103), 1 for each legal action.
        seat: int64 (k,), the seat to act.
        num_players: players of all the games.
        uniform: float64 (k,) in [0, 1), each decision's own random number.
        observation: float32 (k, OBSERVATION_SIZE) from the view of `seat`; None unless the agent uses it.
        view: records of skyenv.knowledge.VIEW_DTYPE (k,); None unless the agent uses it.
    """

    mask: npt.NDArray[np.int8]
    seat: npt.NDArray[np.int64]
    num_players: int
    uniform: npt.NDArray[np.float64]
    observation: npt.NDArray[np.float32] | None = None
    view: np.recarray | None = None

    def __len__(self) -> int:
        return len(self.seat)


class Agent(ABC):
    """Something that decides.

    Attributes:
        name: short name, as in tables and records.
        version: changes whenever the agent's decisions may.
        description: one line.
        uses_observation: whether `act` wants `Decisions.observation`.
        uses_view: whether `act` wants `Decisions.view`.
    """

    name: str = "agent"
    version: str = "1"
    description: str = ""
    uses_observation: bool = False
    uses_view: bool = False

    @abstractmethod
    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """A legal action for each decision, whole numbers (k,)."""

    def think(self, decisions: Decisions) -> Thoughts | None:
        """How probable the agent holds its actions, and what outcome it expects; None: it can't tell."""
        return None


def sample(weights: npt.NDArray[np.float64], uniform: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """An index for each row of `weights`, (k, n) and ≥ 0, drawn in proportion with the row's random number (k,)."""
    sums = np.cumsum(weights, axis=1)
    chosen: npt.NDArray[np.int64] = np.argmax(sums > (uniform * sums[:, -1])[:, None], axis=1).astype(np.int64)
    return chosen


class RandomAgent(Agent):
    """Uniform over the legal actions."""

    name = "random"
    description = "uniform over the legal actions"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`Agent`."""
        return sample(decisions.mask.astype(np.float64), decisions.uniform)

    def think(self, decisions: Decisions) -> Thoughts:
        """See :class:`Agent`."""
        return decisions.mask / decisions.mask.sum(axis=1, keepdims=True), None


class WeightedAgent(Agent):
    """Draws a legal action in proportion to a fixed weight of each action.

    Attributes:
        weights: float64 (103,), above 0.
    """

    weights: npt.NDArray[np.float64]

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`Agent`."""
        return sample(decisions.mask * self.weights, decisions.uniform)

    def think(self, decisions: Decisions) -> Thoughts:
        """See :class:`Agent`."""
        weights = decisions.mask * self.weights
        return weights / weights.sum(axis=1, keepdims=True), None


def _weights(changes: Sequence[tuple[int, int, float]]) -> npt.NDArray[np.float64]:
    weights = np.ones(NUM_ACTIONS)
    for first, end, weight in changes:
        weights[first:end] = weight
    return weights


class CrowdAgent(WeightedAgent):
    """Fills plots, bids much, and stops: it reaches full districts, building stops and high auctions."""

    name = "crowd"
    description = "fills plots and wins auctions in full districts, to reach the rare rules"
    weights = _weights(
        [
            (OPTION_A, OPTION_A + 1, 4.0),
            (OPTION_B, OPTION_C, 0.5),
            (OPTION_C, OPTION_C + 1, 6.0),
            (OPTION_D, PLOT, 0.5),
            (PASS, PASS + 1, 0.3),
            (BID_DONE, BID_DONE + 1, 0.7),
            (BUILD, BUILD + 1, 0.2),
            (STOP, STOP + 1, 0.5),
        ]
    )


class HoardAgent(WeightedAgent):
    """Takes options A and C and keeps its cards: it reaches empty stacks, shuffles, empty supplies and long games."""

    name = "hoard"
    description = "prefers options A and C and taking cards, to reach the rare rules"
    weights = _weights(
        [
            (OPTION_A, OPTION_A + 1, 30.0),
            (OPTION_B, OPTION_C, 0.02),
            (OPTION_C, OPTION_C + 1, 20.0),
            (PASS, PASS + 1, 40.0),
            (STOP, STOP + 1, 0.05),
        ]
    )


class CallableAgent(Agent):
    """An agent made of a function from decisions to actions, which gets the observation as well as the mask."""

    uses_observation = True

    def __init__(self, function: Callable[[Decisions], Any]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`Agent`."""
        return np.asarray(self.function(decisions))


BUILT_IN: Final[dict[str, type[Agent]]] = {agent.name: agent for agent in (RandomAgent, CrowdAgent, HoardAgent)}
"""The agents that can be named without importing anything."""


def make_agent(spec: Agent | Callable[..., Any] | str) -> Agent:
    """The agent that a specification means.

    Args:
        spec: an agent; a class of agents or a function without arguments that returns one; a function from
            :class:`Decisions` to actions; ``"module:Name"`` of any of these; the name of a built-in agent; or, in a clone
            of the project, the name of one of its players or the path of a checkpoint (see docs/agents.md).

    Raises:
        AgentError: there is no such agent.
        CheckpointError: the checkpoint is missing, damaged, or made for something else.
    """
    if isinstance(spec, str):
        return _named(spec)
    if isinstance(spec, type):
        try:
            made = spec()
        except TypeError as error:
            raise AgentError(f"agent class {spec.__name__} can't be made without arguments: {error}") from error
        return make_agent(made)
    if isinstance(spec, Agent):
        return spec
    if callable(getattr(spec, "act", None)):
        return _adopted(spec)
    if callable(spec):
        return make_agent(spec()) if _takes_nothing(spec) else CallableAgent(spec)
    raise AgentError(f"an agent is an object with act(), a function, a built-in name or 'module:Name', not {shown(spec, 80)}")


def agent_names() -> list[str]:
    """The names that :func:`make_agent` knows: the built-in agents, and in a clone of the project its players."""
    registry = _registry()
    return list(BUILT_IN if registry is None else registry.NAMES)


def _registry() -> Any:
    """The clone's registry; None if the package is used without a clone, beside another package of that name or none."""
    try:
        registry: Any = importlib.import_module(REGISTRY)
    except ImportError:
        return None
    return registry if hasattr(registry, "agent") and hasattr(registry, "NAMES") else None


def _named(spec: str) -> Agent:
    if spec in BUILT_IN:
        return make_agent(BUILT_IN[spec])
    is_checkpoint = spec.endswith(CHECKPOINTS)
    if ":" in spec and not is_checkpoint:
        return make_agent(_imported(spec))
    registry = _registry()
    if registry is not None:
        made: Agent = registry.agent(spec)
        return made
    if is_checkpoint:
        raise AgentError(f"agent {shown(spec, 80)}: checkpoints are played from a clone of the project, in its folder")
    raise _unknown(spec)


def _unknown(spec: str) -> AgentError:
    return AgentError(f"unknown agent {shown(spec, 80)}; built-in are {', '.join(BUILT_IN)}; others are named 'module:Name'")


def _takes_nothing(function: Callable[..., Any]) -> bool:
    """Whether a function has no parameters: then it makes an agent instead of being one."""
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions may not tell
        return False


def _adopted(thing: Any) -> Agent:
    """An object that has act() but is no Agent, as an Agent."""
    agent = CallableAgent(thing.act)
    agent.name = str(getattr(thing, "name", type(thing).__name__))
    agent.uses_observation = bool(getattr(thing, "uses_observation", True))
    agent.uses_view = bool(getattr(thing, "uses_view", False))
    if callable(getattr(thing, "think", None)):
        agent.think = thing.think  # type: ignore[method-assign]
    return agent


def _imported(spec: str) -> Any:
    module_name, colon, attribute = spec.partition(":")
    if not (colon and module_name and attribute):
        raise _unknown(spec)
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, TypeError, ValueError) as error:
        raise AgentError(f"agent {spec!r}: can't import {module_name}: {error}") from error
    except AttributeError as error:
        raise AgentError(f"agent {spec!r}: module {module_name} has no {attribute}") from error


def decisions_in(games: Games, agent: Agent, rows: npt.ArrayLike | None = None, salt: int = 0) -> Decisions:
    """What `agent` may see of the next decisions in some rows.

    Args:
        games: the batch.
        agent: tells what it wants to see.
        rows: rows whose games go on; None means all.
        salt: tells apart agents that must not share random numbers.
    """
    chosen = np.arange(games.num_games) if rows is None else np.asarray(rows, np.int64)
    seats = games.seat[chosen]
    seen = games.observation if games.observation.shape[1] else None
    observation = None
    if agent.uses_observation:
        observation = seen[chosen] if seen is not None else games.observe(seats, chosen)
    return Decisions(
        mask=games.mask[chosen],
        seat=seats,
        num_players=games.num_players,
        uniform=games.uniforms(chosen, salt),
        observation=observation,
        view=view(games.state, seats, chosen) if agent.uses_view else None,
    )


def decide(games: Games, agent: Agent, rows: npt.ArrayLike | None = None, salt: int = 0) -> npt.NDArray[np.int64]:
    """The agent's actions in some rows, int64 (k,); see :func:`decisions_in` for the arguments.

    Raises:
        AgentError: the answer isn't one legal action for each decision.
    """
    decisions = decisions_in(games, agent, rows, salt)
    return checked_actions(agent, decisions) if len(decisions) else np.zeros(0, np.int64)


def checked_actions(agent: Agent, decisions: Decisions) -> npt.NDArray[np.int64]:
    """The agent's answer to some decisions, at least one: int64 (k,).

    Raises:
        AgentError: the answer isn't one legal action for each decision.
    """
    actions = np.asarray(agent.act(decisions))
    if actions.shape != decisions.seat.shape or actions.dtype.kind not in "iu":
        raise AgentError(
            f"agent {agent.name} must answer {len(decisions)} decisions with whole numbers of shape {decisions.seat.shape},"
            f" not {actions.dtype} {actions.shape}"
        )
    within = (actions >= 0) & (actions < NUM_ACTIONS)
    legal = within & (decisions.mask[np.arange(len(actions)), np.where(within, actions, 0)] != 0)
    if not legal.all():
        first = int(np.argmin(legal))
        legal_actions = np.flatnonzero(decisions.mask[first]).tolist()
        raise AgentError(f"agent {agent.name} chose action {actions[first]} where only {legal_actions} are legal")
    return actions.astype(np.int64, copy=False)


def decide_game(game: Game, agent: Agent, salt: int = 0) -> int:
    """The agent's action in a single game that goes on: the same as in a batch."""
    return int(decide(game._games, agent, [0], salt)[0])


def mind_of(game: Game, agent: Agent, salt: int = 0) -> Mind | None:
    """What an agent thinks of the decision in a game that goes on (:meth:`Agent.think`); None if it can't tell."""
    return first_mind(agent.think(decisions_in(game._games, agent, [0], salt)))


def first_mind(thoughts: Thoughts | None) -> Mind | None:
    """What an agent thinks of the first of some decisions, as the drawing takes it."""
    from skyenv.render.scene import Mind  # drawing is no part of the core's start

    if thoughts is None:
        return None
    probabilities, values = thoughts
    return Mind(np.asarray(probabilities, np.float64)[0], None if values is None else float(np.asarray(values)[0]))
