"""Positions to show rules in, set up in a few words; and words for what happens then.

    game = bare_game(players=3, hands=["green 4", "orange 4 5 black 6"])
    district(game, "TSQ", green=(0, 2), brown="boutique gallery")   # seat 0 has 2 floors on green
    start_auction(game, ["TSQ"], starter=1)
    bids(game, "1 orange 4 5 black 6", "2 pass", "0 pass")

Cards are conserved: whatever a hand gets comes from the face-down stacks, and the other way round.
Tiles and skyscrapers are not: they are put on the board and taken from it freely, and supplies stay
what they are unless a test sets them.
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from skyenv import Board, Game, make_agent
from skyenv.agents import decide_game
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.components import (
    BLACK,
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    LOWEST_CARD,
    PLACES,
    PLOTS,
    SET_SIZES,
    SIXTH,
)
from skyenv.rules.state import ALEA, NONE, PHASE_MOVE, PHASE_OPTION, PHASES, GameRecord

GAME_FIELDS = list(GameRecord.fields)
TABLES = [(2, "front"), (3, "back"), (4, "front")]
Event = dict[str, Any]
Chance = Sequence[int | str]


# ---- positions of whole games ----


def stages(
    players: int, side: str, agent: str, seed: int = 0, every: int = 13, max_turns: int = 150
) -> Iterator[Game]:
    """Positions of one game, so many decisions apart, the last one included."""
    game = Game(players, side, seed, max_turns=max_turns)
    player = make_agent(agent)
    number = 0
    while not game.is_over:
        if number % every == 0:
            yield game
        number += 1
        game.play(decide_game(game, player))
    yield game


# ---- setting up a position ----


def bare_game(
    players: int = 3,
    side: str = "front",
    *,
    hands: Sequence[str] = (),
    seed: int = 1,
    board: Board | None = None,
    max_turns: int = 500,
) -> Game:
    """Seat 0's first turn on an empty board: no tile, no skyscraper, a 4 on top of every stack, no
    cards in hand but those given: ``hands=["green 4 5 black 6", ...]``.

    The front side's first businesses and the starting skyscrapers have left the game; everything
    else is as after the setup. (The back side's first businesses stay: without one, a sixth plot
    would be empty, which never happens.)
    """
    game = Game(players, side, seed, board=board, max_turns=max_turns)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    state = game.state
    state["tiles"][:, :SIXTH] = 0
    state["owner"][:] = NONE
    state["floors"][:] = 0
    for seat in range(players):
        state["face_down"][:] += state["hand"][seat]
        state["hand"][seat] = 0
    tops(game, **dict.fromkeys(COLOURS, 4))
    for seat, text in enumerate(hands):
        hand(game, seat, **by_colour(text))
    return game


def district(game: Game, name: str, **plots: tuple[int, int] | str) -> None:
    """What stands in a district: ``(owner, skyscrapers)`` or the names of businesses for some
    plots; the others are empty.

    A sixth plot that isn't named stays as it is.
    """
    state, index = game.state, DISTRICTS.index(name)
    state["tiles"][index, : SIXTH + ("sixth" in plots)] = 0
    state["owner"][index] = NONE
    state["floors"][index] = 0
    for plot, content in plots.items():
        if isinstance(content, str):
            for business in content.split():
                state["tiles"][index, PLOTS.index(plot), BUSINESSES.index(business)] += 1
        else:
            state["owner"][index, PLOTS.index(plot)], state["floors"][index, PLOTS.index(plot)] = (
                content
            )
    game.refresh()


def built_up(number: int) -> Game:
    """A game of two in which both and Alea have plots of that district, and the last plot has two
    businesses.
    """
    game = Game(2, seed=1)
    put(game, f"tiles.{number}=0 tiles.{number}.4=1,0,1,0")
    put(game, f"owner.{number}=0,1,4,-1,-1 floors.{number}=12,1,3,0,0")
    game.refresh()
    return game


def put(game: Game, fields: str) -> None:
    """Put values into fields of the position, for :meth:`Game.refresh` to see: ``put(game,
    "phase=bid owner.TSQ=1,-1,0,0,0 hand.0.5.1=20")``.
    """
    for field in fields.split():
        name, text = field.split("=")
        name, *place = name.split(".")
        where: Any = (0, *map(_number, place), ...)
        game.batch.state[name][where] = np.array([_number(word) for word in text.split(",")])


def _number(word: str) -> int:
    """The number of a phase or district, or of digits."""
    words = PHASES if word in PHASES else DISTRICTS
    return words.index(word) if word in words else int(word)


def hand(game: Game, seat: int, **cards: list[int]) -> None:
    """Give a seat exactly these cards, from the face-down stacks; the others don't know of them."""
    state = game.state
    state["face_down"][:] += state["hand"][seat]
    state["hand"][seat] = 0
    listed = [(colour, value) for colour, values in cards.items() for value in values]
    for colour, value in listed:
        place = CARD_COLOURS.index(colour), value - LOWEST_CARD
        assert state["face_down"][place] > 0, f"no {colour} {value} is left face down"
        state["face_down"][place] -= 1
        state["hand"][seat][place] += 1
    state["known"][seat] = 0
    game.refresh()


