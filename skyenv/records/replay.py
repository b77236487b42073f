"""Replaying and verifying game records: every line of them is checked against the rules.

A game is replayed from its lines without any random generator, as they tell all that chance
decided. Where the game's own seed gives the same, chance is left to it, so that the game goes on
from its record as it would have gone on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice, zip_longest
from typing import Any, Final, NamedTuple, NoReturn

from skyenv.engine.events import ChanceOutcome, Event, action_event, setup_outcomes
from skyenv.engine.game import Game
from skyenv.engine.options import GameOptions
from skyenv.errors import ChanceError, RecordError
from skyenv.records.format import fail, quoted
from skyenv.records.reader import GameLines, Line, Source, iter_games
from skyenv.rules.actions import ACTION_NAMES, MOVE, TAKE
from skyenv.rules.board import make_board
from skyenv.rules.components import COLOURS, DISTRICTS

MAX_LINES_PER_ACTION: Final = 256
"""More lines than this can't follow from one action."""


def begin(lines: GameLines, reward: str = "outcome") -> Game:
    """Return the game of the lines, right after its setup.

    Args:
        lines: the game.
        reward: as for :class:`skyenv.GameOptions`.

    Raises:
        RecordError: there is no such setup.
    """
    header, setup = lines.header.value, lines.setup.value
    side, seed = header["side"], header["seed"]
    board = make_board(side, dict(zip(DISTRICTS, header["rings"], strict=True)))
    options = GameOptions(
        header["players"], side, board=board, max_turns=header["max_turns"], reward=reward
    )
    game = Game(seed=seed or 0, options=options)
    if seed is None or game.events != [setup]:
        try:
            game.set_up(seed, setup_outcomes(setup, side))
        except ChanceError as error:
            fail(lines.setup.number, f"there is no such setup: {error}", error)
    return game


def follow(game: Game, lines: GameLines) -> Iterator[list[Event]]:
    """Play a game, after :func:`begin`, along its lines; yield the events of every action.

    The chance in the lines behind an action must be known when it is played. So an error in one of
    them is held back until the lines before it have been compared with the rules: the first mistake
    of a record is reported.

    Args:
        game: the game.
        lines: none of whose events have been read yet.

    Raises:
        RecordError: a line is wrong in itself or differs from the rules; it says which and how.
    """
    actions = 0

    def action_of(line: Line) -> int:
        nonlocal actions
        actions += int(line.value["event"] == "action")
        return actions

    for _, group in groupby(lines.events, action_of):
        action, block, error = next(group), [], None
        try:
            for line in islice(group, MAX_LINES_PER_ACTION):
                block.append(line)
        except RecordError as held_back:
            error = held_back
        _check_action(game, action)
        yield _play(game, _Block(action, block, error))
        if error is not None:
            raise error


class _Block(NamedTuple):
    """The line of an action, the lines that follow from it, and the error that cut them short, if
    one did.
    """

    action: Line
    lines: list[Line]
    error: RecordError | None


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
        _diverge(expected, line)


def _play(game: Game, block: _Block) -> list[Event]:
    """Play a block's action, and compare the events with its lines."""
    recorded = block.action.value
    action, before, number = recorded["action"], game.position(), len(game.events)
    events = None if game.seed is None else game.play(action)
    lines = [line.value for line in block.lines]
    if events is None or block.error is not None or events[1:] != lines:
        if events is not None:  # the lines hold other chance than that of the game's seed
            game.rewind_unchecked(before)
            del game.events[number:]
        events = _play_with_chance(game, action, block)
        _compare(events[1:], block)
    if "legal" in recorded:
        events[0]["legal"] = recorded["legal"]
    return events


def _play_with_chance(game: Game, action: int, block: _Block) -> list[Event]:
    """Play an action with the chance that the lines hold."""
    state = game.state
    chance = [
        (line, outcome)
        for line in block.lines
        for outcome in outcomes_told(state, action, line.value)
    ]
    outcomes = [outcome for _, outcome in chance]
    refused, events = None, None
    while events is None:
        try:
            events = game.play(action, outcomes)
        except ChanceError as error:
            refused, outcomes = error.index, outcomes[: error.index]  # fewer each time
    if refused is not None:
        _blame(chance[refused][0], events[1:], block)
    return events


