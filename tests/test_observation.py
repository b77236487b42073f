"""The observation: that it says what its table says, from every seat, within its bounds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenario import bare_game, bid, district, hand, stages, start_auction
from skyenv import OBSERVATION_SIZE, Game, Games, make_agent, make_board
from skyenv.agents import decide
from skyenv.engine.observation import (
    BLOCKS,
    HIGH,
    LOW,
    SCALE,
    SEATS,
    Block,
    markdown_table,
    names,
    offsets,
)
from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_COUNTS,
    CARD_VALUES,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    OPTIONS,
    PLACES,
    PLOTS,
    SET_SIZES,
)
from skyenv.rules.state import ALEA, NONE, PHASE_OVER, PHASES

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
AGENTS = ("random", "crowd", "hoard")
DOCS = Path(__file__).parent.parent / "docs" / "observation.md"


# ---- the schema ----


def test_the_schema_covers_the_vector_exactly() -> None:
    """Block after block, without gaps; as many names, bounds and factors as entries."""
    assert sum(len(block.entries) for block in BLOCKS) == OBSERVATION_SIZE
    start = 0
    for block in BLOCKS:
        assert offsets()[block.name] == slice(start, start + len(block.entries))
        start += len(block.entries)
    assert start == OBSERVATION_SIZE
    assert len(offsets()) == len(BLOCKS)
    for array in (LOW, HIGH, SCALE):
        assert array.shape == (OBSERVATION_SIZE,)
        assert array.dtype == np.float32
    assert (LOW == 0).all()
    assert (HIGH > 0).all()
    assert np.isfinite(HIGH).all()


def test_names_are_unique_and_tell_the_block() -> None:
    assert len(names()) == len(set(names())) == OBSERVATION_SIZE
    for block in BLOCKS:
        assert all(name.startswith(f"{block.name}: ") for name in names()[offsets()[block.name]])
    assert all(re.fullmatch(r"[\w .:]+", name) for name in names())


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_bounds_and_factors_are_given_for_all_entries_or_each(block: Block) -> None:
    for value in (block.largest, block.parts):
        assert isinstance(value, int) or len(value) == len(block.entries)


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_same_length_everywhere(players: int, side: str) -> None:
    game = Game(players, side, seed=1)
    for seat in range(players):
        observation = game.observation(seat)
        assert observation.shape == (OBSERVATION_SIZE,)
        assert observation.dtype == np.float32


def test_the_docs_have_the_table() -> None:
    """Between its two markers, as the schema makes it; and every block has its line."""
    text = DOCS.read_text(encoding="utf-8")
    table = text.split("<!-- observation table -->")[1].split("<!-- end -->")[0].strip()
    assert table == markdown_table()


def test_the_table_covers_the_vector() -> None:
    """Its spans follow each other, and each line says what the block's largest value is."""
    spans = re.findall(
        r"^\| (\d+)(?:–(\d+))? \| ([\w ]+) \|.*\| ([\d.]+) \| .+ \|$",
        markdown_table(),
        re.MULTILINE,
    )
    assert [name for _, _, name, _ in spans] == [block.name for block in BLOCKS]
    following = 0
    for first, last, name, largest in spans:
        assert int(first) == following
        following = int(last or first) + 1
        assert float(largest) == pytest.approx(HIGH[offsets()[name]].max(), rel=1e-3)
    assert following == OBSERVATION_SIZE


# ---- bounds ----


@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("max_turns", [1, 7, 500])
def test_every_entry_stays_within_its_bounds(
    players: int, side: str, agent: str, max_turns: int
) -> None:
    """In all positions of long and short games, from every seat, and in the position in which a
    game ended.
    """
    games = Games(12, players, side, seed=3, max_turns=max_turns)
    player = make_agent(agent)
    for _ in range(200 if max_turns < 500 else 500):
        games.step(decide(games, player))
        assert (games.observation >= LOW).all()
        assert (games.observation <= HIGH).all()
    ended = np.flatnonzero(games.finished["phase"] == PHASE_OVER)
    assert len(ended) > 0 or max_turns == 500
    for seat in range(players):
        for observation in (games.observe(seat), games.observe(seat, ended, games.finished)):
            assert (observation >= LOW).all()
            assert (observation <= HIGH).all()


