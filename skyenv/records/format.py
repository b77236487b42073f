"""The format of game records (INTERFACE.md, "A game record"): writer and schema.

A record is text with one JSON object per line, with every chance outcome. The record of a bidding
task has another `format`, so that readers of whole games refuse it. It has the opening, the
hidden cards dealt (`deal` instead of `setup`) and, at the end, the payoff.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn

from skyenv.engine.events import EVENTS, Event, EventField
from skyenv.engine.openings import numbers_of, task_name
from skyenv.engine.options import GameOptions
from skyenv.errors import OptionError, RecordError, shown
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.board import make_board
from skyenv.rules.components import (
    BLACK_CARDS,
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    DISTRICTS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    PLOTS,
    ROW_SIZE,
    SIDES,
    STARTING_BLACK_CARDS,
)
from skyenv.rules.state import END_REASONS
from skyenv.rules.variant import of_variant
from skyenv.seeds import HIGHEST_SEED

FORMAT: Final = of_variant("skyenv-record")
TASK_FORMAT: Final = "skyenv-task-record"
VERSION: Final = 1
MAX_INT32: Final = (1 << 31) - 1  # bound of max_turns and of scores


# ---- writing ----

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def header_of(options: GameOptions, seed: int | None, agents: Sequence[str] | None = None) -> Event:
    """Return the first line of a game's record.

    Raises:
        OptionError: `agents` is not one text per seat.
    """
    names = agents if agents is None or isinstance(agents, str) else list(agents)
    players, is_task = options.num_players, options.task is not None
    if not _fits(names, schema(players)["header"]["agents"]):
        raise OptionError(
            f"agents must be one text for each of the {players} seats, not {shown(agents, 80)}"
        )
    return {
        "format": TASK_FORMAT if is_task else FORMAT,
        "version": VERSION,
        **({"task": options.task} if is_task else {}),
        "players": players,
        "side": options.side,
        "rings": [list(ring) for ring in options.board.rings],
        "max_turns": options.max_turns,
        "seed": seed,
        "agents": names,
    }


def options_in(header: Event, reward: str = "outcome") -> GameOptions:
    """Return the options of a header's game.

    Args:
        header: a header that fits the schema.
        reward: as for :class:`skyenv.GameOptions`.

    Raises:
        OptionError: there is no such board or task.
    """
    if "task" in header:
        return GameOptions(task=header["task"], reward=reward)
    players, side, turns = header["players"], header["side"], header["max_turns"]
    board = make_board(side, dict(zip(DISTRICTS, header["rings"], strict=True)))
    return GameOptions(players, side, board=board, max_turns=turns, reward=reward)


def as_text(header: Event, events: Iterable[Event]) -> str:
    """Return a game's record as JSON Lines text, ending in a newline; the first event is the
    setup, or a task's deal.
    """
    return "".join(f"{_encode(line)}\n" for line in (header, *events))


# ---- the schema ----

_SURROGATES: Final = frozenset(map(chr, range(0xD800, 0xE000)))


class RecordField(NamedTuple):
    """The valid values of a field.

    Attributes:
        values: a range of integers, the valid names, a type, or the fields of an object.
        null: whether null is allowed, too.
        many: the valid lengths of a list of values; None: a single value.
    """

    values: "range | Sequence[str] | type | Mapping[str, RecordField]"
    null: bool = False
    many: Sequence[int] | None = None

    def __str__(self) -> str:
        if isinstance(self.values, range):
            text = f"an integer from {self.values.start} to {self.values.stop - 1}"
        elif isinstance(self.values, type):
            text = f"a {self.values.__name__}"
        else:
            kind = "an object of" if isinstance(self.values, Mapping) else "one of"
            names = ", ".join(self.values)
            text = f"{kind} {names if len(names) <= 200 else names[:197] + '...'}"
        if self.many is not None:
            text = f"a list of {self.many[0]} to {self.many[-1]} entries, each {text}"
        return f"null or {text}" if self.null else text


Schema = dict[str, dict[str, RecordField]]
"""Fields by the kind of line."""


@lru_cache(maxsize=16)
def schema(players: int, is_task: bool = False) -> Schema:
    """Return the fields of the header, the first event and the other events for a number of
    players.
    """
    card = RecordField(range(CARD_VALUES[0], CARD_VALUES[-1] + 1))
    hand = {
        colour: card._replace(many=(STARTING_BLACK_CARDS if colour == "black" else 1,))
        for colour in CARD_COLOURS
    }
    plot = RecordField((*PLOTS, *BUSINESSES), many=(2,))
    counts = RecordField(range(MAX_INT32 + 1), many=(players,))
    setup = {
        "plots": RecordField(dict.fromkeys(DISTRICTS, plot)),
        "row": RecordField(BUSINESSES, many=(ROW_SIZE,)),
        "hands": RecordField(hand, many=(players,)),
        "tops": RecordField(dict.fromkeys(COLOURS, card)),
    }
    cards = card._replace(many=range(sum(BLACK_CARDS) + 1))
    dealt = RecordField(dict.fromkeys(CARD_COLOURS, cards), many=(players,))
    events = {
        **({"deal": {"hands": dealt}} if is_task else {"setup": setup}),
        **{
            kind: {one.name: _recorded(one, players) for one in fields}
            for kind, fields in EVENTS.items()
        },
    }
    events["action"]["name"] = RecordField(ACTION_NAMES)
    events["end"] = {
        "reason": RecordField(END_REASONS[1:] if is_task else END_REASONS[1:4]),
        "scores": counts,
        "cards": counts,
        "winners": RecordField(range(players), many=range(players + 1)),
        **({"payoff": RecordField(float, many=(players,))} if is_task else {}),
    }
    header = {
        "format": RecordField((TASK_FORMAT if is_task else FORMAT,)),
        "version": RecordField(range(VERSION, VERSION + 1)),
        **({"task": RecordField(str)} if is_task else {}),
        "players": RecordField(range(MIN_PLAYERS, MAX_PLAYERS + 1)),
        "side": RecordField(SIDES),
        "rings": RecordField(list, many=(len(DISTRICTS),)),
        "max_turns": RecordField(range(1, MAX_INT32 + 1)),
        "seed": RecordField(range(HIGHEST_SEED + 1), null=True),
        "agents": RecordField(str, null=True, many=(players,)),
    }
    whole = {kind: {"event": RecordField((kind,)), **fields} for kind, fields in events.items()}
    return {"header": header, **whole}


def _recorded(field: EventField, players: int) -> RecordField:
    """Return the valid values of an event's field."""
    values = [value for value in field.values.values() if value is not None]
    numbers = [value for value in values if isinstance(value, int)]
    valid: range | list[Any] = values
    if not values:
        valid = range(MAX_INT32 + 1)
    elif numbers:
        valid = range(min(numbers), players if field.is_seat else max(numbers) + 1)
    null = None in field.values.values()
    return RecordField(valid, null=null, many=field.lengths(players))


