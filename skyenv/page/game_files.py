"""Games in files, found without being replayed: records, and the results of tournaments' folders.

A file is read from a place on, so that one that grows isn't read anew. What is wrong in it costs
the game in which it stands. A game that is opened is replayed and checked line by line; here only
what the table of games shows is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from skyenv.arena.folder import CONFIG, GAMES, read_config, unsealed
from skyenv.arena.schedule import Entrant
from skyenv.checks import check_integer
from skyenv.engine.events import Event
from skyenv.errors import CheckpointError, RecordError, SkyenvError
from skyenv.files import is_hidden, parse_json
from skyenv.records.format import check_event, check_header
from skyenv.records.reader import MAX_LINE
from skyenv.rules.actions import OPTION_A, PLOT
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

RECORD: Final = "record"
TOURNAMENT: Final = "tournament"
KINDS: Final = (RECORD, TOURNAMENT)
"""What a file holds: records of games, or the results of a tournament, whose games can be played
again.
"""
UNFINISHED: Final = "unfinished"
BY_THE_RULES: Final = "by the rules"
"""How a tournament's game ended that wasn't truncated: its folder doesn't say by which rule."""
ENDINGS: Final = ("businesses", "stops", "truncated", UNFINISHED, BY_THE_RULES)
SKIPPED_FILES: Final = frozenset({"curve.jsonl"})
"""Files of trainings that have the ending of records and hold no games."""
MOST_FILES: Final = 10_000
"""So many files of the folders are read."""
LONGEST_NAME: Final = 60
"""Characters of an agent's name."""
_OPTIONS: Final = frozenset(range(OPTION_A, PLOT))


@dataclass(frozen=True)
class FoundGame:
    """A game in a file.

    Attributes:
        number: counted from 1, damaged ones included.
        start, length: where it stands, in bytes. line: the number of its first line.
        players, side: of the table.
        agents: who sits where; "" if nobody says.
        actions: decisions in all. turns: options taken.
        winners: seats. scores: VP of each seat, at the end or so far.
        ending: one of ENDINGS.
        swing: by how much VP the lead of a seat over its best other changed the most, by one
            scoring, special points or one building stop in play; the final scoring doesn't count.
            None: the file doesn't say.
        swing_step: after how many actions that was.
    """

    number: int
    start: int
    length: int
    line: int
    players: int
    side: str
    agents: tuple[str, ...]
    actions: int = 0
    turns: int = 0
    winners: tuple[int, ...] = ()
    scores: tuple[int, ...] = ()
    ending: str = UNFINISHED
    swing: int | None = None
    swing_step: int | None = None

    @property
    def margin(self) -> int:
        """VP between the first and the second."""
        first, second = sorted(self.scores, reverse=True)[:2]
        return first - second


@dataclass(frozen=True)
class Place:
    """How far a file has been read: so many bytes, lines and games.

    Attributes:
        is_lost: whether what follows, up to the next header, is part of a damaged game.
    """

    offset: int = 0
    line: int = 0
    games: int = 0
    is_lost: bool = False


@dataclass
class Reading:
    """What a reading of a file finds; `next`: where to read on when it has grown.

    Attributes:
        seen: bytes that have been read.
        skipped: damaged games and stretches.
        complaint: what was wrong first.
    """

    next: Place
    seen: int = 0
    skipped: int = 0
    complaint: str = ""
    games: list[FoundGame] = field(default_factory=list)

    def complain(self, error: object) -> None:
        """Note that something is skipped."""
        self.skipped += 1
        self.complaint = self.complaint or one_line(str(error), 200)


