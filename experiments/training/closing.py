"""The closing evaluation of a run: wins, a task's losses, and the records of a few games."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from experiments.training.config import Config
from experiments.training.run import MODEL
from skyenv import GameOptions
from skyenv.agents import Agent
from skyenv.arena.evaluate import Result, as_json, evaluate, table
from skyenv.arena.matches import play_game, rotations
from skyenv.console.tables import columns
from skyenv.engine.openings import OF_AUCTIONS, measured, task_name
from skyenv.files import write_atomically, writing
from skyenv.seeds import secret_seeds
from skyenv.solving.best_response import Evaluator
from skyenv.solving.commands import loss_lines, measure
from skyenv.solving.commands import table as table_of_responses
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening
from skyenv_agents.learned.networks import Network, NetworkAgent

# Evaluation of a task: so many held-out openings, and random numbers for every decision.
OPENINGS: Final = 8
SAMPLES: Final = 32
# The trained network, where the run's agent is the one that it began with.
LAST: Final = "last.npz"
LEARNED: Final = "It has learned"
# What the file of the network that a run began with says of itself.
BEGINNING: Final = {"description": "the network with which a training began", "decisions": 0}
# The secret of the evaluation is derived from it and the run's seed.
CLOSING_SEED: Final = 1_000_000


def forget(folder: Path) -> None:
    """Remove the files of an earlier evaluation, as the agent is about to change."""
    for path in [*folder.glob("evaluation*"), *folder.glob("games*.jsonl"), *folder.glob(LAST)]:
        path.unlink()


def close(config: Config) -> str:
    """Measure a run's agent and write tables and a few games; return the table, and whether the
    agent has learned. If it has not, the better one of it and its beginning becomes the run's.

    Raises:
        KeyboardInterrupt: Ctrl-C; nothing is written.
    """
    folder = Path(config.run)
    agent = NetworkAgent(folder / MODEL)
    opponents = config.make_agents("against")
    if task_name(config.task) in OF_AUCTIONS:
        names = measured(config.task, OPENINGS)
        if config.opponent_share == 1.0:  # a best response, to a single opponent
            (target,) = opponents
            rows = [["opening", f"gain against {target.name}, VP", "the most possible, VP"]]
            for name, (gain, most) in zip(names, gains(agent, target, names), strict=True):
                rows.append([name, f"{gain:.3f}", f"{most:.3f}"])
            write_atomically(folder / "evaluation.txt", columns(rows) + "\n")
            return columns(rows)
        losses = [measure(agent, name, SAMPLES) for name in names]
        write_atomically(folder / "evaluation.json", json.dumps(losses, indent=1) + "\n")
        return f"{table_of_responses(losses)}\n{loss_lines(losses)}"
    # Not games of seeds next to the run's own, which are those that it was trained on.
    seed, secret = config.seed, int(secret_seeds(config.seed, [CLOSING_SEED])[0])
    kinds = [replace(config, reward="outcome").game_of(*kind) for kind in config.tables]

    def against(others: Sequence[Agent]) -> list[Result]:
        results: list[Result] = []
        for kind in kinds:
            results += evaluate(
                agent,
                others,
                paired_seeds=config.paired_seeds,
                seed=seed,
                options=kind,
                secret=secret,
                progress=True,
            )
        if len(results) < len(others) * len(kinds) or any(one.interrupted for one in results):
            raise KeyboardInterrupt
        return results

    results = against(opponents)
    for kind in kinds:
        name = "" if len(kinds) == 1 else f"-{kind.num_players}-{kind.side}"
        games = 2 * kind.num_players
        path = folder / f"games{name}.jsonl"
        record_games(path, [agent, *opponents], kind, games, seed, secret)
    write_atomically(folder / "evaluation.txt", table(results) + "\n")
    write_atomically(folder / "evaluation.json", as_json(results))
    found = verdict(results, config)
    if not all(text.startswith(LEARNED) for text in found):
        beginning = config.make_network().frozen(agent.network.about | BEGINNING)
        duels = against([NetworkAgent(beginning, name="beginning")])
        found += keep_better(folder, agent.network, beginning, duels)
    return "\n\n".join([table(results), *found])


def gains(response: Agent, target: Agent, names: Sequence[str]) -> list[tuple[float, float]]:
    """Return what a response gains against an agent in each opening, in VP over all seats and all
    deals, and the most possible gain, the agent's NashConv.
    """
    found = []
    for opening in map(Opening, names):
        evaluator, played = Evaluator(opening.tree), policy_of(target, opening).policy
        gain = evaluator.gain(policy_of(response, opening).policy, played)
        found.append((gain, evaluator.nash_conv(played)))
    return found


def keep_better(
    folder: Path, trained: Network, beginning: Network, results: Sequence[Result]
) -> list[str]:
    """Make the network that a run began with the run's agent, if the trained one has won less than
    an even share against it; return what is to be said.
    """
    share = float(np.mean([one.share.mean / one.par for one in results]))
    if share >= 1.0:
        return []
    write_atomically(folder / LAST, trained.to_bytes())
    write_atomically(folder / MODEL, beginning.to_bytes())
    return [
        f"Against the network that it began with, it won {100 * share:.0f} % of an even share:\n"
        f"{MODEL} is that network, and {LAST} the trained one. Train longer (--resume)."
    ]


def verdict(results: Sequence[Result], config: Config) -> list[str]:
    """Whether an evaluation shows that the agent has become better than the prior with which it
    began, for each kind of table; empty if that was not measured.
    """
    return [
        f"{_finding(one)}: against {one.opponent}, with which it began, it won\n"
        f"{100 * one.share.mean:.1f} % [{100 * one.share.low:.1f}, {100 * one.share.high:.1f}] at "
        f"tables of {one.num_players}, {one.side}; an even share is {100 * one.par:.1f} %."
        for one in results
        if one.opponent == config.prior and not config.start
    ]


def _finding(result: Result) -> str:
    if result.share.low > result.par:
        return LEARNED
    return "It has become weaker" if result.share.high < result.par else "No gain is shown"


def record_games(
    path: str | Path,
    agents: Sequence[Agent],
    options: GameOptions,
    games: int,
    seed: int,
    secret: int | None = None,
) -> None:
    """Write the records of an agent's first games against every opponent, as
    :func:`skyenv.arena.evaluate.evaluate` plays them (one rotation after the other).

    Args:
        path: the file to write.
        agents: the agent, and the opponents.
        options: the kind of game.
        games: how many against each opponent.
        seed, secret: as for :func:`skyenv.arena.evaluate.evaluate`.

    Raises:
        OSError: the file can't be written.
    """
    players = options.num_players
    seating = rotations(players, -(-games // players))[:games]
    with writing(path) as stream:
        for opponent in agents[1:]:
            for i, chairs in enumerate(seating.tolist()):
                seats = [(agents[0], opponent)[chair] for chair in chairs]
                played = play_game(seats, seed + i // players, secret=secret, options=options)
                stream.write(played.to_record([one.name for one in seats]).encode())
