"""The commands ``python -m skyenv evaluate`` and ``python -m skyenv tournament``.

**Secret.** Both commands generate a secret. Together with the seed it decides the deals and the
agents' random numbers, so no agent can infer the cards from the seed. The report prints it and a
tournament's folder stores it. ``--secret`` repeats the games bit for bit, except for agents with a
time budget.

``python -m skyenv evaluate AGENT --against random greedy`` lets an agent play against others, every
paired seed once from each seat (:mod:`skyenv.arena.evaluate`). Ctrl-C stops the games and reports
the finished paired seeds, marked as interrupted.

``python -m skyenv tournament random bidder greedy --players 2 --paired-seeds 500`` makes a ladder.
:mod:`skyenv.arena.schedule` defines the pairings, :mod:`skyenv.arena.tournament` the folder.
``--out FOLDER`` stores the games and ladder.json; the same command resumes there. Only paired seeds
with all their games count.

``--add NEWCOMER`` rates an agent against a shipped or given ladder
(:func:`skyenv.arena.ratings.rate`), by pairs and mixed tables that include the newcomer.

Exit codes: 0 success, 1 invalid file, 2 invalid command or agent, 130 interrupted (after the
report).
"""

import math
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from skyenv.agents import agents_help, running_code
from skyenv.arena import ladder
from skyenv.arena.evaluate import (
    Result,
    as_csv,
    as_json,
    as_latex,
    evaluate,
    table,
)
from skyenv.arena.ratings import rate
from skyenv.arena.schedule import MAX_PAIRED_SEEDS, Entrant, Settings, entrants, with_newcomer
from skyenv.arena.tournament import Folder, play, secret_of
from skyenv.console.options import (
    Options,
    argument,
    command_line,
    common,
    option,
    resumable,
)
from skyenv.console.tables import folded
from skyenv.engine.openings import OF_AUCTIONS, TASKS, WHOLE_GAMES
from skyenv.engine.options import GameOptions
from skyenv.errors import OptionError, shown
from skyenv.files import check_writable, write_atomically
from skyenv.seeds import HIGHEST_SEED, fresh_seed

NOTHING_WHOLE: Final = " before the first paired seed was finished"
DEFAULT_PAIRED_SEEDS: Final = 200
WON_OR_LOST: Final = (*(name for name in TASKS if name not in OF_AUCTIONS), *WHOLE_GAMES)


def _again(command: str, options: Options, **played: int | None) -> str:
    """Return the command that repeats the games without output files."""
    unsaid = dict.fromkeys(("json", "csv", "latex", "minutes", "workers", "ray", "out"))
    return command_line(type(options), f"skyenv {command}", {**vars(options), **unsaid, **played})


# ---- evaluate ----


@dataclass(frozen=True)
class EvaluateOptions(Options):
    """Options of ``evaluate``."""

    agent: str = argument(f"agent to measure: {agents_help()}", metavar="AGENT")
    against: tuple[str, ...] = common("against")
    players: tuple[int, ...] = common(
        "players", default=(2,), text="number of players, or several, such as 2,3,4"
    )
    side: str = common("side")
    task: str | None = option(
        None, "task of docs/benchmark.md with wins and losses", choices=WON_OR_LOST
    )
    paired_seeds: int = common("paired_seeds")
    seed: int = common("seed", text="the first paired seed", high=HIGHEST_SEED - 10**7)
    secret: int | None = common("secret")
    max_turns: int = common("max_turns")
    deterministic: bool = option(False, "checkpoints take the argmax instead of sampling")
    workers: int | None = common(
        "workers",
        default=None,
        text="worker processes; 0: one per core (default: none; with --ray all cores)",
    )
    ray: str | None = common("ray")
    json: Path | None = common("json")
    csv: Path | None = common("json", text="write the figures as CSV to this file")
    latex: Path | None = common("json", text="write the table as LaTeX to this file")


def evaluate_agent(options: EvaluateOptions) -> None:
    """Run ``evaluate``."""
    outputs = [(options.json, as_json), (options.csv, as_csv), (options.latex, as_latex)]
    files = [(path, as_text) for path, as_text in outputs if path is not None]
    check_writable(*(path for path, _ in files))
    secret = fresh_seed() if options.secret is None else options.secret
    results = list[Result]()
    whole = True
    for players in options.players:
        found = evaluate(
            options.agent,
            options.against,
            paired_seeds=options.paired_seeds,
            seed=options.seed,
            options=GameOptions(
                players, options.side, max_turns=options.max_turns, task=options.task
            ),
            secret=secret,
            deterministic=options.deterministic,
            workers=options.workers,
            ray=options.ray,
            progress=True,
            pooled=True,
        )
        results += found
        whole = bool(found) and not found[-1].interrupted
        if not whole:
            break
    if results:
        for path, as_text in files:  # first: the terminal may be gone
            write_atomically(path, as_text(results))
        print(table(results))
        print(f"\nThe same games again:\n{folded(_again('evaluate', options, secret=secret))}")
    if not whole:
        raise KeyboardInterrupt("" if results else NOTHING_WHOLE)


