"""The command line: ``python -m skyenv record | verify | show | film | play | export``.

Exit codes: 0 all right, 1 the data or a file is bad, 2 the command is, 130 interrupted. Whatever is wrong is told in one
line on stderr.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NoReturn, Self, TypeVar

from skyenv import __version__, record
from skyenv.agents import BUILT_IN, Agent, decide_game, make_agent, mind_of
from skyenv.errors import AgentError, BoardError, OptionError, RecordError, SkyenvError, shown
from skyenv.game import Game
from skyenv.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, fresh_seed
from skyenv.page.commands import add_export, add_play
from skyenv.render.colours import THEMES
from skyenv.render.film import film
from skyenv.render.raster import HIGHEST_FPS, LARGEST, animation, png
from skyenv.render.svg import Mind, svg
from skyenv.render.text import text
from skyenv.rules.board import as_board
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

BAD_DATA: Final = 1
BAD_COMMAND: Final = 2
INTERRUPTED: Final = 130

_Result = TypeVar("_Result")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None: those of this process.

    Returns:
        The exit code (see the module's text).
    """
    try:
        options = _parser().parse_args(arguments)
        return int(options.run(options) or 0)
    except SkyenvError as error:
        _complain(str(error))
        # A wrong board file is bad data, though a board is an option of the library.
        return BAD_COMMAND if isinstance(error, OptionError) and not isinstance(error, BoardError) else BAD_DATA
    except BrokenPipeError:
        # Whoever read our output has gone. Python would complain once more when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_DATA
    except OSError as error:
        _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return BAD_DATA
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED


def _complain(message: str) -> None:
    print(f"skyenv: error: {message}", file=sys.stderr)


# ---- the commands ----


def _record(options: argparse.Namespace) -> None:
    """Play games and write their record."""
    board = as_board(options.board, options.side)
    names = _agent_names(options.agents, options.players)
    agents = _make_agents(names)
    first_seed = fresh_seed() if options.seed is None else options.seed
    with record.RecordWriter(options.file) as writer, _Progress(options.games) as progress:
        for i in range(options.games):
            seed = (first_seed + i) % (HIGHEST_SEED + 1)
            game = Game(options.players, options.side, seed, board=board, max_turns=options.max_turns)
            _play(game, agents, options.legal)
            writer.write(game, names)
            progress.show(i + 1)


def _agent_names(names: str, players: int) -> list[str]:
    """The names of all seats from one name, or from one for each."""
    split = [name.strip() for name in names.split(",")]
    if len(split) == 1:
        split *= players
    if len(split) != players:
        raise OptionError(f"--agents names {len(split)} agents; it must be one, or one for each of the {players} seats")
    return split


def _make_agents(names: Sequence[str]) -> list[Agent]:
    """The agents of all seats; seats with the same name share one."""
    try:
        agents = {name: make_agent(name) for name in dict.fromkeys(names)}
    except AgentError as error:
        raise OptionError(str(error)) from error
    return [agents[name] for name in names]


def _play(game: Game, agents: Sequence[Agent], legal: bool) -> None:
    """Play a game to its end."""
    play = record.play_with_legal if legal else Game.play
    while game.seat is not None:
        play(game, decide_game(game, agents[game.seat]))


def _verify(options: argparse.Namespace) -> None:
    """Replay every game of a record."""
    with _Progress(None) as progress:
        summary = _about(options.file, lambda: record.verify(options.file, lambda done: progress.show(done.games)))
    print(f"{options.file}: {summary.games} games, {summary.actions} actions, no mistake")


def _show(options: argparse.Namespace) -> None:
    """Print a position of a record, or draw it."""
    game = _about(options.file, lambda: record.load(options.file, options.game, options.step))
    if options.svg is not None or options.png is not None:
        _draw(options, game)
        return
    picture = text(game.state, options.seat)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that lacks the frames still gets a picture
    actions = [event for event in game.events if event["event"] == "action"]
    last = f": seat {actions[-1]['seat']}, {actions[-1]['name']}" if actions else ""
    print(f"{options.file}, game {options.game}, after {len(actions)} actions{last}\n")
    print(picture)


def _draw(options: argparse.Namespace, game: Game) -> None:
    """Write pictures of a position."""
    drawn = svg(
        game.state,
        options.seat,
        theme=options.theme,
        events=game.events,
        mind=_mind(options.mind, game),
        agents=_names_in(options.file, options.game),
        width=options.width,
    )
    if options.svg is not None:
        Path(options.svg).write_text(drawn, encoding="utf-8")
    if options.png is not None:
        Path(options.png).write_bytes(png(drawn))


