"""The health of a network in training."""

from pathlib import Path
from typing import Any

import pytest
import torch

from experiments.training import train
from experiments.training.checkpoint import CHECKPOINT, read_checkpoint
from experiments.training.config import Config
from experiments.training.curves import read_curve
from experiments.training.health import divergence
from experiments.training.program import program
from experiments.training.train import Training
from skyenv.agents import make_agent
from skyenv.console.options import Help
from trainings import TINY, begun, tiny, updated

# Enough decisions in an update for units to be counted, and steps that are too small to lose any.
WIDE: dict[str, Any] = {"games": 300, "opponent_share": 0.0, "hidden": 64, "entity_dim": 16}
WIDE |= {"decisions": 10**6, "learning_rate": 1e-6}


def test_lost_units_are_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the curve, on stderr, and in the report at the end, also of a resumed run."""
    training = begun(tiny(tmp_path, **WIDE))
    updated(training, 1)
    assert "never active" not in capsys.readouterr().err
    with torch.no_grad():
        for name, lost in (("value", 24), ("block0_in", 16)):
            bias = training.network.get_parameter(f"layers.{name}.bias")
            bias.fill_(1.0)
            bias[:lost] = -1e6
    updated(training, 1).save()
    training.write_config()
    assert capsys.readouterr().err == (
        "warning: 75 % of the units of value are never active; a smaller --learning-rate loses "
        "fewer\n"
    )
    before, after = read_curve(tmp_path)
    assert before["never_active/value"] <= 0.25
    assert (after["never_active/value"], after["never_active/block0.in"]) == (0.75, 0.25)
    limit = ["--decisions", str(training.decisions + 1)]
    assert train.main(["--run", str(tmp_path), "--resume", *limit]) == 0
    told = capsys.readouterr()
    assert "never active" not in told.err
    assert "block0.in 25%, trunk.out 0%" in told.out
    assert told.out.count("warning: 75 % of the units of value") == 1


def test_gradients_are_told_by_layer() -> None:
    """Without clipping those of all layers make up the whole, but for identities and the prior."""
    training = begun(tiny(batch=10**6, epochs=1, max_grad_norm=1e9))
    (point,) = updated(training, 1).curve
    layers = [value for name, value in point.items() if name.startswith("gradient_norm/")]
    assert len(layers) == len(training.network.sizes.layers())
    rest = [one.grad for one in training.network.rest.values() if one.grad is not None]
    squares = sum(value**2 for value in layers) + sum(float(one.square().sum()) for one in rest)
    assert squares == pytest.approx(point["gradient_norm"] ** 2, rel=1e-4)
    assert min(layers) > 0


# ---- divergence ----


@pytest.mark.parametrize(
    ("figures", "changes", "found"),
    [
        ({"value_loss": 4e11, "change": 18_626.0}, {}, ["value_loss is 4e+11", "change is 1.86"]),
        ({"value_loss": float("nan"), "change": 0.01}, {}, ["value_loss is nan"]),
        ({"value_loss": 1.0, "gradient_norm": float("inf")}, {}, ["gradient_norm is inf"]),
        ({"value_loss": 99.0, "change": 99.0}, {}, []),
        ({"value_loss": 1e4, "change": 1e4}, {"reward": "points", "target_kl": 1e9}, []),
        ({}, {}, []),
    ],
)
def test_divergence_is_told_by_its_figures(
    figures: dict[str, float], changes: dict[str, Any], found: list[str]
) -> None:
    text = divergence(figures, tiny(**changes))
    assert text.count(" is ") == len(found)
    assert all(part in text for part in found)


def test_a_diverging_run_fails_and_keeps_its_last_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Diverging(Training):
        def learn(self) -> dict[str, float]:
            if self.updates == 3:
                with torch.no_grad():
                    self.network.get_parameter("layers.outlook.weight").mul_(1e6)
            return super().learn()

    arguments = ["--run", str(tmp_path), *TINY, "--checkpoint-seconds", "0"]
    assert program(Diverging, Config, Help("Train."), arguments) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith(f"train: error: {tmp_path}: the training has diverged in update 4: ")
    assert read_checkpoint(tmp_path / CHECKPOINT)["updates"] == 3 == len(read_curve(tmp_path))
    assert make_agent(tmp_path / "model.npz").name == tmp_path.name
