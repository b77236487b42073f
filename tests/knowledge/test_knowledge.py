"""What a seat sees: everything that it may know, and nothing else."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from scenario import bare_game, hand, same_record, stages
from skyenv import Game, Games, make_agent
from skyenv.agents import decide, decide_game
from skyenv.engine.knowledge import PUBLIC, VIEW_DTYPE, resample, view
from skyenv.errors import OptionError
from skyenv.rules.components import CARD_COUNTS
from skyenv.rules.state import GAME_DTYPE, GAME_FIELDS

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
HIDDEN_FIELDS = ("seed", "random", "hand", "face_down", "held")


def determinized(known: np.record, rng: np.random.Generator) -> Game:
    """A determinization, from a seat's view alone: what it can't know is drawn anew, chance to come
    as well.

    Whoever has begun a bid is able to end it, so draws in which he isn't are drawn again.
    """
    while True:
        game = drawn(known, rng)
        if game.is_over or game.legal_actions:
            return game


def drawn(view: np.record, rng: np.random.Generator) -> Game:
    """The cards of each colour that a seat can't locate, dealt at random: as many to each hand as
    it can't know there.
    """
    known = view["game"]
    game = Game(
        int(known["num_players"]), ("front", "back")[known["side"]], seed=int(rng.integers(2**60))
    )
    stream = game.state["random"].copy()
    for field in GAME_FIELDS:
        if field not in ("seed", "random"):
            game.state[field] = known[field]
    game.state["random"] = stream
    for colour in range(6):
        deduced = deduced_by(view) if colour == 5 else np.zeros((4, 3), np.int8)
        cards = rng.permutation(
            np.repeat(np.arange(3), view["unseen"][colour] - deduced.sum(axis=0))
        )
        for seat in range(game.num_players):
            number = int(view["unknown"][seat, colour] - deduced[seat].sum())
            dealt, cards = cards[:number], cards[number:]
            game.state["hand"][seat, colour] += deduced[seat] + np.bincount(
                dealt, minlength=3
            ).astype(np.int8)
        assert len(cards) == view["num_face_down"][colour]
        game.state["face_down"][colour] = np.bincount(cards, minlength=3)
    game.refresh()
    return game


def deduced_by(view: np.record) -> np.ndarray:
    """[seat, rank] → black cards in others' hands that the view's seat has worked out (AUC-9)."""
    deduced = np.zeros((4, 3), np.int8)
    deduced[:2] = view["game"]["deduced"]
    deduced[view["seat"]] = 0
    return deduced


def hidden_from(game: Game, seat: int) -> np.ndarray:
    """The cards that the others hold unknown to a seat, by seat, colour and rank."""
    hidden: np.ndarray = game.state["hand"] - game.state["known"]
    hidden[seat] = 0
    return hidden


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


# ---- leaks: drawing anew what can't be known ----


@pytest.mark.rule("INF-1", "INF-2", "INF-3")
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", ["random", "crowd", "hoard"])
def test_drawing_the_unknown_anew_keeps_all_that_a_seat_sees(
    players: int, side: str, agent: str
) -> None:
    """A view is enough to make a whole position; in it the seat sees the same, has the same
    choices, and so may come to be.
    """
    rng = np.random.default_rng(5)
    for game in stages(players, side, agent):
        for seat in range(players):
            before = game.view(seat)
            again = determinized(before, rng)
            assert same_record(again.view(seat), before)
            assert again.observation(seat).tobytes() == game.observation(seat).tobytes()
            assert again.state["unlocated"].tolist() == game.state["unlocated"].tolist()
            assert (again.state["face_down"] >= 0).all()
            assert (
                again.state["hand"].sum(axis=2).tolist() == game.state["hand"].sum(axis=2).tolist()
            )
            if seat == game.seat:
                assert again.legal_actions == game.legal_actions


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", ["random", "crowd"])
def test_drawing_the_unknown_anew_really_varies_it(players: int, side: str, agent: str) -> None:
    """Whatever can be one way or another is, in some of many draws: each card of each hand that
    isn't settled, and the chance.
    """
    rng = np.random.default_rng(6)
    varied = 0
    for game in stages(players, side, agent, every=80):
        for seat in range(players):
            known = game.view(seat)
            draws = [determinized(known, rng) for _ in range(25)]
            hands = np.stack([hidden_from(draw, seat) for draw in draws])
            unknown, unseen = known["unknown"].copy(), known["unseen"].copy()
            unknown[:, 5] -= deduced_by(known).sum(axis=1)
            unseen[5] -= deduced_by(known).sum(axis=0)
            kinds_left = (unseen > 0).sum(axis=1)
            open_to_chance = (unknown > 0) & (kinds_left > 1)[None, :]
            # where a hand holds all that can't be located there is nothing to vary
            open_to_chance &= unknown < unseen.sum(axis=1)[None, :]
            differs = (hands != hands[0]).any(axis=(0, 3))
            scarce = (unseen.sum(axis=1) - unseen.max(axis=1) <= 2)[None, :]
            assert (differs | ~open_to_chance | scarce).all()
            assert not differs[seat].any()
            varied += int(differs.sum())
            assert len({draw.state["random"].tobytes() for draw in draws}) == len(draws)
            for draw in draws[:3]:
                for _ in range(12):
                    if not draw.is_over:
                        draw.play(decide_game(draw, make_agent("random")))
    assert varied > 10


@pytest.mark.rule("INF-2")
def test_the_real_position_is_one_of_those_that_can_be_drawn() -> None:
    """Neither likelier nor less likely than others like it: one unknown card of three kinds is each
    in a third of the draws.
    """
    game = bare_game(2)
    hand(game, 1, green=[6])
    game.state["face_down"][0] = [1, 1, 0]
    game.refresh()
    known = game.view(0)
    assert known["unseen"][0].tolist() == [1, 1, 1]
    rng = np.random.default_rng(7)
    counts = np.sum([determinized(known, rng).state["hand"][1, 0] for _ in range(600)], axis=0)
    assert (abs(counts - 200) < 60).all()


def test_choices_depend_on_what_is_seen() -> None:
    """An agent that sees views and observations decides the same in every position that looks the
    same to its seat.
    """
    rng = np.random.default_rng(8)
    for game in stages(3, "front", "crowd", every=5):
        if game.seat is None:
            continue
        again = determinized(game.view(), rng)
        again.state["seed"], again.state["decisions"] = game.state["seed"], game.state["decisions"]
        for agent in ("random", "crowd"):
            assert decide_game(again, make_agent(agent)) == decide_game(game, make_agent(agent))


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
