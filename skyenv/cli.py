"""The command line, ``python -m skyenv COMMAND``: :data:`COMMANDS`.

Exit codes: 0 success, 1 bad data or an unusable file, 2 a wrong command or agent, 130 interrupted.
Errors are one line on stderr.
"""

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Final

from skyenv import __version__
from skyenv.agents import Agent, ReportingAgent, agents_help, decide_game, make_agent
from skyenv.analysis import commands as analysis
from skyenv.arena import benchmark
from skyenv.arena import commands as arena
from skyenv.checks import meant_name
from skyenv.console.options import (
    BAD_COMMAND,
    Help,
    Options,
    Parser,
    argument,
    common,
    complain,
    exit_code,
    option,
    run_program,
)
from skyenv.console.progress import progress
from skyenv.console.tables import counted
from skyenv.dataset import commands as dataset
from skyenv.engine.game import Game
from skyenv.errors import OptionError, shown
from skyenv.files import writing
from skyenv.page import commands as page
from skyenv.records import verify
from skyenv.records.format import MAX_INT32
from skyenv.records.reader import named
from skyenv.render import commands as render
from skyenv.rules.board import as_board
from skyenv.rules.compiling import COMPILED
from skyenv.rules.variant import of_variant
from skyenv.seeds import HIGHEST_SEED, fresh_seed
from skyenv.solving import commands as solving


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the command line without the program's name; None: this process's. An empty list
            prints the commands.

    Returns:
        The exit code (see the module's text).
    """
    multiprocessing.freeze_support()  # in frozen programs, workers begin here
    if arguments is None and not sys.flags.safe_path and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # my_module:MyAgent in the working directory
    words = sys.argv[1:] if arguments is None else list(arguments)
    if arguments is None and words[:1] == ["play"] and COMPILED and os.name == "posix":
        # Its server needs no compiled rules: it starts at once, and its workers compile.
        plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], plain)
    return exit_code("skyenv", lambda: _run(words or ["--help"]))


def _run(words: Sequence[str]) -> int:
    """Run the command that the first word names; see :func:`main`."""
    parser = Parser("skyenv", HELP, "COMMAND [options]")
    version = str(of_variant(f"skyenv {__version__}"))
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, dest="command", parser_class=argparse.ArgumentParser
    )
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=command.about.what, add_help=False)
    if words[0] not in COMMANDS and not words[0].startswith("-"):
        return _refuse(words[0])
    name = parser.parse_args(words[:1]).command
    command = COMMANDS[name]
    return run_program(command.options, f"skyenv {name}", command.about, command.run, words[1:])


def _refuse(word: str) -> int:
    """Say that there is no such command, and what may be meant; return the exit code."""
    trainer = "a clone's trainer is python -m experiments.training.train (docs/training.md)"
    meant = trainer if word == "train" else meant_name(word, list(COMMANDS))
    complain("skyenv", f"there is no command {shown(word)}; {meant}")
    return BAD_COMMAND


# ---- record ----


@dataclass(frozen=True)
class RecordOptions(Options):
    """Options of ``record``."""

    output: Path = option(MISSING, "the file to write", short="-o", metavar="FILE", writes=True)
    players: int = common("players")
    side: str = common("side")
    games: int = option(1, "number of games", low=1, high=MAX_INT32)
    seed: int | None = common("seed", default=None, text="game i has seed S + i (default: random)")
    agents: tuple[str, ...] = option(
        ("random",),
        f"one agent for all seats, or a comma-separated agent per seat: {agents_help()} (default: "
        "random)",
        metavar="AGENTS",
    )
    legal: bool = option(False, "include the legal actions of every decision")
    board: Path | None = option(
        None, "board file (TOML) with other rings (default: the printed board)", metavar="FILE"
    )
    max_turns: int = common("max_turns")


def _record(options: RecordOptions) -> None:
    """Play games and write their record; the file appears once all games are over."""
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
    """Options of ``verify``."""

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


# ---- the table of commands ----


@dataclass(frozen=True)
class Command:
    """A command: what ``--help`` says of it, its options, and the function that runs it."""

    about: Help
    options: type[Options]
    run: Callable[[Any], int | None]


HELP: Final = Help(
    "Record, verify, show, film and play games; measure agents.",
    "evaluate greedy --against random",
    "docs/start.md",
)
COMMANDS: Final = {
    "record": Command(
        Help(
            "play games and write their record",
            "--players 3 --agents greedy --seed 1 -o games.jsonl",
            "docs/environments.md#records",
        ),
        RecordOptions,
        _record,
    ),
    "verify": Command(
        Help(
            "replay every game of a record and report the first line that breaks the rules",
            "games.jsonl",
            "docs/environments.md#records",
        ),
        VerifyOptions,
        _verify,
    ),
    "show": Command(
        Help(
            "print or draw a position of a record",
            "games.jsonl --step 60 --svg position.svg",
            "docs/page.md#pictures-from-code",
        ),
        render.ShowOptions,
        render.show,
    ),
    "film": Command(
        Help(
            "make a film of a recorded game, one frame per action",
            "games.jsonl --from 40 --to 80 --width 900 -o film.gif",
            "docs/page.md#pictures-from-code",
        ),
        render.FilmOptions,
        render.make_film,
    ),
    "play": Command(
        Help(
            "play and watch games in a browser, on a local web page",
            "--agents runs/first --port 9000",
            "docs/page.md",
        ),
        page.PlayOptions,
        page.play,
    ),
    "export": Command(
        Help(
            "export a recorded game as an HTML page that replays it",
            "games.jsonl --game 2 -o game.html",
            "docs/page.md#replays-and-analysis",
        ),
        page.ExportOptions,
        page.export,
    ),
    "analyse": Command(
        Help(
            "list the mistakes of a recorded game by what they cost",
            "games.jsonl --agent greedy",
            "docs/page.md#analyses-from-python",
        ),
        analysis.AnalyseOptions,
        analysis.analyse,
    ),
    "evaluate": Command(
        Help(
            "evaluate an agent against opponents, each deal once from every seat",
            "my_module:MyAgent --against random greedy --players 2,3 --csv results.csv",
            "docs/your_agent.md#measure-it",
        ),
        arena.EvaluateOptions,
        arena.evaluate_agent,
    ),
    "tournament": Command(
        Help(
            "rate agents in a tournament, or one agent against a ladder",
            "--add my_module:MyAgent --players 2 --minutes 2",
            "docs/your_agent.md#rate-it-on-the-ladder",
        ),
        arena.TournamentOptions,
        arena.play_tournament,
    ),
    "exploitability": Command(
        Help(
            "compute the NashConv of agents in a bidding task",
            "greedy --task duel-4 --openings 4",
            "docs/benchmark.md#exploitability",
        ),
        solving.ExploitabilityOptions,
        solving.measure_exploitability,
    ),
    "solve": Command(
        Help(
            "solve a bidding task for an equilibrium",
            "--task duel-4 --openings 4 --out runs/solved",
            "docs/benchmark.md#equilibria",
        ),
        solving.SolveOptions,
        solving.solve_task,
    ),
    "benchmark": Command(
        Help(
            "run the benchmark protocol: exact tasks, a fixed panel, exploiters",
            "my_module:MyAgent --budget 1M --out runs/bench --json bench.json",
            "docs/benchmark.md#protocol",
        ),
        benchmark.BenchmarkOptions,
        benchmark.run_benchmark,
    ),
    "dataset": Command(
        Help(
            "generate a dataset of games: Parquet files and Minari",
            "greedy appraiser --players 2 --games 1000 -o runs/games",
            "docs/dataset.md",
        ),
        dataset.DatasetOptions,
        dataset.write_dataset,
    ),
}
