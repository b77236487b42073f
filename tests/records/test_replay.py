"""Replay of records: exact restoration, and the first line that breaks the rules."""

import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from recorded import (
    BASE,
    TABLES,
    TWICE,
    as_text,
    at,
    base_record,
    change_line,
    error_of,
    lines_of,
)

from crowd_games import played
from fuzz import wrong_line
from judging import shuffled_rings
from referee import check_record
from skyenv import records
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.errors import OptionError
from skyenv.records.reader import MAX_LINE

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = sorted(FOLDER.glob("*.jsonl"))
each_table = pytest.mark.parametrize(("players", "side"), TABLES)


# ---- there and back ----


@pytest.mark.compiled
@pytest.mark.parametrize("actions", [0, 90, None])
@each_table
def test_a_game_is_restored_from_its_record(players: int, side: str, actions: int | None) -> None:
    """Byte for byte, with or without the seed, on any board; the game continues as the original
    would.
    """
    agent = ("random", "crowd", "hoard")[players - 2]
    board = shuffled_rings(random.Random(players), side)
    options: dict[str, Any] = {"agent": agent, "turns": 40, "legal": players == 3}
    game = played(players, 2, actions, side, board=board, **options)
    text, names = game.to_record([agent] * players), [agent] * players
    again = Game.from_record(text)
    assert again == game
    assert (again.to_record(names), again.outcome, again.seed) == (text, game.outcome, 2)
    header, *lines = lines_of(text)
    foreign = as_text([{**header, "seed": None}, *lines])
    assert Game.from_record(foreign).to_record(names) == foreign
    while not game.is_over:
        action = decide_game(game, make_agent(agent))
        assert again.play(action) == game.play(action)
    assert again.to_record() == game.to_record()
    check_record(game.to_record().splitlines())


@pytest.mark.compiled
def test_records_without_or_with_another_seed_can_be_replayed() -> None:
    """Only a seed that decides the game is written again; others may be another generator's."""
    lines = lines_of(played(2, seed=3, turns=60).to_record())
    for seed in (None, 3, 4, 2**63 - 1):
        lines[0]["seed"] = seed
        again = Game.from_record(as_text(lines))
        head = {**lines[0], "seed": 3 if seed == 3 else None}
        assert lines_of(again.to_record()) == [head, *lines[1:]]


@pytest.mark.compiled
def test_a_seed_refuted_by_later_chance_is_dropped() -> None:
    game = played(3, seed=3, actions=40)
    while len(outcomes := game.chance_ahead(game.legal_actions[0])) < 2:
        game.play(game.legal_actions[0])
    own = game.copy().play(game.legal_actions[0])
    for outcome in outcomes:
        other = game.copy()
        if other.play(game.legal_actions[0], [outcome]) != own:
            break
    actions = sum(event["event"] == "action" for event in other.events)
    foreign = other.to_record().replace('"seed": null', '"seed": 3')
    told = [Game.from_record(foreign, step=step).seed for step in (0, actions - 1, actions)]
    assert told == [3, 3, None]


def test_key_order_and_white_space_do_not_matter() -> None:
    text = played(4, side="back", turns=30).to_record()
    lines = [dict(reversed(line.items())) for line in lines_of(text)]
    lines[1]["hands"] = [dict(reversed(hand.items())) for hand in lines[1]["hands"]]
    shuffled = [json.dumps(line, separators=(",", "  :")) for line in lines]
    assert Game.from_record(as_text(shuffled)).to_record() == text


@pytest.mark.compiled
def test_replay_restores_the_position_of_every_step() -> None:
    """Also if later lines are damaged."""
    full = played(3, side="back", turns=40).to_record()
    game, step = Game(3, "back", 1, max_turns=40), 0
    for line in lines_of(full)[2:]:
        if line["event"] == "action":
            if step % 17 == 0:
                again = Game.from_record(full, step=step)
                assert again == game
                assert again.events == game.events
            game.play(line["action"])
            step += 1
    for wrong in (-1, step + 1):
        with pytest.raises(OptionError, match="step"):
            Game.from_record(full, step=wrong)
    head = full.splitlines()[:40]
    actions = sum('"action"' in line for line in head)
    cut = "\n".join([*head, '{"event": "act'])
    assert Game.from_record(cut, step=actions - 1).state["decisions"] == actions - 1


def test_verify_counts_games_and_actions_and_reports_progress() -> None:
    text = "".join(played(2, seed=seed, turns=5).to_record() for seed in range(3))
    summaries: list[records.VerifySummary] = []
    summary = records.verify(io.StringIO(text), summaries.append)
    assert summary == records.VerifySummary(3, text.count('"event": "action"'))
    assert [done.games for done in summaries] == [1, 2, 3]
    assert summaries[-1] == summary