def by_colour(text: str) -> dict[str, list[int]]:
    """Cards in words, by colour."""
    cards: dict[str, list[int]] = {}
    for word in text.split():
        if word.isdigit():
            cards[next(reversed(cards))].append(int(word))
        else:
            cards[word] = []
    return cards


def tops(game: Game, **values: int) -> None:
    """Put cards of these values on top of the coloured stacks; the old tops go face down."""
    state = game.state
    for colour, value in values.items():
        index = COLOURS.index(colour)
        if state["top"][index] != NONE:
            state["face_down"][index, state["top"][index]] += 1
        state["face_down"][index, value - LOWEST_CARD] -= 1
        state["top"][index] = value - LOWEST_CARD
    game.refresh()


def empty_stack(game: Game, colour: str, keeper: int) -> None:
    """Let the seat `keeper` hold all cards of a coloured stack."""
    state, index = game.state, COLOURS.index(colour)
    state["hand"][keeper, index] += state["face_down"][index]
    state["face_down"][index] = 0
    if state["top"][index] != NONE:
        state["hand"][keeper, index, state["top"][index]] += 1
        state["top"][index] = NONE
    game.refresh()


def black_stack(game: Game, face_down: list[int], face_up: list[int], keeper: int) -> None:
    """What the black stack holds; the seat `keeper` gets all black cards that are neither there nor
    in another hand.
    """
    state = game.state
    state["hand"][keeper, BLACK] += state["face_down"][BLACK] + state["black_face_up"]
    for rank, value in enumerate(CARD_VALUES):
        state["face_down"][BLACK, rank] = face_down.count(value)
        state["black_face_up"][rank] = face_up.count(value)
    state["hand"][keeper, BLACK] -= state["face_down"][BLACK] + state["black_face_up"]
    assert state["hand"][keeper, BLACK].min() >= 0
    game.refresh()


def supply(game: Game, seat: int, ready: int, general: int | None = None) -> None:
    """How many skyscrapers a seat (or Alea) has ready to build, and how many in the general
    supply.
    """
    if seat == ALEA:
        game.state["alea_supply"] = ready
    else:
        game.state["supply"][seat] = ready
        if general is not None:
            game.state["general"][seat] = general
    game.refresh()


def commissioner(game: Game, who: str, place: str, markers: Sequence[str] = ()) -> None:
    """Where a commissioner stands, and the districts with its markers in the order of its
    visits.
    """
    state, index = game.state, COMMISSIONERS.index(who)
    state["place"][index] = PLACES.index(place)
    state["markers"][index] = len(markers)
    state["visited"][index] = [DISTRICTS.index(name) for name in markers] + [NONE] * (
        3 - len(markers)
    )
    game.refresh()


