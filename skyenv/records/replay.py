"""Replaying and verifying game records: every line of them is checked against the rules.

A game is replayed from its lines without any random generator, as they tell all that chance
decided. Where the game's own seed gives the same, chance is left to it, so that the game goes on
from its record as it would have gone on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Final, NamedTuple, NoReturn

from skyenv.engine.events import Event, Outcome, setup_outcomes
from skyenv.engine.game import Game
from skyenv.engine.options import GameOptions
from skyenv.errors import ChanceError, RecordError, SkyenvError
from skyenv.records.format import fail, quoted, shortened
from skyenv.records.reader import GameLines, Line, Source, iter_games
from skyenv.rules.actions import ACTION_NAMES, MOVE, TAKE
from skyenv.rules.board import make_board
from skyenv.rules.components import COLOURS, DISTRICTS

MAX_LINES_PER_ACTION: Final = 256
"""More lines than this can't follow from one action."""


def begin(lines: GameLines, reward: str = "outcome") -> Game:
    """Return the game that the lines tell of, right after its setup.

    Args:
        lines: the game.
        reward: as for :class:`skyenv.GameOptions`.

    Raises:
        RecordError: there is no such board or setup.
    """
    header, setup = lines.header.value, lines.setup.value
    seed: int | None = header["seed"]
    try:
        board = make_board(header["side"], dict(zip(DISTRICTS, header["rings"], strict=True)))
        options = GameOptions(
            header["players"],
            header["side"],
            board=board,
            max_turns=header["max_turns"],
            reward=reward,
        )
        game = Game(seed=0 if seed is None else seed, options=options)
        if seed is None or game.events != [setup]:
            game.set_up(seed, setup_outcomes(setup, header["side"]))
        return game
    except ChanceError as error:
        fail(lines.setup.number, f"there is no such setup: {error}", error)
    except SkyenvError as error:
        fail(lines.header.number, str(error), error)


def follow(game: Game, lines: GameLines) -> Iterator[list[Event]]:
    """Play a game, after :func:`begin`, along its lines; yield the events of every action.

    Args:
        game: the game.
        lines: none of whose events have been read yet.

    Raises:
        RecordError: a line is wrong in itself or differs from what the rules give; it says which
            and how.
    """
    for block in _blocks(lines.events):
        _check_action(game, block.action)
        yield _play(game, block)


class _Block(NamedTuple):
    """The line of an action, the lines that follow from it, and the error that cut them short, if
    one did.
    """

    action: Line
    lines: list[Line]
    error: RecordError | None


def _blocks(events: Iterator[Line]) -> Iterator[_Block]:
    """The events of a game, action by action.

    The chance in the lines behind an action must be known when it is played. So an error in one of
    them is held back until the lines before it have been compared with the rules: the first mistake
    is the one to tell.
    """
    action = next(events, None)
    while action is not None:
        lines: list[Line] = []
        following, error = None, None
        try:
            while (following := next(events, None)) is not None and following.value[
                "event"
            ] != "action":
                if len(lines) == MAX_LINES_PER_ACTION:
                    fail(
                        following.number,
                        f"more than {MAX_LINES_PER_ACTION} lines can't follow from one action",
                    )
                lines.append(following)
        except RecordError as held_back:
            error = held_back
        yield _Block(action, lines, error)
        if error is not None:
            raise error
        action = following


def _check_action(game: Game, line: Line) -> None:
    """The line is an action of the seat that is to act, a legal one, with its name."""
    recorded = line.value
    seat, legal = game.seat, game.legal_actions
    if recorded["event"] != "action":
        fail(
            line.number,
            f"the rules wait for a decision of seat {seat}, the record says {quoted(recorded)}",
        )
    action = recorded["action"]
    expected = {"event": "action", "seat": seat, "action": action, "name": ACTION_NAMES[action]}
    if "legal" in recorded:
        expected["legal"] = legal
    if action not in legal:
        names = ", ".join(ACTION_NAMES[number] for number in legal)
        fail(line.number, f'"{ACTION_NAMES[action]}" is not legal here; legal: {shortened(names)}')
    if recorded != expected:
        _diverge(expected, line)


