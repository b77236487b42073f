"""Win probabilities from scores and resources."""

import pytest

from skyenv.engine.games import Games
from skyenv_agents.heuristic.win_probability import win_probabilities


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_win_probabilities_sum_to_1_and_rise_with_vp(num_players: int) -> None:
    games = Games(40, num_players, seed=3)
    games.play_random(120)
    probabilities = win_probabilities(games.state)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (probabilities[:, num_players:] == 0).all()
    richer = games.state.copy()
    richer["score"][:, 0] += 10
    more = win_probabilities(richer)
    assert (more[:, 0] > probabilities[:, 0]).all()
    assert (more[:, 1:num_players] < probabilities[:, 1:num_players]).all()