def _mind(name: str | None, game: Game) -> Mind | None:
    """What the agent of that name thinks of the decision."""
    if name is None:
        return None
    if game.is_over:
        raise OptionError("--mind: the game is over, so there is nothing to think about")
    (agent,) = _make_agents([name])
    mind = mind_of(game, agent)
    if mind is None:
        known = "random, crowd, hoard, trained and checkpoints"
        raise OptionError(f"--mind: {agent.name} has no thoughts to draw; {known} have some")
    return mind


def _names_in(file: str, number: int) -> list[str] | None:
    """The agents that a game's header names."""
    lines = next(islice(record.iter_games(file), number - 1, None))
    names: list[str] | None = lines.header.value["agents"]
    return names


def _film(options: argparse.Namespace) -> None:
    """Make a film of a recorded game."""
    with _Progress(None, "pictures") as progress:
        number = _about(options.file, lambda: _shoot(options, progress))
    print(f"{options.output}: {number} pictures")


def _shoot(options: argparse.Namespace, progress: _Progress) -> int:
    games = record.iter_games(options.file)  # kept, as it reads the game's lines while they are asked for
    lines = next(islice(games, options.game - 1, None), None)
    if lines is None:
        raise OptionError(f"there is no game {options.game} in {options.file}")
    places = {"first": options.first, "last": options.last, "every": options.every}
    pictures = film(lines, options.seat, theme=options.theme, **places)
    return animation(_counted(pictures, progress), options.output, fps=options.fps, width=options.width)


def _counted(pictures: Iterable[str], progress: _Progress) -> Iterator[str]:
    """The pictures, told as progress."""
    for done, picture in enumerate(pictures):
        progress.show(done)
        yield picture


def _about(file: str, read: Callable[[], _Result]) -> _Result:
    """What `read` returns; a mistake in the record is told with the file's name."""
    try:
        return read()
    except RecordError as error:
        raise RecordError(f"{file}: {error}", error.line) from error


