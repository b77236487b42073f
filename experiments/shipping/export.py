"""Export a trained agent, so that it ships with the project: ``python -m
experiments.shipping.export runs/two``.

Measures the agent of a finished run (of :mod:`experiments.training.train`, a best response, or
expert iteration) in paired seeds that it hasn't seen, and writes for the table that it was trained
on

* agents/skyenv_agents/trained/N-players.npz (on the back N-players-back.npz): the network, which
  plays as ``trained`` there, its weights as float16;
* agents/skyenv_agents/trained/N-players.json: how it was made (with the runs that it started from)
  and how strong it is, which docs/agents.md shows and the tests hold it to;
* docs/results/trained/N-players.png: its curve.

Exit codes: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted.
"""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.figures import machine
from experiments.training.best_response import BestResponse, BestResponseConfig
from experiments.training.config import CONFIG, Config
from experiments.training.curves import MAX_LINES, draw_curves, read_curve
from experiments.training.expert_iteration import ExpertConfig, ExpertIteration
from experiments.training.run import MODEL
from experiments.training.train import Training
from skyenv.arena.evaluate import Result, evaluate, table
from skyenv.arena.schedule import code_version
from skyenv.console.options import (
    Help,
    Options,
    argument,
    command_line,
    common,
    option,
    program,
)
from skyenv.engine.options import table_label, table_name
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import read_json, write_atomically
from skyenv_agents.learned.frozen import keep_frozen
from skyenv_agents.learned.networks import TRAINED, Network, NetworkAgent, TrainedAgent

PICTURES: Final = Path(__file__).resolve().parents[2] / "docs" / "results" / "trained"
# The first paired seed: far from those of trainings and of their closing evaluations.
SEED: Final = 50_000_000
# What grows along a curve.
GROWING: Final = ("seconds", "decisions")
# Options of trainers, those with more of their own first, and which module takes them.
COMMANDS: Final[Mapping[type[Config], str]] = {
    kind: f"experiments.training.{trainer.PROGRAM}"
    for kind, trainer in (
        (BestResponseConfig, BestResponse),
        (ExpertConfig, ExpertIteration),
        (Config, Training),
    )
}


@dataclass(frozen=True)
class ExportConfig(Options):
    """Options of the export: the run, its measurement, and the folder."""

    run: Path = argument("folder of a finished run", metavar="FOLDER")
    against: tuple[str, ...] = common("against", default=("greedy", "appraiser"))
    paired_seeds: int = common("paired_seeds", default=1000)
    agents: Path = option(TRAINED, "where the network goes (default: the agents)", metavar="FOLDER")
    pictures: Path = option(
        PICTURES, "where the picture goes (default: docs/results)", metavar="FOLDER"
    )


@dataclass(frozen=True)
class Stage:
    """A run that a network went through: a training begins from nothing, or (``--start``) where
    another run has ended.

    Attributes:
        config: of the run. curve: its points. target_version: of the agent that a best response has
            learned against; "": it isn't one.
    """

    config: Config
    curve: list[dict[str, Any]]
    target_version: str = ""

    @property
    def stopped(self) -> bool:
        """Whether it ended before the limit that was set."""
        return bool(self.curve[-1]["progress"] < 1)

    @classmethod
    def read(cls, run: Path) -> "Stage":
        """From a run's folder.

        Raises:
            CheckpointError: the run's files can't be used.
        """
        try:
            values = json.loads((run / CONFIG).read_text(encoding="utf-8"))
            kind = options_of(values)
            asked = {entry.name for entry in fields(kind) if entry.init}
            config = kind(
                **{
                    name: value
                    for name, value in values.items()
                    if name in asked or not hasattr(kind, name)
                }
            )
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise CheckpointError(
                f"{run} is not a finished run ({type(error).__name__}: {error})"
            ) from error
        return cls(
            config, read_curve(run), str(Network.load(run / MODEL).about.get("target_version", ""))
        )

    @classmethod
    def all_of(cls, run: Path) -> "list[Stage]":
        """Return a run after the runs that it started from, oldest first; the runs behind a shipped
        network (:func:`published`) are left out.

        Raises:
            CheckpointError: a run's files can't be used, or a folder has been used anew by a run
                that started from its own end.
        """
        stages, folders = [cls.read(run)], [run.resolve()]
        while (start := stages[0].config.start) and not published(start):
            folder = Path(start).parent
            if folder.resolve() in folders:
                raise CheckpointError(
                    f"{folder} isn't what {run} started from any more: its run started from that, "
                    "in turn"
                )
            folders.append(folder.resolve())
            stages.insert(0, cls.read(folder))
        return stages

    def about(self) -> dict[str, Any]:
        """Return the command and its results."""
        last, kind = self.curve[-1], type(self.config)
        return {
            "command": command_line(kind, COMMANDS[kind], asdict(self.config)),
            "decisions": last["decisions"],
            "seconds": round(last["seconds"]),
            "stopped": self.stopped,
            **({"target_version": self.target_version} if self.target_version else {}),
        }


