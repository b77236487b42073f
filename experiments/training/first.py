"""The first success: ``python -m experiments.training.first``, or ``make first``.

An agent learns to bid from nothing, by self-play in eight openings of the task duel-3, and its
exact exploitability falls on the screen: NashConv, what best responses gain against it. The folder
gets ``model.npz``, the agent, and ``exploitability.png``.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from tqdm import tqdm

from experiments.figures import check_plots, save
from experiments.training.config import FOR_TASKS, Config
from experiments.training.run import MODEL
from experiments.training.train import Training
from skyenv.agents import Agent, make_agent
from skyenv.console.options import Help, Options, common, option, program
from skyenv.console.progress import progress
from skyenv.engine.openings import measured
from skyenv.files import write_atomically
from skyenv.solving.best_response import Evaluator
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening
from skyenv_agents.learned.networks import NetworkAgent

TASK: Final = "duel-3/0-7"
# Decisions until the next line, as a multiple of those so far; at least so many.
NEXT: Final = 1.5
FIRST: Final = 2000


@dataclass(frozen=True)
class FirstOptions(Options):
    """Options of the first training."""

    run: str = option("runs/bidding", "folder of the agent", metavar="FOLDER")
    decisions: int = option(300_000, "decisions to learn from", low=FIRST)
    seed: int = common("seed", high=2**32 - 1)


def config_of(options: FirstOptions) -> Config:
    """Return the trainer's options: those with which it learned best in the comparison of
    algorithms (docs/results/benchmark.md).
    """
    return Config(
        run=options.run,
        task=TASK,
        seed=options.seed,
        decisions=options.decisions,
        opponent_share=0.0,
        entropy=0.3,
        final_entropy=0.03,
        mean_kl=0.1,
        **FOR_TASKS,
    )


def exploitability(agent: Agent, openings: Sequence[Opening]) -> float:
    """Return the mean NashConv of an agent that reports its probabilities, in VP."""
    policies = [policy_of(agent, opening).policy for opening in openings]
    trees = [Evaluator(opening.tree) for opening in openings]
    return float(np.mean([*map(Evaluator.nash_conv, trees, policies)]))


def learn(options: FirstOptions) -> None:
    """Train the agent, with a line now and then, and draw the picture."""
    check_plots()
    folder = Path(options.run)
    folder.mkdir(parents=True, exist_ok=True)
    openings = [Opening(name) for name in measured(TASK, 8)]
    random = exploitability(make_agent("random"), openings)
    print(
        f"Two players bid for a district, 3 cards each. Best responses to random play win\n"
        f"{random:.2f} VP a game; to an equilibrium, 0. What can be won against a learner:"
    )
    training, curve = Training(config_of(options)), [(1.0, random)]
    training.begin()
    with progress(options.decisions, desc="learning ") as bar:
        try:
            while not training.finished():
                training.update()
                bar.update(min(training.decisions, options.decisions) - bar.n)
                if training.finished() or training.decisions >= max(FIRST, NEXT * curve[-1][0]):
                    found = exploitability(NetworkAgent(training.frozen()), openings)
                    curve.append((training.decisions, found))
                    tqdm.write(f"{training.decisions:>9,} decisions: {found:6.3f} VP")
        finally:
            training.end()
            write_atomically(folder / MODEL, training.model())
            if len(curve) > 1:  # not interrupted before
                draw(curve, folder / "exploitability.png")
    best = curve[-1][1]
    print(
        f"random {random:.2f} VP → your agent {best:.3f} → equilibrium 0\n"
        f"{folder / MODEL} is the agent, {folder / 'exploitability.png'} the picture."
    )


def draw(curve: Sequence[tuple[float, float]], path: Path) -> None:
    """Draw exploitability by decisions."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(7, 4), layout="constrained")
    axes = picture.subplots()
    axes.plot(*zip(*curve[1:], strict=True), marker="o", label="learner")
    axes.axhline(curve[0][1], color="gray", linestyle="--", label="random play")
    axes.set(xscale="log", yscale="log", xlabel="decisions", ylabel="NashConv, VP", title=TASK)
    axes.legend(frameon=False)
    save(picture, path)


main = program(
    FirstOptions,
    "experiments.training.first",
    Help(
        "learn to bid from nothing, and see exploitability fall",
        "--decisions 1000000 --run runs/longer",
        "docs/start.md#4-train-an-agent",
    ),
    learn,
)

if __name__ == "__main__":
    sys.exit(main())