def stopped(game: Game, name: str) -> None:
    """A district that was stopped earlier in the game."""
    district(game, name)
    game.state["tiles"][DISTRICTS.index(name)] = 0
    game.state["stopped"][DISTRICTS.index(name)] = 1
    game.state["stops"] += 1
    game.refresh()


def after_businesses(game: Game, number: int) -> None:
    """Option B has been chosen `number` times: the supply row is that much shorter, the left-over
    tiles are in the park.
    """
    state = game.state
    state["placed"] = number
    start = 0
    for size in SET_SIZES:
        taken = min(number, size - 1)
        state["row"][start : start + taken] = NONE
        if taken == size - 1:
            state["park_tiles"][state["row"][start + taken]] += 1
            state["row"][start + taken] = NONE
        number -= taken
        start += size
    game.refresh()


def supply_row(game: Game, *sets: str) -> None:
    """Other tiles in the first sets of the supply row: ``supply_row(game, "boutique boutique
    gallery", "jeweller gallery")``.
    """
    start = 0
    for size, names in zip(SET_SIZES, sets, strict=False):
        assert len(names.split()) == size
        game.state["row"][start : start + size] = [BUSINESSES.index(name) for name in names.split()]
        start += size
    game.refresh()


# ---- going on from there ----


def turn_of(game: Game, seat: int) -> None:
    """A seat is about to choose an option."""
    _at(game, seat, PHASE_OPTION, 1, NONE)


def about_to_move(game: Game, seat: int = 0) -> None:
    """A seat is at the third action of its turn (option A): moving a commissioner."""
    _at(game, seat, PHASE_MOVE, 3, 0)


def _at(game: Game, seat: int, phase: int, step: int, option: int) -> None:
    values = {"seat": seat, "turn_seat": seat, "phase": phase, "step": step, "option": option}
    none = ("business", "first_colour", "auction_place", "auction_commissioner")
    for field, value in {**values, **dict.fromkeys(none, NONE)}.items():
        game.state[field] = value
    game.refresh()


def start_auction(
    game: Game, places: Sequence[str], starter: int = 0, chance: Chance = ()
) -> list[Event]:
    """Seat `starter` moves the white commissioner from Central Park to City Hall, with markers in
    these districts.
    """
    commissioner(game, "white", "CENTRAL_PARK", places)
    about_to_move(game, starter)
    return game.play("move white CITY_HALL", chance)


def bid(game: Game, seat: int, cards: str, chance: Chance = ()) -> list[Event]:
    """A seat bids: ``bid(game, 0, "green 4 5 black 6")``.

    The chance is that of what follows the bid.
    """
    assert (game.phase, game.seat) == ("bid", seat), f"seat {game.seat} is to act ({game.phase})"
    colour = ""
    for word in cards.split():
        if word.isdigit():
            game.play(f"bid {colour} {word}")
        else:
            colour = word
    return game.play("bid done", chance)


def passes(game: Game, *seats: int, chance: Chance = ()) -> list[Event]:
    """Seats pass one after the other; the chance is that of what follows the last one."""
    events: list[Event] = []
    for number, seat in enumerate(seats, 1):
        assert (game.phase, game.seat) == ("bid", seat), (
            f"seat {game.seat} is to act ({game.phase})"
        )
        events += game.play("pass", chance if number == len(seats) else ())
    return events


def bids(game: Game, *moves: str, chance: Chance = ()) -> list[Event]:
    """Bids and passes: ``bids(game, "0 green 4 black 5", "1 pass")``.

    The chance is that of what follows the last one.
    """
    events: list[Event] = []
    for number, move in enumerate(moves, 1):
        seat, cards = move.split(maxsplit=1)
        outcomes = chance if number == len(moves) else ()
        if cards == "pass":
            events += passes(game, int(seat), chance=outcomes)
        else:
            events += bid(game, int(seat), cards, outcomes)
    return events


# ---- looking at it ----