@pytest.mark.compiled
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_records_are_reproduced_from_seeds_and_actions(
    path: Path,
) -> None:
    """Byte for byte: a seed decides the same chance in every version."""
    text, made = path.read_text(encoding="utf-8"), ""
    assert records.verify(path).games == len(check_record(text.splitlines())) > 0
    for lines in records.iter_games(path):
        header = lines.header.value
        turns = header["max_turns"]
        game = Game(header["players"], header["side"], header["seed"], max_turns=turns)
        for line in lines.events:
            if line.value["event"] == "action":
                was_legal = {"legal": game.legal_actions} if "legal" in line.value else {}
                game.play(line.value["action"])[0].update(was_legal)
        made += game.to_record(header["agents"])
    assert made == text


# ---- damaged records ----

DELETED: Final[list[Any]] = []


def option_c(lines: list[Any]) -> int:
    """The first action C."""
    return at(lines, "action", name="option C")


def lone_black(lines: list[Any]) -> int:
    """A black card that is drawn alone: among several the wrong one isn't told at once."""
    return option_c(lines) + 1


def four_green_sixes(setup: Any) -> None:
    """COM-1: there are three."""
    for hand in setup["hands"]:
        hand["green"] = [6]
    setup["tops"]["green"] = 6


def all_green(setup: Any) -> None:
    """SET-1: no colour more than twice."""
    for plot in setup["plots"].values():
        plot[0] = "green"


def missing_tiles(park: Any) -> None:
    """END-3: three tiles that the park area doesn't have."""
    parked = [line["business"] for line in base_record()[2:] if line["event"] == "tile to park"]
    names = ("boutique", "jeweller", "gallery", "perfumery")
    park["tiles"] = [next(name for name in names if parked.count(name) < 3)] * 3


def one_vp_more(line: Any) -> None:
    """Forge a VP."""
    line["vp" if "vp" in line else "scores"][1] += 1


