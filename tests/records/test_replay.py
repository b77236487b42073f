"""Replaying records: games come back to the same bytes, and the first line that differs from the
rules is told.
"""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from recorded import BASE, TABLES, as_text, at, base_record, error_of, lines_of, played

from referee import Refutation, check_record
from skyenv import records
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.errors import OptionError, RecordError
from skyenv.records.reader import MAX_LINE
from skyenv.rules.board import make_board
from test_referee import random_game

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.jsonl"))


# ---- there and back ----


@pytest.mark.compiled
@pytest.mark.parametrize("agent", ["random", "crowd", "hoard"])
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_record_replay_record_gives_the_same_bytes(players: int, side: str, agent: str) -> None:
    for seed in range(3):
        game = played(players, side, seed, agent=agent, max_turns=120)
        names = [agent] * players
        text = game.to_record(names)
        again = Game.from_record(text)
        assert again.to_record(names) == text
        assert again.outcome == game.outcome
        check_record(text.splitlines())


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_a_record_with_legal_actions_replays_to_the_same_bytes(players: int, side: str) -> None:
    game = played(players, side, 5, legal=True, max_turns=60)
    text = game.to_record()
    assert all("legal" in line for line in lines_of(text)[2:] if line["event"] == "action")
    assert Game.from_record(text).to_record() == text
    check_record(text.splitlines())


@pytest.mark.compiled
def test_replaying_needs_no_seed() -> None:
    """And only the one that decides the game is told again."""
    lines = lines_of(played(2, agent="crowd", seed=3).to_record())
    for seed in (None, 3, 4, 2**63 - 1):
        lines[0]["seed"] = seed
        again = Game.from_record(as_text(lines))
        assert lines_of(again.to_record()) == [
            {**lines[0], "seed": 3 if seed == 3 else None},
            *lines[1:],
        ]


@pytest.mark.compiled
def test_the_order_of_names_and_the_spaces_do_not_matter() -> None:
    text = played(4, "back", max_turns=30).to_record()
    shuffled = [
        json.dumps(dict(reversed(line.items())), separators=(",", "  :")) for line in lines_of(text)
    ]
    lines_of_setup = json.loads(shuffled[1])
    lines_of_setup["hands"] = [dict(reversed(hand.items())) for hand in lines_of_setup["hands"]]
    shuffled[1] = json.dumps(lines_of_setup)
    assert Game.from_record(as_text(shuffled)).to_record() == text


def test_the_board_of_the_record_is_the_board_of_the_game() -> None:
    board = make_board("back", {"TSQ": ["sixth", "gray", "violet", "green", "brown", "orange"]})
    text = played(3, "back", board=board, max_turns=80).to_record()
    again = Game.from_record(text)
    assert again.board == board
    assert again.to_record() == text


def test_an_unfinished_game_has_a_record_too_and_goes_on_from_it() -> None:
    for actions in (0, 1, 7, 100):
        game = played(2, actions=actions)
        again = Game.from_record(game.to_record())
        assert (again.seat, again.phase, again.legal_actions) == (
            game.seat,
            game.phase,
            game.legal_actions,
        )
        again.play(again.legal_actions[0])


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_a_game_goes_on_from_its_record_as_it_would_have_gone_on(players: int, side: str) -> None:
    """Its seed and its actions decide it, and so its record may tell the seed."""
    agent = make_agent("crowd")
    for actions in (0, 1, 30, 90):
        game = played(players, side, 11, agent="crowd", actions=actions, max_turns=30)
        again = Game.from_record(game.to_record())
        assert again == game
        while not game.is_over:
            assert again.play(decide_game(again, agent)) == game.play(decide_game(game, agent))
        assert again.to_record() == game.to_record()
        assert again.seed == 11
        by_seed = Game(players, side, 11, max_turns=30)
        for event in again.events:
            if event["event"] == "action":
                by_seed.play(event["action"])
        assert by_seed.to_record() == again.to_record()


