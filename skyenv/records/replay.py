"""Replay and verification of game records: every line is checked against the rules.

A replay takes all chance outcomes from the record. Where the game's own seed gives the same
outcomes, the generator is used, so that the game continues from its record as it would have
originally.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any, Final, NoReturn

from skyenv.engine.events import EVENTS, ChanceOutcome, Event, action_event, setup_outcomes
from skyenv.engine.game import Game
from skyenv.errors import ChanceError, RecordError
from skyenv.records.format import fail, options_in, quoted
from skyenv.records.reader import GameLines, Line, Source, iter_games
from skyenv.rules.actions import ACTION_NAMES, MOVE, TAKE
from skyenv.rules.components import COLOURS
from skyenv.rules.state import NONE

MAX_LINES_PER_ACTION: Final = 256  # upper bound of the events after one action
_CHANCE_FIELDS: Final = {
    kind: field.name for kind, fields in EVENTS.items() for field in fields if field.is_chance
}


def begin(lines: GameLines, reward: str = "outcome") -> Game:
    """Return a recorded game right after its setup.

    Args:
        lines: the game.
        reward: as for :class:`skyenv.GameOptions`.

    Raises:
        RecordError: there is no such setup.
    """
    header, setup = lines.header.value, lines.setup.value
    side, seed, options = header["side"], header["seed"], options_in(header, reward)
    game = Game(seed=seed or 0, options=options)
    if seed is None or game.events != [setup]:
        try:
            game = Game(seed=seed or 0, chance=setup_outcomes(setup, side), options=options)
        except ChanceError as error:
            fail(lines.setup.number, f"there is no such setup: {error}", error)
        if game.events != [setup]:
            _differ(lines.setup.number, game.events[0], setup)
    if seed is None:
        game.state["seed"] = NONE
    return game


def follow(game: Game, lines: GameLines) -> Iterator[list[Event]]:
    """Replay a game of :func:`begin` along its lines; yield the events of every action.

    Playing an action needs the chance outcomes in the lines after it. So an error in one of them is
    deferred until the lines before it have been checked: the first fault of a record is reported.

    Args:
        game: the game.
        lines: the game's lines, with unread events.

    Raises:
        RecordError: a line is invalid or contradicts the rules; the message names it and the fault.
    """
    events = lines.events
    action = next(events, None)
    while action is not None:
        block, following, error = list[Line](), None, None
        try:
            for line in islice(events, MAX_LINES_PER_ACTION):
                if line.value["event"] == "action":
                    following = line
                    break
                block.append(line)
        except RecordError as held_back:
            error = held_back
        _check_action(game, action)
        yield _play(game, action, block, error)
        if error is not None:
            raise error
        action = following


def _check_action(game: Game, line: Line) -> None:
    """Check that the line is a legal action of the seat to act, with its name."""
    recorded, seat, legal = line.value, game.seat or 0, game.legal_actions
    if recorded["event"] != "action":
        fail(
            line.number,
            f"a decision of seat {seat} is due here, the record says {quoted(recorded)}",
        )
    action = recorded["action"]
    if action not in legal:
        names = [ACTION_NAMES[number] for number in legal]
        fail(line.number, f'"{ACTION_NAMES[action]}" is not legal here; legal: {quoted(names)}')
    expected = action_event(seat, action)
    if "legal" in recorded:
        expected["legal"] = legal
    if recorded != expected:
        _differ(line.number, expected, recorded)


def _play(game: Game, action: Line, block: list[Line], error: RecordError | None) -> list[Event]:
    """Play an action and compare its events with the lines; `error`, if any, cut the lines
    short.
    """
    before, number = game.position(), len(game.events)
    lines = [line.value for line in block]
    events = [] if game.seed is None else game.play(action.value["action"])
    if events[1:] != lines or error is not None or not events:
        if events:  # the lines have other outcomes than the game's seed
            game.rewind(before)
            del game.events[number:]
        events, refused = _play_with_chance(game, action.value["action"], lines)
        pairs = [*zip_longest(events[1:], lines)]
        wrong = next((at for at, (event, line) in enumerate(pairs) if event != line), None)
        if wrong == len(lines) and error is not None:
            raise error
        if wrong is not None:
            event, recorded = pairs[wrong]
            # Whether a shuffle was due depends on the cards of Alea that were refused.
            kinds = [one and one["event"] for one in pairs[wrong]]
            if kinds == ["alea", "shuffle"] and refused == wrong + 1:
                wrong, recorded = refused, lines[refused]
            _differ(action.number + 1 + wrong, event, recorded)
    if "legal" in action.value:
        events[0]["legal"] = action.value["legal"]
    return events


def _play_with_chance(
    game: Game, action: int, lines: list[Event]
) -> tuple[list[Event], int | None]:
    """Play an action with the lines' chance outcomes; return the events, and the index of the line
    whose outcome is impossible.
    """
    state = game.state
    given = [
        (index, outcome)
        for index, line in enumerate(lines)
        for outcome in outcomes_in(state, action, line)
    ]
    outcomes, refused = [outcome for _, outcome in given], None
    while True:
        try:
            return game.play(action, outcomes), refused
        except ChanceError as error:
            refused, outcomes = given[error.index][0], outcomes[: error.index]  # fewer each time


def outcomes_in(state: Any, action: int, event: Event) -> list[ChanceOutcome]:
    """Return the chance outcomes in an event after an action, in the order of the rules.

    Args:
        state: the position before the action, GAME_DTYPE.
        action: its number.
        event: an event after it.
    """
    kind = event["event"]
    decided = event.get(_CHANCE_FIELDS.get(kind, ""))
    if kind == "top" and decided is not None:
        # Chance decides the new top of a stack only while cards lie face down in it; returned ones
        # come up in known order.
        taken = action - TAKE
        is_new = TAKE <= action < MOVE and event["color"] == COLOURS[taken]
        decided = decided if is_new and state["face_down"][taken].any() else None
    if decided is None:
        return []
    return list(decided) if isinstance(decided, list) else [decided]


def _differ(line: int, event: Event | None, recorded: Event | None) -> NoReturn:
    """Raise for a line that differs from the rules' event; its chance outcomes are hidden."""
    if event is not None and (chance := _CHANCE_FIELDS.get(event["event"])):
        event = {**event, chance: "?"}
    rules, record = (quoted(one) if one else "nothing more" for one in (event, recorded))
    fail(line, f"the rules give {rules}, the record says {record}")


