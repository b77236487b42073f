"""Let a trained agent ship with the project: ``python -m experiments.ship runs/two``.

Measures the agent of a finished run of :mod:`experiments.ppo` against its rivals, in deals that it hasn't seen, and writes

* agents/trained/N-players.npz: the network, which plays as ``trained``;
* agents/trained/N-players.json: how it was made (with the runs that it started from) and how strong it is, which docs/agents.md
  shows and the tests hold it to;
* docs/trained/N-players.png: its curve.

Exit codes: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from agents.learned import TRAINED, NetworkAgent, TrainedAgent
from experiments.commands import INTERRUPTED, Parser, complain, exit_code, whole
from experiments.curves import draw_curves, read_curve
from experiments.evaluate import evaluate, table
from experiments.files import write_atomically
from experiments.ppo import Config
from experiments.speed import machine
from skyenv.errors import CheckpointError, OptionError

PICTURES: Final = Path(__file__).resolve().parent.parent / "docs" / "trained"
SEED: Final = 50_000_000
"""Of the first deal: far from those of trainings and of their closing evaluations."""
CURVE_POINTS: Final = 60
GROWING: Final = ("seconds", "decisions")
"""What grows along a curve."""


def command(config: Mapping[str, Any]) -> str:
    """The command that a run's configuration stands for: all options, as their defaults may change one day."""
    words = ["python", "-m", "experiments.ppo"]
    for entry in fields(Config):
        value = config[entry.name]
        words += ["--" + entry.name.replace("_", "-"), f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


@dataclass(frozen=True)
class Stage:
    """A run that a network went through: a training begins from nothing, or (``--start``) where another run has ended.

    Attributes:
        config: of the run. curve: its points. stopped: whether it ended before the limit that was set.
    """

    config: dict[str, Any]
    curve: list[dict[str, Any]]
    stopped: bool

    @classmethod
    def read(cls, run: Path) -> Stage:
        """From a run's folder.

        Raises:
            CheckpointError: the run's files can't be used.
        """
        try:
            config = json.loads((run / "config.json").read_text(encoding="utf-8"))
            command(config)
            limits = (60 * float(config["minutes"]), float(config["decisions"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{run} is no finished run ({type(error).__name__}: {error})") from error
        curve = read_curve(run)
        done = (float(curve[-1]["seconds"]), float(curve[-1]["decisions"]))
        return cls(config, curve, not any(0 < limit <= reached for limit, reached in zip(limits, done, strict=True)))

    @classmethod
    def all_of(cls, run: Path) -> list[Stage]:
        """A run with those that it started from, the first one first.

        Raises:
            CheckpointError: a run's files can't be used.
        """
        stage = cls.read(run)
        start = stage.config["start"]
        return [*(cls.all_of(Path(start).parent) if start else []), stage]

    def about(self) -> dict[str, Any]:
        """The command, and what it came to."""
        last = self.curve[-1]
        return {
            "command": command(self.config),
            "decisions": last["decisions"],
            "seconds": round(last["seconds"]),
            "stopped": self.stopped,
        }


def joined(stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """The points of all curves as those of one: time and decisions go on from stage to stage."""
    points: list[dict[str, Any]] = []
    for stage in stages:
        before = {key: points[-1][key] if points else 0 for key in GROWING}
        points += [{**point, **{key: point[key] + before[key] for key in GROWING}} for point in stage.curve]
    return points


def ship(run: Path, rivals: Sequence[str], deals: int, agents: Path, pictures: Path) -> str:
    """Measure, and write all files; returns the table of results, "" if Ctrl-C came before its end (then nothing is written).

    Raises:
        CheckpointError: the files of the run, or of one that it started from, can't be used. OptionError: it is a run on several
            kinds of tables.
    """
    stages = Stage.all_of(run)
    told, side = str(stages[-1].config["players"]), str(stages[-1].config["side"])
    if not told.isdecimal():
        raise CheckpointError(f"{run} is no finished run on one kind of table: it has {told} players")
    players = int(told)
    if "," in side:
        raise OptionError(f"{run} was trained on both sides; a network ships for one")
    if stages[-1].stopped:
        raise CheckpointError(f"{run} hasn't reached the limit of its training; go on with it by --resume")
    network = (run / "model.npz").read_bytes()
    agent = NetworkAgent(run / "model.npz", deterministic=True, name=TrainedAgent.name)
    found = evaluate(agent, rivals, players, side, deals, SEED, progress=True)
    if len(found) < len(rivals) or found[-1].interrupted:
        return ""
    curve = joined(stages)
    about = {
        "players": players,
        "side": side,
        "stages": [stage.about() for stage in stages],
        "decisions": curve[-1]["decisions"],
        "seconds": round(curve[-1]["seconds"]),
        "machine": machine(),
        "sha256": hashlib.sha256(network).hexdigest(),
        "results": [asdict(result) for result in found],
        "curve": [{key: point[key] for key in (*GROWING, "shares")} for point in curve[:: max(1, len(curve) // CURVE_POINTS)]],
    }
    for folder in (agents, pictures):
        folder.mkdir(parents=True, exist_ok=True)
    write_atomically(agents / f"{players}-players.npz", network)
    write_atomically(agents / f"{players}-players.json", json.dumps(about, indent=1) + "\n")
    draw_curves({f"{players} players": curve}, pictures / f"{players}-players.png")
    return table(found)


def _parser() -> Parser:
    parser = Parser("ship", "Let a trained agent ship with the project.")
    add = parser.add_argument
    add("run", type=Path, metavar="FOLDER", help="folder of a finished run of experiments.ppo")
    add("--rivals", nargs="+", default=["greedy", "appraiser"], metavar="AGENT", help="opponents (default: greedy appraiser)")
    add("--deals", type=whole(1, 10**6), default=1000, metavar="N", help="deals, each played from every seat (default: 1000)")
    add("--agents", type=Path, default=TRAINED, metavar="FOLDER", help="where the network goes (default: agents/trained)")
    add("--pictures", type=Path, default=PICTURES, metavar="FOLDER", help="where the picture goes (default: docs/trained)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    options = _parser().parse_args(arguments)
    return exit_code("ship", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    told = ship(options.run, options.rivals, options.deals, options.agents, options.pictures)
    if not told:
        complain("ship", "interrupted; nothing was written")
        return INTERRUPTED
    print(told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
