"""Variations: recorded games continued with new chance.

That hidden cards are resampled is tested in tests/guarantees.
"""

import io

import pytest

from crowd_games import played
from skyenv import Game
from skyenv.analysis.recording import Recording
from skyenv.analysis.variations import continued, variation
from skyenv.errors import OptionError
from skyenv.records.replay import verify
from skyenv.rules.board import make_board

RING = ["green", "brown", "violet", "orange", "gray", "sixth"]


def whole(beginning: str, seed: int, more: int) -> Game:
    """Return a variation continued for `more` actions."""
    game = continued(beginning, seed, 5)
    end = int(game.state["decisions"]) + more
    while not game.is_over and (step := int(game.state["decisions"])) < end:
        game.play(game.legal_actions[step % len(game.legal_actions)])
    return game


@pytest.mark.parametrize("players", [2, 4])
def test_a_variation_keeps_the_past_and_has_new_chance(players: int) -> None:
    game = played(players, seed=7)
    beginning = variation(Recording.of(game.to_record()), 60)
    begun, at = whole(beginning, 1, 0), Game.from_record(game.to_record(), step=60)
    assert (begun.events, begun.seed) == (at.events, None)
    assert len({str(whole(beginning, seed, 80).events) for seed in range(4)}) > 1
    on = whole(beginning, 3, 10_000)
    assert (on.is_over, verify(io.StringIO(on.to_record())).games) == (True, 1)
    assert whole(beginning, 3, 10_000).events == on.events


def test_finished_games_are_refused() -> None:
    recording = Recording.of(played(2).to_record())
    for step, message in ((recording.steps, "over"), (-1, "no step -1")):
        with pytest.raises(OptionError, match=message):
            variation(recording, step)


def test_hidden_cards_are_resampled_on_own_boards() -> None:
    """The record replays on the same board; what else stays, tests/guarantees show."""
    game = Game(2, "back", seed=6, board=make_board("back", {"TSQ": RING}))
    while int(game.state["decisions"]) < 90:
        game.play(game.legal_actions[int(game.state["decisions"]) % len(game.legal_actions)])
    one = Game.from_record(variation(Recording.of(game.to_record()), 90, 0, 0.5))
    assert (one.board, one.scores) == (game.board, game.scores)
    assert one != game
