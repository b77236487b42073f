"""END: how the game ends, and who wins."""

import pytest

from scenario import (
    Event,
    after_businesses,
    as_likely,
    bare_game,
    bids,
    commissioner,
    district,
    hand,
    kinds,
    legal,
    only,
    passes,
    play_all,
    start_auction,
    stopped,
    turn_of,
)
from skyenv import Game
from skyenv.engine.results import results
from skyenv.rules.components import BUSINESSES


def last_business(game: Game, *chance: str) -> list[Event]:
    """Seat 0 places the 12th business, on W34 gray; the chance is that of the park's tiles."""
    turn_of(game, 0)
    game.play(f"option B {legal(game, 'option B ')[0]}")
    return game.play("plot W34 gray", chance)


def last_stop(game: Game, *chance: str) -> list[Event]:
    """Seat 0 declares the second building stop, of E52."""
    stopped(game, "E34")
    rest = dict.fromkeys(("violet", "brown", "orange", "gray"), "gallery")
    district(game, "E52", green=(0, 1), **rest)
    hand(game, 0, green=[5])
    start_auction(game, ["E52"])
    bids(game, "0 green 5", "1 pass", "2 pass")
    return game.play("stop", chance)


def park_tiles(game: Game, names: str) -> None:
    """The businesses that lie in the park area."""
    game.state["park_tiles"] = [names.split().count(business) for business in BUSINESSES]


@pytest.mark.rule("END-1")
def test_the_12th_business_or_the_second_stop_ends_the_game() -> None:
    """The 12th business, or the second building stop; not the 11th (or the first one: STOP-6)."""
    game = bare_game()
    after_businesses(game, 11)
    assert only(last_business(game), "end")[0]["reason"] == "businesses"
    game = bare_game()
    after_businesses(game, 10)
    assert not only(last_business(game), "end")
    assert only(last_stop(game), "end")[0]["reason"] == "stops"
    assert (game.seat, game.phase, game.legal_actions) == (None, "over", [])


@pytest.mark.rule("END-2", "SCO-2", "STOP-4")
def test_every_district_is_scored_once() -> None:
    """In district order, each by its value; those scored during the game too, stopped ones not."""
    game = bare_game()
    after_businesses(game, 11)
    game.state["score"][:3] = [10, 20, 0]
    # the 12th business comes to W34 gray, which also touches green
    game.state["row"][18:] = BUSINESSES.index("gallery")
    district(game, "W34", green=(0, 2), violet="gallery")  # 2 each
    district(game, "TSQ", brown=(1, 1), violet="gallery boutique", orange="jeweller")  # 5
    district(game, "W52", green=(2, 1), brown=(1, 4))  # 1 each
    stopped(game, "E42")
    finals = [event for event in only(last_business(game), "vp") if event["why"] == "final"]
    assert [(event["place"], event["vp"]) for event in finals] == [
        ("W34", [4, 0, 0]),
        ("E34", [0, 0, 0]),
        ("W42", [0, 0, 0]),
        ("TSQ", [0, 5, 0]),
        ("W52", [0, 4, 1]),
        ("E52", [0, 0, 0]),
    ]
    assert game.scores == [14, 29, 1]


@pytest.mark.rule("END-3")
@pytest.mark.parametrize(
    ("lying", "turned", "each"),
    [
        ("", [], 1),
        ("gallery", ["gallery"], 2),
        ("boutique gallery", ["boutique", "gallery"], 3),
        ("gallery gallery gallery", ["gallery"] * 3, 2),
        ("gallery gallery boutique perfumery", ["boutique", "gallery", "gallery"], 3),
        ("gallery gallery boutique perfumery", ["perfumery", "boutique", "gallery"], 5),
    ],
)
def test_the_park_is_scored_by_up_to_three_tiles(lying: str, turned: list[str], each: int) -> None:
    """Up to three tiles are turned up; each skyscraper earns 1, 2, 3, 5 VP for 0, 1, 2, 3 types.

    Few tiles all count.
    """
    game = bare_game()
    park_tiles(game, lying)
    game.state["park"][:3] = [2, 0, 3]
    tiles = game.state["park_tiles"].tolist()
    events = last_stop(game, *(turned if len(lying.split()) > 3 else ()))
    assert [sorted(event["tiles"]) for event in only(events, "park")] == [sorted(turned)]
    points = {"why": "park", "place": "CENTRAL_PARK", "vp": [2 * each, 0, 3 * each]}
    assert only(events, "vp")[-1] == points
    assert kinds(events)[-3:] == ["park", "vp", "end"]
    assert game.state["park_tiles"].tolist() == tiles  # they still lie there


