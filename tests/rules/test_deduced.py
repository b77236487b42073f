"""INF-1, AUC-9: what two players deduce from a shuffle of the black stack, and what goes again."""

import pytest

from scenario import bare_game, bid, black_stack, hand, passes, start_auction, turn_of
from skyenv import Game
from skyenv.rules.components import BLACK


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
