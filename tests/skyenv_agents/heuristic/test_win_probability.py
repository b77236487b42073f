"""Win probabilities by what seats have: they sum to 1, rise with VP, and go by the scores once the
game is over.
"""

from __future__ import annotations

import numpy as np
import pytest

from skyenv.engine.games import Games
from skyenv.engine.knowledge import view
from skyenv.errors import OptionError
from skyenv_agents.heuristic.win_probability import win_probabilities, win_probabilities_seen


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_win_probabilities_by_what_seats_have(num_players: int) -> None:
    games = Games(40, num_players, seed=3)
    games.play_random(120)
    probabilities = win_probabilities(games.state, 20.0, 6.0)
    assert probabilities[:, :num_players].sum(axis=1) == pytest.approx(1.0)
    assert (probabilities[:, num_players:] == 0).all()
    richer = games.state.copy()
    richer["score"][:, 0] += 10
    more = win_probabilities(richer, 20.0, 6.0)
    assert (more[:, 0] > probabilities[:, 0]).all()
    assert (more[:, 1:num_players] < probabilities[:, 1:num_players]).all()
    assert np.array_equal(win_probabilities(games.state[7:8], 20.0, 6.0)[0], probabilities[7])


def test_win_probabilities_once_the_game_is_over_go_by_the_scores() -> None:
    games = Games(20, 3, seed=5, autoreset=False)
    games.play_random(3000)
    assert (games.seat == -1).all()
    scores = games.state["score"][:, :3].astype(float)
    expected = np.exp(scores / 6.0) / np.exp(scores / 6.0).sum(axis=1, keepdims=True)
    assert win_probabilities(games.state, 20.0, 6.0)[:, :3] == pytest.approx(expected)


def test_views_are_looked_at_unless_they_are_trusted() -> None:
    """The probabilities are the same; views that nobody can have are told of."""
    games = Games(40, 3, seed=3)
    games.play_random(120)
    views = view(games.state, games.seat)
    probabilities = win_probabilities_seen(views)
    assert np.ptp(probabilities[:, 0]) > 0.1
    assert np.array_equal(win_probabilities_seen(views, trusted=True), probabilities)
    views["seat"][7] = 99
    with pytest.raises(OptionError):
        win_probabilities_seen(views)
