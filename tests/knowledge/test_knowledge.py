"""What a seat sees: everything that it may know, and nothing else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from scenario import same_record, stages
from skyenv import Game, Games, make_agent
from skyenv.agents import decide
from skyenv.engine.knowledge import PUBLIC, VIEW_DTYPE, resample, view
from skyenv.errors import OptionError
from skyenv.rules.components import CARD_COUNTS
from skyenv.rules.state import GAME_DTYPE, GAME_FIELDS

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
HIDDEN_FIELDS = ("seed", "random", "hand", "face_down", "held")


@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.rule("INF-1", "INF-2", "INF-3")
def test_the_public_view_is_what_all_seats_know(players: int, side: str) -> None:
    """It differs from every seat's own view only in what that seat alone knows, and adds up."""
    for game in stages(players, side, "crowd", seed=3):
        public = game.public_view()
        assert public["seat"] == PUBLIC
        assert (public["game"]["hand"] == game.state["known"]).all()
        assert not public["game"]["face_down"].any()
        assert not public["game"]["deduced"].any()
        assert (public["unknown"] == game.state["unknown"]).all()
        assert (public["unseen"] == game.state["unlocated"]).all()
        assert (
            public["unseen"].sum(axis=1) == public["unknown"].sum(axis=0) + public["num_face_down"]
        ).all()
        for seat in range(players):
            own = game.view(seat)
            for field in set(GAME_FIELDS) - {"hand", "held", "deduced"}:
                assert (public["game"][field] == own["game"][field]).all(), field
        with pytest.raises(OptionError, match="its seat"):
            resample(public, [1])


# ---- what a view holds ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_views_of_a_batch_are_those_of_single_games(players: int, side: str) -> None:
    """One seat for all, or one for each; and the games stay as they are."""
    games = Games(5, players, side, seed=2)
    for _ in range(25):
        games.step(decide(games, make_agent("crowd")))
    before = games.state.tobytes()
    seats = np.arange(5) % players
    views = view(games.state, seats)
    assert isinstance(views, np.recarray)
    assert views.shape == (5,)
    assert views.seat.tolist() == seats.tolist()
    for row in range(5):
        alone = view(games.state[row : row + 1], int(seats[row]))
        assert same_record(alone[0], views[row])
    assert (view(games.state, 1).seat == 1).all()
    assert len(view(games.state[:0], 0)) == 0
    some = [3, 1, 3]
    for single, wanted in zip(view(games.state, seats[some], some), views[some], strict=True):
        assert same_record(single, wanted)
    for wrong in ([-1], [len(views)]):
        with pytest.raises(OptionError, match=f"rows must be from 0 to {len(views) - 1}, not"):
            view(games.state, 0, wrong)
    assert games.state.tobytes() == before


def test_a_view_is_a_copy() -> None:
    """Whoever edits it changes nothing else."""
    game = Game(2, seed=1)
    before = game.state.tobytes()
    copied = game.view(0)
    copied["game"]["score"][:] = 7
    copied["unseen"][:] = 0
    assert game.state.tobytes() == before
    assert not same_record(game.view(0), copied)


def test_the_game_in_a_view_has_the_same_fields() -> None:
    assert VIEW_DTYPE["game"] == GAME_DTYPE
    assert {"game", "seat", "unknown", "unseen", "num_face_down"} <= set(VIEW_DTYPE.names or ())
    views = view(Games(2, seed=1).state, 0)
    assert (pickle.loads(pickle.dumps(views)).unseen == views.unseen).all()


@pytest.mark.rule("INF-1", "INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_cards_add_up_in_every_view(players: int, side: str) -> None:
    """What a seat sees and what it can't locate are the whole pack; what it can't locate is in
    hands and stacks.
    """
    for game in stages(players, side, "hoard"):
        for seat in range(players):
            known = game.view(seat)
            table = known["game"]
            cards = known["unseen"] + table["hand"].sum(axis=0)
            cards[5] += table["black_face_up"] + table["alea_cards"]
            for other in range(players):
                if (
                    game.phase == "bid" and table["bid_colour"][other] >= 0
                ):  # once won, they have been paid
                    cards[table["bid_colour"][other]] += table["bid_cards"][other, 0]
                    cards[5] += table["bid_cards"][other, 1]
            for colour in range(5):
                for rank in (
                    table["top"][colour],
                    *table["returned"][colour, : table["num_returned"][colour]],
                ):
                    if rank >= 0:
                        cards[colour, rank] += 1
            assert cards.tolist() == CARD_COUNTS.tolist()
            assert (
                known["unseen"].sum(axis=1).tolist()
                == (known["unknown"].sum(axis=0) + known["num_face_down"]).tolist()
            )
            assert (known["unseen"] >= 0).all()
            assert (known["unknown"][[seat, *range(players, 4)]] == 0).all()


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_what_is_hidden_is_blank(players: int, side: str) -> None:
    """Other hands hold only what all know of them; no stack, no seed, no stream of chance.

    The rest is the position itself.
    """
    for game in stages(players, side, "crowd"):
        for seat in range(players):
            known = game.view(seat)["game"]
            assert (known["face_down"] == 0).all()
            assert (known["random"] == 0).all()
            assert known["seed"] == -1
            for other in range(4):
                assert (
                    known["hand"][other] == game.state["hand" if other == seat else "known"][other]
                ).all()
            for field in set(GAME_FIELDS) - set(HIDDEN_FIELDS):
                assert (known[field] == game.state[field]).all(), field
