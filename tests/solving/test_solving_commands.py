"""The commands exploitability and solve."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyenv.cli import main
from skyenv.engine.openings import measured

pytestmark = pytest.mark.compiled


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
