"""Errors of agents in commands: one line with the agent, the error and the place."""

import re
import sys
from pathlib import Path

import pytest

from skyenv import AgentError, Games, cli
from skyenv.agents import (
    CallableAgent,
    ReportingAgent,
    decide,
    decide_game,
    make_agent,
)
from skyenv.engine.game import Game
from skyenv.errors import CheckpointError

BAD_AGENTS = """
import numpy as np
from skyenv.agents import RandomAgent

class Forgetful(RandomAgent):
    name = "forgetful"
    def act(self, decisions):
        return self.best(decisions)
    def best(self, decisions):
        return decisions.observation[:, 0]  # line 10

class Careless(RandomAgent):
    name = "careless"
    uses_observation = True
    def act(self, decisions):
        return np.linalg.inv(decisions.observation)  # line 16

class Leaving(RandomAgent):
    name = "leaving"
    def act(self, decisions):
        raise SystemExit

class Scribbling(RandomAgent):
    name = "scribbling"
    def act(self, decisions):
        decisions.mask[:] = 1
        return super().act(decisions)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the module bad_agents."""
    (tmp_path / "bad_agents.py").write_text(BAD_AGENTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "bad_agents", raising=False)
    return tmp_path


def test_an_error_names_the_line_of_the_agents_own_code(folder: Path) -> None:
    """Not the line of a library that it calls."""
    agent = ReportingAgent(make_agent("bad_agents:Careless"))
    with pytest.raises(AgentError) as caught:
        decide(Games(2, seed=1), agent)
    assert str(caught.value).startswith(
        f"agent careless failed at {folder / 'bad_agents.py'}:16: LinAlgError: "
    )
    assert isinstance(caught.value.__cause__, ArithmeticError | ValueError)


def test_reporting_changes_neither_decisions_nor_skyenvs_errors() -> None:
    game, agent = Game(2, seed=1), make_agent("greedy")
    reporting = ReportingAgent(agent)
    assert decide_game(game, reporting) == decide_game(game, agent)
    assert reporting.version_at(2, "back") == agent.version_at(2, "back")

    def damaged(decisions: object) -> None:
        raise CheckpointError("it is damaged")

    with pytest.raises(CheckpointError, match="it is damaged"):
        decide_game(game, ReportingAgent(CallableAgent(damaged)))


FORGOTTEN = r"forgetful failed at {0}:10: TypeError: 'NoneType' object is not subscriptable"
TOURNAMENT = "tournament random bad_agents:Forgetful --paired-seeds 1 --workers 1 --out {}/out"


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("record --agents bad_agents:Leaving -o {}/out", "leaving failed at {}:21: SystemExit: "),
        (
            "record --agents bad_agents:Scribbling -o {}/out",
            r"scribbling has written into decisions\.mask; .*",
        ),
        ("evaluate bad_agents:Forgetful --against random --paired-seeds 1", FORGOTTEN),
        (TOURNAMENT, f"{FORGOTTEN}, while random and forgetful played seeds 1 to 1"),
    ],
)
def test_commands_report_an_agents_error_in_one_line(
    command: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(command.format(folder).split()) == 2
    output, error = capsys.readouterr()
    wanted = told.format(re.escape(str(folder / "bad_agents.py")))
    assert re.fullmatch(f"{command.split()[0]}: error: agent {wanted}\n", error)
    assert output == ""
