"""The comparison of algorithms in bidding tasks, and figures of the game."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.benchmarks import algorithms
from experiments.benchmarks.algorithms import AlgorithmsOptions
from experiments.benchmarks.game import Bidding
from experiments.benchmarks.learners import ALGORITHMS, Answer, Learner, Problem
from experiments.benchmarks.mccfr import Sampler
from experiments.benchmarks.tasks import play, pure_loss
from experiments.figures import read
from policies import uniform_policy
from skyenv.agents import CallableAgent, make_agent
from skyenv.arena.matches import play_game, play_games
from skyenv.engine.openings import measured
from skyenv.files import read_json
from skyenv.solving.best_response import Evaluator, Policy
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening

TRAINED_ON = ("duel-3/0", "duel-3/1")


def first_legal(opening: Opening) -> Policy:
    """The policy that takes the first legal action."""
    agent = CallableAgent(lambda decisions: decisions.mask.argmax(axis=1))
    return policy_of(agent, opening).policy


def test_mccfr_comes_close_to_an_equilibrium() -> None:
    opening = Opening("alea-3/1")
    evaluator, uniform = Evaluator(opening.tree), uniform_policy(opening)
    sampler = Sampler(opening.tree, seed=1)
    assert (sampler.solution().policy == uniform).all()
    sampler.run(20_000)
    found, before = map(evaluator.nash_conv, (sampler.solution().policy, uniform))
    assert 0 < found < 0.1 * before


def alternating(problem: Problem) -> Learner:
    """A learner of one's own: the uniform policy, and always the first legal action."""
    answers: list[Answer] = [uniform_policy, first_legal]
    for decisions in itertools.count():
        yield decisions * problem.decisions // 4, answers[decisions % 2]


def brief(problem: Problem) -> Learner:
    """A learner that stops before its budget is spent."""
    yield from itertools.islice(alternating(problem), 3)


OWN = f"{__name__}:alternating"


def compared(folder: Path, *words: str) -> int:
    usual = ("--tasks", "duel-3", "--seeds", "2", "--openings", "2", "--decisions", "64")
    return algorithms.main(["--out", str(folder), *usual, *words])


def test_existing_runs_are_reused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(tmp_path, "--algorithms", "mccfr") == 0
    first, second = (tmp_path / f"mccfr-duel-3-64-{seed}.json" for seed in range(2))
    first.write_text(first.read_text().replace('"seconds": ', '"seconds": 9'))
    kept, lost = first.read_text(), [one["nash_conv"] for one in read_json(second)["points"]]
    second.unlink()
    assert compared(tmp_path, "--algorithms", "mccfr") == 0
    assert first.read_text() == kept
    assert [one["nash_conv"] for one in read_json(second)["points"]] == lost
    assert (tmp_path / "algorithms.png").read_bytes().startswith(b"\x89PNG")
    assert len(figures := read("algorithms", tmp_path)["figures"]) == len(lost)
    assert figures[-1].name.startswith("MCCFR, external sampling: duel-3 after")
    assert compared(tmp_path, "--algorithms", "mccfr", "--openings", "3") == 1
    assert "not a run measured on 3 openings" in capsys.readouterr().err


