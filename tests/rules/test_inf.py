"""INF: who knows what.

`Game.view` is all that a seat sees, `Game.observation` the same as numbers. That neither tells what
is hidden, ``tests/guarantees/test_nothing_hidden.py`` shows for all that a seat is told; that the
observation tells what is public, ``tests/test_observation.py``.
"""

import pytest

from scenario import (
    bare_game,
    bid,
    bids,
    black_stack,
    cards,
    commissioner,
    hand,
    known_cards,
    passes,
    play_all,
    start_auction,
    tops,
    turn_of,
)
from skyenv import Game
from skyenv.rules.components import BLACK


@pytest.mark.rule("INF-2", "END-3")
def test_chance_to_come_and_others_cards_are_hidden() -> None:
    """No seat sees a black card until it is bid; that the seed and the stream of chance are blank,
    tests/knowledge shows.
    """
    game = bare_game()
    game.play("option C")
    commissioner(game, "white", "TSQ")
    turn_of(game, 1)
    game.play("option D TSQ", [4, 4, 5, 6, 6])
    assert [known_cards(game, seat) for seat in range(3)] == [{}, {}, {}]
    assert game.view(0)["unknown"][:, 5].tolist() == [0, 3, 1, 0]


@pytest.mark.rule("INF-3", "TURN-5", "AUC-8")
def test_taken_cards_are_known_while_they_are_held() -> None:
    """Until they are paid. Of equal cards the known one is played first, so a seat known to hold
    one 4 that plays a 4 tells nothing of whether it has another.
    """
    game = bare_game(hands=["orange 4 green 4"])
    tops(game, orange=6)
    play_all(game, "option A", "take green", "take orange", "move beige W34")
    assert known_cards(game, 0) == {"green": [4], "orange": [6]}
    assert game.view(2)["unknown"][0].tolist() == [1, 0, 0, 1, 0, 0]
    start_auction(game, ["TSQ", "W34"])
    bids(game, "0 orange 6", "1 pass", "2 pass")
    assert known_cards(game, 0) == {"green": [4]}
    game.play("build 0")
    bids(game, "0 green 4", "1 pass", "2 pass")
    assert known_cards(game, 0) == {}
    assert cards(game, 0) == {"green": [4], "orange": [4]}
    assert game.view(1)["game"]["returned"][[0, 3], 0].tolist() == [0, 2]


@pytest.mark.rule("INF-3", "AUC-7")
def test_cards_taken_back_are_known() -> None:
    """Coloured and black ones, those of all the player's bids in this auction; the others in his
    hand stay unknown.
    """
    game = bare_game(hands=["gray 4 5 6 black 4 4 6", "gray 6 6 black 6"])
    start_auction(game, ["TSQ"])
    bids(game, "0 gray 4 black 4", "1 gray 6 black 6", "2 pass", "0 gray 5", "1 gray 6")
    assert known_cards(game, 0) == {}  # they are on the table, for all to see
    assert game.view(1)["game"]["bid_cards"][0].tolist() == [[1, 1, 0], [1, 0, 0]]
    bids(game, "0 pass")
    assert cards(game, 0) == {"gray": [4, 5, 6], "black": [4, 4, 6]}
    assert known_cards(game, 0) == {"gray": [4, 5], "black": [4]}
    assert game.view(1)["unknown"][0].tolist() == [0, 0, 0, 0, 1, 2]


@pytest.mark.rule("INF-1", "AUC-9")
def test_a_shuffled_black_stack_is_unknown_again() -> None:
    """Before, all see the values that lie face up; after, only how many cards there are, and which
    can't be elsewhere.
    """
    game = bare_game()
    black_stack(game, [], [4, 5, 6, 6], keeper=1)
    assert game.view(2)["game"]["black_face_up"].tolist() == [1, 1, 2]
    game.play("option C", [6])
    assert game.view(2)["num_face_down"][5] == 3
    assert game.view(2)["unseen"][5].tolist() == [20, 16, 14]
    assert game.view(0)["unseen"][5].tolist() == [20, 16, 13]


# ---- what two players deduce from a shuffle of the black stack, and what goes again ----


def shuffled(players: int) -> Game:
    """Seat 0 holds black 4 4 5 (one 4 is known), seat 1 all black cards but five; a shuffle, and
    seat 0 draws a 6.
    """
    game = bare_game(players)
    hand(game, 0, green=[4], black=[4, 4, 5])
    game.state["known"][0, BLACK] = [1, 0, 0]
    game.refresh()
    black_stack(game, [], [4, 4, 5, 6, 6], keeper=1)
    turn_of(game, 0)
    game.play("option C", [6])
    return game


@pytest.mark.rule("INF-1", "AUC-9")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_two_players_deduce_each_others_black_cards_after_a_shuffle(players: int) -> None:
    """But not the card drawn since, and no card twice that all know already."""
    expected = [[1, 1, 0], [16, 14, 12]] if players == 2 else [[0, 0, 0]] * 2
    assert shuffled(players).state["deduced"].tolist() == expected


@pytest.mark.rule("INF-3")
@pytest.mark.parametrize(("cards", "left"), [("4", [1, 1, 0]), ("4 4 6", [0, 1, 0])])
def test_cards_laid_down_are_no_longer_deduced(cards: str, left: list[int]) -> None:
    """Only those that had been: neither a known 4, which goes first, nor the 6 drawn since."""
    game = shuffled(2)
    start_auction(game, ["TSQ"])
    bid(game, 0, f"green 4 black {cards}")
    assert game.state["deduced"].tolist() == [left, [16, 14, 12]]


@pytest.mark.rule("AUC-9")
def test_the_next_shuffle_replaces_deductions() -> None:
    """Without one nothing is deduced."""
    game = shuffled(2)
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4 4 5")
    passes(game, 1, chance=[4, 4])
    if game.phase == "build":
        game.play("build 0")
    black_stack(game, [], [4], keeper=0)
    turn_of(game, 1)
    game.play("option C", [4])
    hidden = (game.state["hand"] - game.state["known"])[:, BLACK]
    hidden[1, 0] -= 1  # drawn since
    assert game.state["deduced"].tolist() == hidden[:2].tolist()
    assert not bare_game(2).state["deduced"].any()


@pytest.mark.rule("INF-2")
def test_deductions_follow_edits_of_hands() -> None:
    """What an edit took out of a hand isn't deduced any more; the rest still is."""
    game = shuffled(2)
    game.state["hand"][0, BLACK, 0] = 0
    game.state["known"][0, BLACK, 0] = 0
    game.state["hand"][1, BLACK, 1] -= 2
    game.refresh()
    assert game.state["deduced"].tolist() == [[0, 1, 0], [16, 12, 12]]


@pytest.mark.rule("INF-2")
def test_refresh_recounts_hidden_cards() -> None:
    """`unknown`: cards in a hand that are not known; `unlocated`: those and the cards face down."""
    game = shuffled(3)
    state = game.state
    state["known"][1] = state["hand"][1] // 2
    state["hand"][2, 3] = [2, 0, 1]
    game.refresh()
    hidden = state["hand"] - state["known"]
    assert state["unknown"].tolist() == hidden.sum(axis=2).tolist()
    assert state["unlocated"].tolist() == (state["face_down"] + hidden.sum(axis=0)).tolist()
