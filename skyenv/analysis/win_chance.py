"""Chances to win: estimates, which play-outs replace.

The agent ``trained`` plays on in WORLDS determinizations of the position for a seat, each with new
chance. Each stops once every seat has had DECISIONS decisions with a choice; the network then
evaluates the outcome for each seat. Finished games count by their result. The means, normalized to
sum to 1, are sharpened by POWER, as the network is underconfident compared with play-outs.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from skyenv.agents import Agent, decisions_in
from skyenv.analysis.playouts import PlayOuts, Question, digest, played, starts
from skyenv.array_types import Float64, Int64, RecordArray
from skyenv.engine.games import Games
from skyenv.engine.results import results
from skyenv.engine.rewards import share_of
from skyenv.errors import AgentError

# The agent that plays on and evaluates.
ESTIMATOR: Final = "trained"
WORLDS: Final = 24
DECISIONS: Final = 16
# Validated against play-outs by the same agent on fresh positions (docs/page.md).
POWER: Final = 1.5

Shares = Float64
# A position (GAME_DTYPE), the seat whose knowledge counts (None: all cards are open), and the
# actions to play first.
Query = tuple[np.void, int | None, tuple[int, ...]]


class WinChances(NamedTuple):
    """Chances to win.

    Attributes:
        shares: of every seat, float64 (k, players), 0 to 1; each row sums to 1.
        variances: their squared standard errors, float64 (k, players); 0 for estimates.
        games: number of games played out for each row; 0: it is estimated.
    """

    shares: Shares
    variances: Shares
    games: list[int]


def win_chances(
    agent: Agent, queries: Sequence[Query], known: PlayOuts | None = None
) -> WinChances:
    """Return the chance to win of every seat, from what one seat knows: the results of play-outs by
    the agent where there are any, else its estimate.

    The determinizations depend only on the seat's view: equal views give equal estimates, and
    different actions from one view meet the same determinizations.

    Args:
        agent: the one named ESTIMATOR, or another that evaluates outcomes.
        queries: the positions, of one number of players and one side of the board.
        known: the play-outs.

    Raises:
        AgentError: the agent doesn't evaluate outcomes.
    """
    play_outs = PlayOuts() if known is None else known
    tallies = [play_outs.tally(question_of(agent, query)) for query in queries]
    unknown = [query for query, tally in zip(queries, tallies, strict=True) if tally is None]
    estimates = iter(sharpened(in_worlds(agent, unknown).mean(axis=1)) if unknown else ())
    rows = [next(estimates) if tally is None else tally.shares for tally in tallies]
    variances = [
        np.zeros(len(row)) if tally is None else tally.variances
        for row, tally in zip(rows, tallies, strict=True)
    ]
    games = [0 if tally is None else tally.games for tally in tallies]
    return WinChances(np.stack(rows), np.stack(variances), games)


def question_of(agent: Agent, query: Query) -> Question:
    """Return a query as a question for play-outs by the agent alone."""
    position, seat, path = query
    return Question((agent,) * int(position["num_players"]), position, seat, path)


def sharpened(shares: Shares) -> Shares:
    """Sharpen means over determinizations, float64 (k, players), to the chances shown."""
    powers = (shares / shares.sum(axis=1, keepdims=True)) ** POWER
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def in_worlds(agent: Agent, queries: Sequence[Query]) -> Shares:
    """Return the agent's evaluation for every seat and world, float64 (k, WORLDS, players).

    Arguments are those of :func:`win_chances`.

    Raises:
        AgentError: the agent doesn't evaluate outcomes.
    """
    games = Games.of(np.concatenate([_worlds(*query) for query in queries]))
    estimates = np.zeros((games.num_games, games.num_players))
    number = np.zeros(estimates.shape, np.int64)
    while (rows := np.flatnonzero((games.seat >= 0) & (number.min(axis=1) < DECISIONS))).size:
        games.step(_decide(games, agent, rows, estimates, number), rows)
    over = (games.seat < 0)[:, None]
    estimates = np.where(over, results(games.state)[0][:, : games.num_players], estimates)
    return estimates.reshape(len(queries), WORLDS, games.num_players)


def _worlds(position: np.void, seat: int | None, actions: tuple[int, ...]) -> RecordArray:
    first = int.from_bytes(digest(position, seat)[:4])
    return played(starts(position, range(first, first + WORLDS), seat), [actions] * WORLDS)


def _decide(
    games: Games,
    agent: Agent,
    rows: Int64,
    estimates: Shares,
    number: Int64,
) -> Int64:
    """Return the next actions in some worlds; store the agent's evaluations for the deciding seats
    in `estimates`, and count their decisions in `number`.
    """
    mask = games.mask[rows]
    actions: Int64 = mask.argmax(axis=1).astype(np.int64)
    choices = np.flatnonzero(mask.sum(axis=1) > 1)  # the agent was trained on real choices only
    if not choices.size:
        return actions
    held = agent.evaluate(decisions_in(games, agent, rows[choices]))
    if held is None or held[1] is None:
        raise AgentError(f"agent {agent.name} doesn't evaluate outcomes")
    actions[choices] = np.where(mask[choices] != 0, held[0], -1.0).argmax(axis=1)
    where = rows[choices], games.seat[rows[choices]]
    outcomes = share_of(np.asarray(held[1], np.float64), games.num_players)
    estimates[where] = np.clip(outcomes, 0.0, 1.0)
    number[where] += 1
    return actions
