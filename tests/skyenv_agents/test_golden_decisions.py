"""What the players decide in some fixed positions with fixed random numbers, however they are
asked: a change is a new version, not an accident.

This file is also a program that writes what they decide now: ``python
tests/skyenv_agents/test_golden_decisions.py [FILE NAME ...]``. Run it after a change that is
wanted, give the agents whose lines differ a new `version`, and have them rated anew.
"""

import json
import pickle
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from processes import ROOT, printed
from skyenv import Games
from skyenv.agents import Agent, Decisions
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
SEED: Final = 500

AGENTS: Final[dict[str, Agent]] = {
    "greedy": GreedyAgent(),
    "appraiser": AppraiserAgent(),
    "bidder": BidderAgent(),
    "builder": BuilderAgent(),
    "rollout-16": RolloutAgent(16),
    "ismcts-50": SearchAgent(50),
    "ismcts-50, played on": SearchAgent(50, turns=3, leaf_value="holdings", exploration=1.0),
    "ismcts-trained-32": GuidedAgent(32),
    "ismcts-trained-24, surer": GuidedAgent(24, prior_temperature=1.5, exploration=1.5),
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
    evaluations: Any = agent.evaluate(decisions)
    return {"actions": agent.act(decisions).tolist(), "values": evaluations[1].tolist()}


@cache
def stored() -> Any:
    """The file's content: `moves` of the games and `decisions` of the agents, by table."""
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def asked(players: int, side: str) -> Decisions:
    """The decisions that games wait for after a table's moves, with random numbers that nothing but
    this test knows.
    """
    moves = stored()["moves"][f"{players} {side}"]
    games = Games(len(moves), players, side, SEED, autoreset=False, observation=False)
    for row, actions in enumerate(moves):
        for action in actions:
            games.step([action], [row])
    uniform = np.random.default_rng(players).random(len(moves))
    views = view(games.state, games.seat)
    observation = games.observe(games.seat)
    made = Decisions(games.mask, games.seat, players, uniform, observation, views)
    return made.as_trusted()


def check(choices: dict[str, Any], players: int, side: str, name: str) -> None:
    """Compare an agent's decisions with those stored."""
    wanted = stored()["decisions"][f"{players} {side}"][name]
    assert choices["actions"] == wanted["actions"]
    assert choices["values"] == pytest.approx(wanted["values"], abs=1e-9)


@pytest.mark.parametrize("name", AGENTS)
def test_decisions_equal_the_stored_ones(name: str) -> None:
    for table in TABLES:
        check(decided(AGENTS[name], asked(*table)), *table, name)


@pytest.mark.parametrize("name", AGENTS)
def test_agents_decide_alike_alone_and_in_batches(name: str) -> None:
    """In any order and as a copy: bit for bit."""
    decisions, agent = asked(3, "back"), AGENTS[name]
    twin = pickle.loads(pickle.dumps(agent))
    whole = decided(twin, decisions.take(np.arange(len(decisions))[::-1]))
    for row in (1, 8):
        alone = decided(agent, decisions.take(np.array([row])))
        for what in whole:
            assert alone[what] == whole[what][-1 - row : len(decisions) - row]


def test_plain_python_gives_the_same_decisions(tmp_path: Path) -> None:
    file, names = tmp_path / "decisions.json", ("greedy", "appraiser")
    folders = ROOT, ROOT / "agents", ROOT / "tests"
    environment = {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ":".join(map(str, folders))}
    printed("-W", "error", __file__, file, *names, environment=environment)
    decisions = json.loads(file.read_text(encoding="utf-8"))["decisions"]
    for players, side in TABLES[1::4]:
        for name in names:
            check(decisions[f"{players} {side}"][name], players, side, name)


def main(file: str | Path = FILE, *names: str) -> None:
    """Write a file with what agents decide now: all of them; or those named, at two tables."""
    decisions = {
        f"{players} {side}": {
            name: decided(AGENTS[name], asked(players, side)) for name in names or AGENTS
        }
        for players, side in (TABLES[1::4] if names else TABLES)
    }
    text = json.dumps({"moves": stored()["moves"], "decisions": decisions}, indent=1)
    text = re.sub(r"\n +(?=-?\d)", " ", text)  # a list of numbers is a line
    text = re.sub(r"(?<=\d)\n +\]", "]", text).replace("[ ", "[")
    Path(file).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