def one_line(text: str, longest: int) -> str:
    """A text from a file as one printable line, and not more of it than so many characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def files_in(root: Path) -> Iterator[Path]:
    """The files of a folder, and of the folders in it, that may hold games; a file itself.

    Links aren't followed.

    A file that is still being written under a hidden name is left out: its games would be gone as
    soon as it has its own.
    """
    if root.is_file():
        yield root
        return
    for folder, inside, names in os.walk(root):
        inside.sort()
        for name in sorted(names):
            path = Path(folder, name)
            may_hold = path.suffix == ".jsonl" and name not in SKIPPED_FILES and not is_hidden(name)
            if may_hold and path.is_file() and not path.is_symlink():
                yield path


def kind_of(stream: BinaryIO) -> str | None:
    """What a file holds, by its first line: one of KINDS; None: it has no line yet.

    Raises:
        RecordError: something else.
    """
    stream.seek(0)
    first = next(iter(_Lines(stream, Place())), None)
    if first is None:
        return None
    if isinstance(first, dict) and "format" in first:
        return RECORD
    if isinstance(first, dict) and "paired_seed" in first:
        return TOURNAMENT
    raise RecordError("line 1: neither a record's header nor a tournament's game", 1)


def read_games(path: Path, kind: str, place: Place, most: int) -> Reading:
    """Games of a file from a place on.

    Args:
        path, kind: the file, and what it holds.
        place: where an earlier reading ended.
        most: stop after so many games.

    Raises:
        OSError: it can't be read. SkyenvError: a tournament's folder doesn't say who played.
    """
    with open(path, "rb") as stream:
        stream.seek(place.offset)
        return (
            _read_results(stream, path.parent, place, most)
            if kind == TOURNAMENT
            else _read_records(stream, place, most)
        )


# ---- lines ----


class _Lines:
    """Whole lines of a stream as JSON objects, counted.

    A last line without its end is left alone unless it is whole: it may be about to be written.

    Attributes:
        offset, number: where the line ends that was read last, and its number.
        start: where it begins. has_end: whether it has a line's end.
    """

    def __init__(self, stream: BinaryIO, place: Place) -> None:
        self._stream = stream
        self.offset, self.number = place.offset, place.line
        self.start = self.offset
        self.has_end = True

    def __iter__(self) -> Iterator[dict[str, Any] | RecordError]:
        """The objects; for a line that is none, the error that tells so."""
        while line := self._stream.readline(MAX_LINE + 1):
            self.has_end = line.endswith(b"\n") or len(line) > MAX_LINE
            if not self.has_end and isinstance(_parsed(line), str):
                return
            self.start, self.offset, self.number = (
                self.offset,
                self.offset + len(line),
                self.number + 1,
            )
            if len(line) > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = self._stream.readline(MAX_LINE)
                    self.offset += len(line)
                yield self._wrong(f"longer than {MAX_LINE} characters")
                continue
            value = _parsed(line)
            yield self._wrong(value) if isinstance(value, str) else value

    def _wrong(self, what: str) -> RecordError:
        return RecordError(f"line {self.number}: {what}", self.number)


def _parsed(line: bytes) -> dict[str, Any] | str:
    """The object of a line, or what is wrong with it."""
    try:
        value = parse_json(line)
    except ValueError:
        return "not JSON"
    return value if isinstance(value, dict) else "no JSON object"


# ---- records ----


class _Game:
    """A game of a record, line by line."""

    def __init__(self, found: FoundGame) -> None:
        self.found = found
        self.actions = self.turns = self.swing = 0
        self.swing_step: int | None = None
        self.scores = [0] * found.players

    def take(self, line: int, value: Event) -> Event | None:
        """A line behind the header; returns it if it is the end.

        Raises:
            RecordError: it is wrong, so far as it is looked at.
        """
        kind = value.get("event")
        if kind == "action":
            self.actions += 1
            self.turns += value.get("action") in _OPTIONS
        elif kind in ("vp", "end"):
            check_event(line, value, self.found.players)
            if kind == "end":
                return value
            self._score(value)
        return None

    def _score(self, event: Event) -> None:
        before = leads(self.scores)
        self.scores = [score + vp for score, vp in zip(self.scores, event["vp"], strict=True)]
        if event["why"] in ("final", "park"):
            return
        swing = max(abs(now - then) for now, then in zip(leads(self.scores), before, strict=True))
        if swing > self.swing:
            self.swing, self.swing_step = swing, self.actions

    def until(self, offset: int, end: Event | None) -> FoundGame:
        """The game, whose lines end at a byte."""
        known = replace(
            self.found,
            length=offset - self.found.start,
            actions=self.actions,
            turns=self.turns,
            scores=tuple(self.scores),
            swing=self.swing,
            swing_step=self.swing_step,
        )
        if end is None:
            return known
        return replace(
            known, winners=tuple(end["winners"]), scores=tuple(end["scores"]), ending=end["reason"]
        )


def leads(scores: Sequence[int]) -> list[int]:
    """How far each seat is ahead of its best other; below 0 if it is behind."""
    first, second = sorted(scores, reverse=True)[:2]
    return [score - (second if score == first else first) for score in scores]


def _read_records(stream: BinaryIO, place: Place, most: int) -> Reading:
    reading = Reading(place, place.offset)
    lines, number, is_lost = _Lines(stream, place), place.games, place.is_lost
    game: _Game | None = None
    for value in lines:
        reading.seen = lines.offset
        if isinstance(value, dict) and "format" in value:
            if game is not None:
                reading.games.append(game.until(lines.start, None))
            reading.next, game = Place(lines.start, lines.number - 1, number), None
            if len(reading.games) >= most:
                return reading
            number, is_lost = number + 1, False
        elif is_lost:
            reading.next = Place(lines.offset, lines.number, number, is_lost)
            continue
        try:
            if isinstance(value, RecordError):
                raise value
            if "format" in value:
                game = _Game(_headed(lines, number, value))
            elif game is None:
                raise RecordError(
                    f"line {lines.number}: a game must begin with its header", lines.number
                )
            elif end := game.take(lines.number, value):
                reading.games.append(game.until(lines.offset, end))
                game = None
                if lines.has_end:  # else it is read again, lest the line's end is taken for a line
                    reading.next = Place(lines.offset, lines.number, number)
        except SkyenvError as error:
            reading.complain(error)
            game, is_lost = None, True
            reading.next = Place(lines.offset, lines.number, number, is_lost)
    if game is not None:
        reading.games.append(
            game.until(reading.seen, None)
        )  # read again from its header when there is more: it may be under way
    return reading


def _headed(lines: _Lines, number: int, value: Event) -> FoundGame:
    """A game of which the header is known."""
    check_header(lines.number, value)
    names = value["agents"] or [""] * value["players"]
    agents = tuple(one_line(name, LONGEST_NAME) for name in names)
    return FoundGame(number, lines.start, 0, lines.number, value["players"], value["side"], agents)


# ---- tournaments ----


@dataclass(frozen=True)
class Played:
    """A game of a tournament, all that is needed to play it again.

    Attributes:
        agents: who sits where.
        side, max_turns, secret: as for :func:`skyenv.arena.matches.play_game`. seed: the first
            paired seed's + `paired_seed`.
        scores: how it came out.
    """

    agents: tuple[Entrant, ...]
    side: str
    seed: int
    max_turns: int
    secret: int | None
    scores: tuple[int, ...]


def played_in(folder: Path, line: bytes) -> Played:
    """The game of a tournament's folder that a line of its games.jsonl tells of.

    Raises:
        RecordError: it tells of none. CheckpointError, OSError: the folder doesn't say what was
            played, or can't be read.
    """
    config, value = _config(folder), _parsed(line)
    if isinstance(value, str) or "seats" not in value:
        raise RecordError("the tournament's file has changed", 1)
    entry = _result(1, value, config)
    keys = ("spec", "name", "version", "description", "digest")
    try:
        agents = tuple(
            Entrant(*(str({"description": "", **config["agents"][index]}[key]) for key in keys))
            for index in entry["seats"]
        )
        secret = None if config["secret"] is None else int(config["secret"])
        seed, max_turns = int(config["seed"]) + int(entry["paired_seed"]), int(config["max_turns"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{CONFIG} doesn't say how it was played") from error
    return Played(agents, config["side"], seed, max_turns, secret, tuple(entry["scores"]))


def _config(folder: Path) -> dict[str, Any]:
    """A tournament's config.json.

    Raises:
        CheckpointError: there is none, or it doesn't say who played. OSError: it can't be read.
    """
    try:
        config = read_config(folder)
    except CheckpointError as error:  # which tells the folder's path
        raise CheckpointError(f"{CONFIG} is damaged, or an older version wrote it") from error
    try:
        names = [agent["name"] for agent in config["agents"]]
        if not all(isinstance(name, str) for name in names) or config["side"] not in SIDES:
            raise ValueError("something else stands there")
        check_integer("players", config["players"], MIN_PLAYERS, MAX_PLAYERS)
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{GAMES} of a tournament needs a {CONFIG} that says who played"
        ) from error
    return config


def _result(number: int, value: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A tournament's game, its line checked.

    Raises:
        RecordError: it is none.
    """
    try:
        entry = unsealed(value)
        seats, scores, players = entry["seats"], entry["scores"], config["players"]
        numbers = [*seats, *scores, entry["decisions"], entry["turns"], entry["paired_seed"]]
        if (len(seats), len(scores), len(entry["shares"])) != (players,) * 3 or not all(
            type(one) is int for one in numbers
        ):
            raise ValueError("it has other fields")
        if not all(0 <= seat < len(config["agents"]) for seat in seats) or min(numbers) < 0:
            raise ValueError("it has other numbers")
        _ = [float(share) for share in entry["shares"]]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise RecordError(f"line {number}: no game of a tournament: {error}", number) from error
    return entry


def _read_results(stream: BinaryIO, folder: Path, place: Place, most: int) -> Reading:
    reading, config = Reading(place, place.offset), _config(folder)
    lines, games = _Lines(stream, place), place.games
    names = [one_line(agent["name"], LONGEST_NAME) for agent in config["agents"]]
    for value in lines:
        if not lines.has_end:
            break
        try:
            if isinstance(value, RecordError):
                raise value
            games += 1
            entry = _result(lines.number, value, config)
            found = FoundGame(
                games,
                lines.start,
                lines.offset - lines.start,
                lines.number,
                config["players"],
                config["side"],
                tuple(names[seat] for seat in entry["seats"]),
                entry["decisions"],
                entry["turns"],
                tuple(seat for seat, share in enumerate(entry["shares"]) if share > 0),
                tuple(entry["scores"]),
                "truncated" if entry.get("truncated") else BY_THE_RULES,
            )
            reading.games.append(found)
        except SkyenvError as error:
            reading.complain(error)
        reading.seen, reading.next = lines.offset, Place(lines.offset, lines.number, games)
        if len(reading.games) >= most:
            break
    return reading
