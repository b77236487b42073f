"""What the players decide in some fixed positions with fixed random numbers: a change is a new
version, not an accident.

This file is also a program that writes what they decide now: ``python
tests/skyenv_agents/test_golden_decisions.py``. Run it after a change that is wanted, give the
agents whose lines differ a new `version`, and have them rated anew.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from skyenv import Games
from skyenv.agents import Agent, Decisions, RandomAgent
from skyenv.engine.knowledge import view
from skyenv_agents import (
    AppraiserAgent,
    GreedyAgent,
    GuidedAgent,
    RolloutAgent,
    SearchAgent,
    TrainedAgent,
)
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.references import BidderAgent, BuilderAgent

FILE: Final = Path(__file__).parents[1] / "golden" / "decisions.json"
TABLES: Final = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
ROWS: Final = 10
LONGEST: Final = 150
SEED: Final = 500

AGENTS: Final[dict[str, Agent]] = {
    "greedy": GreedyAgent(),
    "appraiser": AppraiserAgent(),
    "bidder": BidderAgent(),
    "builder": BuilderAgent(),
    "rollout-16": RolloutAgent(16),
    "rollout-40, random": RolloutAgent(
        40, rollout_policy="random", turns=2, candidates=4, caution=0.5
    ),
    "ismcts-50": SearchAgent(50),
    "ismcts-50, played on": SearchAgent(50, turns=3, leaf_value="holdings", exploration=1.0),
    "ismcts-60, no prior": SearchAgent(60, temperature=0.0, exploration=0.7, turns=0, trees=3),
    "ismcts-40, random": SearchAgent(
        40, rollout_policy="random", turns=2, margin=0.5, early=12.0, late=4.0
    ),
    "ismcts-trained-32": GuidedAgent(32),
    "ismcts-trained-24, two trees": GuidedAgent(
        24, prior_temperature=1.5, trees=2, exploration=1.5
    ),
    "ismcts-24, trained at leaves": SearchAgent(
        24,
        evaluator=TrainedAgent(),
        value_weight=0.25,
        leaves=5,
        trees=2,
        turns=3,
        leaf_value="holdings",
        exploration=1.5,
    ),
    "trained": TrainedAgent(),
    "trained, drawn": TrainedAgent(deterministic=False),
}


def decided(agent: Agent, decisions: Decisions) -> dict[str, list[float]]:
    """An agent's actions, and what it tells of them: the best score, the simulations, the win
    probability or the outcome.
    """
    if isinstance(agent, HeuristicAgent):
        values = np.where(decisions.mask, agent.scores(decisions), -np.inf).max(axis=1)
        return {"actions": agent.act(decisions).tolist(), "values": values.tolist()}
    if isinstance(agent, RolloutAgent):
        rolled = agent.search(decisions)
        return {"actions": rolled.actions.tolist(), "values": rolled.simulations.tolist()}
    if isinstance(agent, SearchAgent):
        result = agent.search(decisions)
        return {
            "actions": result.actions.tolist(),
            "values": np.nan_to_num(result.values, nan=-1.0).tolist(),
        }
    evaluations = agent.evaluate(decisions)
    assert evaluations is not None
    assert evaluations[1] is not None
    return {"actions": agent.act(decisions).tolist(), "values": evaluations[1].tolist()}


def decisions_after(moves: list[list[int]], players: int, side: str) -> Decisions:
    """The decisions that games wait for after some actions of each, with random numbers that
    nothing but this test knows.
    """
    games = Games(len(moves), players, side, SEED, autoreset=False)
    for step in range(LONGEST):
        rows = np.array([row for row, actions in enumerate(moves) if step < len(actions)], np.int64)
        if len(rows):
            games.step(np.array([moves[row][step] for row in rows]), rows)
    uniform = np.random.default_rng(players).random(len(moves))
    views = view(games.state, games.seat)
    return Decisions(games.mask, games.seat, players, uniform, games.observe(games.seat), views)


def read() -> Any:
    """The file's content: `moves` of the games and `decisions` of the agents, by table."""
    return json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", AGENTS)
def test_decides_as_it_did(name: str) -> None:
    content = read()
    for players, side in TABLES:
        table = f"{players} {side}"
        choices = decided(AGENTS[name], decisions_after(content["moves"][table], players, side))
        wanted = content["decisions"][table][name]
        assert choices["actions"] == wanted["actions"]
        assert choices["values"] == pytest.approx(wanted["values"], abs=1e-9)


def test_the_positions_are_of_all_stages() -> None:
    """So many as are told, with several legal actions in most."""
    content = read()
    choices = [
        decisions_after(content["moves"][f"{players} {side}"], players, side).mask.sum(axis=1)
        for players, side in TABLES
    ]
    assert [len(rows) for rows in choices] == [ROWS] * len(TABLES)
    assert (np.concatenate(choices) > 1).mean() > 0.7
    assert {name for table in content["decisions"].values() for name in table} == set(AGENTS)


# ---- writing the file ----


def moves_of(players: int, side: str) -> list[list[int]]:
    """Actions of games between greedy players with a random action now and then; row i stops after
    about LONGEST · i / ROWS.
    """
    games = Games(ROWS, players, side, SEED, autoreset=False)
    rng = np.random.default_rng(20)
    moves: list[list[int]] = [[] for _ in range(ROWS)]
    for step in range(LONGEST):
        rows = np.arange(step * ROWS // LONGEST, ROWS)
        rows = rows[games.seat[rows] >= 0]
        seats = games.seat[rows]
        decisions = Decisions(
            games.mask[rows],
            seats,
            players,
            rng.random(len(rows)),
            view=view(games.state, seats, rows),
        )
        before = games.copy()
        actions = np.asarray((RandomAgent() if step % 8 == 7 else AGENTS["greedy"]).act(decisions))
        games.step(actions, rows)
        if (games.seat[rows] < 0).any():  # a game that is over waits for no decision
            games = before
            break
        for row, action in zip(rows, actions.tolist(), strict=True):
            moves[row].append(action)
    return moves


def main() -> None:
    """Write the file anew."""
    content: dict[str, Any] = {"moves": {}, "decisions": {}}
    for players, side in TABLES:
        table = f"{players} {side}"
        content["moves"][table] = moves_of(players, side)
        decisions = decisions_after(content["moves"][table], players, side)
        content["decisions"][table] = {
            name: decided(agent, decisions) for name, agent in AGENTS.items()
        }
    text = re.sub(
        r"\n +(?=-?\d)", " ", json.dumps(content, indent=1)
    )  # a list of numbers is a line
    FILE.write_text(re.sub(r"(?<=\d)\n +\]", "]", text).replace("[ ", "[") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
