"""INF: who knows what.

`Game.view` is all that a seat sees, `Game.observation` the same as numbers. That neither tells what
is hidden, ``tests/guarantees/test_nothing_hidden.py`` shows for all that a seat is told; that the
observation tells what is public, ``tests/test_observation.py``.
"""

import pytest

from scenario import (
    bare_game,
    bids,
    black_stack,
    cards,
    commissioner,
    known_cards,
    play_all,
    start_auction,
    tops,
    turn_of,
)


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
