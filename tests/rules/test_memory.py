"""INF-1, AUC-9: what a shuffle of the black stack tells, and what is forgotten again."""

from __future__ import annotations

import pytest

from scenario import bare_game, bid, black_stack, hand, passes, start_auction, turn_of
from skyenv import Game
from skyenv.rules.components import BLACK

NOTHING = [0, 0, 0]


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
def test_of_two_players_each_knows_the_others_hand_after_a_shuffle() -> None:
    """But not the card drawn since, and no card twice that all know already."""
    game = shuffled(2)
    assert game.state["deduced"].tolist() == [[1, 1, 0], [16, 14, 12]]
    assert game.state["held"].tolist() == [NOTHING] * 4
    assert game.state["num_held"].tolist() == [0, 0, 0, 0]


@pytest.mark.rule("INF-1", "AUC-9")
@pytest.mark.parametrize("players", [3, 4])
def test_more_players_know_what_all_hands_held_together(players: int) -> None:
    """And how many cards each."""
    game = shuffled(players)
    assert game.state["held"].tolist() == [[1, 1, 0], [16, 14, 12], NOTHING, NOTHING]
    assert game.state["held_together"].tolist() == [17, 15, 12]
    assert game.state["num_held"].tolist() == [2, 42, 0, 0]
    assert game.state["deduced"].tolist() == [NOTHING] * 2


@pytest.mark.rule("INF-3")
def test_cards_laid_down_are_no_longer_deduced() -> None:
    """Only those that had been: neither a known 4, which goes first, nor the 6 drawn since."""
    game = shuffled(2)
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4")
    assert game.state["deduced"][0].tolist() == [1, 1, 0]
    game = shuffled(2)
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4 4 6")
    assert game.state["deduced"].tolist() == [[0, 1, 0], [16, 14, 12]]
    assert game.state["num_shown"] == 0


@pytest.mark.rule("INF-3")
def test_cards_laid_down_after_a_shuffle_are_kept_in_their_order() -> None:
    """Each as 3 · seat + rank, with the number of cards in that hand that nobody knew before."""
    game = shuffled(3)
    assert game.state["unknown"][:, BLACK].tolist() == [3, 42, 0, 0]
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4 4 6")  # the first 4 is known, and no news
    game.state["hand"][1, 1, 0] += 1  # a violet 4
    game.state["face_down"][1, 0] -= 1
    game.refresh()
    bid(game, 1, "violet 4 black 4 5 6")
    assert game.state["num_shown"] == 5
    assert game.state["shown"][:6].tolist() == [[0, 3], [2, 2], [3, 42], [4, 41], [5, 40], [0, 0]]
    assert game.state["held_together"].tolist() == [17, 15, 12]


@pytest.mark.rule("INF-3")
@pytest.mark.parametrize("players", [2, 3])
def test_without_a_shuffle_nothing_is_kept(players: int) -> None:
    game = bare_game(players)
    hand(game, 0, green=[4], black=[4, 5])
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4")
    assert game.state["num_shown"] == 0
    assert not game.state["deduced"].any()


@pytest.mark.rule("AUC-9")
@pytest.mark.parametrize("players", [2, 3])
def test_the_next_shuffle_tells_anew(players: int) -> None:
    """What was kept of the one before is forgotten, the cards shown since too."""
    game = shuffled(players)
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4 4 5")
    passes(game, *range(1, players), chance=[4, 4] if players == 2 else ())
    if game.phase == "build":
        game.play("build 0")
    black_stack(game, [], [4], keeper=0)
    assert game.state["num_shown"] == 0
    turn_of(game, 1)
    game.play("option C", [4])
    hidden = (game.state["hand"] - game.state["known"])[:, BLACK]
    hidden[1, 0] -= 1  # drawn since
    if players == 2:
        assert game.state["deduced"].tolist() == hidden[:2].tolist()
    else:
        assert game.state["held"].tolist() == hidden.tolist()
        assert game.state["held_together"].tolist() == hidden.sum(axis=0).tolist()
        assert game.state["num_held"].tolist() == hidden.sum(axis=1).tolist()
        assert not game.state["shown"].any()
        assert not game.state["deduced"].any()


# ---- edited positions ----


@pytest.mark.rule("INF-2")
def test_editing_hidden_black_cards_makes_the_shuffle_forgotten() -> None:
    """With three players; other cards, and black ones that stay where they were, leave it
    remembered.
    """
    game = shuffled(3)
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4 black 4 4")
    game.refresh()
    game.state["hand"][2, 1, 0] += 1
    game.state["face_down"][1, 0] -= 1
    game.refresh()
    game.state["known"][2, 1, 0] = 1
    game.refresh()
    assert game.state["num_held"].tolist() == [2, 42, 0, 0]
    assert game.state["num_shown"] == 1
    game.state["hand"][1, BLACK, 2] -= 1
    game.state["black_face_up"][2] += 1
    game.refresh()
    for field in ("held", "held_together", "num_held", "shown", "num_shown"):
        assert not game.state[field].any()


@pytest.mark.rule("INF-2")
def test_a_black_card_turned_up_makes_the_shuffle_forgotten() -> None:
    """Hands are what they were, but fewer cards are hidden."""
    game = shuffled(3)
    game.state["face_down"][BLACK, 0] -= 1
    game.state["black_face_up"][0] += 1
    game.refresh()
    assert not game.state["num_held"].any()


@pytest.mark.rule("INF-2")
def test_a_card_that_moves_between_hands_makes_the_shuffle_forgotten() -> None:
    """As many are hidden as before, but in other hands."""
    game = shuffled(3)
    game.state["hand"][1, BLACK, 2] -= 1
    game.state["hand"][0, BLACK, 2] += 1
    game.refresh()
    assert not game.state["num_held"].any()


@pytest.mark.rule("INF-2")
def test_of_two_players_no_more_is_deduced_than_is_there() -> None:
    """What was taken out of a hand isn't deduced any more; the rest still is."""
    game = shuffled(2)
    game.state["hand"][0, BLACK, 0] = 0
    game.state["known"][0, BLACK, 0] = 0
    game.state["hand"][1, BLACK, 1] -= 2
    game.refresh()
    assert game.state["deduced"].tolist() == [[0, 1, 0], [16, 12, 12]]


@pytest.mark.rule("INF-2")
def test_what_is_hidden_is_counted_anew() -> None:
    """`unknown`: cards in a hand that are not known; `unlocated`: those and the cards face down."""
    game = shuffled(3)
    state = game.state
    state["known"][1] = state["hand"][1] // 2
    state["hand"][2, 3] = [2, 0, 1]
    game.refresh()
    hidden = state["hand"] - state["known"]
    assert state["unknown"].tolist() == hidden.sum(axis=2).tolist()
    assert state["unlocated"].tolist() == (state["face_down"] + hidden.sum(axis=0)).tolist()