@pytest.mark.compiled
@pytest.mark.rule("END-3")
def test_the_tiles_of_the_park_are_shuffled() -> None:
    """Each three of them are equally likely, in any order."""
    types, first = [0, 0, 0], [0, 0]
    for seed in range(300):
        game = bare_game(seed=seed)
        park_tiles(game, "boutique boutique jeweller jeweller gallery")
        turned = only(last_stop(game), "park")[0]["tiles"]
        types[len(set(turned)) - 1] += 1
        first[turned[0] == "gallery"] += 1
    assert types[0] == 0
    assert as_likely(types[1:], [6, 4])  # of ten triples four have three types
    assert as_likely(first, [4, 1])


@pytest.mark.rule("END-4")
@pytest.mark.parametrize(
    ("points", "held", "winners"),
    [
        ([30, 29, 28], [0, 5, 9], [0]),
        ([30, 31, 30], [5, 0, 5], [1]),
        ([30, 30, 20], [2, 3, 9], [1]),
        ([30, 30, 30], [3, 3, 2], [0, 1]),
        ([25, 30, 30], [9, 4, 4], [1, 2]),
        ([7, 7, 7], [1, 1, 1], [0, 1, 2]),
    ],
)
def test_ties_are_broken_by_cards_in_hand(
    points: list[int], held: list[int], winners: list[int]
) -> None:
    """Most VP; then most cards in hand; then a shared win."""
    game = bare_game()
    after_businesses(game, 11)
    game.state["score"][:3] = points
    for seat, number in enumerate(held):
        # black and coloured cards count alike, and so do low and high ones
        game.state["hand"][seat, 5, seat % 3] = number // 2
        game.state["hand"][seat, seat, 2 - seat % 3] = number - number // 2
    assert only(last_business(game), "end") == [
        {"reason": "businesses", "scores": points, "cards": held, "winners": winners}
    ]
    (shares,), (cards,) = results(game.batch.state)
    assert cards.tolist() == [*held, 0]
    assert shares.tolist() == [(seat in winners) / len(winners) for seat in range(4)]


@pytest.mark.rule("END-5")
@pytest.mark.parametrize("max_turns", [1, 2, 4])
def test_truncated_games_keep_their_scores(max_turns: int) -> None:
    """After so many turns of all seats together; the scores stand, nothing is added."""
    game = bare_game(3, max_turns=max_turns)
    district(game, "W34", green=(1, 1))
    game.state["park"][2] = 1
    game.state["score"][:3] = [5, 9, 0]
    game.refresh()
    for turn in range(max_turns):
        assert game.turn == turn
        play_all(game, "option A", "take green", "take violet")
        events = game.play(f"move beige {legal(game, 'move beige ')[0]}")
    assert kinds(events)[1:] == ["end"]
    (end,) = only(events, "end")
    assert (end["reason"], end["scores"], end["winners"]) == ("truncated", [5, 9, 0], [1])
    assert game.is_over


@pytest.mark.rule("END-5", "TURN-7")
def test_truncation_comes_after_the_auctions_and_the_rest_of_the_turn() -> None:
    """Option C's first move doesn't end it, and what is built by the second one's is built."""
    game = bare_game(3, hands=["gray 4 4"], max_turns=1)
    commissioner(game, "white", "CENTRAL_PARK")
    commissioner(game, "beige", "CENTRAL_PARK", ["TSQ"])
    turn_of(game, 0)
    play_all(game, "option C", "move white CITY_HALL")
    passes(game, 0, 1, 2)
    play_all(game, "take green", "take violet", "move beige CITY_HALL")
    bids(game, "0 gray 4", "1 pass", "2 pass")
    assert only(game.play("build 3"), "auction") == [{"place": "CENTRAL_PARK", "starter": 0}]
    bids(game, "0 gray 4", "1 pass", "2 pass")
    events = game.play("build 0")
    assert kinds(events) == ["build 0", "end"]
    assert events[-1]["reason"] == "truncated"
    assert game.state["floors"][3].sum() == 3


@pytest.mark.rule("END-5")
def test_an_end_in_the_last_turn_is_no_truncation() -> None:
    events = last_stop(bare_game(3, max_turns=1))
    assert events[-1]["reason"] == "stops"
    assert "final" in {event["why"] for event in only(events, "vp")}
