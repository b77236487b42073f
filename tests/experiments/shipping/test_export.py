"""Export of trained agents into the package, and fitting of the network for leaves."""

import hashlib
import json
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.shipping import export
from experiments.shipping.export import ExportConfig
from experiments.shipping.fit_leaves import main
from experiments.training import best_response, expert_iteration
from experiments.training.config import Config
from experiments.training.curves import read_curve
from skyenv.console.options import Help, parse
from skyenv.errors import CheckpointError, OptionError
from skyenv_agents.learned.networks import Network
from skyenv_agents.search.leaf_network import SHAPES
from trainings import tiny


def asked(run: Path, folder: Path) -> ExportConfig:
    return ExportConfig(run, ("random",), 2, agents=folder / "agents", pictures=folder / "pictures")


def copied(finished: Path, folder: Path, progress: float = 1.0, **changes: Any) -> Path:
    """A run's files in another folder, with other options, and so far on its way."""
    folder.mkdir(exist_ok=True)
    (folder / "model.npz").write_bytes((finished / "model.npz").read_bytes())
    values = {**tiny(folder).as_dict(), **changes}
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    points = read_curve(finished)
    points[-1]["progress"] = progress
    lines = (json.dumps(point) + "\n" for point in points)
    (folder / "curve.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def test_export_writes_the_network_its_results_and_its_command(run: Path, tmp_path: Path) -> None:
    folder = copied(run, tmp_path / "run")
    assert "random" in export.export(asked(folder, tmp_path))
    network = (tmp_path / "agents" / "2-players.npz").read_bytes()
    shipped = Network.load(tmp_path / "agents" / "2-players.npz")
    trained = Network.load(run / "model.npz")
    assert shipped.about == trained.about
    for name, weights in trained.weights.items():
        assert np.array_equal(shipped.weights[name], weights.astype(np.float16))
    content = json.loads((tmp_path / "agents" / "2-players.json").read_text(encoding="utf-8"))
    assert content["sha256"] == hashlib.sha256(network).hexdigest()
    assert content["decisions"] == trained.about["decisions"] >= 1000
    assert [result["opponent"] for result in content["results"]] == ["random"]
    (stage,) = content["stages"]
    assert (stage["decisions"], stage["stopped"]) == (content["decisions"], False)
    assert (tmp_path / "pictures" / "2-players.png").read_bytes().startswith(b"\x89PNG")


def test_export_lists_the_runs_that_a_run_started_from(run: Path, tmp_path: Path) -> None:
    """Stopped runs count too; time and decisions continue in the curve."""
    # only the last run must be on the table that the network ships for
    first = copied(run, tmp_path / "first", 0.5, players=[2, 3], side=["front", "back"])
    second = copied(run, tmp_path / "second", start=str(first / "model.npz"))
    export.export(asked(second, tmp_path))
    content = json.loads((tmp_path / "agents" / "2-players.json").read_text(encoding="utf-8"))
    assert [stage["stopped"] for stage in content["stages"]] == [True, False]
    assert f"--start {first / 'model.npz'}" in content["stages"][1]["command"]
    assert content["decisions"] == sum(stage["decisions"] for stage in content["stages"])
    curve = export.joined(export.Stage.all_of(second))
    assert curve[-1]["decisions"] == content["decisions"]
    assert all(before["decisions"] < after["decisions"] for before, after in pairwise(curve))
    third = copied(run, tmp_path / "third", start=str(tmp_path / "agents" / "2-players.npz"))
    export.export(asked(third, tmp_path))  # from a network that ships
    later = json.loads((tmp_path / "agents" / "2-players.json").read_text(encoding="utf-8"))
    assert later["stages"][:2] == content["stages"]
    assert len(later["stages"]) == 3
    assert later["decisions"] == sum(stage["decisions"] for stage in later["stages"])
    (first / "config.json").unlink()
    with pytest.raises(CheckpointError, match="first is not a finished run"):
        export.export(asked(second, tmp_path))


@pytest.mark.parametrize(
    "config",
    [
        Config(minutes=5.0, side=("front", "back"), prior="greedy"),
        best_response.BestResponseConfig(target="random"),
        expert_iteration.ExpertConfig(worlds=3),
    ],
)
def test_commands_of_stages_reproduce_their_options(
    config: Config, run: Path, tmp_path: Path
) -> None:
    stage = export.Stage.read(copied(run, tmp_path, **config.as_dict()))
    assert stage.config == config
    command = shlex.split(stage.about()["command"])
    assert command[:3] == ["python", "-m", export.COMMANDS[type(config)]]
    assert parse(type(config), "train", Help(""), command[3:]) == config


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"progress": 0.5}, CheckpointError, "hasn't reached the limit"),
        ({"players": [2, 3]}, OptionError, "several kinds of tables"),
        ({"side": ["front", "back"]}, OptionError, "several kinds of tables"),
        ({"players": "many"}, CheckpointError, "not a finished run"),
        ({"anchors": "random"}, CheckpointError, "not a finished run"),
    ],
)
def test_unfinished_and_unsuitable_runs_are_refused(
    run: Path, tmp_path: Path, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    copied(run, tmp_path, **changes)
    with pytest.raises(error, match=message):
        export.export(asked(tmp_path, tmp_path))
    assert not (tmp_path / "agents").exists()


# ---- the network for leaves ----


@pytest.mark.long  # compiles for 15 s
def test_the_leaf_network_fits_the_outcomes_of_positions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its loss on held-out positions is below that of a constant prediction."""
    options = ["--players", "2", "--positions", "3000", "--epochs", "4", "--out", str(tmp_path)]
    assert main(options) == 0
    out = capsys.readouterr().out
    found = re.search(r"2 players, loss on 300 held-out positions: ([.\d]+)", out)
    assert found is not None
    assert float(found[1]) < 0.6 < np.log(2)
    with np.load(tmp_path / "2-players.npz") as file:
        assert {name: file[name].shape for name in file} == SHAPES
