"""Validation of positions."""

from typing import Any

import numpy as np
import pytest

from crowd_games import positions
from scenario import put, same_record
from skyenv import Game, Games, OptionError
from skyenv.engine.knowledge import view
from skyenv.engine.results import results
from skyenv.engine.validation import as_games
from skyenv.rules.record import Field
from skyenv.rules.state import GAME_DTYPE, GameRecord


def bidding() -> Game:
    """A game in the middle of an auction, with cards on the table and the commissioner's markers
    still in districts.
    """
    return next(
        game
        for game in positions(3, 4, "bid")
        if game.state["highest"] > 0
        and game.state["markers"][game.state["auction_commissioner"]] > 0
    )


# ---- what is let through ----


def test_plausible_edits_are_valid() -> None:
    """Even if no game can lead to them."""
    games = Games(2, 3, seed=1)
    games.state["score"][:, 1] = 70
    games.state["tiles"][1, 2, 3, 0] = 2
    games.state["hand"][0, 2] = 0
    games.state["known"][0, 2] = 0
    games.state["seat"][1] = 2
    games.state["placed"][0] = 2  # both of the first set: the second one is current
    games.state["row"][0, :5] = -1
    games.refresh()
    assert games.seat.tolist() == [0, 2]


# ---- the table of ranges ----


@pytest.mark.parametrize(("name", "field"), GameRecord.fields.items())
def test_numbers_out_of_range_are_refused(name: str, field: Field) -> None:
    """In the field's last entry, just above and below its range; the error names it."""
    games = Games(3, 4, "back", seed=1)
    place = tuple(size - 1 for size in field.shape)
    bounds: Any = np.iinfo(field.kind)
    assert bounds.min <= field.low <= field.high <= bounds.max
    for wrong in (field.low - 1, field.high + 1):
        if bounds.min <= wrong <= bounds.max:
            kept = games.state[name][1].copy()
            games.state[name][(1, *place)] = wrong
            before = games.copy()
            with pytest.raises(OptionError, match=rf"^game 1: {name}(\[.*\])? is {wrong}; "):
                games.refresh()
            assert games.state.tobytes() == before.state.tobytes()
            assert games.mask.tobytes() == before.mask.tobytes()
            games.state[name][1] = kept
    games.refresh()


# ---- what must fit together ----


HANDS = " ".join(f"hand.{seat}.{{0}}.1=20" for seat in range(4))
MISFITTING = [
    ("random", "random=0"),
    ("num_players", "num_players=2"),
    ("num_players", "num_players=4"),
    ("ring", "ring.6.4=5"),
    ("known", "known.3.0.0=1"),
    ("bid_cards", "bid_colour=-1"),
    ("there are more than 100 cards", HANDS.format(2) + " face_down.2.1=20 top.2=1"),
    (  # of one black card 100 elsewhere, and one that Alea has turned up
        "there are more than 100 cards",
        "bid_cards=0 black_face_up=0 unlocated=0 face_down.5.1=20 alea_cards.1=1 "
        + HANDS.format(5),
    ),
    ("phase", "phase=plot placed=12"),
    ("a field", "seat=3"),
    ("a field", "turn_seat=3"),
    ("a field", "highest_bidder=3"),
    ("a field", "owner.5.3=3"),
    ("owner", "owner.TSQ.0=1 owner.TSQ.1=1 floors.TSQ.0=1 floors.TSQ.1=1"),
    ("turns", "turns=400 max_turns=399"),
    ("row", "placed=0 row=-1"),
    ("row", "placed=2 row.5=-1"),
]


@pytest.mark.rule("AUC-11")
@pytest.mark.parametrize(("what", "fields"), MISFITTING)
def test_inconsistent_fields_are_refused(what: str, fields: str) -> None:
    """With the reason; without the edit the position is valid."""
    game = bidding()
    game.batch.refresh()
    put(game, fields)
    before = game.state.copy()
    with pytest.raises(OptionError, match=f"^game 0: {what} "):
        game.refresh()
    assert same_record(game.state, before)


# ---- games at all ----


@pytest.mark.parametrize(
    "state",
    [
        np.full(8, 127),
        np.zeros(3),
        np.zeros((2, 2), GAME_DTYPE),
        np.zeros((), GAME_DTYPE),
        "games",
        [1, 2],
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        as_games,
        results,
        lambda state: view(state, 0),
        lambda state: Games(8, seed=1).observe(0, None, state),
    ],
)
def test_values_of_other_types_are_refused(state: Any, call: Any) -> None:
    with pytest.raises(OptionError, match="games must be records of GAME_DTYPE"):
        call(state)


@pytest.mark.parametrize("players", [0, 1, 5, -1, 127])
@pytest.mark.parametrize("call", [results, lambda state: view(state, 0)])
def test_games_without_players_are_refused(players: int, call: Any) -> None:
    state = Games(3, 2, seed=1).state
    state["num_players"][2] = players
    with pytest.raises(
        OptionError, match=f"^game 2: num_players is {players}; it must be from 2 to 4$"
    ):
        call(state)
