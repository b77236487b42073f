"""Whole choices: a bid with all its cards, two cards taken, or any other single action.

The game's actions lay bids down card by card and take cards one by one. Here the actions of one
choice belong together: their probabilities are multiplied along the path, and equivalent paths
are one choice: bids of one total, colour and highest card (AUC-5, AUC-10), and two cards in either
order.

Positions here are determinizations for a seat (:func:`imagined`), so hidden cards can't leak.
"""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skyenv.agents import Agent, Decisions, checked_actions
from skyenv.analysis.playouts import digest, played, starts
from skyenv.array_types import Bool, Float64, RecordArray
from skyenv.engine.games import Games
from skyenv.engine.knowledge import view
from skyenv.render import words
from skyenv.rules.actions import BID, BID_DONE, MOVE, NUM_ACTIONS, PASS, TAKE
from skyenv.rules.components import NUM_RANKS
from skyenv.rules.state import NONE, PHASE_BID, PHASE_TAKE

# Probability below which a path is pruned.
MIN_PROBABILITY: Final = 0.005
# The same for agents that search, which take time for every step.
MIN_PROBABILITY_SEARCHED: Final = 0.1
# VP at or below which an agent doesn't consider an action.
EXCLUDED: Final = -1e6
# Beam width: the most probable paths of one length that are followed.
MAX_PATHS: Final = 200

Vector = Float64
Path = tuple[int, ...]


@dataclass(frozen=True)
class Choice:
    """A whole choice, and an agent's value for it.

    Attributes:
        actions: its actions; the most probable ones of several equivalent paths.
        sure: its probability, or its VP less those of the best choice; None: the agent gives
            neither.
    """

    actions: Path
    sure: float | None


def is_incomplete(states: Any) -> Bool:
    """Return whether positions lie within a whole choice: after its first cards."""
    bidding = (states["phase"] == PHASE_BID) & (states["laid"] != NONE)
    taking = (states["phase"] == PHASE_TAKE) & (states["first_colour"] != NONE)
    return np.asarray(bidding | taking)


def imagined(position: np.void, seat: int) -> RecordArray:
    """Return a determinization of a position for a seat, GAME_DTYPE (1,): hidden cards are
    resampled. Equal views give equal determinizations.
    """
    return starts(position, [int.from_bytes(digest(position, seat)[:4])], seat)


def as_decisions(games: Games, agent: Agent) -> Decisions:
    """Return the open decisions of all rows of a batch, from the view of each seat to act only:
    even the agent's random number derives from that view.
    """
    known = view(games.state, games.seat)
    digests = [hashlib.blake2b(np.asarray(one).tobytes(), digest_size=6).digest() for one in known]
    return Decisions(
        mask=games.mask.copy(),
        seat=games.seat.copy(),
        num_players=games.num_players,
        uniform=np.array([int.from_bytes(one) / 2**48 for one in digests]),
        observation=games.observe(games.seat) if agent.uses_observation else None,
        view=known if agent.uses_view else None,
    ).as_trusted()


def completed(agent: Agent, states: RecordArray, paths: Sequence[Path]) -> list[Path]:
    """Return paths completed by an agent until each is a whole choice.

    Args:
        agent: completes the paths by :meth:`~skyenv.agents.Agent.act`.
        states: determinized positions, GAME_DTYPE (k,).
        paths: the actions already chosen in each; may be empty.
    """
    whole = list(paths)
    states = played(states, whole)
    is_open = [not path for path in whole] | is_incomplete(states)
    while (rows := np.flatnonzero(is_open)).size:
        games = Games.of(states[rows])
        actions = checked_actions(agent, as_decisions(games, agent))
        games.step(actions)
        states[rows] = games.state
        for row, action in zip(rows, actions.tolist(), strict=True):
            whole[row] = (*whole[row], action)
        is_open[rows] = is_incomplete(games.state)
    return whole


