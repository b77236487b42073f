"""The strength of a list of agents: ``python -m experiments.benchmarks.strength
runs/first/milestones/*.npz --against greedy``.

Every agent (a name, such as ismcts-100, or a checkpoint, such as a run's milestones) plays the same
paired seeds against the same opponents, each once from every seat. Its games stand in a folder of
their own in FOLDER/games; the same command goes on where it was interrupted, and plays what is
missing. With ``--minutes`` the agents share the time.

Figures are the wins against each opponent, the rating on the ladder that ships (as a newcomer, if
the opponents stand there) and the milliseconds of a decision. Intervals are 95 %, by the bootstrap
over paired seeds. FOLDER/strength.json has them, and FOLDER/strength.png draws the wins over the
last number in the agents' names (simulations, or seconds of training).

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from experiments.benchmarks.game import percent
from experiments.figures import Figure, figure, shown, write
from skyenv.arena import ladder
from skyenv.arena.estimates import Estimate
from skyenv.arena.folder import Folder, secret_of
from skyenv.arena.plots import check_plots, save
from skyenv.arena.ratings import rate, rate_newcomer
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Tournament
from skyenv.engine.options import table_name
from skyenv.options import INTERRUPTED, complain, exit_code
from skyenv.render.colours import REFERENCE
from skyenv.rules.components import SIDES

COMMAND: Final = "python -m experiments.benchmarks.strength"
SEED: Final = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Measure a list of agents.")
    parser.add_argument("agents", nargs="+", metavar="AGENT")
    parser.add_argument("--against", nargs="+", metavar="AGENT", default=["greedy"])
    parser.add_argument("--players", type=int, choices=(2, 3, 4), default=2)
    parser.add_argument("--side", choices=SIDES, default="front")
    parser.add_argument("--paired-seeds", type=int, default=200, metavar="N")
    parser.add_argument("--minutes", type=float, help="for all agents together (default: no limit)")
    parser.add_argument("--secret", type=int, help="number that decides deals (default: a new one)")
    parser.add_argument("--workers", type=int, default=0, help="0: one for each core")
    parser.add_argument("--ray", help="spread the work: auto, local or HOST:PORT")
    parser.add_argument("--out", type=Path, default=Path("runs/strength"), metavar="FOLDER")
    options = parser.parse_args(arguments)
    given = sys.argv[1:] if arguments is None else list(arguments)
    return exit_code("strength", lambda: _run(options, f"{COMMAND} {shlex.join(given)}"))


def _run(options: argparse.Namespace, command: str) -> int:
    check_plots()
    folders = {spec: options.out / "games" / _slug(spec) for spec in options.agents}
    secret = secret_of(options.secret, *folders.values())
    until = time.perf_counter() + 60 * (options.minutes or 0)
    figures: list[Figure] = []
    interrupted = False
    for number, (spec, path) in enumerate(folders.items()):
        agents = entrants([spec, *options.against], options.players)
        settings = Settings(
            agents, options.players, options.side, SEED, secret=secret, newcomer=True
        )
        left = (until - time.perf_counter()) / 60 / (len(folders) - number)
        with Folder(path, settings) as folder:
            if not interrupted:
                tournament = Tournament(
                    folder,
                    paired_seeds=options.paired_seeds,
                    minutes=max(0.0, left) if options.minutes else None,
                    workers=options.workers,
                    ray=options.ray,
                    progress=True,
                )
                tournament.run()
                interrupted = tournament.interrupted
            for one in measured(folder, spec):
                print(shown(one), flush=True)
                figures.append(one)
    method = f"{options.players} players, {options.side} side; intervals are 95 %."
    write(options.out / "strength.json", command, method, figures)
    draw(figures, 100 / options.players, options.out / "strength.png")
    if interrupted:
        complain("strength", "interrupted; the same command goes on")
    return INTERRUPTED if interrupted else 0


def _slug(spec: str) -> str:
    return re.sub(r"[^\w.-]+", "-", spec).strip("-")


def measured(folder: Folder, spec: str) -> Iterator[Figure]:
    """Return the figures of agent 0; none before the first paired seed is finished."""
    if not folder.whole_paired_seeds():
        return
    settings = folder.settings
    ratings = rate(folder.results(), [one.name for one in settings.agents], settings.seed)
    for opponent, wins in zip(settings.agents[1:], ratings.pairs[0][1:], strict=True):
        assert wins is not None
        yield percent(f"{spec}: against {opponent.name}", wins)
    rating = rating_of(folder)
    if rating is not None:
        yield Figure(f"{spec}: rating", rating.mean, rating.low, rating.high, "", 1)
    speed = folder.speeds()[0]
    if speed is not None:
        yield figure(f"{spec}: a decision", "ms", [1000 / speed])
    yield figure(f"{spec}: paired seeds", "", [ratings.paired_seeds])


def rating_of(folder: Folder) -> Estimate | None:
    """Return agent 0's rating on the ladder that ships; None if an opponent doesn't stand there."""
    settings = folder.settings
    path = ladder.SHIPPED / f"{table_name(settings.players, settings.side)}.json"
    shipped = ladder.read(path, settings.players, settings.side)
    rungs = {
        (rung["name"], rung["version"], rung["digest"]): index
        for index, rung in enumerate(shipped["agents"])
    }
    opponents = [(one.name, one.version, one.digest) for one in settings.agents[1:]]
    if not set(opponents) <= set(rungs) or shipped["max_turns"] != settings.max_turns:
        return None
    met = [rungs[one] for one in opponents]
    points = np.array([rung["rating"]["mean"] for rung in shipped["agents"]])[met]
    samples = np.array(shipped["samples"])[:, met]
    return rate_newcomer(folder.results(), points, samples, settings.seed).points


def draw(figures: Sequence[Figure], par: float, path: Path) -> None:
    """Draw wins over the last number in the agents' names, a line for each family of agents and
    opponent; agents without a number have no place.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure as Picture

    lines: dict[str, list[tuple[float, Figure]]] = {}
    for one in figures:
        named = re.fullmatch(r"(.*?)(\d+)(\D*: against .*)", one.name)
        if named is not None:
            lines.setdefault(f"{named[1]}…{named[3]}", []).append((float(named[2]), one))
    picture = Picture(figsize=(8, 5), layout="constrained")
    axes = picture.subplots()
    for label, points in lines.items():
        places, of = zip(*sorted(points, key=lambda point: point[0]), strict=True)
        reach = [[one.median - one.lowest for one in of], [one.highest - one.median for one in of]]
        middle = [one.median for one in of]
        axes.errorbar(places, middle, yerr=reach, marker="o", capsize=3, label=label)
    axes.axhline(par, color=REFERENCE, linewidth=1, linestyle="--", label="par")
    axes.set(xscale="log", ylim=(0, 103), ylabel="wins, % (bars: 95 %)")
    axes.legend(frameon=False)
    save(picture, path)


if __name__ == "__main__":
    sys.exit(main())