@dataclass(frozen=True)
class VerifySummary:
    """The totals of a valid record."""

    games: int
    actions: int


def verify(
    source: Source, progress: Callable[[VerifySummary], None] | None = None
) -> VerifySummary:
    """Replay every game of a record to its end.

    A game without an end does not keep the later games from being checked.

    Args:
        source: a path or an open stream.
        progress: called after every game with the totals so far.

    Raises:
        RecordError: the first line that is wrong; if none is, the first that is missing because a
            game has no end.
        OSError: the file can't be read.
    """
    summary, unfinished = VerifySummary(0, 0), list[tuple[int, int]]()
    for lines in iter_games(source):
        next_line = lines.setup.number
        game = begin(lines)
        for events in chain([game.events], follow(game, lines)):
            next_line += len(events)
            game.events = []
        if not game.is_over:
            unfinished.append((next_line, lines.header.number))
        summary = VerifySummary(lines.number, summary.actions + int(game.state["decisions"]))
        if progress is not None:
            progress(summary)
    if unfinished:
        line, header = unfinished[0]
        others = f"; {len(unfinished)} of {summary.games} games have no end, the others no mistake"
        fail(
            line,
            f"the game of line {header} has not ended, but the record has no more of it"
            + others * (summary.games > 1),
        )
    return summary