RING = ["green", "violet", "brown", "orange", "gray"]
# Changes to one line of the base record, and patterns of what the message says of them. The line:
# its index, its event, or a function that finds its index. The change: fields to set; a function
# that changes it; a text, or a list of lines, that stand instead of it, in which ``...`` is the
# line.
DAMAGES: dict[str, tuple[int | str | Callable[[list[Any]], int], Any, str]] = {
    # the header
    "unknown format": (0, {"format": "other"}, '"format" must be .*skyenv-record'),
    "newer version": (0, {"version": 2, "new": 1}, '"version" must be'),
    "version is true": (0, {"version": True}, '"version" must be'),
    "five players": (0, {"players": 5}, '"players" must be an integer from 2 to 4, not 5'),
    "players is true": (0, {"players": True}, '"players" must be'),
    "players is huge": (0, {"players": 10**300}, '"players" must be'),
    "third side": (0, {"side": "edge"}, '"side" must be one of front, back'),
    "back side without sixth": (0, {"side": "back"}, '"rings": district W34: its ring'),
    "six rings": (0, {"rings": [RING] * 6}, '"rings" must be'),
    "ring of objects": (0, {"rings": [[{}] * 5] * 7}, '"rings": .* each once, not'),
    "ring is a number": (0, {"rings": [1] * 7}, '"rings" must be'),
    "no turns": (0, {"max_turns": 0}, '"max_turns" must be'),
    "too many turns": (0, {"max_turns": 2**31}, '"max_turns" must be'),
    "negative seed": (0, {"seed": -1}, '"seed" must be null or an integer'),
    "seed too large": (0, {"seed": 2**63}, '"seed" must be'),
    "seed is a text": (0, {"seed": "7"}, '"seed" must be'),
    "too few agents": (0, {"agents": ["random"]}, '"agents" must be'),
    "agent is half a character": (0, {"agents": ["\ud800"] * BASE}, "unpaired surrogate"),
    "field too many": (0, {"comment": "hello"}, "must have the fields"),
    "header lacks a field": (0, lambda line: line.pop("seed"), "must have the fields"),
    "no header": (0, DELETED, "the header must have the fields"),
    # the setup
    "no setup": (1, DELETED, '"setup": "event" must be'),
    "setup lacks a field": (1, lambda line: line.pop("row"), "must have the fields"),
    "district missing": (1, lambda line: line["plots"].pop("TSQ"), '"plots" must be'),
    "unknown business": (1, {"row": ["bakery"] * 20}, '"row" must be'),
    "unhashable plot": (1, lambda line: line["plots"].update(TSQ=[[], {}]), '"plots" must be'),
    "sixth plot": (1, lambda line: line["plots"].update(TSQ=["sixth", "gallery"]), "no such"),
    "row too long": (1, lambda line: line["row"].append("boutique"), '"row" .* 20'),
    "ten boutiques": (1, {"row": ["boutique"] * 20}, "no such setup"),
    "all plots green": (1, all_green, "no such setup"),
    "hand is a list": (1, {"hands": [[]] * BASE}, '"hands" must be'),
    "hand missing": (1, lambda line: line["hands"].pop(), '"hands" must be'),
    "card of value 7": (1, lambda line: line["hands"][1].update(green=[7]), '"hands" must'),
    "unsorted": (1, lambda line: line["hands"][0].update(black=[6, 5, 4, 4]), "the rules"),
    "true as a card": (1, lambda line: line["hands"][0].update(green=[True]), '"hands" must'),
    "four green sixes": (1, four_green_sixes, "no such setup"),
    "top missing": (1, lambda line: line["tops"].pop("gray"), '"tops" must be'),
    "top is null": (1, lambda line: line["tops"].update(gray=None), '"tops" must be'),
    # lines that are wrong in themselves
    "not JSON": ("vp", '{"event": "vp", ', "no JSON object"),
    "text behind the object": ("vp", '{"event": "shuffle"} {}', "no JSON object: Extra data"),
    "a list": ("vp", "[1, 2]", "no JSON object"),
    "empty line": ("vp", "", "no JSON object"),
    "line of blanks": ("vp", "  \t", "no JSON object"),
    "name twice": ("vp", '{"event": "shuffle", "event": "shuffle"}', "stands twice"),
    "NaN": ("vp", '{"event": "won", "seat": NaN, "total": 0}', '"seat" must be'),
    "infinity": ("vp", '{"event": "won", "seat": -Infinity, "total": 0}', '"seat" must be'),
    "fraction": ("vp", '{"event": "won", "seat": 1.0, "total": 9}', '"seat" must be'),
    "exponent": ("vp", '{"event": "won", "seat": 1, "total": 1e4000000}', '"total" must be'),
    "long number": ("vp", '{"event": "won", "seat": 1, "total": %s}' % ("9" * 999), "total"),
    "huge number": ("vp", '{"event": "won", "seat": 1, "total": %s}' % ("9" * 50000), "digi"),
    "deep nesting": ("vp", "[" * 30000, "no JSON object: maximum recursion"),
    "deep objects": ("vp", '{"a":' * 10000, "no JSON object: maximum recursion"),
    "long line": ("vp", '{"event": "%s"}' % ("x" * MAX_LINE), "longer than 65536"),
    "unknown event": ("vp", '{"event": "coffee"}', '"event" must be one of'),
    "event is a list": ("vp", '{"event": []}', '"event" must be one of'),
    "no event": ("vp", '{"seat": 1}', '"event" must be one of'),
    "second setup": (2, [{"event": "setup"}, ...], "must have the fields"),
    "seat too high": ("black", {"seat": 3}, '"seat" must be an integer from 0 to 2'),
    "true as a seat": ("action", {"seat": True}, '"seat" must be'),
    "action 103": ("action", {"action": 103}, '"action" must be an integer from 0 to 102'),
    "legal is no list": ("action", {"legal": 5}, '"legal" must be'),
    "legal is not ascending": ("action", {"legal": [14, 13]}, "the rules give"),
    "field of another event": ("black", {"color": "green"}, '"black" must have the fields'),
    "unhashable place": ("auction", {"place": ["TSQ"]}, '"place" must be one of'),
    "vp for two": ("vp", {"vp": [0, 0]}, '"vp" must be'),
    # lines that the rules don't give
    "illegal action": (2, {"action": 102, "name": "stop"}, '"stop" is not legal here'),
    "name of another action": ("action", {"name": "pass"}, "the rules give"),
    "wrong legal actions": (option_c, lambda line: line["legal"].pop(), "the rules give"),
    "another seat draws": ("black", lambda b: b.update(seat=(b["seat"] + 1) % BASE), "rules"),
    "forged vp": ("vp", one_vp_more, "the rules give"),
    "forged score": (-1, one_vp_more, "the rules give"),
    "forged total": ("won", {"total": 299}, "the rules give"),
    "vp for a reason that isn't": ("vp", {"why": "park"}, "the rules give"),
    "no new top": ("top", DELETED, r'the rules give \{"event": "top", .*"card": "\?"\}'),
    "card not drawn": (lone_black, DELETED, r'"card": "\?"\}'),
    "card drawn once more": (lone_black, TWICE, "the rules give nothing more"),
    "action played twice": ("action", TWICE, "is not legal here"),
    "auction left out": ("auction", DELETED, "the rules give"),
    "winner left out": ("won", DELETED, "the rules give"),
    "tile left out": ("tile to park", DELETED, "the rules give"),
    "shuffle that isn't due": ("black", [{"event": "shuffle"}, ...], "the rules give"),
    "Alea in a game of three": ("won", [{"event": "alea", "cards": [4, 4]}, ...], ""),
    "event before the first action": (2, [{"event": "shuffle"}, ...], "decision of seat 0"),
    "stack said to be empty": ("top", {"card": None}, r'the rules give .*"card": "\?"\}'),
    "park of other tiles": ("park", missing_tiles, '"tiles": "[?]"'),
}


