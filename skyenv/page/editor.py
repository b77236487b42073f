"""Positions edited by hand: what can be changed, and whether the result is a position of the game.

A position can be edited during the setup and where a turn begins.

An edit is the whole of what can be changed, as :func:`described` tells it, with other numbers;
plots that it leaves out stay as they are. Cards come from the face-down stacks and go there,
skyscrapers from the general supply; what a seat remembers of earlier shuffles is forgotten. An
edited position has no record, as no game is known that leads to it: it can be looked at, agents can
be asked, and it can be played out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from skyenv.checks import check_integer
from skyenv.engine.game import Game
from skyenv.engine.knowledge import resample
from skyenv.errors import OptionError, shown
from skyenv.page.edited_city import check_setup, described_city, put_commissioner, put_park, put_row
from skyenv.page.errors import PageError
from skyenv.page.open_hands import forget_shuffles
from skyenv.page.payloads import Payload
from skyenv.page.replays import Replay
from skyenv.render.words import counted, seat_name
from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    DISTRICTS,
    NUM_COLOURS,
    PLOTS,
    ROW_SIZE,
    SIXTH,
)
from skyenv.rules.state import ALEA, GAME_DTYPE, NONE, PHASE_OPTION, PHASE_START

MOST_VP: Final = 999
PER_BUSINESS: Final = 9
"""COM-3: tiles of each type."""


def described(position: Any) -> Payload:
    """What can be changed in a position, GAME_DTYPE.

    Returns:
        ``turn``: whose it is; ``seats``: of each ``vp``, ``supply``, ``park``, its skyscrapers in
            the park area, and ``hand``,
        cards by colour and value; ``plots``: of each its name, ``owner`` (a seat, 4: Alea, null),
        ``floors`` and ``businesses``;
        ``tops``: the value of the visible card of each coloured stack, null if it is empty;
            ``setup``: whether it is still under
        way; all that :func:`skyenv.page.edited_city.described_city` tells; and ``why``: why nothing
        can be changed here, or null.
    """
    players = int(position["num_players"])
    sizes = range(len(PLOTS) if position["side"] else NUM_COLOURS)
    plots = [
        _plot(position, district, plot) for district in range(len(DISTRICTS)) for plot in sizes
    ]
    seats = [
        {
            "vp": int(position["score"][seat]),
            "supply": int(position["supply"][seat]),
            "park": int(position["park"][seat]),
            "hand": {
                colour: position["hand"][seat, index].tolist()
                for index, colour in enumerate(CARD_COLOURS)
            },
        }
        for seat in range(players)
    ]
    tops = [None if top == NONE else CARD_VALUES[int(top)] for top in position["top"]]
    setup = bool(position["phase"] == PHASE_START)
    own = {
        "turn": int(position["seat"]),
        "seats": seats,
        "plots": plots,
        "tops": tops,
        "setup": setup,
        "why": _why_not(position),
    }
    return own | described_city(position)


def _why_not(position: Any) -> str | None:
    if position["phase"] in (PHASE_START, PHASE_OPTION):
        return None
    return (
        "positions are edited during the setup and where a turn begins, before an option is "
        "chosen; step on or back to there"
    )


def _plot(position: Any, district: int, plot: int) -> Payload:
    owner = NONE if plot == SIXTH else int(position["owner"][district, plot])
    tiles = position["tiles"][district, plot]
    return {
        "name": f"{DISTRICTS[district]} {PLOTS[plot]}",
        "owner": None if owner == NONE else owner,
        "floors": 0 if owner == NONE else int(position["floors"][district, plot]),
        "businesses": [
            business for kind, business in enumerate(BUSINESSES) for _ in range(int(tiles[kind]))
        ],
    }


def edited(replay: Replay, step: int, edit: Mapping[str, Any]) -> Edited:
    """A replay of one position: that of a step, changed.

    Args:
        replay: the game.
        step: actions played before the position.
        edit: what :func:`described` tells, with other numbers.

    Raises:
        PageError: it is no such edit, or the rules don't lead to such a position; what is wrong,
            and what would be right.
    """
    game = replay.at(step)
    if why := _why_not(game.state):
        raise PageError(why, 409)
    state, players = game.state, game.num_players
    totals = _skyscrapers(state)
    before = np.array([state], GAME_DTYPE)[0]
    cards = state["hand"].sum(axis=0) + state["face_down"] + _visible(state)
    sizes = {
        "seats": players,
        "plots": None,
        "places": 2,
        "ways": 2,
        "tops": NUM_COLOURS,
        "row": ROW_SIZE,
    }
    seats, plots, places, ways, tops, row = (
        _list(edit, name, size) for name, size in sizes.items()
    )
    for seat, about in enumerate(seats):
        state["score"][seat] = _whole(f"VP of {seat_name(seat)}", about.get("vp"), 0, MOST_VP)
        state["supply"][seat] = _whole(
            f"the supply of {seat_name(seat)}", about.get("supply"), 0, 17
        )
        _put_hand(state, seat, about.get("hand"))
    in_park = [
        _whole(f"park area: skyscrapers of {seat_name(s)}", about.get("park"), 0, 18)
        for s, about in enumerate(seats)
    ]
    put_park(state, edit.get("park_tiles"), in_park)
    put_row(state, row)
    _put_plots(state, plots)
    _put_tops(state, tops)
    _put_stacks(state, cards)
    _put_supplies(state, totals)
    for which, (name, way) in enumerate(zip(places, ways, strict=True)):
        put_commissioner(state, which, name, way)
    _put_turn(
        state, _whole("turn, a seat counted from 0,", edit.get("turn"), 0, players - 1), before
    )
    forget_shuffles(state)
    try:
        game.refresh()
        for seat in range(players):
            resample(np.array([game.view(seat)]), [0])  # whatever looks at it must be able to
    except OptionError as error:
        raise PageError(f"that is no position of the game: {error}") from error
    return Edited(game, replay.names)


class Edited(Replay):
    """An edited position, as a replay without a step. It has no record: `events` are empty."""

    def __init__(self, game: Game, names: list[str]) -> None:
        self.names = names
        self.game = game
        self.events = [[]]
        self.states = np.array([game.state], GAME_DTYPE)


def _list(edit: Mapping[str, Any], name: str, size: int | None) -> list[Any]:
    value = edit.get(name)
    right = isinstance(value, list) and (size is None or len(value) == size)
    if not right or (
        name in ("seats", "plots") and not all(isinstance(one, dict) for one in value or [])
    ):
        raise PageError(
            f"an edit must have the list {name}"
            + (f" of {size}" if size else "")
            + f", not {shown(value)}"
        )
    return list(value or [])


def _whole(what: str, value: object, low: int, high: int) -> int:
    return check_integer(what, value, low, high, PageError)


def _put_hand(state: Any, seat: int, hand: object) -> None:
    for index, colour in enumerate(CARD_COLOURS):
        numbers = hand.get(colour) if isinstance(hand, dict) else None
        if not isinstance(numbers, list) or len(numbers) != len(CARD_VALUES):
            raise PageError(
                f"the hand of {seat_name(seat)} must have three numbers for {colour}: its 4s, 5s "
                "and 6s"
            )
        for rank, number in enumerate(numbers):
            what = f"{colour} {CARD_VALUES[rank]}s of {seat_name(seat)}"
            state["hand"][seat, index, rank] = _whole(what, number, 0, 20)
    state["known"][seat] = np.minimum(state["known"][seat], state["hand"][seat])
    state["unknown"][seat] = (state["hand"][seat] - state["known"][seat]).sum(axis=1)


def _visible(state: Any) -> Any:
    """The visible cards of the coloured stacks, int (6, 3): by colour and rank."""
    cards = np.zeros((len(CARD_COLOURS), len(CARD_VALUES)), np.int8)
    for colour in range(NUM_COLOURS):
        if state["top"][colour] != NONE:
            cards[colour, state["top"][colour]] = 1
    return cards


def _put_tops(state: Any, tops: list[Any]) -> None:
    for colour, top in enumerate(tops):
        name = f"the visible {CARD_COLOURS[colour]} card"
        if (state["top"][colour] == NONE) != (top is None):
            there = "the stack is empty" if top is not None else "there is one"
            raise PageError(
                f"{name} must be {'nothing' if top is not None else 'a value'}: {there}"
            )
        if top is not None:
            state["top"][colour] = (
                _whole(name, top, CARD_VALUES[0], CARD_VALUES[-1]) - CARD_VALUES[0]
            )


def _put_turn(state: Any, seat: int, before: Any) -> None:
    if state["phase"] == PHASE_START:
        check_setup(state, before)
        if seat != state["seat"]:
            raise PageError(
                f"during the setup it is the turn of {seat_name(int(state['seat']))} (SET-7), not "
                f"of {seat_name(seat)}"
            )
        return
    state["turn_seat"] = state["seat"] = seat


def _put_stacks(state: Any, cards: Any) -> None:
    """COM-1: what isn't in a hand lies face down; `cards`: how many there are in both, by colour
    and rank.
    """
    left = cards - state["hand"].sum(axis=0) - _visible(state)
    if (left < 0).any():
        colour, rank = np.argwhere(left < 0)[0]
        there, name = int(cards[colour, rank]), f"{CARD_COLOURS[colour]} {CARD_VALUES[rank]}"
        raise PageError(
            f"hands and the visible card are {int(there - left[colour, rank])} cards {name}, but "
            f"only {there} can be there"
            " (COM-1): the others lie face up in their stack; take "
            f"{counted(-int(left[colour, rank]), 'card')} away"
        )
    for colour in range(NUM_COLOURS):
        if state["top"][colour] == NONE and left[colour].any():
            raise PageError(
                f"the {CARD_COLOURS[colour]} stack is empty, and cards can't go back to it by "
                "hand; leave them in hands"
            )
    state["face_down"] = left
    state["unlocated"] = left + (state["hand"] - state["known"]).sum(axis=0)


def _put_plots(state: Any, plots: list[Any]) -> None:
    names = {
        f"{district} {plot}": (d, p)
        for d, district in enumerate(DISTRICTS)
        for p, plot in enumerate(PLOTS)
    }
    for about in plots:
        name = about.get("name")
        if (
            not isinstance(name, str)
            or name not in names
            or (names[name][1] == SIXTH and not state["side"])
        ):
            raise PageError(f"there is no plot {shown(name)}")
        _put_plot(state, name, *names[name], about)
    on_board = state["tiles"].sum(axis=(0, 1)) + state["park_tiles"]
    for kind, business in enumerate(BUSINESSES):
        row = int((state["row"] == kind).sum())
        if on_board[kind] + row > PER_BUSINESS:
            raise PageError(
                f"{counted(int(on_board[kind]), business)} on the board and {row} in the supply "
                "row are more than"
                f" {PER_BUSINESS} (COM-3)"
            )
    for district in range(len(DISTRICTS)):
        for seat in range(int(state["num_players"])):
            if (number := int((state["owner"][district] == seat).sum())) > 1:
                raise PageError(
                    f"{seat_name(seat)} stands on {number} plots of {DISTRICTS[district]}; it may "
                    "be one (AUC-11)"
                )


def _put_plot(state: Any, name: str, district: int, plot: int, about: Mapping[str, Any]) -> None:
    businesses, owner = about.get("businesses"), about.get("owner")
    if (
        not isinstance(businesses, list)
        or len(businesses) > 2
        or not all(one in BUSINESSES for one in businesses)
    ):
        raise PageError(
            f"{name}: businesses must be at most two of {', '.join(BUSINESSES)} (BUS-2), not "
            f"{shown(businesses)}"
        )
    floors = _whole(f"{name}: skyscrapers", about.get("floors"), 0, 18)
    if owner is not None:
        _whole(f"{name}: the owner, a seat counted from 0 or {ALEA} for Alea,", owner, 0, ALEA)
        if state["num_players"] <= owner < ALEA or (owner == ALEA and state["num_players"] > 2):
            raise PageError(f"{name}: nobody at this table is {seat_name(owner)}")
    if (owner is None) != (floors == 0):
        raise PageError(f"{name}: skyscrapers need an owner, and an owner needs skyscrapers")
    if floors and (businesses or plot == SIXTH):
        raise PageError(
            f"{name}: a plot holds businesses or skyscrapers, never both, and a sixth plot no "
            "skyscrapers (SET-8, BUS-2)"
        )
    if plot == SIXTH and not businesses and not state["stopped"][district]:
        raise PageError(f"{name}: a sixth plot is never empty (AUC-6)")
    if state["stopped"][district] and (floors or businesses):
        raise PageError(f"{name}: nothing stands in a stopped district (STOP-4)")
    state["tiles"][district, plot] = [businesses.count(business) for business in BUSINESSES]
    if plot != SIXTH:
        state["owner"][district, plot] = NONE if owner is None else owner
        state["floors"][district, plot] = floors


def _skyscrapers(state: Any) -> list[int]:
    """Of every seat: on the board, in the park area and in both supplies, but for those that have
    left the game; then Alea's.
    """
    seats = range(int(state["num_players"]))
    own = [
        int(state["supply"][seat] + state["general"][seat] + state["park"][seat])
        + _built(state, seat)
        for seat in seats
    ]
    return [*own, int(state["alea_supply"]) + _built(state, ALEA)]


def _built(state: Any, owner: int) -> int:
    return int(state["floors"][state["owner"] == owner].sum())


def _put_supplies(state: Any, totals: list[int]) -> None:
    """COM-2, TURN-2: what is neither built nor ready is in the general supply, which loses three at
    a time.
    """
    for seat, total in enumerate(totals[:-1]):
        left = total - int(state["supply"][seat] + state["park"][seat]) - _built(state, seat)
        if left < 0:
            raise PageError(
                f"{seat_name(seat)} has {total} skyscrapers in all; take {-left} from the board or "
                "the supply (COM-2)"
            )
        if left > 12 or left % 3:
            near = min(left - left % 3, 12)
            raise PageError(
                f"that leaves {left} skyscrapers in the general supply of {seat_name(seat)}, which "
                "has 0, 3, 6, 9 or 12 (TURN-2):"
                f" put {left - near} more into the supply"
            )
        state["general"][seat] = left
    left = totals[-1] - _built(state, ALEA)
    if left < 0:
        raise PageError(
            f"Alea has {totals[-1]} skyscrapers in all; take {-left} from the board (ALEA-1)"
        )
    state["alea_supply"] = left