def _play(game: Game, block: _Block) -> list[Event]:
    """Play a block's action and compare all that follows."""
    action = block.action.value["action"]
    events = None if game.seed is None else _own_events(game, action, block)
    if events is None:
        events = _fed_events(game, action, block)
    if "legal" in block.action.value:
        events[0]["legal"] = block.action.value["legal"]
    return events


def _own_events(game: Game, action: int, block: _Block) -> list[Event] | None:
    """Play an action with the chance of the game's seed; None, and nothing has changed: the lines
    tell of other chance.
    """
    before, number = game.position(), len(game.events)
    events = game.play(action)
    if block.error is None and events[1:] == [line.value for line in block.lines]:
        return events
    game.rewind(before)
    del game.events[number:]
    return None


def _fed_events(game: Game, action: int, block: _Block) -> list[Event]:
    """Play an action with the chance that the lines tell."""
    chance = _chance(game, action, block.lines)
    outcomes = [outcome for _, outcome in chance]
    refused: ChanceError | None = None
    while True:
        try:
            events = game.play(action, outcomes)
            break
        except ChanceError as error:
            # Each time fewer are left, so this ends.
            refused = error
            outcomes = outcomes[: error.index]
    if refused is not None:
        _blame(chance[refused.index][0], events[1:], block)
    _compare(events[1:], block)
    return events


def _blame(line: Line, events: list[Event], block: _Block) -> None:
    """Raise for a line whose chance the rules have refused, unless something else before or in it
    is wrong.
    """
    kind = line.value["event"]
    before = block.lines.index(line)
    due = 1
    if kind == "alea" and before > 0 and block.lines[before - 1].value["event"] == "shuffle":
        # Whether a shuffle was due depends on the very cards that were refused, so there may be one
        # or not.
        before -= 1
        due = 2
    _compare(events[:before], block._replace(lines=block.lines[:before]))
    if any(event["event"] == kind for event in events[before : before + due]):
        fail(line.number, f"{_IMPOSSIBLE[kind]}, the record says {quoted(line.value)}")


def _chance(game: Game, action: int, lines: list[Line]) -> list[tuple[Line, Outcome]]:
    """The chance outcomes in the lines behind an action, in the order in which the rules need
    them.
    """
    state = game.state
    return [
        (line, outcome) for line in lines for outcome in outcomes_told(state, action, line.value)
    ]


def outcomes_told(state: Any, action: int, event: Event) -> list[Outcome]:
    """The chance outcomes that an event tells which follows from an action, in the order in which
    the rules need them.

    Args:
        state: the position before the action, GAME_DTYPE.
        action: its number.
        event: what follows from it.
    """
    taken = action - TAKE if TAKE <= action < MOVE else None
    # Chance decides the new top of a stack only while cards lie face down in it; returned ones come
    # up in known order.
    new_top = COLOURS[taken] if taken is not None and state["face_down"][taken].any() else None
    kind = event["event"]
    if kind == "black" or (
        kind == "top" and event["color"] == new_top and event["card"] is not None
    ):
        return [event["card"]]
    return list(event[_CHANCE_FIELD[kind]]) if kind in ("alea", "park") else []


_CHANCE_FIELD: Final = {"black": "card", "top": "card", "alea": "cards", "park": "tiles"}
_IMPOSSIBLE: Final = {
    "black": "there is no such card left in the stack",
    "top": "there is no such card left in the stack",
    "alea": "Alea can't turn up these cards",
    "park": "these tiles can't be turned up in the park area",
}


def _compare(events: list[Event], block: _Block) -> None:
    """What the rules give against the lines of a block."""
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
    """Raise for a line that differs from what the rules give; if it is the same event, by the
    fields that differ.
    """
    recorded, kind = line.value, event["event"]
    if recorded["event"] != kind:
        fail(
            line.number,
            f"the rules give {quoted(_without_chance(event))}, the record says {quoted(recorded)}",
        )
    different = [name for name in event if event[name] != recorded[name]]
    given, differing = ({name: side[name] for name in different} for side in (event, recorded))
    if differing.get("card", 0) is None:
        given = _without_chance({"event": kind, **given})
        del given["event"]
    fail(
        line.number,
        f'in "{kind}" the rules give {quoted(given)}, the record says {quoted(differing)}',
    )


def _without_chance(event: Event) -> Event:
    """An event for a message, where the record doesn't tell what chance decided in it."""
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
