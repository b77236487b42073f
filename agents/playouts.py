"""The compiled part of :class:`agents.rollout.RolloutAgent`: games played on in imagined worlds.

Arguments that many functions share: `game`, a world; `seen`, a record of skyenv.knowledge.VIEW_DTYPE to show it in, and
`shown_games`, the array of that record's `game`; `s`, a record of SEARCH_DTYPE; `w`, the greedy player's weights; `m`, a record
of its MIND_DTYPE; `mask`, scratch memory.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents import judgement
from agents.budgets import fractional, whole
from agents.greedy import GreedyAgent
from agents.judgement import (
    MIND_DTYPE,
    AgentEntryPoints,
    choose,
    judge,
    look,
    park_value,
    point_worth,
    supply_worth,
    thought,
)
from skyenv.errors import AgentError, shown
from skyenv.games import as_games
from skyenv.kernels import uniform32
from skyenv.knowledge import VIEW_DTYPE, as_views, imagine, redact
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_COLOURS, NUM_DISTRICTS, NUM_RANKS
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.scoring import winners
from skyenv.rules.state import PHASE_OVER, Record, new_records

EARLY: Final = 20.0
"""VP ahead that make the chance to win e times as high at the start of a game, as trainings with a potential take it …"""
LATE: Final = 6.0
"""… and at its end."""
PLAYOUTS: Final = ("greedy", "random")
GREEDY: Final = 0
RANDOM: Final = 1

SEARCH_DTYPE: Final = np.dtype(
    [
        ("turns", np.int64),  # turns of all seats together that are played on before the position is assessed
        ("playout", np.int64),  # GREEDY or RANDOM
        ("early", np.float64),  # VP ahead that make the chance to win e times as high, at the start of the game
        ("late", np.float64),  # the same at its end
        ("margin", np.float64),  # share that VP have in the assessment of a finished game; the win itself has the rest
    ],
    align=True,
)
"""How games are played on and assessed."""


def playing_on(playout: str, turns: object, early: object, late: object, margin: object) -> npt.NDArray[np.void]:
    """The options of an agent that plays on, as a record of SEARCH_DTYPE (1,).

    Args:
        playout: one of PLAYOUTS. turns: whole number from 0. early, late: from 0.1. margin: 0 to 1; see SEARCH_DTYPE.

    Raises:
        AgentError: one of them has a wrong value.
    """
    if playout not in PLAYOUTS:
        raise AgentError(f"playout must be one of {', '.join(PLAYOUTS)}, not {shown(playout)}")
    search = new_records(1, SEARCH_DTYPE)
    search[0] = (
        whole("turns", turns, 0, 2**31 - 1),
        PLAYOUTS.index(playout),
        fractional("early", early, 0.1, 1e6),
        fractional("late", late, 0.1, 1e6),
        fractional("margin", margin, 0.0, 1.0),
    )
    return search


# ---- compiled: playing on in a world ----


@thought
def playout_action(
    game: Record, shown_games: npt.NDArray[np.void], seen: Record, s: Record, w: Record, m: Record, mask: npt.NDArray[np.int8],
    salt: int,
) -> int:  # fmt: skip
    """What the seat to act does in a game that is played on; a greedy one sees its view alone (`shown_games`: that of `seen`)."""
    number = refresh_mask(game, mask)
    if s.playout == RANDOM:
        for action in range(NUM_ACTIONS):
            m.score[action] = 0.0
    elif number > 1:
        shown_games[0] = game
        redact(seen, int(game.seat))
        judge(seen, w, m, mask)
    return int(choose(m, mask, uniform32(game, salt) / 4294967296.0))


@thought
def wealth(game: Record, seen: Record, w: Record, m: Record, seat: int) -> float:
    """VP that a seat has, and those that its skyscrapers, cards and supply should bring; `m` holds a look at the position."""
    worth = float(game.score[seat]) + int(game.park[seat]) * park_value(game) + supply_worth(w, m, int(game.supply[seat]))
    for district in range(NUM_DISTRICTS):
        for plot in range(NUM_COLOURS):
            if game.owner[district, plot] == seat:
                worth += int(game.floors[district, plot]) * m.worth[district, plot]
    number = 0
    points = 0.0
    for colour in range(NUM_COLOURS + 1):
        number += int(seen.unknown[seat, colour])
        for rank in range(NUM_RANKS):
            number += int(seen.game.hand[seat, colour, rank])
        points += m.points[seat, colour] * (w.black if colour == BLACK else 1.0)
    return float(worth + points * point_worth(w, m, number))


@thought
def weigh(game: Record, seen: Record, s: Record, w: Record, m: Record) -> None:
    """Write every seat's chance to win, by what it has, into `m.delta`; `m` holds a look at the position if it isn't over."""
    over = game.phase == PHASE_OVER
    temperature = s.late + (0.0 if over else (s.early - s.late) * m.left)
    best = 0.0
    for seat in range(game.num_players):
        m.delta[seat] = float(game.score[seat]) if over else wealth(game, seen, w, m, seat)
        best = max(best, m.delta[seat])
    total = 0.0
    for seat in range(game.num_players):
        m.delta[seat] = math.exp((m.delta[seat] - best) / temperature)
        total += m.delta[seat]
    for seat in range(game.num_players):
        m.delta[seat] /= total


@thought
def assess(game: Record, shown_games: npt.NDArray[np.void], seen: Record, s: Record, w: Record, m: Record, me: int) -> None:
    """Write every seat's chance to win into `m.delta`: known if the game is over, else estimated from what a seat sees of all."""
    if game.phase != PHASE_OVER:
        shown_games[0] = game
        redact(seen, me)
        look(seen, w, m)
        weigh(game, seen, s, w, m)
        return
    weigh(game, seen, s, w, m)
    best_seats = winners(game)
    number = 0
    for seat in range(game.num_players):
        number += (best_seats >> seat) & 1
    for seat in range(game.num_players):
        share = ((best_seats >> seat) & 1) / number
        m.delta[seat] = s.margin * m.delta[seat] + (1.0 - s.margin) * share