# Changes of whole files, and which line is to blame: 0 for the last, 1 for the one behind it.
FILES: dict[str, tuple[Callable[[list[Any]], list[Any]], int, str]] = {
    "empty file": (lambda lines: [], 1, "empty"),
    "header alone": (lambda lines: lines[:1], 1, "the record ends where the setup is due"),
    "setup is last": (lambda lines: lines[:2], 1, "has not ended"),
    "cut behind an action": (lambda lines: lines[: at(lines, "won") + 1], 1, "has not ended"),
    "cut before the end": (lambda lines: lines[:-1], 1, 'the rules give {"event": "end"'),
    "second game cut": (lambda lines: lines + lines[: at(lines, "won") + 1], 1, "has not ended"),
    "first game cut": (
        lambda lines: lines[: at(lines, "won") + 1] + lines,
        1 - len(base_record()),
        "has not ended.*; 1 of 2 games have no end",
    ),
    "end lost between two games": (
        lambda lines: lines[:-1] + lines,
        1 - len(base_record()),
        'the rules give {"event": "end"',
    ),
    "event behind the end": (lambda lines: [*lines, {"event": "shuffle"}], 0, "game has ended"),
    "hands for other players": (
        lambda lines: [{**lines[0], "players": 4, "agents": None}, lines[1]],
        0,
        '"hands" must be',
    ),
}


# What the referee, to which the rules alone matter, lets pass.
UNLIMITED: Final = {
    *("too many turns", "negative seed", "seed too large", "agent is half a character"),
    *("deep nesting", "deep objects", "empty file"),
}


def check_error(lines: list[Any], number: int, message: str, name: str = "") -> None:
    """Verifying the lines ends in one short line about one of them, which the referee blames,
    too.
    """
    error = error_of(as_text(lines))
    assert name in UNLIMITED or wrong_line(check_record, as_text(lines).splitlines()) == number
    assert error.line == number
    assert str(error).startswith(f"line {number}: ")
    assert re.search(message, str(error))
    assert "\n" not in str(error)
    assert len(str(error)) < 600


@pytest.mark.compiled
@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_records_give_one_error_with_the_line(name: str) -> None:
    place, change, message = DAMAGES[name]
    lines = json.loads(json.dumps(base_record()))
    check_error(lines, change_line(lines, place, change) + 1, message, name)


@pytest.mark.compiled
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_give_one_error_with_the_line(name: str) -> None:
    change, behind, message = FILES[name]
    lines = change(base_record())
    check_error(lines, len(lines) + behind, message, name)


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (lambda cards: cards[:-1], "the rules give"),
        (lambda cards: [*cards, cards[0]], "the rules give"),
        (lambda cards: [], "the rules give"),
        (lambda cards: [4, 5, 6, 7], '"cards" must be'),
    ],
)
def test_impossible_cards_of_alea_are_refused(
    cards: Callable[[list[int]], list[int]], message: str
) -> None:
    lines = lines_of((FOLDER / "two_players_alea.jsonl").read_text(encoding="utf-8"))
    index = next(i for i, line in enumerate(lines) if 0 < len(line.get("cards", "")) < 4)
    lines[index]["cards"] = cards(lines[index]["cards"])
    check_error(lines, index + 1, message)


def test_the_cards_of_alea_are_blamed_rather_than_the_shuffle_that_they_imply() -> None:
    """Without the impossible card she turns up fewer, and no shuffle is due before her line."""
    lines = lines_of(played(2, seed=17, turns=60, agent="random").to_record())
    assert (lines[219]["cards"], lines[403], lines[404]["event"]) == (
        [5, 4, 4],
        {"event": "shuffle"},
        "alea",
    )
    # With other cards before, those of line 405 are no longer all in the stack.
    lines[0]["seed"], lines[219]["cards"] = None, [5, 4, 5]
    check_error(lines, 405, 'the record says {"event": "alea"')


def test_the_first_of_two_faults_is_reported() -> None:
    lines = json.loads(json.dumps(base_record()))
    first = at(lines, "vp")
    one_vp_more(lines[first])
    lines[first + 1] = "not JSON"
    check_error(lines, first + 1, "the rules give")
