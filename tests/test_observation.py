"""The observation: layout, bounds, and agreement with its documentation."""

import re

import numpy as np
import pytest

from scenario import stages
from skyenv import OBSERVATION_SIZE, Game
from skyenv.engine.observation import (
    BLOCKS,
    HIGH,
    LOW,
    SCALE,
    SEATS,
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
from skyenv.rules.state import ALEA, NONE, PHASES

# ---- the schema ----


def test_the_schema_covers_the_vector_exactly() -> None:
    """Without gaps; as many names, bounds and factors as entries."""
    start = 0
    for block in BLOCKS:
        where = offsets()[block.name]
        assert where == slice(start, start + len(block.entries))
        assert all(name.startswith(f"{block.name}: ") for name in names()[where])
        for value in (block.largest, block.parts):
            assert isinstance(value, int) or len(value) == len(block.entries)
        start += len(block.entries)
    assert start == OBSERVATION_SIZE == len(set(names()))
    assert all(re.fullmatch(r"[\w .:]+", name) for name in names())
    for array in (LOW, HIGH, SCALE):
        assert array.shape == (OBSERVATION_SIZE,)
        assert array.dtype == np.float32
    assert (LOW == 0).all()
    assert (HIGH > 0).all()


# ---- bounds ----


@pytest.mark.rule("END-5")
@pytest.mark.parametrize(
    ("max_turns", "turns", "share"),
    [(1, 0, 0), (1, 1, 1), (2**31 - 1, 2**30, 0.5), (500, 250, 0.5), (3, 2, 0.666)],
)
def test_entries_of_extreme_positions_stay_in_bounds(
    max_turns: int, turns: int, share: float
) -> None:
    """For positions made by hand; other entries are unchanged."""
    game = Game(3, seed=1, max_turns=max_turns)
    before = game.observation(0)
    game.state["turns"] = turns
    game.state["score"][:3] = [1000, 2**30, 999]
    game.refresh()
    observation = game.observation(0)
    assert observation[offsets()["score"]] == pytest.approx([10, 10, 9.99, 0])
    assert observation[offsets()["turns"]] == pytest.approx([share], abs=2e-3)
    assert (observation <= HIGH).all()
    changed = {name for name, where in offsets().items() if (observation != before)[where].any()}
    assert changed == {"score", *(["turns"] if turns else [])}


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
        "on turn": [called(game, seat, game.state["turn_seat"])],
        "option": [] if state["option"] == NONE else [OPTIONS[state["option"]]],
        "action of the turn": []
        if game.phase == "start" or state["step"] > 3
        else [("1st", "2nd", "3rd")[state["step"] - 1]],
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
    sets = [part[part != NONE].tolist() for part in np.split(state["row"], np.cumsum(SET_SIZES))]
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
    return {
        "top": top,
        "stack": stack,
        "returned": returned,
        "black stack": black,
        "unseen": cards_by_name(unseen / CARD_COUNTS, 1, 1),
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
        "bid cards": {
            f"{who} {name} {value}": state["bid_cards"][other, kind, rank] / parts
            for who, other in seats_from(game, seat).items()
            for kind, (name, parts) in enumerate((("coloured", 2), ("black", 4)))
            for rank, value in enumerate(CARD_VALUES)
        },
        "highest bid": highest,
        "last card laid": laid,
    }


@pytest.mark.rule("INF-1", "INF-3")
@pytest.mark.parametrize(
    ("players", "side", "agent"),
    [(2, "front", "crowd"), (2, "back", "random"), (3, "back", "crowd"), (4, "front", "hoard")],
)
def test_every_entry_agrees_with_its_documentation(players: int, side: str, agent: str) -> None:
    """Compared with an independent reading of the position."""
    where = {name: i for i, name in enumerate(names())}
    for game in stages(players, side, agent):
        for seat in range(players):
            wanted = np.zeros(OBSERVATION_SIZE)
            for name, value in expected(game, seat).items():
                wanted[where[name]] = value
            before, seen = game.position(), game.observation(seat)
            wrong = np.flatnonzero(abs(seen - wanted) > 1e-5)
            assert [(names()[i], seen[i], wanted[i]) for i in wrong] == []
            assert game.position() == before