def legal(game: Game, start: str) -> list[str]:
    """What follows `start` in the names of the legal actions: ``legal(game, "take ")`` is
    ``["green", ...]``.
    """
    return [name.removeprefix(start) for name in game.legal_names if name.startswith(start)]


def bid_colours(game: Game) -> set[str]:
    """The colours of the cards that may be laid down now."""
    return {card.split()[0] for card in legal(game, "bid ") if card != "done"}


def cards(game: Game, seat: int) -> dict[str, list[int]]:
    """The cards in a hand, colours that are missing left out."""
    return _listed(game.state["hand"][seat])


def known_cards(game: Game, seat: int) -> dict[str, list[int]]:
    """Those of them that everybody knows of (INF-3)."""
    return _listed(game.state["known"][seat])


def _listed(counts: Any) -> dict[str, list[int]]:
    values = {
        colour: np.repeat(CARD_VALUES, counts[index]).tolist()
        for index, colour in enumerate(CARD_COLOURS)
    }
    return {colour: listed for colour, listed in values.items() if listed}


def floors(game: Game, name: str, plot: str) -> tuple[int, int]:
    """Owner and number of skyscrapers of a plot; (−1, 0) without any."""
    at = DISTRICTS.index(name), PLOTS.index(plot)
    return int(game.state["owner"][at]), int(game.state["floors"][at])


def same_record(one: np.void, other: np.void) -> bool:
    """Whether two records are equal field by field; bytes between the fields mean nothing."""
    pairs = ((one[name], other[name]) for name in one.dtype.names or ())
    return all(
        same_record(mine, theirs) if isinstance(mine, np.void) else np.array_equal(mine, theirs)
        for mine, theirs in pairs
    )


def kinds(events: Sequence[Event]) -> list[str]:
    """What kinds of events these are; of actions the names."""
    return [event["name"] if event["event"] == "action" else event["event"] for event in events]


def only(events: Sequence[Event], kind: str) -> list[Event]:
    """The events of one kind, without the field that says so."""
    return [
        {name: value for name, value in event.items() if name != "event"}
        for event in events
        if event["event"] == kind
    ]


def vp(events: Sequence[Event]) -> list[list[int]]:
    """The VP of the `vp` events."""
    return [event["vp"] for event in only(events, "vp")]


def play_all(game: Game, *actions: str) -> list[Event]:
    """Several actions; their events together."""
    events: list[Event] = []
    for action in actions:
        assert action in ACTION_NAMES, f"no action is called {action!r}"
        events += game.play(action)
    return events


def as_likely(
    counts: Iterable[Any], shares: Sequence[float] | None = None, level: float = 1e-3
) -> bool:
    """Whether Pearson's chi-square test finds nothing against these shares (equal ones by default)
    at a level.

    Things of which fewer than five are to be expected are counted as one. The critical value is
    Wilson and Hilferty's, right to 3 % for one degree of freedom and better for more. Seeds are
    fixed, so a test that passes goes on passing.
    """
    observed = np.array(list(counts), np.float64)
    wanted = np.array([1.0] * len(observed) if shares is None else shares, np.float64)
    wanted *= observed.sum() / wanted.sum()
    rare = wanted < 5
    if rare.any():
        observed, wanted = (
            np.append(numbers[~rare], numbers[rare].sum()) for numbers in (observed, wanted)
        )
    degrees = len(observed) - 1
    assert degrees > 0, "there is nothing to test"
    spread = 2 / (9 * degrees)
    critical = degrees * (1 - spread + NormalDist().inv_cdf(1 - level) * spread**0.5) ** 3
    return bool(((observed - wanted) ** 2 / wanted).sum() < critical)


def counted(rows: np.ndarray) -> dict[Any, int]:
    """How often each row of whole numbers comes, by the row as a tuple."""
    kinds, numbers = np.unique(rows.reshape(len(rows), -1), axis=0, return_counts=True)
    return {tuple(kind.tolist()): int(number) for kind, number in zip(kinds, numbers, strict=True)}