def _blame(line: Line, events: list[Event], block: _Block) -> None:
    """Raise for a line whose chance the rules have refused, unless something else before or in it
    is wrong.
    """
    kind = line.value["event"]
    before, due = block.lines.index(line), 1
    if kind == "alea" and before > 0 and block.lines[before - 1].value["event"] == "shuffle":
        # Whether a shuffle was due depends on the refused cards, so there may be one or not.
        before, due = before - 1, 2
    _compare(events[:before], block._replace(lines=block.lines[:before]))
    if any(event["event"] == kind for event in events[before : before + due]):
        fail(line.number, f"{_IMPOSSIBLE[kind]}, the record says {quoted(line.value)}")


def outcomes_told(state: Any, action: int, event: Event) -> list[ChanceOutcome]:
    """Return the chance outcomes in an event that follows from an action, in the order in which the
    rules need them.

    Args:
        state: the position before the action, GAME_DTYPE.
        action: its number.
        event: what follows from it.
    """
    kind = event["event"]
    if kind in ("alea", "park"):
        return list(event[_CHANCE_FIELD[kind]])
    is_new = kind == "black"
    if kind == "top" and TAKE <= action < MOVE and event["card"] is not None:
        # Chance decides the new top of a stack only while cards lie face down in it; returned ones
        # come up in known order.
        taken = action - TAKE
        is_new = event["color"] == COLOURS[taken] and state["face_down"][taken].any()
    return [event["card"]] if is_new else []


_CHANCE_FIELD: Final = {"black": "card", "top": "card", "alea": "cards", "park": "tiles"}
_IMPOSSIBLE: Final = {
    "black": "there is no such card left in the stack",
    "top": "there is no such card left in the stack",
    "alea": "Alea can't turn up these cards",
    "park": "these tiles can't be turned up in the park area",
}


def _compare(events: list[Event], block: _Block) -> None:
    """Compare the events of the rules with the lines of a block."""
    for event, line in zip_longest(events, block.lines):
        if line is None:
            if block.error is not None:
                raise block.error
            number = block.action.number + len(block.lines) + 1
            fail(
                number, f"the rules give {quoted(_without_chance(event))} here, the record doesn't"
            )
        if event is None:
            fail(
                line.number,
                f"the rules give nothing more here, the record says {quoted(line.value)}",
            )
        if event != line.value:
            _diverge(event, line)


def _diverge(event: Event, line: Line) -> NoReturn:
    """Raise for a line that differs from the rules; if it is the same event, by the fields that
    differ.
    """
    recorded, kind, place = line.value, event["event"], ""
    if recorded["event"] != kind or recorded.get("card", 0) is None:
        event = _without_chance(event)
    if recorded["event"] == kind:
        names = [name for name in event if event[name] != recorded[name]]
        event, recorded = ({name: side[name] for name in names} for side in (event, recorded))
        place = f'in "{kind}" '
    fail(
        line.number,
        f"{place}the rules give {quoted(event)}, the record says {quoted(recorded)}",
    )


def _without_chance(event: Event) -> Event:
    """Return an event for a message, where the record lacks the outcome of chance in it."""
    field = _CHANCE_FIELD.get(event["event"])
    return event if field is None else {**event, field: "?"}


@dataclass(frozen=True)
class VerifySummary:
    """What a record that is right throughout holds."""

    games: int
    actions: int


def verify(
    source: Source, progress: Callable[[VerifySummary], None] | None = None
) -> VerifySummary:
    """Replay every game of a record to its end.

    Args:
        source: a path or an open stream.
        progress: called after every game with what has been verified so far.

    Raises:
        RecordError: the first line that is wrong, or that is missing because a game has no end.
        OSError: the file can't be read.
    """
    summary = VerifySummary(0, 0)
    for lines in iter_games(source):
        next_line = lines.setup.number
        game = begin(lines)
        for events in chain([game.events], follow(game, lines)):
            next_line += len(events)
            game.events = []
        if not game.is_over:
            fail(
                next_line,
                f"the game of line {lines.header.number} has not ended, but the record has no more "
                "of it",
            )
        summary = VerifySummary(lines.number, summary.actions + int(game.state["decisions"]))
        if progress is not None:
            progress(summary)
    return summary
