"""What seats would have if all districts were scored now, against the referee."""

from __future__ import annotations

import numpy as np
import pytest

from referee import Reader, Referee, check_action
from scenario import bare_game, district
from skyenv import Game
from skyenv.agents import RandomAgent, decide_game
from skyenv.render.standing import if_scored_now
from skyenv.rules.state import GAME_DTYPE


@pytest.mark.rule("END-2", "SCO-2")
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_it_is_what_the_referee_would_score(players: int, side: str) -> None:
    game = Game(players, side, seed=players, max_turns=60)
    positions = [np.array(game.state, GAME_DTYPE)]
    agent = RandomAgent()
    while not game.is_over:
        game.play(decide_game(game, agent))
        positions.append(np.array(game.state, GAME_DTYPE))
    told = if_scored_now(np.array(positions, GAME_DTYPE), players)
    reader = Reader(game.to_record().splitlines())
    referee = Referee(reader.take(), reader.take())
    differs = 0
    for step in range(len(positions) - 1):
        expected = list(referee.scores)
        for place in range(7):
            if place not in referee.stopped:
                expected = [
                    vp + more
                    for vp, more in zip(expected, referee._district_vp(place), strict=True)
                ]
        assert told[step].tolist() == expected, step
        differs += expected != referee.scores
        check_action(referee, reader)
    assert differs > 0
    assert told[-1].tolist() == game.scores == referee.scores


def test_the_park_area_and_a_stopped_district_add_nothing() -> None:
    game = bare_game(players=3)
    district(game, "TSQ", green=(0, 2), violet="boutique gallery")
    game.state["score"][:3] = 5, 6, 7
    game.state["park"][:3] = 4
    game.refresh()
    assert game.state["value"][3, 0] == 3  # two types beside it
    assert if_scored_now(game.state, 3).tolist() == [5 + 2 * 3, 6, 7]
    assert if_scored_now(game.view(1)["game"], 3).tolist() == [11, 6, 7]
    assert if_scored_now(np.array([[game.state] * 2], GAME_DTYPE), 3).shape == (1, 2, 3)