@pytest.mark.compiled
@pytest.mark.parametrize("actions", [0, 60])
def test_a_game_with_other_chance_than_its_records_seed_tells_no_seed(actions: int) -> None:
    """A record may tell any seed, that of another program's generator."""
    text = played(3, seed=3, agent="crowd", actions=actions).to_record()
    game = Game.from_record(text.replace('"seed": 3,', '"seed": 4,'))
    for _ in range(2):
        assert [game.seed, lines_of(game.to_record())[0]["seed"]] == [None, None]
        assert Game.from_record(game.to_record()).to_record() == game.to_record()
        game.play(game.legal_actions[0])


@pytest.mark.compiled
def test_a_seed_that_is_right_up_to_some_action_is_not_told_behind_it() -> None:
    game = played(3, seed=3, agent="crowd", actions=40)
    while len(outcomes := game.chance_ahead(game.legal_actions[0])) < 2:
        game.play(game.legal_actions[0])
    own = game.copy().play(game.legal_actions[0])
    for outcome in outcomes:
        other = game.copy()
        if other.play(game.legal_actions[0], [outcome]) != own:
            break
    actions = sum(event["event"] == "action" for event in other.events)
    foreign = other.to_record().replace('"seed": null', '"seed": 3')
    assert [Game.from_record(foreign, step=step).seed for step in (0, actions - 1, actions)] == [
        3,
        3,
        None,
    ]


@pytest.mark.compiled
def test_every_step_is_the_position_that_it_was() -> None:
    full = played(3, "back", agent="crowd", max_turns=40)
    text = full.to_record()
    game = Game(3, "back", 1, max_turns=40)
    actions = [event["action"] for event in full.events if event["event"] == "action"]
    for step, action in enumerate([*actions, None]):
        if step % 17 == 0 or action is None:
            again = Game.from_record(text, step=step)
            assert (again.seat, again.phase, again.scores) == (game.seat, game.phase, game.scores)
            assert again.events == game.events
        if action is not None:
            game.play(action)
    assert game.is_over


def test_a_step_before_the_damage_can_be_shown() -> None:
    text = played(3, max_turns=20).to_record()
    head = text.splitlines()[:40]
    actions = sum('"action"' in line for line in head)
    cut = "\n".join([*head, '{"event": "act'])
    assert (
        sum(event["event"] == "action" for event in Game.from_record(cut, step=actions - 1).events)
        == actions - 1
    )
    assert error_of(cut).line == 41


def test_one_game_of_many() -> None:
    text = "".join(played(players, max_turns=4).to_record() for players in (2, 3, 4))
    assert [Game.from_record(text, game).num_players for game in (1, 2, 3)] == [2, 3, 4]
    with pytest.raises(OptionError, match="no game 4: the record has 3"):
        Game.from_record(text, 4)
    with pytest.raises(OptionError, match="1 or more"):
        Game.from_record(text, 0)


def test_a_step_that_is_not_there() -> None:
    text = played(2, actions=9).to_record()
    with pytest.raises(OptionError, match="no step 10: the game has 9 actions"):
        Game.from_record(text, step=10)
    with pytest.raises(OptionError, match="0 or more"):
        Game.from_record(text, step=-1)


def test_verify_counts_games_and_actions_and_tells_of_them() -> None:
    games = [played(2, seed=seed, max_turns=5) for seed in range(3)]
    text = "".join(game.to_record() for game in games)
    summaries: list[records.VerifySummary] = []
    summary = records.verify(io.StringIO(text), summaries.append)
    assert summary == records.VerifySummary(3, text.count('"event": "action"'))
    assert [done.games for done in summaries] == [1, 2, 3]
    assert summaries[-1] == summary


