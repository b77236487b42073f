"""The benchmark of the game in OpenSpiel measures what it says; how much that is no test can
know.
"""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from experiments.benchmarks import open_spiel as open_spiel_speed
from skyenv.envs.open_spiel import SHORT_NAME

pytestmark = pytest.mark.programs


def test_every_figure_is_measured() -> None:
    game = pyspiel.load_game(SHORT_NAME, {"max_turns": 3})
    figures = [
        *open_spiel_speed.random_play(game, 1, 1),
        *open_spiel_speed.single_calls(game, 20, 1),
        *open_spiel_speed.searches(game, 3, 1),
    ]
    assert len(figures) == 12
    assert len({figure.name for figure in figures}) == 12
    assert all(figure.median > 0 for figure in figures)


def test_positions_lie_where_they_are_said_to_lie() -> None:
    game = pyspiel.load_game(SHORT_NAME, {"max_turns": 10})
    decisions, nodes, spent = open_spiel_speed.play_on(
        game.new_initial_state(), np.random.RandomState(3)
    )
    assert nodes > decisions > 20
    assert spent > 0
    lengths = []
    for _, part in open_spiel_speed.PLACES:
        state = open_spiel_speed.position(game, part)
        assert len(state.legal_actions()) > 1
        deciders = [move.player for move in state.full_history()]
        lengths.append(sum(player >= 0 for player in deciders))
    assert lengths[0] == 0
    assert abs(lengths[1] - decisions / 3) <= 10
    assert abs(lengths[2] - 2 * decisions / 3) <= 10
