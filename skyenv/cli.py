"""The command line: ``python -m skyenv record | verify | show | film | play | export | evaluate |
tournament | dataset``.

Exit codes: 0 all right, 1 the data or a file is bad, 2 the command or an agent is, 130 interrupted.
Whatever is wrong is told in one line on stderr.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Final

from skyenv import __version__
from skyenv.agents import (
    Agent,
    Evaluation,
    ReportingAgent,
    agents_help,
    decide_game,
    evaluation_of,
    make_agent,
)
from skyenv.arena.commands import (
    EvaluateOptions,
    TournamentOptions,
    earlier,
    evaluate_agent,
    play_tournament,
)
from skyenv.commands import Parser, exit_code
from skyenv.dataset.commands import DatasetOptions, write_dataset
from skyenv.engine.game import Game
from skyenv.errors import OptionError
from skyenv.files import check_writable, write_atomically, writing
from skyenv.options import Options, argument, common, option, parse
from skyenv.page import commands as page
from skyenv.progress import progress
from skyenv.records import nth_game, verify
from skyenv.records.format import MAX_INT32
from skyenv.records.reader import named
from skyenv.render.colours import THEMES
from skyenv.render.extras import PIXELS, check_installed
from skyenv.render.film import film
from skyenv.render.raster import HIGHEST_FPS, LARGEST, animation, png
from skyenv.render.svg import svg
from skyenv.render.text import text
from skyenv.render.words import seat_name
from skyenv.rules.board import as_board
from skyenv.rules.components import MAX_PLAYERS
from skyenv.seeds import HIGHEST_SEED, fresh_seed
from skyenv.tables import counted

WHOSE: Final = "show what this seat may know, from 0 on (default: all hands)"


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
    words = sys.argv[1:] if arguments is None else list(arguments)
    words = words or ["--help"]
    parser = Parser("skyenv", "Record, verify, show, film and play games; measure agents.")
    parser.add_argument("--version", action="version", version=f"skyenv {__version__}")
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, dest="command", parser_class=argparse.ArgumentParser
    )
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=command.what, add_help=False)
    name = parser.parse_args(words[:1]).command
    command = COMMANDS[name]
    about = f"{command.what[0].upper()}{command.what[1:]}."

    def run() -> int:
        return (
            command.run(parse(command.options, f"skyenv {name}", about, words[1:], command.earlier))
            or 0
        )

    return exit_code(name, run)


# ---- record ----


@dataclass(frozen=True)
class RecordOptions(Options):
    """What ``record`` takes."""

    output: Path = option(MISSING, "the file to write", short="-o", metavar="FILE")
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
                game.play(decide_game(game, made[names[game.seat]]), note_legal=options.legal)
            stream.write(game.to_record(names).encode())
            bar.update(1)


# ---- verify ----


@dataclass(frozen=True)
class VerifyOptions(Options):
    """What ``verify`` takes."""

    file: Path = argument("the record", metavar="FILE")


def _verify(options: VerifyOptions) -> None:
    """Replay every game of a record and report the first line that differs from the rules."""
    with progress() as bar, named(options.file):
        summary = verify(options.file, lambda done: bar.update(done.games - bar.n))
    print(
        f"{options.file}: {counted(summary.games, 'game')}, {counted(summary.actions, 'action')}, "
        "no mistake"
    )


# ---- show ----


@dataclass(frozen=True)
class ShowOptions(Options):
    """What ``show`` takes."""

    file: Path = argument("the record", metavar="FILE")
    game: int = option(1, "which game", low=1, high=MAX_INT32, metavar="N")
    step: int | None = option(
        None, "after N actions (default: all there are)", high=MAX_INT32, metavar="N"
    )
    seat: int | None = option(None, WHOSE, high=MAX_PLAYERS - 1, metavar="S")
    svg: Path | None = option(None, "draw it to this file", metavar="FILE")
    png: Path | None = option(
        None, "draw it to this file (needs the extra [pictures])", metavar="FILE"
    )
    theme: str = option("light", "colours of the drawing", choices=tuple(THEMES))
    width: int = option(
        1200,
        "pixels of the drawing's width; below 700 it stands upright",
        low=1,
        high=LARGEST,
        metavar="PIXELS",
    )
    evaluation: str | None = option(
        None,
        "draw what this agent would do, and how sure it is (with --seat only that of the seat to "
        "act)",
        metavar="AGENT",
    )


def _show(options: ShowOptions) -> None:
    """Print a position of a record as text, or draw it to files."""
    with named(options.file):
        lines = nth_game(options.file, options.game)
        game = Game.replay(lines, options.step)
    if options.svg is not None or options.png is not None:
        _draw(options, game, lines.header.value["agents"])
        return
    picture = text(game.state, options.seat)
    actions = [event for event in game.events if event["event"] == "action"]
    last = f": {seat_name(actions[-1]['seat'])}, {actions[-1]['name']}" if actions else ""
    print(f"{options.file}, game {options.game}, after {counted(len(actions), 'action')}{last}\n")
    print(picture)


def _draw(options: ShowOptions, game: Game, names: Sequence[str] | None) -> None:
    """Write pictures of a position."""
    if options.png is not None:
        check_installed(*PIXELS)
    check_writable(*(path for path in (options.svg, options.png) if path is not None))
    drawn = svg(
        game.state,
        options.seat,
        theme=options.theme,
        events=game.events,
        evaluation=_evaluation(options.evaluation, game),
        agents=names,
        width=options.width,
    )
    if options.svg is not None:
        write_atomically(options.svg, drawn)
    if options.png is not None:
        write_atomically(options.png, png(drawn))


def _evaluation(name: str | None, game: Game) -> Evaluation | None:
    """What the agent of that name holds of the decision."""
    if name is None:
        return None
    if game.is_over:
        raise OptionError("--evaluation: the game is over, so there is nothing to decide")
    agent = ReportingAgent(make_agent(name))
    evaluation = evaluation_of(game, agent)
    if evaluation is None:
        raise OptionError(
            f"--evaluation: {agent.name} evaluates nothing; searches and checkpoints do"
        )
    return evaluation


# ---- film ----


@dataclass(frozen=True)
class FilmOptions(Options):
    """What ``film`` takes."""

    file: Path = argument("the record", metavar="FILE")
    output: Path = option(MISSING, "the file to write, .gif or .mp4", short="-o", metavar="FILE")
    game: int = option(1, "which game", low=1, high=MAX_INT32, metavar="N")
    first: int = option(0, "begin after N actions", short="--from", high=MAX_INT32, metavar="N")
    last: int | None = option(
        None,
        "end after N actions (default: all there are)",
        short="--to",
        high=MAX_INT32,
        metavar="N",
    )
    every: int = option(1, "a picture after every N actions", low=1, high=MAX_INT32, metavar="N")
    seat: int | None = option(None, WHOSE, high=MAX_PLAYERS - 1, metavar="S")
    theme: str = option("light", "colours", choices=tuple(THEMES))
    width: int = option(1200, "pixels of the film's width", low=16, high=LARGEST, metavar="PIXELS")
    fps: float = option(2.0, "pictures a second", high=HIGHEST_FPS, above=True, metavar="F")


def _film(options: FilmOptions) -> None:
    """Make a film of a recorded game, a picture after every action (needs the extra [pictures])."""
    with named(options.file):
        pictures = film(
            nth_game(options.file, options.game),
            options.seat,
            theme=options.theme,
            first=options.first,
            last=options.last,
            every=options.every,
        )
        with progress(unit="picture", iterable=pictures) as bar:
            number = animation(bar, options.output, fps=options.fps, width=options.width)
    print(f"{options.output}: {counted(number, 'picture')}")


# ---- all of them ----


@dataclass(frozen=True)
class Command:
    """A command: what it does, what it takes, what runs it and may return an exit code, and
    `earlier` of :func:`parse`.
    """

    what: str
    options: type[Options]
    run: Callable[[Any], int | None]
    earlier: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


COMMANDS: Final = {
    "record": Command("play games and write their record", RecordOptions, _record),
    "verify": Command(
        "replay every game of a record and tell the first line against the rules",
        VerifyOptions,
        _verify,
    ),
    "show": Command("print a position of a record, or draw it", ShowOptions, _show),
    "film": Command(
        "make a film of a recorded game, a picture for every action", FilmOptions, _film
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
        EvaluateOptions,
        evaluate_agent,
    ),
    "tournament": Command(
        "let agents play each other and rate them; or rate one against a ladder",
        TournamentOptions,
        play_tournament,
        earlier,
    ),
    "dataset": Command(
        "write games as Parquet files and as a Minari dataset", DatasetOptions, write_dataset
    ),
}