@thought
def play_on(
    game: Record, shown_games: npt.NDArray[np.void], seen: Record, s: Record, w: Record, m: Record, mask: npt.NDArray[np.int8],
    tape: Record, last: int, salt: int,
) -> None:  # fmt: skip
    """Let all seats play on until so many turns have been finished, or to the end."""
    while game.phase != PHASE_OVER and game.turns < last:
        apply(game, tape, playout_action(game, shown_games, seen, s, w, m, mask, salt))


def _make_play_worlds(fingerprint: str) -> Any:
    def play_worlds(views, actions, seeds, search, weights, worlds, seen, shown_games, mind, tape, mask, values):  # type: ignore[no-untyped-def]
        """Play every action in a world for every seed; `values` [seed, action]: the chance to win that it leads to."""
        _ = fingerprint
        me = int(views[0].seat)
        for i in range(len(seeds)):
            worlds[0] = views[0].game
            imagine(views[0], worlds[0], tape[0], mask, seeds[i])
            for j in range(len(actions)):
                worlds[1] = worlds[0]
                game = worlds[1]
                last = int(game.turns) + int(search[0].turns)
                apply(game, tape[0], actions[j])
                play_on(game, shown_games, seen[0], search[0], weights[0], mind[0], mask, tape[0], last, int(seeds[i]))
                assess(game, shown_games, seen[0], search[0], weights[0], mind[0], me)
                values[i, j] = mind[0].delta[me]

    return play_worlds


def _make_weigh_all(fingerprint: str) -> Any:
    def weigh_all(games, search, weights, seen, shown_games, mind, chances):  # type: ignore[no-untyped-def]
        """Write every seat's chance to win, all hands open, into `chances` [game, seat]; `seen` is zeroed: nothing is unknown."""
        _ = fingerprint
        for i in range(len(games)):
            if games[i].phase != PHASE_OVER:
                shown_games[0] = games[i]
                look(seen[0], weights[0], mind[0])
            weigh(games[i], seen[0], search[0], weights[0], mind[0])
            for seat in range(games[i].num_players):
                chances[i, seat] = mind[0].delta[seat]

    return weigh_all


def _make_weigh_views(fingerprint: str) -> Any:
    def weigh_views(views, search, weights, mind, chances):  # type: ignore[no-untyped-def]
        """The same as each view's seat sees it; the games go on."""
        _ = fingerprint
        for i in range(len(views)):
            look(views[i], weights[0], mind[0])
            weigh(views[i].game, views[i], search[0], weights[0], mind[0])
            for seat in range(views[i].game.num_players):
                chances[i, seat] = mind[0].delta[seat]

    return weigh_views


_GREEDY: Final = GreedyAgent()
_ENTRY_POINTS: Final = AgentEntryPoints(__file__, judgement.__file__)
play_worlds: Final = _ENTRY_POINTS.make(_make_play_worlds)
_weigh_all: Final = _ENTRY_POINTS.make(_make_weigh_all)
_weigh_views: Final = _ENTRY_POINTS.make(_make_weigh_views)


def _weighing(early: float, late: float, players: int) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
    """How positions are weighed: records of SEARCH_DTYPE and of the greedy player's weights, one each."""
    search = new_records(1, SEARCH_DTYPE)
    search["early"], search["late"] = early, late
    return search, _GREEDY.weights(players)


def outlook(views: npt.NDArray[np.void], early: float = EARLY, late: float = LATE) -> npt.NDArray[np.float64]:
    """As :func:`chances`, but as far as each view's seat can see.

    Args:
        views: what seats see of games that go on, VIEW_DTYPE (n,).
        early, late: as there.
    """
    found = np.zeros((len(views), MAX_PLAYERS))
    if len(views):
        weighing = _weighing(early, late, int(views["game"]["num_players"][0]))
        _weigh_views(as_views(views), *weighing, new_records(1, MIND_DTYPE), found)
    return found


def chances(state: npt.NDArray[np.void], early: float = EARLY, late: float = LATE) -> npt.NDArray[np.float64]:
    """Every seat's chance to win by what it has, all hands open: float64 (n, 4), each row sums to 1 over the game's seats.

    What a seat has: its VP, and what the greedy player thinks that its skyscrapers, cards and supply will bring.

    Args:
        state: games of one number of players, GAME_DTYPE (n,).
        early, late: VP ahead that make the chance e times as high at the start and at the end of the game, above 0.
    """
    found = np.zeros((len(state), MAX_PLAYERS))
    if len(state):
        weighing = _weighing(early, late, int(state["num_players"][0]))
        seen = new_records(1, VIEW_DTYPE)
        _weigh_all(as_games(state), *weighing, seen, seen["game"], new_records(1, MIND_DTYPE), found)
    return found
