"""Players with other weights."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from positions import positions
from skyenv.agents import decide, decisions_in, make_agent
from skyenv.errors import AgentError
from skyenv_agents.heuristic.styles import SPREAD, StyleAgent, changed
from skyenv_agents.heuristic.weights import APPRAISER_WEIGHTS, GREEDY_WEIGHTS


def test_its_number_decides_what_it_does() -> None:
    games = positions(3, "front", 300)
    agents = [make_agent(name) for name in ("style-1", "style-2", "style-2", "style-3")]
    chosen = [decide(games, agent) for agent in agents]
    assert np.array_equal(chosen[1], chosen[2])
    assert all(0.02 < (chosen[a] != chosen[b]).mean() < 0.9 for a, b in ((0, 1), (0, 3), (1, 3)))


def test_is_made_of_greedy_and_of_the_appraiser() -> None:
    for number, measured in ((6, GREEDY_WEIGHTS), (7, APPRAISER_WEIGHTS)):
        for players, weights in measured.items():
            record = StyleAgent(number).weights(players)
            assert record["appraises"][0] == number % 2
            assert {name: record[name][0] for name in asdict(weights)} == asdict(
                changed(weights, number)
            )


def test_every_weight_changes_and_keeps_its_sign() -> None:
    factors = np.array(
        [
            [
                getattr(changed(weights, number), name) / value
                for name, value in asdict(weights).items()
            ]
            for number in range(40)
            for weights in [GREEDY_WEIGHTS[2]]
        ]
    )
    assert (factors > 0).all()
    assert (factors != 1).all()
    assert np.log(factors).std() == pytest.approx(SPREAD, rel=0.1)
    assert np.abs(np.log(factors).mean(axis=0)).max() < 0.5


def test_all_numbers_of_players_are_changed_alike() -> None:
    two, four = (changed(GREEDY_WEIGHTS[players], 8) for players in (2, 4))
    assert two.point / GREEDY_WEIGHTS[2].point == pytest.approx(
        four.point / GREEDY_WEIGHTS[4].point
    )


@pytest.mark.parametrize(
    "name", ["style-", "style-x", "style--1", "style-1.5", "style-²", f"style-{10**9 + 1}"]
)
def test_what_is_no_style(name: str) -> None:
    with pytest.raises(AgentError, match="number of a style"):
        make_agent(name)


def test_tells_its_number() -> None:
    assert StyleAgent().name == make_agent("style").name == "style"
    assert make_agent("style-12").name == "style-12"
    assert decisions_in(positions(2, "front", 5), make_agent("style-12")).view is not None
