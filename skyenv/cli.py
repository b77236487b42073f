"""The command line: ``python -m skyenv record | verify | show | film | play | export | evaluate |
tournament | exploitability | benchmark | dataset``.

Exit codes: 0 all right, 1 the data or a file is bad, 2 the command or an agent is, 130 interrupted.
Whatever is wrong is told in one line on stderr.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from skyenv import __version__
from skyenv.agents import Agent, ReportingAgent, agents_help, decide_game, make_agent
from skyenv.arena import commands as arena
from skyenv.dataset import commands as dataset
from skyenv.engine.game import Game
from skyenv.errors import OptionError
from skyenv.files import writing
from skyenv.options import Options, Parser, argument, common, exit_code, option, parse
from skyenv.page import commands as page
from skyenv.progress import progress
from skyenv.records import verify
from skyenv.records.format import MAX_INT32
from skyenv.records.reader import named
from skyenv.render import commands as render
from skyenv.rules.board import as_board
from skyenv.rules.variant import of_variant
from skyenv.seeds import HIGHEST_SEED, fresh_seed
from skyenv.tables import counted
from skyenv.tasks import benchmark
from skyenv.tasks import commands as tasks


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None: those of this process. None at all list the
            commands.

    Returns:
        The exit code (see the module's text).
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="replace"
        )  # for names of files that are no text, and terminals that lack frames
    if arguments is None and not sys.flags.safe_path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # for my_module:MyAgent, as python -m skyenv finds it
    words = sys.argv[1:] if arguments is None else list(arguments)
    words = words or ["--help"]
    parser = Parser("skyenv", "Record, verify, show, film and play games; measure agents.")
    version = str(of_variant(f"skyenv {__version__}"))
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, dest="command", parser_class=argparse.ArgumentParser
    )
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=command.what, add_help=False)
    name = parser.parse_args(words[:1]).command
    command = COMMANDS[name]
    about = f"{command.what[0].upper()}{command.what[1:]}."
    read = partial(parse, command.options, f"skyenv {name}", about, words[1:])
    return exit_code(name, lambda: command.run(read()))


# ---- record ----


@dataclass(frozen=True)
class RecordOptions(Options):
    """What ``record`` takes."""

    output: Path = option(MISSING, "the file to write", short="-o", metavar="FILE", writes=True)
    players: int = common("players")
    side: str = common("side")
    games: int = option(1, "how many games", low=1, high=MAX_INT32, metavar="N")
    seed: int | None = common(
        "seed", default=None, text="game i has seed S + i (default: a random one)"
    )
    agents: tuple[str, ...] = option(
        ("random",),
        f"one for all seats, or one for each with commas between: {agents_help()} (default: "
        "random)",
        metavar="AGENTS",
    )
    legal: bool = option(False, "write the legal actions with every action")
    board: Path | None = option(
        None, "a board file (TOML) with other rings (default: the printed board)", metavar="FILE"
    )
    max_turns: int = common("max_turns")


def _record(options: RecordOptions) -> None:
    """Play games and write their record. The file appears once all games are played."""
    board = as_board(options.board, options.side)
    names = list(options.agents)
    if len(names) not in (1, options.players):
        raise OptionError(
            f"agents names {len(names)}; it must be one, or one for each of the {options.players} "
            "seats"
        )
    made: dict[str, Agent] = {name: ReportingAgent(make_agent(name)) for name in names}
    names *= options.players // len(names)
    first_seed = fresh_seed() if options.seed is None else options.seed
    with writing(options.output) as stream, progress(options.games) as bar:
        for i in range(options.games):
            seed = (first_seed + i) % (HIGHEST_SEED + 1)
            game = Game(
                options.players, options.side, seed, board=board, max_turns=options.max_turns
            )
            while game.seat is not None:
                legal = game.legal_actions
                events = game.play(decide_game(game, made[names[game.seat]]))
                if options.legal:
                    events[0]["legal"] = legal
            stream.write(game.to_record(names).encode())
            bar.update(1)


# ---- verify ----


@dataclass(frozen=True)
class VerifyOptions(Options):
    """What ``verify`` takes."""

    file: Path = argument("the record", metavar="FILE")


def _verify(options: VerifyOptions) -> None:
    """Replay every game of a record and report the first line that differs from the rules."""
    if options.file.is_fifo() and not options.file.is_symlink():  # /dev/stdin is a link
        waits = f"{options.file} is a pipe; waiting for a program that writes to it"
        print(f"verify: {waits}", file=sys.stderr)
    with progress() as bar, named(options.file):
        summary = verify(options.file, lambda done: bar.update(done.games - bar.n))
    print(
        f"{options.file}: {counted(summary.games, 'game')}, {counted(summary.actions, 'action')}, "
        "no mistake"
    )


# ---- all of them ----


@dataclass(frozen=True)
class Command:
    """A command: what it does, what it takes, what runs it and may return an exit code."""

    what: str
    options: type[Options]
    run: Callable[[Any], int | None]


COMMANDS: Final = {
    "record": Command("play games and write their record", RecordOptions, _record),
    "verify": Command(
        "replay every game of a record and tell the first line against the rules",
        VerifyOptions,
        _verify,
    ),
    "show": Command("print a position of a record, or draw it", render.ShowOptions, render.show),
    "film": Command(
        "make a film of a recorded game, a picture for every action",
        render.FilmOptions,
        render.make_film,
    ),
    "play": Command(
        "play and watch games in a browser, on a page of this machine", page.PlayOptions, page.play
    ),
    "export": Command(
        "write a game of a record as one page that replays it in any browser",
        page.ExportOptions,
        page.export,
    ),
    "evaluate": Command(
        "let an agent play against others, every paired seed once from each seat",
        arena.EvaluateOptions,
        arena.evaluate_agent,
    ),
    "tournament": Command(
        "let agents play each other and rate them; or rate one against a ladder",
        arena.TournamentOptions,
        arena.play_tournament,
    ),
    "exploitability": Command(
        "solve for what a best response wins against an agent in a bidding task",
        tasks.ExploitabilityOptions,
        tasks.measure_exploitability,
    ),
    "solve": Command("find equilibria of a bidding task", tasks.SolveOptions, tasks.solve_task),
    "benchmark": Command(
        "measure an agent by the protocol that papers name: exact tasks, a fixed panel, exploiters",
        benchmark.BenchmarkOptions,
        benchmark.run_benchmark,
    ),
    "dataset": Command(
        "write games as Parquet files and as a Minari dataset",
        dataset.DatasetOptions,
        dataset.write_dataset,
    ),
}
