"""Files of figures and solutions: what was edited, damaged or forged is refused. The commands
exploitability and solve.
"""

import csv
import io
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from policies import uniform_policy
from skyenv import CheckpointError, OptionError
from skyenv.cli import main
from skyenv.engine.openings import measured
from skyenv.files import CHECKSUM, sealed
from skyenv.solving.best_response import Evaluator
from skyenv.solving.equilibrium import Solver
from skyenv.solving.mixing import purified
from skyenv.solving.tree import Opening

pytestmark = pytest.mark.compiled


# ---- figures ----


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("figures") / "figures.json"
    words = ["exploitability", "greedy", "random", "--task", "duel-3", "--openings", "2"]
    assert main([*words, "--json", str(file)]) == 0
    return file


def row_with(**changes: Any) -> Callable[[Any], Any]:
    """Change fields of the first row; None leaves one out."""

    def edit(content: Any) -> Any:
        first = content["rows"][0] | changes
        kept = {name: value for name, value in first.items() if changes.get(name, 0) is not None}
        return content | {"rows": [kept, *content["rows"][1:]]}

    return edit


def with_(**changes: Any) -> Callable[[Any], Any]:
    return lambda content: content | changes


EDITS: dict[str, Callable[[Any], Any]] = {
    "not an object": lambda content: [content],
    "no rows": lambda content: {name: content[name] for name in content if name != "rows"},
    "rows of another type": with_(rows=5),
    "a row of another type": lambda content: content | {"rows": [*content["rows"], "row"]},
    "a row twice": lambda content: content | {"rows": [*content["rows"], content["rows"][0]]},
    "another task": with_(task="duel-4"),
    "an unknown task": with_(task="chess"),
    "a task of another type": with_(task=["duel-3"]),
    "other samples": with_(samples=64),
    "other openings": with_(openings="0" * 64),
    "another price": with_(price=0.9),
    "another format": with_(format="skyenv-exploitability-0"),
    "one more setting": with_(seed=1),
    "negative": row_with(nash_conv=-5),
    "negative gains": row_with(gains=[-5.0, 0.0], gains_low=[-5.0, 0.0], nash_conv=-5.0),
    "not a number": row_with(gains=[float("nan"), 0.0]),
    "a text for a number": row_with(range="9"),
    "a range of zero": row_with(range=0),
    "a smaller sum": row_with(nash_conv=0.0, nash_conv_low=0.0, share=0.0),
    "three seats": row_with(values=[0.0] * 3, gains=[0.0] * 3, gains_low=[0.0] * 3),
    "an opening to train on": row_with(opening="duel-3/136"),
    "an opening of another task": row_with(opening="duel-4/0"),
    "another version": row_with(version="0"),
    "losses of another type": row_with(losses=[{"vp": 1}]),
    **{f"no {name}": row_with(**{name: None}) for name in ("agent", "opening", "values", "losses")},
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("seal", ["the old seal", "a new seal"])
def test_edited_figures_are_refused(
    edit: str, seal: str, figures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, whether the editor has renewed the checksum or not; the file stays as it is."""
    content = json.loads(figures.read_text())
    content = EDITS[edit](content)
    if seal == "a new seal" and isinstance(content, dict):
        content = sealed({name: content[name] for name in content if name != CHECKSUM})
    file = tmp_path / "edited.json"
    file.write_text(json.dumps(content))
    before = file.read_text()
    words = ["exploitability", "greedy", "--task", "duel-3", "--json", str(file), "--openings", "2"]
    assert main([*words, "--resume"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"exploitability: error: {file} ")
    assert told.count("\n") == 1
    assert file.read_text() == before


def test_figures_are_computed_again(
    figures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["exploitability", "--check", str(figures)]) == 0
    assert "4 rows computed again, 0 of them differ" in capsys.readouterr().out
    content = json.loads(figures.read_text())
    row = next(row for row in content["rows"] if row["agent"] == "random")
    row["gains"] = row["gains_low"] = [gain + 0.25 for gain in row["gains"]]
    row["nash_conv"] = row["nash_conv_low"] = sum(row["gains"])
    row["share"] = row["nash_conv"] / row["range"]
    file = tmp_path / "forged.json"
    file.write_text(json.dumps(sealed({one: content[one] for one in content if one != CHECKSUM})))
    assert main(["exploitability", "--check", str(file)]) == 1
    told = capsys.readouterr().out
    assert f"random, {row['opening']}: gains is" in told
    assert "4 rows computed again, 1 of them differ" in told
    assert main(["exploitability", "greedy", "--check", str(file)]) == 0
    assert main(["exploitability", "trained", "--check", str(file)]) == 2
    assert "has no figures of trained" in capsys.readouterr().err


# ---- solutions ----


def saved(solver: Solver, file: Path, iterations: int, sums: Any) -> None:
    """Save a solver with other numbers, and their right seal."""
    content = np.int64(iterations).tobytes() + sums.tobytes()
    file.write_bytes(solver._seal(content) + content)


FORGED: dict[str, Callable[[int, Any], tuple[int, Any]]] = {
    "negative": lambda iterations, sums: (iterations, -sums),
    "not a number": lambda iterations, sums: (iterations, np.where(sums > 0, np.nan, sums)),
    "infinite": lambda iterations, sums: (iterations, np.where(sums > 0, np.inf, sums)),
    "huge": lambda iterations, sums: (iterations, sums * 1e6),
    "too short": lambda iterations, sums: (iterations, sums[:, :-1]),
    "of another type": lambda iterations, sums: (iterations, sums.astype(np.float32)),
    "too long": lambda iterations, sums: (iterations, np.zeros((2, 30_000_000))),
    "too few iterations": lambda iterations, sums: (1, sums),
    "negative iterations": lambda iterations, sums: (-16, sums),
    "very many iterations": lambda iterations, sums: (2**62, sums),
}


@pytest.mark.parametrize("forged", FORGED)
def test_forged_solutions_are_refused(forged: str, tmp_path: Path) -> None:
    """Files of another size unread."""
    solver, file = Solver(Opening("duel-3/136").tree), tmp_path / "forged.cfr"
    solver.run(32)
    saved(solver, file, solver.iterations, solver._sums)
    Solver(solver.tree).load(file)  # as it is, it's good
    saved(solver, file, *FORGED[forged](solver.iterations, solver._sums))
    other = Solver(solver.tree)
    tracemalloc.start()
    with pytest.raises(CheckpointError, match=r"forged\.cfr is not a saved solution"):
        other.load(file)
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()
    assert other.iterations == 0
    assert not other._sums.any()


@pytest.mark.parametrize(
    "change",
    [
        lambda policy: policy * 0.99,
        lambda policy: policy * 0,
        lambda policy: np.where(policy > 0, np.nan, policy),
        lambda policy: np.where(policy == 0, 0.1, policy),
        lambda policy: policy - 0.1,
        lambda policy: policy[:-1],
    ],
)
def test_an_array_that_is_no_policy_is_not_evaluated(change: Callable[[Any], Any]) -> None:
    """Its NashConv could be 0 or less."""
    made = Opening("duel-3/136")
    evaluator, policy = Evaluator(made.tree), uniform_policy(made)
    evaluator.nash_conv(purified(made.tree, policy))
    for evaluate in (
        evaluator.nash_conv,
        evaluator.values,
        evaluator.best_responses,
        lambda policy: evaluator.losses(policy, 0),
        lambda policy: evaluator.best_response(policy, 1),
    ):
        with pytest.raises(OptionError, match="policy"):
            evaluate(change(policy))


# ---- the commands ----


def test_exploitability_prints_and_stores_every_opening(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    words = ["exploitability", "greedy", "--task", "duel-3", "--json", str(file)]
    assert main([*words, "--openings", "2"]) == 0
    printed = capsys.readouterr().out
    told = json.loads(file.read_text())
    assert [row["opening"] for row in told["rows"]] == measured("duel-3", 2)
    for row in told["rows"]:
        assert f"{row['nash_conv']:.3f}" in printed
        assert row["nash_conv"] == pytest.approx(sum(row["gains"]))
        assert row["share"] == pytest.approx(row["nash_conv"] / row["range"])
        assert f"{row['losses'][0]['better']} is better" in " ".join(printed.split())
    assert max(map(len, printed.splitlines())) <= 80


def test_several_agents_are_measured_in_one_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row for each; the file can be continued with others, and names all of them."""
    json_file, csv_file, latex_file = (
        tmp_path / f"figures.{end}" for end in ("json", "csv", "tex")
    )
    words = ["--task", "duel-3", "--openings", "3", "--json", str(json_file), "--resume"]
    written = ["--csv", str(csv_file), "--latex", str(latex_file)]
    assert main(["exploitability", "random", *words]) == 0
    capsys.readouterr()
    assert main(["exploitability", "greedy", "random", *words, *written]) == 0
    printed = capsys.readouterr().out.splitlines()
    rows: list[dict[str, Any]] = json.loads(json_file.read_text())["rows"]
    assert {(row["agent"], row["opening"]) for row in rows} == {
        (agent, opening) for agent in ("greedy", "random") for opening in measured("duel-3", 3)
    }
    table = [*csv.DictReader(io.StringIO(csv_file.read_text()))]
    assert len(table) == len(rows)
    for line, agent in zip(printed[2:4], ("greedy", "random"), strict=True):
        convs = [row["nash_conv"] for row in rows if row["agent"] == agent]
        of_csv = [float(row["nash_conv"]) for row in table if row["agent"] == agent]
        assert sorted(of_csv) == sorted(convs)
        assert f"{np.mean(convs):.3f}" in line
        assert f"{min(convs):.3f} to {max(convs):.3f}" in line
        assert f"{np.mean(convs):.3f}" in latex_file.read_text()
    assert float(table[0]["gains_0"]) + float(table[0]["gains_1"]) == float(table[0]["nash_conv"])


def test_three_seats_have_gains_and_no_nash_conv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    words = ["exploitability", "random", "--task", "three-3", "--json", str(file), "--openings"]
    assert main([*words, "1"]) == 0
    (row,) = json.loads(file.read_text())["rows"]
    printed = capsys.readouterr().out
    assert "NashConv" not in printed
    assert row["nash_conv"] is row["share"] is None
    assert len(row["gains"]) == 3
    for seat, gain in enumerate(row["gains"]):
        assert f"gain of seat {seat}, VP" in printed
        assert f"{gain:.3f}" in printed
    assert main([*words, "2", "--resume"]) == 0
    assert main(["exploitability", "--check", str(file), "--openings", "1"]) == 0
    assert "1 row computed again, 0 of them differ" in capsys.readouterr().out


def test_the_time_of_a_measurement_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the second opening on, as the first may compile."""
    monkeypatch.setattr("skyenv.solving.commands.WORTH_TELLING", 0)
    assert main(["exploitability", "greedy", "--task", "duel-3", "--openings", "4"]) == 0
    assert re.search(r"exploitability: 2 openings left, about \d+ s\n", capsys.readouterr().err)


def test_solve_resumes_from_stored_solutions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["solve", "--task", "duel-3", "--openings", "2", "--out", str(tmp_path), "--share"]
    assert main([*words, "0.01"]) == 0
    named = [f"{name.replace('/', '-')}.cfr" for name in measured("duel-3", 2)]
    assert sorted(file.name for file in tmp_path.glob("*.cfr")) == named
    rough = capsys.readouterr().out.splitlines()
    assert "purified gap" in " ".join(rough)
    assert main([*words, "0.0001"]) == 0
    fine = capsys.readouterr().out.splitlines()
    assert int(rough[2].split()[2]) < int(fine[2].split()[2])