def test_entries_reach_beyond_one_but_not_far() -> None:
    """They are scaled for a network: hardly ever above 5, whatever is played."""
    games = Games(60, 4, seed=3)
    for agent in AGENTS:
        for _ in range(400):
            games.step(decide(games, make_agent(agent)))
            assert (games.observation > 5).mean() < 1e-4


def test_huge_scores() -> None:
    """What can't be in a game, but in a hand-made position: the bound holds, and so do the
    neighbours' entries.
    """
    game = Game(3, seed=1)
    before = game.observation(0)
    game.state["score"][:3] = [1000, 2**30, 999]
    game.refresh()
    observation = game.observation(0)
    assert observation[offsets()["score"]] == pytest.approx([10, 10, 9.99, 0])
    assert (observation <= HIGH).all()
    assert changed_blocks(before, observation) == {"score"}


def test_one_turn_and_very_many() -> None:
    """END-5: turns are told as a share of max_turns."""
    for max_turns, turns, share in (
        (1, 0, 0),
        (1, 1, 1),
        (2**31 - 1, 2**30, 0.5),
        (500, 250, 0.5),
        (3, 2, 0.666),
    ):
        game = Game(2, seed=1, max_turns=max_turns)
        game.state["turns"] = turns
        game.refresh()
        assert game.observation(0)[offsets()["turns"]] == pytest.approx([share], abs=2e-3)


# ---- what each entry says ----


def cards_by_name(counts: np.ndarray, coloured: float, black: float) -> dict[str, float]:
    """Entries of a block with one for each card."""
    return {
        f"{colour} {value}": counts[i, rank] / (black if colour == "black" else coloured)
        for i, colour in enumerate(CARD_COLOURS)
        for rank, value in enumerate(CARD_VALUES)
    }


def expected(game: Game, seat: int) -> dict[str, float]:
    """The observation, read off the position in the words of its table; entries that are missing
    here are 0.
    """
    entries: dict[str, float] = {}
    for part in (_where, _board, _businesses, _holdings, _stacks, _auction):
        entries |= {
            f"{block}: {entry}": value
            for block, block_entries in part(game, seat).items()
            for entry, value in block_entries.items()
        }
    return entries


Entries = dict[str, dict[str, float]]


def seats_from(game: Game, seat: int) -> dict[str, int]:
    """Seats by what the observer calls them."""
    return {SEATS[i]: (seat + i) % game.num_players for i in range(game.num_players)}


def called(game: Game, seat: int, who: int) -> str:
    """What the observer calls a seat or Alea."""
    return "second next" if who == ALEA else SEATS[(who - seat) % game.num_players]


def _where(game: Game, seat: int) -> Entries:
    state = game.state
    one: dict[str, list[str]] = {
        "phase": [PHASES[state["phase"]]],
        "to act": [] if game.seat is None else [called(game, seat, game.seat)],
        "on turn": [called(game, seat, game.turn_seat)],
        "option": [] if state["option"] == NONE else [OPTIONS[state["option"]]],
        "action of the turn": []
        if game.phase == "start"
        else [("1st", "2nd", "3rd")[min(state["step"], 3) - 1]],
        "business to place": [] if state["business"] == NONE else [BUSINESSES[state["business"]]],
        "first card": [] if state["first_colour"] == NONE else [COLOURS[state["first_colour"]]],
        "stopped": [name for i, name in enumerate(DISTRICTS) if state["stopped"][i]],
        "commissioner": [f"{COMMISSIONERS[i]} {PLACES[state['place'][i]]}" for i in range(2)],
        "marker": [
            f"{COMMISSIONERS[i]} {DISTRICTS[place]}"
            for i in range(2)
            for place in state["visited"][i, : state["markers"][i]]
        ],
    }
    if state["step"] > 3 and game.phase != "start":
        one["action of the turn"] = []
    entries: Entries = {block: dict.fromkeys(entries_of, 1) for block, entries_of in one.items()}
    entries["game"] = {f"{game.num_players} players": 1, "back side": game.side == "back"}
    entries["turns"] = {"finished": int(1000 * game.turn / game.max_turns) / 1000}
    return entries


