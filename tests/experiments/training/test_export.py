"""What it takes for a trained agent to be exported, so that it ships."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from experiments.training import best_response, expert_iteration, export, train
from experiments.training.config import Config
from experiments.training.export import ExportConfig
from skyenv.agents import make_agent
from skyenv.errors import CheckpointError, OptionError
from skyenv.options import parse
from skyenv_agents.learned.networks import Network

TINY = shlex.split(
    "--games 8 --steps 16 --batch 64 --hidden 8 --max-turns 6 --paired-seeds 0 --decisions 300"
)
WITH_PAST = shlex.split("--snapshot 2 --past-policies 2")


def asked(run: Path, folder: Path) -> ExportConfig:
    return ExportConfig(run, ("random",), 2, agents=folder / "agents", pictures=folder / "pictures")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "two"
    assert (
        train.main(
            [
                *TINY,
                *WITH_PAST,
                "--run",
                str(folder),
                "--learning-rate",
                "0.002",
                "--fixed-opponents",
                "random",
            ]
        )
        == 0
    )
    return folder


def copied(run: Path, folder: Path, progress: float = 1.0, **changes: Any) -> None:
    """A run's files in another folder, with other options, and so far on its way."""
    folder.mkdir(exist_ok=True)
    (folder / "model.npz").write_bytes((run / "model.npz").read_bytes())
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")
    *points, last = map(json.loads, (run / "curve.jsonl").read_text(encoding="utf-8").splitlines())
    assert last["progress"] == 1
    lines = (json.dumps(point) + "\n" for point in [*points, {**last, "progress": progress}])
    (folder / "curve.jsonl").write_text("".join(lines), encoding="utf-8")


def test_what_is_exported_is_the_network_what_it_won_and_the_whole_command(
    run: Path, tmp_path: Path
) -> None:
    table = export.export(asked(run, tmp_path))
    assert "random" in table
    network = (tmp_path / "agents" / "2-players.npz").read_bytes()
    shipped, trained = (
        Network.load(tmp_path / "agents" / "2-players.npz"),
        Network.load(run / "model.npz"),
    )
    assert shipped.about == trained.about
    for name, weights in trained.weights.items():
        assert np.array_equal(shipped.weights[name], weights.astype(np.float16))
    assert len(network) < 0.7 * len((run / "model.npz").read_bytes())
    content = json.loads((tmp_path / "agents" / "2-players.json").read_text(encoding="utf-8"))
    assert content["sha256"] == hashlib.sha256(network).hexdigest()
    assert content["decisions"] == Network.load(run / "model.npz").about["decisions"] >= 300
    assert [result["opponent"] for result in content["results"]] == ["random"]
    (stage,) = content["stages"]
    assert (stage["decisions"], stage["stopped"]) == (content["decisions"], False)
    config = parse(Config, "train", "", shlex.split(stage["command"])[3:])
    assert config == Config(**json.loads((run / "config.json").read_text(encoding="utf-8")))
    assert (tmp_path / "pictures" / "2-players.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_started_from_another_one_is_told_with_it(run: Path, tmp_path: Path) -> None:
    """The first run counts, also if it was stopped early; time and decisions go on in the curve."""
    first, second = tmp_path / "first", tmp_path / "second"
    # only the last run must be on the table that the network ships for
    copied(run, first, 0.5, players=[2, 3], side=["front", "back"])
    assert (
        train.main(
            [
                *TINY,
                *WITH_PAST,
                "--run",
                str(second),
                "--start",
                str(first / "model.npz"),
                "--fixed-opponents",
                "random",
            ]
        )
        == 0
    )
    export.export(asked(second, tmp_path))
    content = json.loads((tmp_path / "agents" / "2-players.json").read_text(encoding="utf-8"))
    assert [stage["stopped"] for stage in content["stages"]] == [True, False]
    assert f"--start {first / 'model.npz'}" in content["stages"][1]["command"]
    assert content["decisions"] == sum(stage["decisions"] for stage in content["stages"])
    curve = export.joined(export.Stage.all_of(second))
    assert curve[-1]["decisions"] == content["decisions"]
    assert all(before["decisions"] < after["decisions"] for before, after in pairwise(curve))
    (first / "config.json").unlink()
    with pytest.raises(CheckpointError, match="first is no finished run"):
        export.export(asked(second, tmp_path))


@pytest.mark.parametrize(
    ("program", "kind", "more"),
    [
        (best_response, best_response.BestResponseConfig, ["--target", "random"]),
        (expert_iteration, expert_iteration.ExpertConfig, [*WITH_PAST, "--simulations", "3"]),
    ],
)
def test_each_run_is_told_by_the_command_of_its_trainer(
    run: Path, tmp_path: Path, program: ModuleType, kind: type[Config], more: list[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    copied(run, first)
    assert (
        program.main([*TINY, *more, "--run", str(second), "--start", str(first / "model.npz")]) == 0
    )
    stages = export.Stage.all_of(second)
    assert [type(stage.config) for stage in stages] == [Config, kind]
    command = shlex.split(stages[1].about()["command"])
    assert command[:3] == ["python", "-m", program.__name__]
    assert parse(kind, "train", "", command[3:]) == stages[1].config
    export.export(asked(second, tmp_path))
    content = json.loads((tmp_path / "agents" / "2-players.json").read_text(encoding="utf-8"))
    target = make_agent("random").version if program is best_response else None
    assert [stage.get("target_version") for stage in content["stages"]] == [None, target]


@pytest.mark.parametrize("named", [(), ("back",)], ids=["all", "one"])
def test_a_run_on_both_sides_ships_for_both_or_those_named(
    run: Path, tmp_path: Path, named: tuple[str, ...]
) -> None:
    """The same network, with its results on that side alone."""
    copied(run, tmp_path, side=["front", "back"])
    export.export(replace(asked(tmp_path, tmp_path), side=named))
    names = {"front": "2-players", "back": "2-players-back"}
    written = {
        path.stem for folder in ("agents", "pictures") for path in (tmp_path / folder).iterdir()
    }
    assert written == {names[side] for side in named or names}
    for side in named or names:
        content = json.loads(
            (tmp_path / "agents" / f"{names[side]}.json").read_text(encoding="utf-8")
        )
        network = (tmp_path / "agents" / f"{names[side]}.npz").read_bytes()
        assert (content["side"], content["sha256"]) == (side, hashlib.sha256(network).hexdigest())
        assert [(result["side"], result["opponent"]) for result in content["results"]] == [
            (side, "random")
        ]


def test_a_network_ships_for_no_side_that_it_has_not_met(run: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="wasn't trained on the side back"):
        export.export(replace(asked(run, tmp_path), side=("front", "back")))
    assert not (tmp_path / "agents").exists()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"progress": 0.5}, CheckpointError, "hasn't reached the limit"),
        ({"players": [2, 3]}, OptionError, "several numbers of players"),
        ({"players": "many"}, CheckpointError, "no finished run"),
        ({"anchors": "random"}, CheckpointError, "no finished run"),
    ],
)
def test_what_does_not_ship(
    run: Path, tmp_path: Path, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    copied(run, tmp_path, **changes)
    with pytest.raises(error, match=message):
        export.export(asked(tmp_path, tmp_path))
    assert not (tmp_path / "agents").exists()