def test_a_learner_of_ones_own_is_compared(tmp_path: Path) -> None:
    """On held-out and training openings, with its mistakes, beside another command's runs."""
    assert compared(tmp_path, "--algorithms", "mccfr") == 0
    assert compared(tmp_path, "--algorithms", OWN, "--seeds", "1") == 0
    run = read_json(tmp_path / f"{__name__}.alternating-duel-3-64-0.json")
    assert [point["decisions"] for point in run["points"]] == [16, 32, 64]
    openings = [*map(Opening, (*measured("duel-3", 2), *TRAINED_ON))]
    evaluators = [Evaluator(one.tree) for one in openings]
    convs = [
        one.nash_conv(uniform_policy(of)) for one, of in zip(evaluators, openings, strict=True)
    ]
    uniform, training = convs[:2], convs[2:]
    assert run["points"][-1]["nash_conv"] == pytest.approx(uniform)
    assert run["training"]["nash_conv"] == pytest.approx(training)
    assert sum(run["mistakes"].values()) == pytest.approx(np.mean(uniform))
    rows = read_json(tmp_path / "algorithms.json")["comparison"]
    assert [row[1] for row in rows] == ["algorithm", "MCCFR, external sampling", OWN]
    assert rows[-1][-2] == f"{np.mean(training):.3g}"
    shares = np.divide(convs, [evaluator.payoff_range for evaluator in evaluators]).reshape(2, 2)
    assert rows[-1][5::4] == [f"{100 * share:.3g} %" for share in shares.mean(axis=1)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("ppq", "must be MODULE:LEARNER or of cfr+, mccfr"),
        ("ppq:learn", "'ppq:learn' can't be imported"),
        (f"{__name__}:nothing", "has no attribute 'nothing'"),
        (f"{__name__}:brief", "ended after 32 of 64 decisions"),
        (f"{OWN} nfsp", "No module named 'tree'; install the extra [test]"),
    ],
)
def test_a_wrong_learner_is_one_clear_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    message: str,
) -> None:
    """Before the first run, if its packages are missing."""
    monkeypatch.setitem(sys.modules, "tree", None)
    assert compared(tmp_path, "--algorithms", *words.split()) == 2
    assert message in capsys.readouterr().err
    assert not [*tmp_path.glob("*.json")]


def test_the_interquartile_mean_drops_a_quarter_at_each_end() -> None:
    assert algorithms.middle([100, 1, 3, 2, 4]) == 3


def test_the_smallest_budget_that_reaches_a_tier_counts(tmp_path: Path) -> None:
    """With the training openings only where it ends there."""
    for budget in ("64", "256"):
        assert compared(tmp_path, "--algorithms", OWN, "--decisions", budget) == 0
    found = algorithms.curves(AlgorithmsOptions(out=tmp_path, openings=2))
    rows = algorithms.comparison(found, [16, 64, 128])[1:]
    assert [row[3] for row in rows] == ["16", "64", "128", "256"]
    assert [bool(row[-1]) for row in rows] == [False, True, False, True]


def test_openings_that_a_task_names_are_learned_and_measured(tmp_path: Path) -> None:
    assert compared(tmp_path, "--algorithms", "reinforce", "--tasks", "duel-3/0-1") == 0
    run = read_json(tmp_path / "reinforce-duel-3.0-1-64-0.json")
    assert len(run["points"][0]["nash_conv"]) == 2
    assert "training" not in run


@pytest.mark.parametrize("name", ["mmd", "ppo", "reinforce"])
def test_networks_learn(name: str) -> None:
    """Some of what a uniform policy loses in held-out openings, by their own answers."""
    problem = Problem("duel-3", 1, 16_000, [*map(Opening, measured("duel-3", 8))])
    points = [point["nash_conv"] for point, _ in algorithms.judged(ALGORITHMS[name], problem)]
    assert np.mean(points[-1]) < 0.9 * np.mean(points[0])


# ---- figures of the game: auctions, losses and pure policies ----


@pytest.mark.compiled
@pytest.mark.parametrize("players", [2, 3])
def test_auctions_are_counted_from_events(players: int) -> None:
    agent, bidding = make_agent("greedy"), Bidding()
    play_games([agent], np.zeros((3, players), int), np.arange(3), onlooker=bidding)
    seen = bidding.columns()
    for seed in range(3):
        events = play_game([agent] * players, seed).events
        here = seen["match"] == seed
        wins = here & seen["wins"]
        won = [
            event for event in events if event["event"] == "won" and event["seat"] in range(players)
        ]
        assert seen["begins"][here].sum() == sum(event["event"] == "auction" for event in events)
        assert seen["total"][wins].tolist() == [event["total"] for event in won]
        assert seen["seat"][wins].tolist() == [event["seat"] for event in won]
        assert (seen["vp"][seen["builds"]] > 0).all()


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/1"])
def test_losses_of_single_actions_sum_to_the_total(name: str) -> None:
    opening = Opening(name)
    policy = policy_of(make_agent("greedy"), opening).policy
    columns = play(opening, policy)
    assert columns.pop("NashConv") == pytest.approx(sum(columns.values()))


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "loss"), [("bluff-2/1026", 0), ("duel-3/1034", 1.204)])
def test_pure_policies_lose_less_than_a_purified_equilibrium(name: str, loss: float) -> None:
    assert pure_loss(Opening(name).tree) == pytest.approx(loss, abs=0.01)