def _board(game: Game, seat: int) -> Entries:
    state = game.state
    skyscrapers, standing = (
        {},
        dict.fromkeys([f"VP {who} {name}" for who in SEATS for name in DISTRICTS], 0.0),
    )
    presence: dict[str, set[str]] = {who: set() for who in SEATS}
    for i, name in enumerate(DISTRICTS):
        for j, colour in enumerate(COLOURS):
            if state["owner"][i, j] == NONE:
                continue
            who = called(game, seat, int(state["owner"][i, j]))
            skyscrapers[f"{who} {name} {colour}"] = state["floors"][i, j] / 4
            if state["owner"][i, j] != ALEA:
                standing[f"VP {who} {name}"] += (
                    int(state["floors"][i, j]) * int(state["value"][i, j]) / 20
                )
                presence[who].add(name)
    standing |= {f"districts {who}": len(districts) / 8 for who, districts in presence.items()}
    value = {
        f"{name} {colour}": state["value"][i, j] / 8
        for i, name in enumerate(DISTRICTS)
        for j, colour in enumerate(COLOURS)
    }
    park = {who: state["park"][other] / 4 for who, other in seats_from(game, seat).items()}
    return {
        "skyscrapers": skyscrapers,
        "standing": standing,
        "plot value": value,
        "park area": park,
    }


def _businesses(game: Game, seat: int) -> Entries:
    state = game.state
    on_plots = {
        f"{name} {plot} {business}": state["tiles"][i, j, k] / 2
        for i, name in enumerate(DISTRICTS)
        for j, plot in enumerate(PLOTS)
        for k, business in enumerate(BUSINESSES)
    }
    sets: list[list[int]] = []
    start = 0
    for size in SET_SIZES:
        sets.append([int(tile) for tile in state["row"][start : start + size] if tile != NONE])
        start += size
    left = [tiles for tiles in sets if tiles] or [[]]
    row = {f"now {business}": left[0].count(k) / 3 for k, business in enumerate(BUSINESSES)}
    row |= {
        f"later {business}": sum(tiles.count(k) for tiles in left[1:]) / 8
        for k, business in enumerate(BUSINESSES)
    }
    park = {business: state["park_tiles"][k] / 4 for k, business in enumerate(BUSINESSES)}
    return {
        "businesses": on_plots,
        "row": row,
        "park tiles": park,
        "placed": {"businesses": state["placed"] / 12},
    }


def _holdings(game: Game, seat: int) -> Entries:
    state = game.state
    seats = seats_from(game, seat)
    supply = {"Alea": state["alea_supply"] / 18}
    known: dict[str, float] = {}
    unknown: dict[str, float] = {}
    for who, other in seats.items():
        supply |= {
            f"own {who}": state["supply"][other] / 5,
            f"general {who}": state["general"][other] / 12,
        }
        if other != seat:
            known |= {
                f"{who} {card}": number
                for card, number in cards_by_name(state["known"][other], 2, 4).items()
            }
            hidden = (state["hand"][other] - state["known"][other]).sum(axis=1)
            unknown |= {f"{who} {colour}": hidden[i] / 4 for i, colour in enumerate(CARD_COLOURS)}
    mine = state["hand"][seat]
    secret = (mine - state["known"][seat]).sum(axis=1)
    return {
        "supply": supply,
        "score": {who: min(int(state["score"][other]), 1000) / 100 for who, other in seats.items()},
        "hand": cards_by_name(mine, 2, 4),
        "hidden": {colour: secret[i] / 4 for i, colour in enumerate(CARD_COLOURS)},
        "known": known,
        "unknown": unknown,
        "cards": {who: int(state["hand"][other].sum()) / 10 for who, other in seats.items()},
    }


