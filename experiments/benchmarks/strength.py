"""The strength of a list of agents: ``python -m experiments.benchmarks.strength
runs/first/milestones/*.npz --against greedy``.

Every agent (a name, such as ismcts-100, or a checkpoint, such as a run's milestones) plays the same
paired seeds against the same opponents, each once from every seat.

Figures are the wins against each opponent, with 95 % intervals by the bootstrap over paired seeds,
and the milliseconds of a decision, the mean of a game between greedy players. After each agent
FOLDER/strength.json has them, and FOLDER/strength.png draws the wins over the last number in the
agents' names (simulations, or seconds of training).

Exit codes: 0 success, 1 invalid file, 2 invalid command or agent, 130 interrupted.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.figures import (
    Figure,
    check_plots,
    draw_lines,
    figure,
    percent,
    save,
    seconds,
    shown,
    write,
)
from skyenv.agents import decide_game, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.console.options import Help, Options, argument, common, option, program
from skyenv.engine.game import Game
from skyenv.render.colours import REFERENCE
from skyenv.seeds import fresh_seed


@dataclass(frozen=True)
class StrengthOptions(Options):
    """Options of the command line."""

    agents: tuple[str, ...] = argument("the agents to measure", metavar="AGENT")
    against: tuple[str, ...] = common("against", default=("greedy",))
    players: int = common("players")
    side: str = common("side")
    paired_seeds: int = common("paired_seeds", default=200)
    secret: int | None = common("secret")
    workers: int = common("workers")
    ray: str | None = common("ray")
    out: Path = option(Path("runs/strength"), "folder of the figures", metavar="FOLDER")


def _run(options: StrengthOptions) -> None:
    check_plots()
    secret = fresh_seed() if options.secret is None else options.secret
    method = f"{options.players} players, {options.side} side, --secret {secret}; 95 % intervals."
    figures: list[Figure] = []
    for spec in options.agents:
        results = evaluate(
            spec,
            options.against,
            options.players,
            options.side,
            options.paired_seeds,
            secret=secret,
            workers=options.workers,
            ray=options.ray,
            progress=True,
        )
        if len(results) < len(options.against) or any(one.interrupted for one in results):
            raise KeyboardInterrupt
        found = [percent(f"{spec}: against {one.opponent}", one.share) for one in results]
        pace = decision_milliseconds(spec, options.players, options.side)
        found.append(figure(f"{spec}: a decision", "ms", [pace]))
        for one in found:
            print(shown(one), flush=True)
        figures += found
        write(options.out / "strength.json", method, figures)
        draw(figures, 100 / options.players, options.out / "strength.png")


def decision_milliseconds(spec: str, players: int, side: str) -> float:
    """Return the mean time of a decision in a game between greedy players."""
    game, greedy, agent = Game(players, side, seed=1), make_agent("greedy"), make_agent(spec)
    decide_game(game, agent)  # compiles
    spent: list[float] = []
    while not game.is_over:
        spent.append(seconds(lambda: decide_game(game, agent)))
        game.play(decide_game(game, greedy))
    return 1000 * sum(spent) / len(spent)


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
    draw_lines(axes, lines)
    axes.axhline(par, color=REFERENCE, linewidth=1, linestyle="--", label="par")
    axes.set(xscale="log", ylim=(0, 103), ylabel="wins, % (bars: 95 %)")
    axes.legend(frameon=False)
    save(picture, path)


main = program(
    StrengthOptions,
    "experiments.benchmarks.strength",
    Help(
        "measure a list of agents",
        "bidder appraiser --against greedy --paired-seeds 200",
        "docs/agents.md#how-strong-they-are",
    ),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