# ---- tournament ----


@dataclass(frozen=True)
class TournamentOptions(Options):
    """Options of ``tournament``."""

    agents: tuple[str, ...] = argument(f"two or more: {agents_help()}", default=(), metavar="AGENT")
    add: str | None = option(
        None,
        "rate this agent against a ladder instead of AGENTs against each other",
        metavar="AGENT",
    )
    players: int = common("players")
    side: str = common("side")
    max_turns: int = common("max_turns")
    seed: int = common("seed", text="the first paired seed", high=HIGHEST_SEED - MAX_PAIRED_SEEDS)
    secret: int | None = common("secret")
    paired_seeds: int | None = common(
        "paired_seeds",
        default=None,
        text=f"paired seeds (default: {DEFAULT_PAIRED_SEEDS})",
        high=MAX_PAIRED_SEEDS,
    )
    minutes: float = common(
        "minutes", text="minutes after which no paired seed starts; 0: no limit"
    )
    workers: int = common("workers")
    ray: str | None = common("ray")
    out: Path | None = option(
        None,
        "folder for games and ladder; the same command resumes there",
        metavar="FOLDER",
    )
    ladder: Path | None = option(
        None,
        "ladder for --add (default: the shipped one); its agents that are modules or checkpoints "
        "must be named as AGENTs",
        metavar="FILE",
    )


def play_tournament(options: TournamentOptions) -> None:
    """Run ``tournament``."""
    if options.add is None and options.ladder is not None:
        raise OptionError("--ladder requires --add")
    rated = None if options.add is None else _ladder_for(options)
    agents = (
        entrants(options.agents, options.players, options.side)
        if rated is None
        else _with_ladder(options, rated)
    )
    with ExitStack() as held:
        kept = options.out or Path(held.enter_context(TemporaryDirectory(prefix="skyenv-")))
        settings = Settings(
            agents,
            options.players,
            options.side,
            options.seed,
            options.max_turns,
            secret_of(options.secret, kept),
            newcomer=rated is not None,
        )
        folder = held.enter_context(Folder(kept, settings))
        held.enter_context(resumable(options.out))
        limit = options.paired_seeds or (None if options.minutes else DEFAULT_PAIRED_SEEDS)
        interrupted = play(
            folder,
            paired_seeds=limit,
            minutes=options.minutes or math.inf,
            workers=options.workers,
            ray=options.ray,
            progress=True,
        )
        whole = folder.whole_paired_seeds()
        if whole:
            _report(folder, options, rated)
        if interrupted:
            raise KeyboardInterrupt("" if whole else NOTHING_WHOLE)


def _report(folder: Folder, options: TournamentOptions, rated: ladder.Ladder | None) -> None:
    """Print the ladder, or the newcomer's place on it; write it to the folder, if any."""
    settings = folder.settings
    points = None
    if rated is not None:
        points = np.array(
            [[agent["rating"]["mean"] for agent in rated["agents"]], *rated["samples"]]
        )
    ratings = rate(
        folder.results(),
        [agent.name for agent in settings.agents],
        settings.seed,
        ladder=points,
        apart=settings.apart,
    )
    again = _again("tournament", options, secret=settings.secret, paired_seeds=ratings.paired_seeds)
    if rated is None:
        name = "ladder.json"
        content = ladder.as_dict(ratings, settings, again)
        text = ladder.table(content)
    else:
        name = "newcomer.json"
        content = ladder.newcomer_as_dict(ratings, settings, rated, again)
        text = ladder.newcomer_table(content)
    if options.out is not None:  # first: the terminal may be gone
        write_atomically(options.out / name, ladder.as_json(content))
    print(text)


def _ladder_for(options: TournamentOptions) -> ladder.Ladder:
    """Return the ladder for a newcomer; its players, side and max_turns must match.

    Its modules and checkpoints can run code, so they load only if the command names them.
    """
    path = options.ladder or ladder.path_of(options.players, options.side)
    wanted = {name: getattr(options, name) for name in ("players", "side", "max_turns")}
    rated = ladder.read(path, **wanted)
    specs = (rung["spec"] for rung in rated["agents"])
    code = running_code(specs, path) - {options.add}
    if code != set(options.agents):
        raise OptionError(
            "with --add, AGENTs must be exactly the ladder's modules and checkpoints, "
            f"{shown(sorted(code), 200)}, which load only if the command names them"
        )
    return rated


def _with_ladder(options: TournamentOptions, rated: ladder.Ladder) -> tuple[Entrant, ...]:
    """Return the newcomer and the ladder's agents."""
    specs = [rung["spec"] for rung in rated["agents"]]
    agents = with_newcomer(options.add or "", specs, options.players, options.side)
    for rung, old in zip(agents[1:], rated["agents"], strict=True):
        if (rung.version, rung.digest) != (old["version"], old["digest"]):
            file = " (different file)" if rung.digest != old["digest"] else ""
            print(
                f"tournament: warning: {rung.name} is version {rung.version} here, but "
                f"{old['version']} in the ladder{file}: its rating may differ from its strength "
                "here",
                file=sys.stderr,
            )
    return agents
