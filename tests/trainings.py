"""Trainings of a second or two."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast

import torch

from experiments.training.config import Config
from experiments.training.ppo import Batch
from experiments.training.rollouts import Collector, Rollout
from experiments.training.train import Training

SMALL: Final[dict[str, Any]] = {
    "games": 12,
    "steps": 24,
    "batch": 64,
    "hidden": 8,
    "blocks": 1,
    "entity_dim": 4,
    "minutes": 0.0,
    "decisions": 1000,
    "snapshot": 2,
    "past_policies": 2,
    "checkpoint_seconds": 1e9,
    "paired_seeds": 0,
    "max_turns": 6,
    "precision": "float32",
}
TINY: Final = [
    part for name, value in SMALL.items() for part in ("--" + name.replace("_", "-"), str(value))
]


def tiny(folder: Path | str = "unused", **changes: Any) -> Config:
    """A run of a second or two."""
    return Config(**{"run": str(folder), **SMALL, **changes})


def part_of(part: int = 0, **changes: Any) -> Collector:
    """The collector of a part of a tiny training."""
    return Collector(tiny(**changes), part)


def begun(config: Config, kind: type[Training] = Training) -> Training:
    """A training that has begun."""
    config.check()
    training = kind(config)
    training.begin()
    return training


@contextmanager
def while_it_lasts(config: Config, goes_on: bool = False) -> Iterator[Training]:
    """A training that has begun, or goes on from its checkpoint, and ends with the block."""
    training = Training(config)
    begin = training.load if goes_on else training.begin
    try:
        begin()
        yield training
    finally:
        training.end()


def updated(training: Training, number: int) -> Training:
    """After some updates."""
    for _ in range(number):
        training.update()
    return training


def collector(training: Any) -> Collector:
    """The collector of a training, in this process."""
    return cast(Collector, training.actors.own)


def weights(training: Training) -> bytes:
    """All parameters of the network as bytes."""
    return b"".join(
        parameter.detach().cpu().numpy().tobytes() for parameter in training.network.parameters()
    )


def arrays_of(batch: Batch) -> dict[str, torch.Tensor]:
    """All arrays of a batch by name."""
    own = {name: array for name, array in vars(batch).items() if name != "notes"}
    return own | batch.notes


def content(rollouts: list[Rollout]) -> list[Any]:
    """All that rollouts hold, to be compared."""
    return [
        (
            [array.numpy().tobytes() for array in arrays_of(r.batch).values()],
            r.decisions,
            r.ended,
            r.figures,
        )
        for r in rollouts
    ]


def without_time(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A curve without what depends on the machine."""
    return [
        {name: value for name, value in point.items() if name not in ("seconds", "pace", "lost")}
        for point in curve
    ]


def lessons(batch: Batch) -> list[tuple[bytes, list[float]]]:
    """What each decision was, and what is to be learned from it."""
    values = torch.cat(
        [batch.advantage[:, None], batch.target, batch.log_probability[:, None]], dim=1
    ).tolist()
    parts = [batch.codes.numpy(), batch.masks.numpy(), batch.action.numpy()]
    return [(b"".join(part[k].tobytes() for part in parts), values[k]) for k in range(len(batch))]