@pytest.mark.compiled
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_records_are_right(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert records.verify(path).games == len(check_record(text.splitlines())) > 0
    with path.open("rb") as stream:
        games = [
            (lines.header.value["agents"], Game.replay(lines))
            for lines in records.iter_games(stream)
        ]
    assert "".join(game.to_record(agents) for agents, game in games) == text


@pytest.mark.compiled
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_records_are_made_again_by_their_seeds_and_actions(path: Path) -> None:
    """Byte for byte, from nothing else: in every version a seed decides the same chance."""
    made = ""
    for lines in records.iter_games(path):
        header = lines.header.value
        assert header["rings"] == [list(ring) for ring in make_board(header["side"]).rings]
        game = Game(
            header["players"], header["side"], header["seed"], max_turns=header["max_turns"]
        )
        for line in lines.events:
            if line.value["event"] == "action":
                game.play(line.value["action"], note_legal="legal" in line.value)
        made += game.to_record(header["agents"])
    assert made == path.read_text(encoding="utf-8")


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_records_that_another_program_made_are_read_and_written_again(
    players: int, side: str
) -> None:
    """The referee deals and plays by its own dice, on boards with rings in any order, with `legal`
    here and there.
    """
    for seed in range(5):
        lines, summary = random_game(random.Random(seed), players, side, 60 if seed % 2 else 500)
        game = Game.from_record("".join(lines))
        assert game.to_record() == "".join(lines)
        assert game.outcome is not None
        assert list(game.outcome.scores) == list(summary.scores)


# ---- damaged records ----


def setting(event: str, **fields: Any) -> Callable[[list[Any]], int]:
    """Set fields of the first line with an event."""

    def edit(lines: list[Any]) -> int:
        index = at(lines, event)
        lines[index].update(fields)
        return index

    return edit


def header(**fields: Any) -> Callable[[list[Any]], int]:
    """Set fields of the header."""

    def edit(lines: list[Any]) -> int:
        lines[0].update(fields)
        return 0

    return edit


def raw(text: str, event: str = "vp") -> Callable[[list[Any]], int]:
    """Replace the first line with an event by a text."""

    def edit(lines: list[Any]) -> int:
        index = at(lines, event)
        lines[index] = text
        return index

    return edit


def without(event: str) -> Callable[[list[Any]], int]:
    """Leave the first line with an event out."""

    def edit(lines: list[Any]) -> int:
        index = at(lines, event)
        del lines[index]
        return index

    return edit


def twice(event: str) -> Callable[[list[Any]], int]:
    """Repeat the first line with an event."""

    def edit(lines: list[Any]) -> int:
        index = at(lines, event)
        lines.insert(index, lines[index])
        return index + 1

    return edit


def lone_black(lines: list[Any]) -> int:
    """The first black card that is drawn alone, by option C: among several the wrong one isn't told
    at once.
    """
    return next(i for i, line in enumerate(lines) if line.get("name") == "option C") + 1


def without_lone_black(lines: list[Any]) -> int:
    """Leave out the line of a black card that is drawn alone."""
    index = lone_black(lines)
    del lines[index]
    return index


def with_lone_black_twice(lines: list[Any]) -> int:
    """Repeat the line of a black card that is drawn alone."""
    index = lone_black(lines)
    lines.insert(index, lines[index])
    return index + 1


def deleting(index: int) -> Callable[[list[Any]], int]:
    """Leave a line out."""

    def edit(lines: list[Any]) -> int:
        del lines[index]
        return index

    return edit


def inserting(before: int | str, line: Any) -> Callable[[list[Any]], int]:
    """Put a line before the one with an index or the first one with an event."""

    def edit(lines: list[Any]) -> int:
        index = at(lines, before) if isinstance(before, str) else before
        lines.insert(index, line)
        return index

    return edit


def appending(line: Any) -> Callable[[list[Any]], int]:
    """Put a line behind the last one."""

    def edit(lines: list[Any]) -> int:
        lines.append(line)
        return len(lines) - 1

    return edit


def cutting(index: int) -> Callable[[list[Any]], int]:
    """Cut the file before a line."""

    def edit(lines: list[Any]) -> int:
        del lines[index:]
        return len(lines)

    return edit


def in_setup(change: Callable[[Any], object]) -> Callable[[list[Any]], int]:
    """Change the setup's line."""

    def edit(lines: list[Any]) -> int:
        change(lines[1])
        return 1

    return edit


def without_field(index: int, name: str) -> Callable[[list[Any]], int]:
    """Take a field out of a line."""

    def edit(lines: list[Any]) -> int:
        del lines[index][name]
        return index

    return edit


def cut_after(event: str) -> Callable[[list[Any]], int]:
    """Cut the file behind the first line with an event."""

    def edit(lines: list[Any]) -> int:
        index = at(lines, event)
        del lines[index + 1 :]
        return index + 1

    return edit


def illegal_action(lines: list[Any]) -> int:
    """The first action becomes one that isn't legal, with its right name."""
    lines[2].update(action=102, name="stop")
    return 2


def wrong_legal(lines: list[Any]) -> int:
    """A legal action is missing in the list."""
    index = at(lines, "action", name="option C")
    lines[index]["legal"] = lines[index]["legal"][:-1]
    return index


def other_black(lines: list[Any]) -> int:
    """Somebody else draws the black card."""
    index = at(lines, "black")
    lines[index]["seat"] = (lines[index]["seat"] + 1) % BASE
    return index


def other_scores(lines: list[Any]) -> int:
    """One VP is forged at the end."""
    lines[-1]["scores"][0] += 1
    return len(lines) - 1


def other_vp(lines: list[Any]) -> int:
    """One VP is forged on the way."""
    index = at(lines, "vp")
    lines[index]["vp"][1] += 1
    return index


def four_players(lines: list[Any]) -> int:
    """The header says four, so the setup lacks a hand."""
    lines[0].update(players=4, agents=None)
    return 1


def second_game_cut(lines: list[Any]) -> int:
    """A second game has lost its second half."""
    length = len(lines)
    lines += lines[: at(lines, "won") + 1]
    assert len(lines) > length
    return len(lines)


def lost_end_between(lines: list[Any]) -> int:
    """The first of two games has lost its `end`."""
    whole = list(lines)
    del lines[-1]
    lines += whole
    return len(whole) - 1


def four_green_sixes(setup: Any) -> None:
    """COM-1: there are three."""
    for hand in setup["hands"]:
        hand["green"] = [6]
    setup["tops"]["green"] = 6


def forged_park(lines: list[Any]) -> int:
    """END-3: three tiles that the park area doesn't have."""
    index = at(lines, "park")
    parked = [line["business"] for line in lines[2:] if line["event"] == "tile to park"]
    missing = next(
        name for name in ("boutique", "jeweller", "gallery", "perfumery") if parked.count(name) < 3
    )
    lines[index]["tiles"] = [missing] * 3
    return index


class Damage(NamedTuple):
    """A change to the base record that returns the index of the line to blame, and what the message
    says of it.
    """

    name: str
    edit: Callable[[list[Any]], int]
    message: str


DAMAGES = [
    # the header
    Damage("unknown format", header(format="other"), 'format must be "skyenv-record"'),
    Damage("newer version", header(version=2), "version 1"),
    Damage("version is true", header(version=True), "version"),
    Damage("five players", header(players=5), '"players" must be an integer from 2 to 4, not 5'),
    Damage("players is true", header(players=True), "players"),
    Damage("third side", header(side="edge"), '"side" must be one of front, back'),
    Damage(
        "back side without sixth",
        header(side="back"),
        '"rings": district W34: sixth is there 0 times',
    ),
    Damage(
        "six rings",
        header(rings=[["green", "violet", "brown", "orange", "gray"]] * 6),
        "seven districts",
    ),
    Damage("ring of objects", header(rings=[[{}] * 5] * 7), "is no plot"),
    Damage("ring is a number", header(rings=[1] * 7), "rings"),
    Damage("no turns", header(max_turns=0), "max_turns"),
    Damage("too many turns", header(max_turns=2**31), "max_turns"),
    Damage("negative seed", header(seed=-1), "seed"),
    Damage("seed too large", header(seed=2**63), "seed"),
    Damage("seed is a text", header(seed="7"), "seed"),
    Damage("too few agents", header(agents=["random"]), "agents"),
    Damage("agent is half a character", header(agents=["\ud800"] * BASE), "agents"),
    Damage("field too many", header(comment="hello"), 'a header has no "comment"'),
    Damage("header lacks a field", without_field(0, "seed"), 'a header lacks "seed"'),
    Damage("hands for other players", four_players, '"hands" must be a list of one hand per seat'),
    Damage("no header", deleting(0), "a game must begin with its header"),
    # the setup
    Damage("no setup", deleting(1), "the setup is due here"),
    Damage("setup lacks a field", without_field(1, "row"), 'a setup lacks "row"'),
    Damage("district missing", in_setup(lambda setup: setup["plots"].pop("TSQ")), 'lacks "TSQ"'),
    Damage(
        "unknown business",
        in_setup(lambda setup: setup["row"].__setitem__(3, "bakery")),
        '"row" must be',
    ),
    Damage("unhashable plot", in_setup(lambda setup: setup["plots"].update(TSQ=[[], {}])), "TSQ"),
    Damage(
        "sixth plot on the front",
        in_setup(lambda setup: setup["plots"].update(TSQ=["sixth", "boutique"])),
        "TSQ",
    ),
    Damage("row too long", in_setup(lambda setup: setup["row"].append("boutique")), "20"),
    Damage(
        "ten boutiques",
        in_setup(lambda setup: setup.update(row=["boutique"] * 20)),
        "no such setup",
    ),
    Damage(
        "all plots green",
        in_setup(lambda setup: [plot.__setitem__(0, "green") for plot in setup["plots"].values()]),
        "no such setup",
    ),
    Damage("hand is a list", in_setup(lambda setup: setup["hands"].__setitem__(0, [])), "hands"),
    Damage("hand missing", in_setup(lambda setup: setup["hands"].pop()), "hands"),
    Damage(
        "card of value 7",
        in_setup(lambda setup: setup["hands"][1].update(green=[7])),
        "green must be",
    ),
    Damage(
        "hand out of order",
        in_setup(lambda setup: setup["hands"][0].update(black=[6, 5, 4, 4])),
        "ascending",
    ),
    Damage(
        "true as a card",
        in_setup(lambda setup: setup["hands"][0].update(green=[True])),
        "green must be",
    ),
    Damage("four green sixes", in_setup(four_green_sixes), "no such setup"),
    Damage("top missing", in_setup(lambda setup: setup["tops"].pop("gray")), 'lacks "gray"'),
    Damage(
        "top is null",
        in_setup(lambda setup: setup["tops"].update(gray=None)),
        '"gray" must be 4, 5 or 6',
    ),
    # lines that are wrong in themselves
    Damage("not JSON", raw('{"event": "vp", '), "not JSON"),
    Damage("text behind the object", raw('{"event": "shuffle"} {}'), "not JSON: Extra data"),
    Damage("a list", raw("[1, 2]"), "must be one JSON object"),
    Damage("empty line", raw(""), "empty line"),
    Damage("line of blanks", raw("  \t"), "empty line"),
    Damage("name twice", raw('{"event": "shuffle", "event": "shuffle"}'), '"event" stands twice'),
    Damage("NaN", raw('{"event": "won", "seat": NaN, "total": 0}'), "NaN is no integer"),
    Damage("infinity", raw('{"event": "won", "seat": -Infinity, "total": 0}'), "Infinity"),
    Damage("fraction", raw('{"event": "won", "seat": 1.0, "total": 9}'), "1.0 is no integer"),
    Damage("exponent", raw('{"event": "won", "seat": 1, "total": 1e400000000}'), "is no integer"),
    Damage(
        "huge number",
        raw('{"event": "won", "seat": 1, "total": %s}' % ("9" * 50000)),
        "50000 digits",
    ),
    Damage("deep nesting", raw("[" * 30000), "nested too deeply"),
    Damage("deep objects", raw('{"a":' * 10000), "nested too deeply"),
    Damage("long line", raw('{"event": "%s"}' % ("x" * MAX_LINE)), "longer than 65536"),
    Damage("unknown event", raw('{"event": "coffee"}'), '"event" must be one of'),
    Damage("event is a list", raw('{"event": []}'), '"event" must be one of'),
    Damage("no event", raw('{"seat": 1}'), '"event" must be one of'),
    Damage("second setup", inserting(2, {"event": "setup"}), '"event" must be one of'),
    Damage("seat too high", setting("black", seat=3), '"seat" must be a seat'),
    Damage("true as a seat", setting("action", seat=True), '"seat" must be a seat'),
    Damage(
        "action 103", setting("action", action=103), '"action" must be an integer from 0 to 102'
    ),
    Damage("legal is no list", setting("action", legal=5), '"legal" must be'),
    Damage("legal is not ascending", setting("action", legal=[14, 13]), '"legal" must be'),
    Damage("field of another event", setting("black", color="green"), '"black" has no "color"'),
    Damage("unhashable place", setting("auction", place=["TSQ"]), '"place" must be one of'),
    Damage("vp for two", setting("vp", vp=[0, 0]), '"vp" must be'),
    # lines that the rules don't give
    Damage("illegal action", illegal_action, '"stop" is not legal here'),
    Damage("name of another action", setting("action", name="pass"), "the rules give"),
    Damage("wrong legal actions", wrong_legal, "the rules give"),
    Damage("somebody else draws", other_black, "the rules give"),
    Damage("forged vp", other_vp, "the rules give"),
    Damage("forged score", other_scores, "the rules give"),
    Damage("forged total", setting("won", total=299), "the rules give"),
    Damage("vp for a reason that isn't", setting("vp", why="park"), "the rules give"),
    Damage(
        "no new top",
        without("top"),
        r'the rules give \{"event": "top", "color": "\w+", "card": "\?"\}',
    ),
    Damage("card not drawn", without_lone_black, r'"card": "\?"\}'),
    Damage("card drawn once more", with_lone_black_twice, "the rules give nothing more"),
    Damage("action played twice", twice("action"), "is not legal here"),
    Damage("auction left out", without("auction"), "the rules give"),
    Damage("winner left out", without("won"), "the rules give"),
    Damage("tile left out", without("tile to park"), "the rules give"),
    Damage(
        "shuffle that isn't due",
        inserting("black", {"event": "shuffle"}),
        "the rules give",
    ),
    Damage(
        "Alea in a game of three",
        inserting("won", {"event": "alea", "cards": [4, 4]}),
        "",
    ),
    Damage("event before the first action", inserting(2, {"event": "shuffle"}), "the rules wait"),
    Damage("stack said to be empty", setting("top", card=None), "the rules give"),
    Damage("park of other tiles", forged_park, "these tiles can't"),
    # files that end too early or too late
    Damage("empty file", cutting(0), "empty"),
    Damage("header alone", cutting(1), "the record ends where the setup is due"),
    Damage("setup is last", cutting(2), "has not ended"),
    Damage("cut behind an action", cut_after("won"), "has not ended"),
    Damage("cut before the end", cutting(-1), 'the rules give {"event": "end"'),
    Damage("second game cut", second_game_cut, "has not ended"),
    Damage("end lost between two games", lost_end_between, 'the rules give {"event": "end"'),
    Damage("action behind the end", appending({"event": "shuffle"}), "the game has ended"),
]


@pytest.mark.compiled
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_damaged_records_give_one_error_with_the_line(damage: Damage) -> None:
    lines = json.loads(json.dumps(base_record()))
    index = damage.edit(lines)
    error = error_of(as_text(lines))
    assert error.line == index + 1
    assert str(error).startswith(f"line {error.line}: ")
    assert re.search(damage.message, str(error))
    assert "\n" not in str(error)
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (lambda cards: cards[:-1], 'in "alea" the rules give'),
        (lambda cards: [*cards, cards[0]], "turn up these cards"),
        (lambda cards: [], 'in "alea" the rules give'),
        (lambda cards: [4, 5, 6, 7], '"cards" must be'),
    ],
)
def test_alea_turns_up_what_the_rules_let_her(
    cards: Callable[[list[int]], list[int]], message: str
) -> None:
    lines = lines_of(
        (Path(__file__).parents[1] / "golden" / "two_players_alea.jsonl").read_text(
            encoding="utf-8"
        )
    )
    index = next(
        i for i, line in enumerate(lines) if line.get("event") == "alea" and len(line["cards"]) < 4
    )
    lines[index]["cards"] = cards(lines[index]["cards"])
    error = error_of(as_text(lines))
    assert error.line == index + 1
    assert message in str(error)


