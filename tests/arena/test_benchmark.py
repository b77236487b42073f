"""The benchmark protocol: its figures, and exploitation by look-ahead."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import main_of
from skyenv import Games, make_agent
from skyenv.agents import Decisions, Evaluations, RandomAgent, decide
from skyenv.arena.benchmark import PANEL, SECRET, against_panel, report
from skyenv.arena.evaluate import evaluate
from skyenv.arena.lookahead import CANDIDATES, DECISIONS, WORLDS, LookaheadAgent
from skyenv.arena.matches import play_games
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Folder, play
from skyenv.engine.knowledge import resample, view
from skyenv.seeds import LADDERS
from skyenv_agents import GreedyAgent

pytestmark = pytest.mark.compiled

WORDS = "benchmark bidder --players 2 --paired-seeds 1 --openings 1 --samples 1 --lookahead 0"


@pytest.mark.usefixtures("in_this_process")
def test_the_benchmark_reports_the_figures_of_its_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, file = tmp_path / "out", tmp_path / "bench.json"
    assert main_of(f"{WORDS} --out {folder} --json {file}") == 0
    shown = capsys.readouterr().out
    content = json.loads(file.read_text())
    assert shown == f"{report(content)}\n"
    assert content["benchmark"] == "skyenv-bench 1"
    assert content["exact"]["duel-4"]["nash_conv"]["mean"] > 0
    for one in content["tables"]:
        seats, side = np.array([[0, 1], [1, 0]]), one["side"]
        agents = [make_agent("bidder"), make_agent("greedy")]
        played = play_games(agents, seats, [1, 1], side, secret=SECRET, purpose=LADDERS)
        assert one["against"]["greedy"]["mean"] == played.shares[seats == 0].mean()
        assert one["exploiters"]["greedy"]["mean"] == played.shares[seats == 1].mean()
        means = [one["against"][name]["mean"] for name in PANEL]
        assert one["wins"]["mean"] == pytest.approx(np.mean(means), abs=1e-4)
        assert one["panel"] == {name: make_agent(name).version_at(2, side) for name in PANEL}

    (folder / "parts.json").write_text("{}")
    assert main_of(f"{WORDS} --out {folder}") == 1
    assert "parts.json is damaged: it" in capsys.readouterr().err


def test_three_player_tables_seat_one_agent_against_copies(tmp_path: Path) -> None:
    agents = entrants(["random", "crowd", "hoard", "greedy"], 3)
    settings = Settings(agents, 3, max_turns=40, secret=5, newcomer=True)
    with Folder(tmp_path, settings) as folder:
        play(folder, paired_seeds=4)
        found = against_panel(folder)
    results = folder.results()
    for number, name in enumerate(["crowd", "hoard", "greedy"], 1):
        for what, alone, copied in (("against", 0, number), ("exploiters", number, 0)):
            single = (results.seats == alone).sum(axis=1) == 1
            rows = single & ((results.seats == copied).sum(axis=1) == 2)
            shares = results.shares[rows][results.seats[rows] == alone]
            assert found[what][name]["mean"] == pytest.approx(shares.mean(), abs=1e-4)
    assert found["games"] == len(results.seats)


def test_a_search_above_the_time_limit_is_reported() -> None:
    content: dict[str, Any] = {"benchmark": "", "agent": "", "track": "search", "tables": []}
    content |= {"command": "", "exact": {}, "milliseconds": {"mean": 10.1, "most": 12.0}}
    content["cost"] = dict.fromkeys(("games", "decisions", "cpu_seconds", "seconds"), 0)
    assert "above the limit" in report(content)
    content["milliseconds"]["mean"] = 9.9
    assert "above the limit" not in report(content)


# ---- look-ahead ----


class Telling(GreedyAgent):
    """Greedy that expects the outcome that it was made with; it counts its decisions."""

    asked = 0

    def act(self, decisions: Decisions) -> np.ndarray:
        self.asked += len(decisions)
        return super().act(decisions)

    def evaluate(self, decisions: Decisions) -> Evaluations:
        return decisions.mask / decisions.mask.sum(axis=1, keepdims=True), np.zeros(len(decisions))


def test_look_ahead_beats_its_base_agent() -> None:
    """In games of a turn each, where greedy plans for later turns."""
    greedy = make_agent("greedy")
    share = evaluate(LookaheadAgent(greedy), [greedy], 2, "front", 5, 3, max_turns=6)[0].share
    assert share.low > 0.5


def test_look_ahead_depends_only_on_the_seats_view() -> None:
    """Not on hidden cards, nor on other games of the batch."""
    games = Games(6, 3, seed=4, max_turns=8, autoreset=False)
    agent = LookaheadAgent(make_agent("greedy"))
    for _ in range(25):
        games.step(decide(games, RandomAgent()))
    actions = decide(games, agent)
    dealt = resample(view(games.state, games.seat), np.arange(6))
    dealt["seed"] = games.state["seed"]
    others = Games.of(dealt)
    assert (others.state["hand"] != games.state["hand"]).any()
    assert decide(others, agent).tolist() == actions.tolist()
    assert decide(games, agent, [4]).tolist() == actions[4:5].tolist()


def test_play_outs_end_with_the_agents_value_estimate() -> None:
    policy, games = Telling(), Games(1, 2, seed=4)
    decide(games, LookaheadAgent(policy))
    longest = 1 + CANDIDATES * WORLDS * 10 * DECISIONS
    assert 0 < policy.asked < longest