class _Progress:
    """A line on stderr that tells how many games (or whatever else) are done, if stderr is a terminal."""

    INTERVAL: Final = 0.1
    """Seconds between two updates."""
    BAR: Final = 30

    def __init__(self, total: int | None, things: str = "games") -> None:
        self._total = total
        self._things = things
        self._active = sys.stderr.isatty()
        self._first: tuple[int, float] | None = None  # games done, and when
        self._last = 0.0

    def show(self, done: int) -> None:
        """`done` games are done."""
        now = time.monotonic()
        if not self._active or now - self._last < self.INTERVAL:
            return
        self._last = now
        if self._first is None:  # the time up to the first game may be that of compiling the rules
            self._first = (done, now)
            return
        pace = (done - self._first[0]) / max(now - self._first[1], 1e-9)
        line = f"{done} {self._things}, {pace:.0f}/s"
        if self._total is not None:
            filled = self.BAR * done // self._total
            left = (self._total - done) / pace
            bar = "#" * filled + "." * (self.BAR - filled)
            line = f"[{bar}] {done}/{self._total} {self._things}, {pace:.0f}/s, {left:.0f} s left"
        self._write(f"\r{line:<79}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._active:
            self._write(f"\r{'':<79}\r")

    def _write(self, line: str) -> None:
        sys.stderr.write(line)
        sys.stderr.flush()


# ---- the parser ----


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        _complain(f"{message} (see {self.prog} --help)")
        self.exit(BAD_COMMAND)


def _integer(low: int, high: int) -> Callable[[str], int]:
    """A parser of integers in a range."""

    def parse(digits: str) -> int:
        # The length first: Python refuses to convert thousands of digits, with a message of its own.
        if len(digits) <= record.MAX_DIGITS and digits.isascii() and digits.isdigit() and low <= int(digits) <= high:
            return int(digits)
        raise argparse.ArgumentTypeError(f"must be an integer from {low} to {high}, not {shown(digits, 40)}")

    return parse


def _parser() -> _Parser:
    parser = _Parser(prog="python -m skyenv", description="Record, verify, show, film and play games.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"skyenv {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_record(commands.add_parser("record", help="play games and write their record", allow_abbrev=False))
    _add_verify(commands.add_parser("verify", help="check a record against the rules", allow_abbrev=False))
    _add_show(commands.add_parser("show", help="print or draw a position of a record", allow_abbrev=False))
    _add_film(commands.add_parser("film", help="make a film of a recorded game", allow_abbrev=False))
    add_play(commands.add_parser("play", help="play and watch games in a browser", allow_abbrev=False), _integer)
    add_export(commands.add_parser("export", help="write a replay as one page", allow_abbrev=False), _integer)
    return parser


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.description = "Play games and write their record. The file appears once all games are played."
    add = parser.add_argument
    add("--players", type=_integer(MIN_PLAYERS, MAX_PLAYERS), default=2, metavar="N", help="2, 3 or 4 (default: 2)")
    add("--side", choices=SIDES, default="front", help="side of the board (default: front)")
    add("--games", type=_integer(1, record.MAX_INT32), default=1, metavar="N", help="how many games (default: 1)")
    add("--seed", type=_integer(0, HIGHEST_SEED), metavar="S", help="game i has seed S + i (default: a random one)")
    add(
        "--agents",
        default="random",
        metavar="NAMES",
        help="one name for all seats, or one per seat, with commas between: "
        f"{', '.join(BUILT_IN)}, module:Name, in a clone its players and checkpoints too (default: random)",
    )
    add("--legal", action="store_true", help="write the legal actions with every action")
    add("--board", metavar="FILE", help="a board file (TOML) with other rings (default: the printed board)")
    add(
        "--max-turns",
        type=_integer(1, record.MAX_INT32),
        default=DEFAULT_MAX_TURNS,
        metavar="N",
        help=f"turns after which a game is truncated (default: {DEFAULT_MAX_TURNS})",
    )
    add("-o", "--output", dest="file", metavar="FILE", required=True, help="the file to write")
    parser.set_defaults(run=_record)


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.description = "Replay every game of a record and report the first line that differs from the rules."
    parser.add_argument("file", metavar="FILE", help="the record")
    parser.set_defaults(run=_verify)


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.description = "Print a position of a record as text, or draw it to files."
    add = parser.add_argument
    add("file", metavar="FILE", help="the record")
    add("--game", type=_integer(1, record.MAX_INT32), default=1, metavar="N", help="which game (default: 1, the first)")
    add("--step", type=_integer(0, record.MAX_INT32), metavar="N", help="after N actions (default: all there are)")
    add(
        "--seat",
        type=_integer(0, MAX_PLAYERS - 1),
        metavar="S",
        help="show what this seat may know (default: all hands)",
    )
    add("--svg", metavar="FILE", help="draw it to this file")
    add("--png", metavar="FILE", help="draw it to this file (needs the extra [pictures])")
    add("--theme", choices=tuple(THEMES), default="light", help="colours of the drawing (default: light)")
    add(
        "--width",
        type=_integer(1, LARGEST),
        default=1200,
        metavar="PIXELS",
        help="of the drawing; below 700 it stands upright (default: 1200)",
    )
    add(
        "--mind",
        metavar="AGENT",
        help="draw what this agent, named as for record, would do, and how sure it is (with --seat only that of the seat to act)",
    )
    parser.set_defaults(run=_show)


def _positive(text: str) -> float:
    """A parser of frame rates."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if 0 < value <= HIGHEST_FPS:
        return value
    raise argparse.ArgumentTypeError(f"must be a number above 0, at most {HIGHEST_FPS:g}, not {shown(text, 40)}")


def _add_film(parser: argparse.ArgumentParser) -> None:
    parser.description = "Make a film of a recorded game, a picture after every action (needs the extra [pictures])."
    add = parser.add_argument
    add("file", metavar="FILE", help="the record")
    add("--game", type=_integer(1, record.MAX_INT32), default=1, metavar="N", help="which game (default: 1, the first)")
    add(
        "--from",
        dest="first",
        type=_integer(0, record.MAX_INT32),
        default=0,
        metavar="N",
        help="begin after N actions (default: 0)",
    )
    add("--to", dest="last", type=_integer(0, record.MAX_INT32), metavar="N", help="end after N actions (default: all there are)")
    add(
        "--every", type=_integer(1, record.MAX_INT32), default=1, metavar="N", help="a picture after every N actions (default: 1)"
    )
    add("--seat", type=_integer(0, MAX_PLAYERS - 1), metavar="S", help="show what this seat may know (default: all hands)")
    add("--theme", choices=tuple(THEMES), default="light", help="colours (default: light)")
    add("--width", type=_integer(16, LARGEST), default=1200, metavar="PIXELS", help="of the film (default: 1200)")
    add("--fps", type=_positive, default=2.0, metavar="F", help="pictures a second (default: 2)")
    add("-o", "--output", metavar="FILE", required=True, help="the file to write, .gif or .mp4")
    parser.set_defaults(run=_film)