POOL: list[Any] = [
    None,
    True,
    0,
    1,
    4,
    -1,
    7,
    "green",
    "sixth",
    "boutique",
    "TSQ",
    "pass",
    "",
    [],
    {},
    [4],
    [4, 4],
    "random",
]


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value with each of its indices."""
    for index in (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    ):
        yield value, index
        yield from places_in(value[index])


def mutate(lines: list[Any], rng: random.Random) -> None:
    """One change of any kind to the lines of a record."""
    index = rng.randrange(len(lines)) if rng.random() < 0.9 else rng.randrange(2)
    kind = rng.random()
    if kind < 0.1:
        del lines[index]
    elif kind < 0.2:
        lines.insert(rng.randrange(len(lines) + 1), lines[index])
    elif kind < 0.3:
        other = min(index + 1, len(lines) - 1)
        lines[index], lines[other] = lines[other], lines[index]
    else:
        container, place = rng.choice(list(places_in(lines[index])))
        if kind < 0.4:
            del container[place]
        elif kind < 0.7 and type(container[place]) is int:
            container[place] += rng.choice([-1, 1])
        else:
            container[place] = rng.choice(POOL)


def wrong_line(check: Callable[[Any], object], source: Any) -> int | None:
    """The line that a check blames; None if it finds nothing wrong."""
    try:
        check(source)
    except (RecordError, Refutation) as error:
        return error.line or 0
    return None


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_the_referee_finds_the_same_line_wrong(players: int, side: str) -> None:
    text = played(players, side, 4, agent="crowd", max_turns=40, legal=players == 3).to_record()
    rng = random.Random(players)
    for _ in range(40):
        lines = lines_of(text)
        mutate(lines, rng)
        changed = as_text(lines)
        assert wrong_line(records.verify, io.StringIO(changed)) == wrong_line(
            check_record, changed.splitlines()
        ), changed


@pytest.mark.compiled
def test_flipped_bits_give_a_sound_record_or_one_error() -> None:
    good = played(2, seed=9, agent="crowd", max_turns=10).to_record().encode()
    rng = random.Random(1)
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
        assert (
            wrong_line(records.verify, io.BytesIO(bytes(bad))) != 0
        )  # any other exception would end the test


@pytest.mark.parametrize("keep", [1, 10, 60, 200, 500])
def test_every_cut_of_a_file_is_an_error_at_its_last_line(keep: int) -> None:
    text = as_text(base_record())
    cut = text[: len(text) * keep // 501 - 1]
    error = error_of(cut)
    assert error.line in (cut.count("\n") + 1, cut.count("\n") + 2)


def test_the_first_of_two_mistakes_is_told() -> None:
    lines = json.loads(json.dumps(base_record()))
    first = other_vp(lines)
    lines[first + 1] = "not JSON"
    assert error_of(as_text(lines)).line == first + 1


def test_bytes_that_are_no_text() -> None:
    good = played(2, max_turns=3).to_record().encode()
    for junk in (b"\xff\xfe\n", b"\x1f\x8b\x08\x00\n", b"\x00" * 50, "\ufeff{}".encode()):
        assert error_of(junk).line == 1
        assert error_of(good + junk).line == good.count(b"\n") + 1