def _fits(value: Any, field: RecordField) -> bool:
    if value is None or field.many is None:
        return field.null if value is None else _is_one(value, field.values)
    return (
        isinstance(value, list)
        and len(value) in field.many
        and all(_is_one(entry, field.values) for entry in value)
    )


def _is_one(value: Any, values: range | Sequence[str] | type | Mapping[str, RecordField]) -> bool:
    if isinstance(values, range):
        return type(value) is int and value in values
    if isinstance(values, Mapping):
        return (
            isinstance(value, dict)
            and value.keys() == values.keys()
            and all(_fits(value[name], field) for name, field in values.items())
        )
    if not isinstance(values, type):
        return isinstance(value, str) and value in values
    # A JSON escape can be an unpaired surrogate, which is not text.
    is_text = not isinstance(value, str) or _SURROGATES.isdisjoint(value)
    return isinstance(value, values) and is_text


# ---- checking lines ----


def fail(line: int, message: str, cause: BaseException | None = None) -> NoReturn:
    """Raise RecordError for a line."""
    raise RecordError(f"line {line}: {message}", line) from cause


def quoted(value: object) -> str:
    """Return a value as JSON for a message, at most 200 characters."""
    try:
        text = json.dumps(value)
    except RecursionError:  # parsing succeeded with a shallower call stack
        return "something nested too deeply"
    return text if len(text) <= 200 else f"{text[:197]}..."


def check_header(line: int, value: Event) -> Schema:
    """Check that a header has exactly its fields with valid values; return the schema of
    its game.
    """
    players, is_task = value.get("players"), value.get("format") == TASK_FORMAT
    kinds = schema(players if isinstance(players, int) else 0, is_task)
    _check(line, "the header", value, kinds["header"])
    try:
        expected = header_of(options_in(value), value["seed"], value["agents"])
    except OptionError as error:
        fail(line, f'"{"task" if is_task else "rings"}": {error}', error)
    for name in expected:
        if value[name] != expected[name]:
            wanted = f"{quoted(expected[name])} in task {expected['task']}"
            fail(line, f'"{name}" must be {wanted}, not {quoted(value[name])}')
    if is_task and len(numbers_of(value["task"])) > 1:
        fail(line, f'"task" must name an opening, such as {task_name(value["task"])}/0')
    return kinds


def check_event(line: int, value: Event, kinds: Schema, kind: str | None = None) -> None:
    """Check that an event has exactly its fields with valid values.

    Args:
        line: number of the line.
        value: the event.
        kinds: the schema of its game.
        kind: the required kind; None: any.
    """
    found = kind or value.get("event")
    if not isinstance(found, str) or found not in kinds:
        fail(line, f'"event" must be one of {", ".join([*kinds][2:])}, not {quoted(found)}')
    fields = kinds[found]
    if found == "action" and "legal" in value:  # optional for actions
        fields = {**fields, "legal": RecordField(range(NUM_ACTIONS), many=range(NUM_ACTIONS + 1))}
    _check(line, f'"{found}"', value, fields)


def _check(line: int, what: str, value: Event, fields: dict[str, RecordField]) -> None:
    for name in [name for name in fields if name in value]:
        if not _fits(value[name], fields[name]):
            fail(line, f'{what}: "{name}" must be {fields[name]}, not {quoted(value[name])}')
    if value.keys() != fields.keys():
        fail(line, f"{what} must have the fields {', '.join(fields)}, not {quoted([*value])}")