def _stacks(game: Game, seat: int) -> Entries:
    state = game.state
    top, stack, returned = {}, {}, {}
    for i, colour in enumerate(COLOURS):
        if state["top"][i] != NONE:
            top[f"{colour} {CARD_VALUES[state['top'][i]]}"] = 1.0
        stack[f"face down {colour}"] = state["face_down"][i].sum() / 8
        stack[f"returned {colour}"] = state["num_returned"][i] / 8
        for number, rank in enumerate(state["returned"][i, : min(state["num_returned"][i], 3)]):
            returned[f"{colour} {('1st', '2nd', '3rd')[number]}"] = (CARD_VALUES[rank] - 3) / 3
    black = {"face down": state["face_down"][5].sum() / 50}
    black |= {
        f"face up {value}": state["black_face_up"][rank] / (20, 16, 14)[rank]
        for rank, value in enumerate(CARD_VALUES)
    }
    unseen = state["face_down"] + sum(
        state["hand"][who] - state["known"][who] for who in range(game.num_players) if who != seat
    )
    shares = unseen / CARD_COUNTS
    return {
        "top": top,
        "stack": stack,
        "returned": returned,
        "black stack": black,
        "unseen": {
            f"{c} {v}": shares[i, rank]
            for i, c in enumerate(CARD_COLOURS)
            for rank, v in enumerate(CARD_VALUES)
        },
    }


def _auction(game: Game, seat: int) -> Entries:
    state = game.state
    place = int(state["auction_place"])
    if place == NONE:
        return {}
    auction = {PLACES[place]: 1.0, COMMISSIONERS[state["auction_commissioner"]]: 1.0}
    if place < 7:
        occupied = (state["owner"][place] != NONE) | (state["tiles"][place, :5].sum(axis=1) > 0)
        auction["full"] = float(occupied.all())
    bids: dict[str, float] = {}
    for who, other in seats_from(game, seat).items():
        bids |= {
            f"total {who}": state["bid_total"][other] / 20,
            f"passed {who}": float(state["out"][other]),
        }
        on_table = np.flatnonzero(state["bid_cards"][other].sum(axis=0))
        if len(on_table):
            bids |= {
                f"limit {who}": (3 - on_table[-1]) / 3,
                f"{who} {COLOURS[state['bid_colour'][other]]}": 1.0,
            }
    highest = {
        "total": state["highest"] / 20,
        "Alea to come": float(game.num_players == 2 and state["alea"] == 0),
    }
    if state["highest_bidder"] != NONE:
        highest[f"of {called(game, seat, int(state['highest_bidder']))}"] = 1.0
    laid = (
        {}
        if state["laid"] == NONE
        else {f"{('coloured', 'black')[state['laid'] // 3]} {CARD_VALUES[state['laid'] % 3]}": 1.0}
    )
    return {
        "auction": auction,
        "bid": bids,
        "bid cards": _bid_cards(game, seat),
        "highest bid": highest,
        "last card laid": laid,
    }


def _bid_cards(game: Game, seat: int) -> dict[str, float]:
    cards = {}
    for who, other in seats_from(game, seat).items():
        for kind, (name, parts) in enumerate((("coloured", 2), ("black", 4))):
            for rank, value in enumerate(CARD_VALUES):
                cards[f"{who} {name} {value}"] = game.state["bid_cards"][other, kind, rank] / parts
    return cards


@pytest.mark.rule("INF-1", "INF-3")
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", AGENTS)
def test_every_entry_says_what_the_table_says(players: int, side: str, agent: str) -> None:
    """Compared, entry by entry, with a second reading of the position."""
    where = {name: i for i, name in enumerate(names())}
    for game in stages(players, side, agent):
        for seat in range(players):
            wanted = np.zeros(OBSERVATION_SIZE)
            for name, value in expected(game, seat).items():
                wanted[where[name]] = value
            wrong = np.flatnonzero(abs(game.observation(seat) - wanted) > 1e-5)
            assert [(names()[i], game.observation(seat)[i], wanted[i]) for i in wrong] == []


# ---- rotation ----