def published(start: str) -> list[dict[str, Any]]:
    """Return the stages of a network that ships or shipped (:meth:`Stage.about`), from the JSON
    file beside it; an empty list for other networks.
    """
    if not start:
        return []
    path = Path(start).with_suffix(".json")
    return list(read_json(path)["stages"]) if path.is_file() else []


def options_of(values: Mapping[str, Any]) -> type[Config]:
    """Return a run's options class: the first trainer's whose own options are all present."""
    common_ones = {entry.name for entry in fields(Config)}
    return next(
        kind
        for kind in COMMANDS
        if {entry.name for entry in fields(kind)} - common_ones <= values.keys()
    )


def joined(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """Join all curves into one, with time and decisions continued from stage to stage."""
    points: list[dict[str, Any]] = []
    for stage in stages:
        before = {key: points[-1][key] if points else 0 for key in GROWING}
        points += [
            {**point, **{key: point[key] + before[key] for key in GROWING}} for point in stage.curve
        ]
    return points


def kinds_of(curve: Sequence[Mapping[str, Any]], against: Sequence[str], label: str) -> list[str]:
    """Return a curve's names of these opponents at one kind of tables: agents' names, with the
    kind's label if the run had several kinds.
    """
    kinds = {kind for point in curve for kind in point["shares"]}
    return [kind for name in against for kind in (name, f"{name}, {label}") if kind in kinds]


def export(config: ExportConfig) -> str:
    """Measure the agent and write all files; return the table of results.

    Raises:
        KeyboardInterrupt: Ctrl-C ended the measurement; nothing was written.
        CheckpointError: the files of the run, or of one that it started from, can't be used.
            OptionError: it is a run with several kinds of tables.
    """
    run, stages = config.run, Stage.all_of(config.run)
    players, side = exported_table(config, stages[-1])
    rounded = Network.load(run / MODEL).rounded()
    agent = NetworkAgent(rounded, deterministic=True, name=TrainedAgent.name)
    results = evaluate(
        agent, config.against, players, side, config.paired_seeds, SEED, progress=True
    )
    if len(results) < len(config.against) or any(result.interrupted for result in results):
        raise KeyboardInterrupt("; nothing was written")
    write(config, stages, rounded, players, side, results)
    return table(results)


def exported_table(config: ExportConfig, last: Stage) -> tuple[int, str]:
    """Return the number of players and the side of the board that a run was trained on.

    Raises:
        CheckpointError: the run hasn't ended. OptionError: see :func:`export`.
    """
    tables = last.config.tables
    if len(tables) != 1:
        raise OptionError(
            f"{config.run} was trained at several kinds of tables; a network ships for one"
        )
    if last.stopped:
        raise CheckpointError(
            f"{config.run} hasn't reached the limit of its training; continue it with --resume"
        )
    return tables[0]


def write(
    config: ExportConfig,
    stages: Sequence[Stage],
    network: Network,
    players: int,
    side: str,
    results: Sequence[Result],
) -> None:
    """Write all files."""
    content, curve = network.to_bytes(np.float16), joined(stages)
    history = [*published(stages[0].config.start), *(stage.about() for stage in stages)]
    about = {
        "version": code_version(),
        "players": players,
        "side": side,
        "stages": history,
        "decisions": sum(stage["decisions"] for stage in history),
        "seconds": sum(stage["seconds"] for stage in history),
        "machine": machine(),
        "sha256": hashlib.sha256(content).hexdigest(),
        "results": [asdict(result) for result in results],
    }
    for folder in (config.agents, config.pictures):
        folder.mkdir(parents=True, exist_ok=True)
    name = table_name(players, side)
    keep_frozen(config.agents / f"{name}.npz")
    write_atomically(config.agents / f"{name}.npz", content)
    write_atomically(config.agents / f"{name}.json", json.dumps(about, indent=1) + "\n")
    label = table_label(players, side)
    drawn = kinds_of(curve, config.against, label)[:MAX_LINES]
    draw_curves({label: curve}, config.pictures / f"{name}.png", drawn)


main = program(
    ExportConfig,
    "experiments.shipping.export",
    Help(
        "export a trained agent, so that it ships with the project",
        "runs/first --paired-seeds 1000",
        "docs/agents.md#trained-agents",
    ),
    lambda config: print(export(config)),
)

if __name__ == "__main__":
    sys.exit(main())