def probable(agent: Agent, state: RecordArray, first: Vector, least: float) -> list[Choice]:
    """Return an agent's probable choices, the most probable first.

    Args:
        agent: an agent that gives probabilities.
        state: the determinized position, GAME_DTYPE (1,).
        first: float64 (103,), its probabilities there.
        least: paths of lower probability are pruned.
    """
    found: dict[Hashable, list[tuple[float, Path]]] = {}
    level: list[tuple[float, Path]] = [(1.0, ())]
    probabilities = first[None]
    while level:
        further = [
            (chance * row[action], (*path, int(action)))
            for (chance, path), row in zip(level, probabilities, strict=True)
            for action in np.flatnonzero(chance * row >= min(least, chance * row.max()))
        ]
        further = sorted(further, reverse=True)[:MAX_PATHS]
        after = played(np.repeat(state, len(further)), [path for _, path in further])
        incomplete = is_incomplete(after)
        for one, is_open in zip(further, incomplete, strict=True):
            if not is_open:
                found.setdefault(same(state[0], one[1]), []).append(one)
        level = [one for one, is_open in zip(further, incomplete, strict=True) if is_open]
        if level:
            evaluation = agent.evaluate(as_decisions(Games.of(after[incomplete]), agent))
            probabilities = (
                np.asarray(evaluation[0], np.float64) if evaluation else np.zeros((0, NUM_ACTIONS))
            )
    choices = (Choice(max(ways)[1], sum(chance for chance, _ in ways)) for ways in found.values())
    return sorted(choices, key=lambda one: -(one.sure or 0.0))


def worth_of(agent: Any, decisions: Decisions) -> Vector | None:
    """Return the expected VP of each legal action less those of the best one, float64 (k, 103);
    None if the agent doesn't evaluate actions in VP.
    """
    if not callable(getattr(agent, "scores", None)):
        return None
    scores = np.asarray(agent.scores(decisions), np.float64)
    legal = decisions.mask != 0
    best = np.where(legal, scores, -np.inf).max(axis=1, keepdims=True)
    return np.where(legal, scores - best, 0.0)


def valued(agent: Agent, state: RecordArray, worth: Vector) -> list[Choice]:
    """Return the choices of an agent that gives the VP of each action, the best first. An action's
    VP are those of the best choice that begins with it.

    Args:
        agent: completes the choices.
        state: the determinized position, GAME_DTYPE (1,).
        worth: float64 (103,), VP less those of the best action, 0 where nothing is legal.
    """
    legal = np.flatnonzero(Games.of(state).mask[0]).tolist()
    begun = [action for action in legal if worth[action] > EXCLUDED]
    paths = completed(agent, np.repeat(state, len(begun)), [(action,) for action in begun])
    best: dict[Hashable, Choice] = {}
    for path in sorted(paths, key=lambda path: -worth[path[0]]):
        best.setdefault(same(state[0], path), Choice(path, float(worth[path[0]])))
    return list(best.values())


def same(position: Any, path: Path) -> Hashable:
    """Return a key that is equal for equivalent choices of one position."""
    if path[-1] != BID_DONE:
        return frozenset(path)
    laid = np.argwhere(position["bid_cards"][position["seat"]]).tolist()
    cards = [divmod(action - BID, NUM_RANKS) for action in path[:-1]]
    colour = NONE if laid else cards[0][0]  # AUC-4: decided by the first card
    return total(position, path), colour, max(rank for _, rank in [*laid, *cards])


def total(position: Any, path: Path) -> int:
    """Return the total of a bid, with the cards that the seat has laid down before."""
    return int(position["bid_total"][position["seat"]]) + words.total_of(path[:-1])


def text(position: Any, path: Path, names: Sequence[str] | None = None) -> str:
    """Return a whole choice as text: ``bid 15: gray 6 + black 4, 5``, ``take green 4 and brown 5``.
    A raise has the new total and the added cards: ``raise to 31: + violet 4, 5``.

    Args:
        position: a record of GAME_DTYPE, before the choice.
        path: its actions.
        names: the players' names by seat.
    """
    if BID <= path[-1] < BID_DONE:
        return f"bid with {words.cards_text(path)} …"
    if path[-1] == BID_DONE:
        cards = words.cards_text(path[:-1])
        if cards and position["bid_total"][position["seat"]]:
            return f"raise to {total(position, path)}: + {cards}"
        return f"bid {total(position, path)}{': ' if cards else ''}{cards}"
    if len(path) > 1 and TAKE <= path[0] < MOVE:
        first, second = (words.action_text(position, action) for action in path)
        return f"{first} and {second.removeprefix('take ')}"
    return "pass" if path == (PASS,) else words.action_text(position, path[0], names)