BY_SEAT = (
    "score",
    "park",
    "supply",
    "general",
    "hand",
    "known",
    "unknown",
    "out",
    "bid_colour",
    "bid_total",
    "bid_cards",
)
NAMING_A_SEAT = ("seat", "turn_seat", "owner", "highest_bidder")


def renamed(game: Game, first: int) -> Game:
    """The same position with the seats counted from another one: seat `first` becomes seat 0."""
    players = game.num_players
    other = game.copy()
    for field in BY_SEAT:
        other.state[field][:players] = np.roll(game.state[field][:players], -first, axis=0)
    for field in NAMING_A_SEAT:
        seats = game.state[field]
        other.state[field] = np.where(
            (seats == NONE) | (seats == ALEA), seats, (seats - first) % players
        )
    other.refresh()
    return other


@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", ["random", "crowd"])
def test_seats_are_seen_relative_to_ones_own(players: int, side: str, agent: str) -> None:
    """Renaming the seats changes no observation: each sees itself first and the others
    clockwise.
    """
    for game in stages(players, side, agent, seed=5):
        for first in range(1, players):
            other = renamed(game, first)
            for seat in range(players):
                assert (
                    other.observation((seat - first) % players).tobytes()
                    == game.observation(seat).tobytes()
                )
            assert other.legal_actions == game.legal_actions


def test_different_seats_see_different_things() -> None:
    game = next(game for game in stages(4, "front", "random", every=1) if game.turn == 3)
    assert len({game.observation(seat).tobytes() for seat in range(4)}) == 4


# ---- what each block reacts to ----


def changed_blocks(one: np.ndarray, other: np.ndarray) -> set[str]:
    return {name for name, where in offsets().items() if (one[where] != other[where]).any()}


def rich_position() -> Game:
    """Two players and Alea; seat 0 has bid and seat 1 is laying down cards."""
    game = bare_game(2)
    district(game, "W34", violet=(1, 2), brown="boutique", gray=(0, 1))
    hand(game, 0, green=[4, 5], black=[4, 5, 5], gray=[6])
    hand(game, 1, green=[5, 6], black=[4, 6, 6], orange=[4])
    state = game.state
    state["known"][0, 4, 2] = state["known"][1, 3, 0] = 1
    for rank, number in ((0, 0), (1, 1)):  # two green cards were paid
        state["face_down"][0, rank] -= 1
        state["returned"][0, number] = rank
    state["num_returned"][0] = 2
    state["face_down"][5] -= [1, 1, 0]
    state["black_face_up"][:] = [1, 1, 0]
    game.refresh()
    start_auction(game, ["E34", "TSQ"])
    bid(game, 0, "green 4 black 4")
    game.play("bid green 5")
    assert (game.seat, game.state["option"], game.state["turns"]) == (1, 0, 0)
    return game


def swap_black(who: int) -> Callable[[np.record], None]:
    """A seat has another unknown black card, the stack one less of it."""

    def edit(state: np.record) -> None:
        state["hand"][who, 5, 1 if who == 0 else 2] -= 1
        state["face_down"][5, 1 if who == 0 else 2] += 1
        state["hand"][who, 5, 0] += 1
        state["face_down"][5, 0] -= 1

    return edit


def put(field: str, where: Any, value: Any) -> Callable[[np.record], None]:
    """Write one field, or part of it."""

    def edit(state: np.record) -> None:
        if where is None:
            state[field] = value
        else:
            assert (
                (state[field][where] != value).any()
                if isinstance(value, list)
                else state[field][where] != value
            )
            state[field][where] = value

    return edit


def together(*edits: Callable[[np.record], None]) -> Callable[[np.record], None]:
    def edit(state: np.record) -> None:
        for one in edits:
            one(state)

    return edit


def add(field: str, where: object, number: int) -> Callable[[np.record], None]:
    def edit(state: np.record) -> None:
        state[field][where] += number

    return edit


REACTIONS: dict[str, tuple[Callable[[np.record], None], str]] = {
    # edit, blocks that change from seat 0's view
    "seed": (put("seed", None, 99), ""),
    "stream of chance": (put("random", None, [1, 2, 3, 4]), ""),
    "number of decisions": (put("decisions", None, 77), ""),
    "side": (put("side", None, 1), "game"),
    "phase": (put("phase", None, 6), "phase"),
    "seat to act": (put("seat", None, 0), "to act"),
    "nobody to act": (put("seat", None, NONE), "to act"),
    "seat on turn": (put("turn_seat", None, 1), "on turn"),
    "option": (put("option", None, 2), "option"),
    "action": (put("step", None, 2), "action of the turn"),
    "turns": (put("turns", None, 250), "turns"),
    "turns to come": (together(put("turns", None, 20), put("max_turns", None, 50)), "turns"),
    "business to place": (put("business", None, 2), "business to place"),
    "first card": (put("first_colour", None, 0), "first card"),
    "another floor of mine": (put("floors", (0, 4), 2), "skyscrapers, standing"),
    "another floor of the other": (put("floors", (0, 1), 3), "skyscrapers, standing"),
    "a first skyscraper": (
        together(put("owner", (6, 0), 0), put("floors", (6, 0), 1)),
        "skyscrapers, standing",
    ),
    "a skyscraper of Alea": (
        together(put("owner", (6, 0), ALEA), put("floors", (6, 0), 1)),
        "skyscrapers",
    ),
    "another owner": (put("owner", (0, 1), ALEA), "skyscrapers, standing"),
    "a business beside nothing": (put("tiles", (6, 1, 1), 1), "businesses, plot value"),
    "an equal business beside nothing": (put("tiles", (0, 2, 0), 2), "businesses"),
    "a business beside a skyscraper": (
        put("tiles", (0, 2, 1), 1),
        "businesses, plot value, standing",
    ),
    "ring": (put("ring", 0, [0, 1, 3, 2, 4, -1]), "plot value, standing"),
    "ring of an empty district": (put("ring", 1, [0, 2, 1, 3, 4, -1]), ""),
    "stopped": (put("stopped", 5, 1), "stopped, plot value"),
    "number of stops": (put("stops", None, 1), ""),
    "the auction's district is full": (
        put("tiles", (1, slice(5), 0), [1] * 5),
        "businesses, plot value, auction",
    ),
    "park": (put("park", 1, 2), "park area"),
    "park tiles": (put("park_tiles", 1, 2), "park tiles"),
    "row, current set": (put("row", 0, NONE), "row"),
    "row, later": (
        together(put("row", slice(5, 8), [0, 0, 0]), put("row", slice(18, 20), [1, 1])),
        "row",
    ),
    "placed": (put("placed", None, 1), "placed"),
    "commissioner": (put("place", 1, 4), "commissioner"),
    "marker": (together(put("markers", 1, 1), put("visited", (1, 0), 0)), "marker"),
    "behind the markers": (put("visited", (1, 0), 0), ""),
    "supply": (put("supply", 1, 7), "supply"),
    "general supply": (put("general", 1, 9), "supply"),
    "Alea's supply": (put("alea_supply", None, 17), "supply"),
    "score": (put("score", 1, 30), "score"),
    "an empty seat's score": (put("score", 3, 30), ""),
    "my hand": (swap_black(0), "hand, unseen"),
    "the other's hand": (swap_black(1), ""),
    "one card more in my hand": (
        together(add("hand", (0, 5, 2), 1), add("face_down", (5, 2), -1)),
        "hand, hidden, cards, black stack, unseen",
    ),
    "one card more in the other's hand": (
        together(add("hand", (1, 5, 2), 1), add("face_down", (5, 2), -1)),
        "unknown, cards, black stack",
    ),
    "my card is known": (put("known", (0, 5, 1), 1), "hidden"),
    "the other's card is known": (put("known", (1, 5, 2), 1), "known, unknown, unseen"),
    "top": (
        together(put("top", 1, 2), add("face_down", (1, 0), 1), add("face_down", (1, 2), -1)),
        "top, unseen",
    ),
    "no top": (put("top", 1, NONE), "top"),
    "order of returned cards": (put("returned", (0, slice(2)), [1, 0]), "returned"),
    "a third returned card": (
        together(put("returned", (0, 2), 2), put("num_returned", 0, 3)),
        "returned, stack",
    ),
    "a fourth returned card": (
        together(put("returned", (0, slice(2, 4)), [2, 2]), put("num_returned", 0, 4)),
        "returned, stack",
    ),
    "a card of the stack is gone": (add("face_down", (2, 0), -1), "stack, unseen"),
    "black cards face up": (
        together(add("black_face_up", 2, 1), add("face_down", (5, 2), -1)),
        "black stack, unseen",
    ),
    "cards that Alea has turned": (put("alea_cards", 0, 2), ""),
    "place of the auction": (put("auction_place", None, 3), "auction"),
    "auction of the park area": (put("auction_place", None, 7), "auction"),
    "commissioner of the auction": (put("auction_commissioner", None, 1), "auction"),
    "no auction": (put("auction_place", None, NONE), "auction, bid, bid cards"),
    "bid": (put("bid_total", 0, 14), "bid"),
    "passed": (put("out", 0, 1), "bid"),
    "colour": (put("bid_colour", 0, 3), "bid"),
    "cards of the same limit": (put("bid_cards", (0, 1, 0), 3), "bid cards"),
    "cards of another limit": (put("bid_cards", (0, 1, 2), 1), "bid, bid cards"),
    "colour of the park area": (put("park_colour", None, 3), ""),
    "highest bid": (put("highest", None, 13), "highest bid"),
    "highest bidder": (put("highest_bidder", None, ALEA), "highest bid"),
    "Alea has bid": (put("alea", None, 2), "highest bid"),
    "last card": (put("laid", None, 4), "last card laid"),
    "no card laid": (put("laid", None, NONE), "last card laid"),
}


@pytest.mark.parametrize("what", REACTIONS)
def test_blocks_react_to_what_they_describe(what: str) -> None:
    """One edit of a position under auction: the blocks named change, and no other."""
    edit, blocks = REACTIONS[what]
    game = rich_position()
    before = game.observation(0)
    edit(game.state)
    game.refresh()
    assert changed_blocks(before, game.observation(0)) == set(filter(None, blocks.split(", ")))


def test_every_block_reacts_to_something() -> None:
    reacting = {block for _, blocks in REACTIONS.values() for block in blocks.split(", ")}
    assert {block.name for block in BLOCKS} <= reacting


def test_the_number_of_players_is_seen() -> None:
    blocks = [
        Game(players, side, seed=1).observation(0)[offsets()["game"]].tolist()
        for players, side in TABLES
    ]
    assert blocks == [
        [1, 0, 0, 0],
        [1, 0, 0, 1],
        [0, 1, 0, 0],
        [0, 1, 0, 1],
        [0, 0, 1, 0],
        [0, 0, 1, 1],
    ]


@pytest.mark.parametrize("players", [2, 3])
def test_seats_that_are_not_there_are_zeros(players: int) -> None:
    """But for Alea, who is seen as the second next."""
    missing = SEATS[players:] if players > 2 else SEATS[3:]
    for game in stages(players, "front", "crowd"):
        observation = game.observation(0)
        for name, value in zip(names(), observation, strict=True):
            if any(f" {who}" in name or f"{who} " in name for who in missing):
                assert value == 0, name


def test_observing_changes_nothing() -> None:
    """Neither the game nor what was returned before."""
    game = rich_position()
    before, first = game.state.tobytes(), game.observation(0)
    kept = first.copy()
    for seat in (1, 0):
        game.observation(seat)
    assert game.state.tobytes() == before
    assert first.tobytes() == kept.tobytes()


def test_rings_are_seen_by_their_values() -> None:
    """Another ring gives other neighbours, and with them other values."""
    game = Game(2, seed=1)
    other = Game(
        2,
        seed=1,
        board=make_board("front", {"W34": ["green", "brown", "violet", "gray", "orange"]}),
    )
    assert changed_blocks(game.observation(0), other.observation(0)) == {"plot value"}
