"""The referee itself: it plays whole games by chance, knows the rare rules, and refuses wrong
lines.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import referee as ref
from processes import python
from referee import ALEA, BLACK, CENTRAL_PARK, NAMES, Card, Event, Referee, Refutation, Summary

FRONT_RING = ["green", "violet", "brown", "orange", "gray"]
W34, E34, W42, TSQ, E42, W52, E52 = range(7)
GREEN, VIOLET, BROWN, ORANGE, GRAY = range(5)


class Dice:
    """Chance outcomes from a random generator, or scripted ones first; keeps the event lines."""

    def __init__(self, rng: random.Random, script: list[int] | None = None) -> None:
        self.rng = rng
        self.script = script or []
        self.events: list[Event] = []

    def _draw(self, cards: Counter[int]) -> int:
        return self.script.pop(0) if self.script else self.rng.choice(sorted(cards.elements()))

    def black(self, cards: Counter[int]) -> int:
        return self._draw(cards)

    def alea(self, turned: int, cards: Counter[int]) -> int:
        return self._draw(cards)

    def top(self, color: int, cards: Counter[int]) -> int:
        return self._draw(cards)

    def park(self, tiles: Counter[int], count: int) -> list[int]:
        return self.rng.sample(sorted(tiles.elements()), count)

    def emit(self, event: Event) -> None:
        self.events.append(event)


def random_start(
    rng: random.Random, players: int, side: str, max_turns: int
) -> tuple[Event, Event]:
    """A header and a setup by chance, with rings in any order."""
    names = list(FRONT_RING) if side == "front" else [*FRONT_RING, "sixth"]
    header = {
        "format": "skyenv-record",
        "version": 1,
        "players": players,
        "side": side,
        "rings": [rng.sample(names, len(names)) for _ in range(7)],
        "max_turns": max_turns,
        "seed": None,
        "agents": None,
    }
    tiles = [b for b in ref.BUSINESSES for _ in range(9)]
    rng.shuffle(tiles)
    plots = FRONT_RING + rng.sample(FRONT_RING, 2) if side == "front" else ["sixth"] * 7
    rng.shuffle(plots)
    decks = {c: [v for v, n in ref.COLORED_DECK.items() for _ in range(n)] for c in ref.COLORS}
    decks["black"] = [v for v, n in ref.BLACK_DECK.items() for _ in range(n)]
    for deck in decks.values():
        rng.shuffle(deck)
    hands = [
        {
            c: sorted(deck.pop() for _ in range(4 if c == "black" else 1))
            for c, deck in decks.items()
        }
        for _ in range(players)
    ]
    setup = {
        "event": "setup",
        "plots": {d: [plots.pop(), tiles.pop()] for d in ref.DISTRICTS},
        "row": [tiles.pop() for _ in range(20)],
        "hands": hands,
        "tops": {c: decks[c].pop() for c in ref.COLORS},
    }
    return header, setup


def all_cards(game: Referee) -> Counter[Card]:
    """Every bidding card, wherever it is."""
    cards: Counter[Card] = Counter()
    for hand in game.hands:
        cards.update(+hand)
    for color, stack in enumerate(game.stacks):
        tops = [] if stack.top is None else [stack.top]
        cards.update((color, v) for v in [*stack.hidden.elements(), *stack.returned, *tops])
    cards.update((BLACK, v) for v in [*game.black.elements(), *game.black_up.elements()])
    if game.auction is not None and game.phase == "bid":
        for laid in game.auction.laid:
            cards.update(laid)
        cards.update((BLACK, v) for v in game.auction.alea_cards or [])
    return +cards


DECK = Counter(
    {(c, v): n for c in range(5) for v, n in ref.COLORED_DECK.items()}
    | {(BLACK, v): n for v, n in ref.BLACK_DECK.items()}
)


def random_game(
    rng: random.Random, players: int, side: str, max_turns: int = 500
) -> tuple[list[str], Summary]:
    """Play a game by chance; the lines of its record."""
    header, setup = random_start(rng, players, side, max_turns)
    game, dice = Referee(header, setup), Dice(rng)
    dice.events += [header, setup]
    weights = {0: rng.choice([1, 4]), 5: rng.choice([1, 4, 12]), 78: rng.choice([1, 2, 6])}
    while not game.over:
        legal = game.legal()
        assert legal
        action = rng.choices(legal, [weights.get(a, 1) for a in legal])[0]
        dice.events.append(game.action_line(action, legal=rng.random() < 0.5))
        game.play(action, dice)
        assert all_cards(game) == DECK
        assert all(n >= 0 for n in [*game.supply, *game.general, game.alea_supply])
    assert game.summary is not None
    return [json.dumps(event) + "\n" for event in dice.events], game.summary


def position(players: int = 3, side: str = "front", seed: int = 1) -> Referee:
    """A game whose starting skyscrapers are taken off again; seat 0 chooses an option."""
    rng = random.Random(seed)
    header, setup = random_start(rng, players, side, 500)
    header["rings"] = [[*FRONT_RING, "sixth"][: len(ring)] for ring in header["rings"]]
    game = Referee(header, setup)
    while game.phase == "start":
        game.play(game.legal()[0], Dice(rng))
    for district in game.plots:
        for plot in district:
            plot.owner, plot.count = None, 0
    return game


def number(name: str) -> int:
    """The number of an action."""
    return NAMES.index(name)


def play(game: Referee, *names: str, script: list[int] | None = None) -> list[Event]:
    """Play actions by name; all event lines that follow them."""
    dice = Dice(random.Random(0), script)
    for name in names:
        game.play(number(name), dice)
    return dice.events


def start_auctions(game: Referee, *districts: int) -> list[Event]:
    """Let white return to City Hall from a trip through these districts, as the last move of a
    turn.
    """
    game.commissioners[0].place, game.commissioners[0].markers = CENTRAL_PARK, list(districts)
    game.phase, game.last_move = "move", True
    return play(game, "move white CITY_HALL")


def give(game: Referee, seat: int, **cards: list[int]) -> None:
    """Replace a hand."""
    game.hands[seat] = Counter(
        (ref.HAND_COLORS.index(c), v) for c, values in cards.items() for v in values
    )


def fill(game: Referee, district: int, *owners: int | None) -> None:
    """Fill a district's plots in colour order: skyscrapers of a seat, or (None) a boutique."""
    for plot, owner in zip(game.plots[district], owners, strict=True):
        plot.tiles = [0] if owner is None else []
        plot.owner, plot.count = owner, int(owner is not None)


def legal_names(game: Referee) -> list[str]:
    """The names of the legal actions."""
    return [NAMES[a] for a in game.legal()]


# ---- whole games ----


@pytest.fixture(scope="module")
def games() -> list[tuple[list[str], Summary]]:
    """Games of all sizes, on both sides."""
    rng = random.Random(2004)
    sizes = product((2, 3, 4), ("front", "back"), range(20))
    return [random_game(rng, players, side, 500 if n % 6 else 15) for players, side, n in sizes]


def test_random_games_check(games: list[tuple[list[str], Summary]]) -> None:
    """A file with many games is checked game by game, with the same results as when they were
    played.
    """
    lines = [line for game, _ in games for line in game]
    assert ref.check_record(lines) == [summary for _, summary in games]


def test_random_games_reach_the_rules(games: list[tuple[list[str], Summary]]) -> None:
    """Random play reaches all three endings and most special cases."""
    assert {s.reason for _, s in games} == {"businesses", "stops", "truncated"}
    reached = sum((s.rules for _, s in games), Counter[str]())
    wanted = (
        "MOVE-3 MOVE-4 TURN-7 BUS-2.second BUS-3 BUS-4.earned BUS-5 SCO-3 SCO-4 AUC-2.last "
        "AUC-2.nobody"
        " AUC-3.raise AUC-4.black AUC-5.1 AUC-5.2 AUC-5.same AUC-5.nocard AUC-7 AUC-10 AUC-12"
        " AUC-12.late STOP-6 ALEA-2.2 ALEA-2.3 ALEA-2.4 ALEA-3.out ALEA-3.overbid ALEA-4"
        " ALEA-6 ALEA-7 ALEA-8 END-3 END-5 AUC-5.3 AUC-8.order AUC-8.top AUC-8.again AUC-9 STOP-1 "
        "STOP-1.must"
        " STOP-5 TURN-2"
    )
    assert sorted(set(wanted.split()) - set(reached)) == []


def test_names() -> None:
    """The numbers and names of INTERFACE.md."""
    assert len(NAMES) == 103
    samples = {
        0: "option A",
        2: "option B jeweller",
        5: "option C",
        12: "option D E52",
        13: "plot W34 green",
        54: "plot E52 sixth",
        59: "take gray",
        68: "move white CITY_HALL",
        69: "move beige W34",
        78: "pass",
        79: "bid green 4",
        93: "bid gray 6",
        96: "bid black 6",
        97: "bid done",
        101: "build 3",
        102: "stop",
    }
    assert {n: NAMES[n] for n in samples} == samples
    assert (ref.BID_COLOR[92], ref.BID_VALUE[92], ref.BID_COLOR[95], ref.BID_VALUE[95]) == (
        4,
        5,
        5,
        5,
    )


# ---- refusals ----


def _refuted_at(lines: list[str], line: int) -> None:
    """The record is refused, at this line (1-based)."""
    with pytest.raises(Refutation) as caught:
        ref.check_record(lines)
    assert caught.value.line == line, str(caught.value)


def _other(value: Any) -> Any:
    """Another value of the same or a neighbouring type."""
    if isinstance(value, bool) or value is None:
        return 1
    if isinstance(value, int):
        return value + 1
    return value + "x" if isinstance(value, str) else [*value, 1]


CHANCE_FIELDS = {("black", "card"), ("top", "card"), ("alea", "cards"), ("park", "tiles")}


def test_tampered_lines_are_refused(games: list[tuple[list[str], Summary]]) -> None:
    """A changed, missing or extra field, a missing or doubled line: refused at that line."""
    rng = random.Random(5)
    seen: set[tuple[str, str]] = set()
    for lines, _ in games[::5]:
        for at in rng.sample(range(2, len(lines)), min(len(lines) - 2, 40)):
            event = json.loads(lines[at])
            for name in event:
                if (event["event"], name) in seen or (event["event"], name) in CHANCE_FIELDS:
                    continue
                seen.add((event["event"], name))
                without = {k: v for k, v in event.items() if k != name}
                tampered = [{**event, name: _other(event[name])}, {**event, "extra": 0}]
                tampered += [without] if name != "legal" else []
                if event[name] in (0, 1):
                    tampered.append({**event, name: bool(event[name])})
                for bad in tampered:
                    _refuted_at([*lines[:at], json.dumps(bad), *lines[at + 1 :]], at + 1)
    kinds = {event for event, _ in seen}
    assert {"action", "top", "black", "auction", "won", "vp", "end"} <= kinds


def test_missing_and_doubled_lines(games: list[tuple[list[str], Summary]]) -> None:
    """Every line is needed, once."""
    lines = games[0][0]
    for at in random.Random(6).sample(range(len(lines)), 40):
        with pytest.raises(Refutation):
            ref.check_record(lines[:at] + lines[at + 1 :])
        with pytest.raises(Refutation):
            ref.check_record(lines[: at + 1] + lines[at:])
    _refuted_at(lines[:-1], len(lines))
    _refuted_at([*lines, "\n"], len(lines) + 1)
    _refuted_at([lines[0], "[]\n"], 2)
    _refuted_at(['{"a": 1, "a": 2}'], 1)


def test_impossible_cards(games: list[tuple[list[str], Summary]]) -> None:
    """A card that no stack holds, or of the wrong type, is refused where it appears."""
    for lines, _ in games[:6]:
        for at, line in enumerate(lines[2:], 2):
            event = json.loads(line)
            if event["event"] in ("black", "top") and event["card"] is not None:
                for bad in (7, 4.0, None, "4"):
                    _refuted_at(
                        [*lines[:at], json.dumps({**event, "card": bad}), *lines[at + 1 :]], at + 1
                    )
                break
    game = position()
    game.black = Counter({4: 1})
    with pytest.raises(Refutation, match="face-down black"):
        play(game, "option C", script=[5])


def test_bad_headers_and_setups() -> None:
    """Header and setup are checked (SET-1 to SET-5)."""
    header, setup = random_start(random.Random(3), 3, "front", 500)
    heads: list[Event] = [
        {"version": 2},
        {"version": True},
        {"players": 5},
        {"players": 2, "agents": ["a"]},
        {"side": "top"},
        {"rings": header["rings"][1:]},
        {"rings": [["green"] * 5] * 7},
        {"max_turns": 0},
        {"seed": 1.0},
        {"x": 1},
    ]
    for change in heads:
        _refuted_at([json.dumps({**header, **change}), json.dumps(setup)], 1)
    one = {**setup["plots"], **{d: ["green", "boutique"] for d in ("W34", "E34", "W42")}}
    hands = copy.deepcopy(setup["hands"])
    hands[0]["black"] = [6, 5, 4, 4]
    many = [{**hand, "green": [6]} for hand in setup["hands"]]
    starts: list[Event] = [
        {"plots": one},
        {"row": setup["row"][1:]},
        {"row": ["boutique"] * 20},
        {"hands": hands},
        {"x": 1},
        {"hands": setup["hands"][1:]},
        {"hands": many, "tops": {**setup["tops"], "green": 6}},
        {"tops": {"green": 4}},
        {"plots": {d: ["sixth", "boutique"] for d in ref.DISTRICTS}},
    ]
    for change in starts:
        _refuted_at([json.dumps(header), json.dumps({**setup, **change})], 2)


def test_command_line(games: list[tuple[list[str], Summary]], tmp_path: Path) -> None:
    """`python tests/referee.py FILE` prints a line per game, or the refutation."""
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    lines = games[1][0]
    good.write_text("".join(lines * 2).rstrip("\n"), encoding="utf-8")
    bad.write_text("".join(lines[:-1]), encoding="utf-8")
    done = python(ref.__file__, good, bad)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 3
    assert f"line {len(lines)}:" in done.stdout.splitlines()[2]


# ---- single rules ----


def test_starting_order() -> None:
    """SET-7, SET-8."""
    header, setup = random_start(random.Random(8), 4, "back", 500)
    game = Referee(header, setup)
    seats = []
    while game.phase == "start":
        seats.append(game.seat)
        assert not any(NAMES[a].endswith("sixth") for a in game.legal())
        play(game, NAMES[game.legal()[0]])
    assert seats == [0, 3, 2, 1, 1, 2, 3, 0]
    assert game.seat == 0
    assert all(sum(game._owns_in(d, seat) for d in range(7)) == 2 for seat in range(4))


def test_take_two_colors() -> None:
    """TURN-4: ascending colours; one stack; none; `top` null when a stack runs out."""
    game = position()
    for color in (GREEN, BROWN, GRAY):
        game.stacks[color] = ref.Stack(None, Counter())
    play(game, "option A")
    assert legal_names(game) == ["take violet"]
    game.stacks[ORANGE] = ref.Stack(6, Counter(), [5, 4])
    play(game, "take violet")
    assert legal_names(game) == ["take orange"]
    assert play(game, "take orange") == [{"event": "top", "color": "orange", "card": 5}]
    play(game, "move white W34")
    game.stacks[VIOLET] = ref.Stack(None, Counter())
    game.stacks[ORANGE] = ref.Stack(6, Counter())
    play(game, "option A")
    assert legal_names(game) == ["take orange"]
    assert play(game, "take orange")[0]["card"] is None
    assert game.phase == "move"
    play(game, "move white W42", "option A")
    assert game.phase == "move"
    assert (game.rules["TURN-4"], game.rules["TURN-4.none"], game.rules["AUC-8.again"]) == (1, 1, 1)


def test_stopped_district_is_skipped() -> None:
    """MOVE-2, MOVE-3, MOVE-5."""
    game = position()
    game.stopped = {TSQ}
    game.commissioners[0].place, game.commissioners[1].place = W34, TSQ
    assert "option D TSQ" not in legal_names(game)
    assert not any(
        name.startswith("plot TSQ") for name in map(NAMES.__getitem__, game._legal_plot())
    )
    game.phase = "move"
    white = ["move white W42", "move white W52", "move white E52"]
    assert legal_names(game) == [*white, "move beige W52", "move beige E52"]
    play(game, "move beige E52")
    game.phase = "move"
    play(game, "move white E52")
    assert [c.markers for c in game.commissioners] == [[W34], []]
    assert (game.rules["MOVE-3"], game.rules["MOVE-5"]) == (1, 1)


def test_district_score_and_draws() -> None:
    """SCO-2, SCO-3, SCO-4: order of the lines of option D; AUC-9 in between."""
    game = position()
    fill(game, W34, 1, None, 2, None, 1)
    game.plots[W34][VIOLET].tiles = [0, 1]
    game.plots[W34][ORANGE].tiles = [2, 2]
    game.commissioners[0].place = W34
    game.black, game.black_up = Counter({5: 1}), Counter({4: 1, 6: 1})
    events = play(game, "option D W34", script=[5, 4, 6])
    assert events == [
        {"event": "vp", "why": "district", "place": "W34", "vp": [0, 3 + 2, 5]},
        {"event": "black", "seat": 0, "card": 5},
        {"event": "shuffle"},
        {"event": "black", "seat": 0, "card": 4},
        {"event": "black", "seat": 0, "card": 6},
    ]
    assert game.rules["SCO-4"] == game.rules["AUC-9"] == 1


def test_bonus_and_last_business() -> None:
    """BUS-3, BUS-4, BUS-5, END-2 to END-4."""
    game = position()
    fill(game, W34, 1, 1, 1, None, None)
    fill(game, E34, 1, 0, 1, None, None)
    fill(game, W42, 1, 1, 1, None, None)
    game.placed, game.sets = 2, [[], [0, 3]] + [[1, 1, 1]] * 6
    events = play(game, "option B boutique", "plot TSQ green")
    assert events[0] == {"event": "tile to park", "business": "perfumery"}
    assert events[1:] == [{"event": "vp", "why": "bonus", "place": None, "vp": [0, 4, 0]}]
    game = position()
    game.placed, game.sets, game.park_buildings = 11, [[]] * 7 + [[2, 0]], [3, 0, 0]
    events = play(game, "option B boutique", "plot TSQ green")
    assert [e["event"] for e in events] == ["tile to park", *["vp"] * 7, "park", "vp", "end"]
    assert events[-2] == {"event": "vp", "why": "park", "place": "CENTRAL_PARK", "vp": [6, 0, 0]}
    assert events[-3] == {"event": "park", "tiles": ["gallery"]}
    assert events[-1]["reason"] == "businesses"
    assert events[-1]["winners"] == [0]


def test_auction_colors() -> None:
    """AUC-5: own plot, empty plots, plots with businesses; AUC-6."""
    game = position(side="back")
    fill(game, W34, 0, None, 1, None, None, None)
    assert game._district_colors(W34, 0) == [GREEN]
    assert game._district_colors(W34, 2) == [VIOLET, ORANGE, GRAY]
    game.plots[W34][GRAY].tiles = []
    assert game._district_colors(W34, 2) == [GRAY]
    fill(game, E34, 0, 1, 0, 1, ALEA, None)
    assert game._district_colors(E34, 2) == []


def test_auction_payment_and_build() -> None:
    """AUC-2, AUC-7, AUC-8, AUC-10: lines and limits of a district's auction."""
    game = position()
    for plot in game.plots[W34]:
        plot.tiles = []
    for seat in range(3):
        give(game, seat, green=[4, 5, 5], black=[4])
    game.stacks[GREEN] = ref.Stack(None, Counter())
    assert start_auctions(game, W34) == [{"event": "auction", "place": "W34", "starter": 0}]
    play(game, "bid green 4", "bid done", "bid green 5", "bid done", "pass")
    assert game.seat == 0
    assert legal_names(game) == ["pass", "bid green 5", "bid black 4"]
    play(game, "bid green 5", "bid black 4")
    assert legal_names(game) == ["bid done"]
    play(game, "bid done")
    assert game.seat == 1
    assert game.hands[1][GREEN, 5] == 1
    events = play(game, "pass")
    assert events == [
        {"event": "won", "seat": 0, "total": 13},
        {"event": "top", "color": "green", "card": 4},
    ]
    assert game.stacks[GREEN].returned == [5]
    assert game.black_up == Counter({4: 1})
    assert legal_names(game) == ["build 0", "build 1", "build 2"]
    assert play(game, "build 2") == [{"event": "auction", "place": "CENTRAL_PARK", "starter": 0}]
    assert (game.plots[W34][GREEN].owner, game.plots[W34][GREEN].count, game.supply[0]) == (0, 2, 1)


def _choices(game: Referee) -> Iterator[tuple[Card, ...]]:
    """Every finished bid that the legal actions lead to, by its cards in order."""
    assert game.auction is not None
    for action in game.legal():
        if action == ref.BID_DONE:
            yield tuple(game.auction.fresh)
        elif action != ref.PASS:
            after = copy.deepcopy(game)
            after.play(action, Dice(random.Random(0)))
            yield from _choices(after)


@pytest.mark.parametrize("seed", range(25))
def test_bids_have_one_path_each(seed: int) -> None:
    """Bids by AUC-3 to AUC-5, enumerated without any order, are just the paths of the legal
    actions.
    """
    rng = random.Random(seed)
    game = position()
    for plot in game.plots[W34]:
        plot.tiles = []
    fill(game, W34, *rng.choice([(None, None, None, 1, 2), (1, 1, 1, 1, 0)]))
    kinds = ["violet", "brown", "gray", "black"]
    give(game, 0, **{k: [rng.choice((4, 5, 6)) for _ in range(rng.randrange(4))] for k in kinds})
    start_auctions(game, W34)
    assert game.auction is not None
    game.auction.highest, game.auction.leader = rng.randrange(25), 1
    if rng.random() < 0.4:
        game.auction.laid[0] = [(GRAY, 4)]
    base = sum(v for _, v in game.auction.laid[0])
    colors = [GRAY] if game.auction.laid[0] else game._district_colors(W34, 0)
    wanted = set()
    held = sorted(game.hands[0].elements())
    for picks in product((False, True), repeat=len(held)):
        cards = [card for card, pick in zip(held, picks, strict=True) if pick]
        used = {c for c, _ in cards if c != BLACK}
        starts = bool(used) or bool(game.auction.laid[0])
        enough = base + sum(v for _, v in cards) > game.auction.highest
        if cards and starts and len(used) < 2 and used <= set(colors) and enough:
            wanted.add(tuple(cards))
    paths = list(_choices(game))
    assert len(set(paths)) == len(paths)
    assert set(paths) == wanted
    assert (game.legal() == [ref.PASS]) == (not wanted)


def test_park_color() -> None:
    """AUC-12: the first bidder chooses the colour, also after a pass; nothing but building
    there.
    """
    game = position()
    for seat in range(3):
        give(game, seat, green=[4], gray=[5])
    start_auctions(game)
    play(game, "pass")
    assert legal_names(game) == ["pass", "bid green 4", "bid gray 5"]
    play(game, "bid green 4", "bid done")
    assert legal_names(game) == ["pass"]
    play(game, "pass")
    assert legal_names(game) == ["build 0", "build 1", "build 2", "build 3"]
    play(game, "build 3")
    assert (game.park_buildings, game.phase, game.seat) == ([0, 3, 0], "option", 1)


def test_building_stop() -> None:
    """STOP-1 to STOP-6, MOVE-5: a forced stop, then a voluntary one that ends the game."""
    game = position()
    fill(game, W34, 1, None, 1, 2, None)
    fill(game, W42, 0, None, 1, 1, None)
    game.plots[W34][GREEN].count = 3
    game.commissioners[1].place, game.commissioners[1].markers = E52, [W34, E42]
    for seat in range(3):
        give(game, seat, green=[5], violet=[4], gray=[4, 4])
    start_auctions(game, W34, W42, W52)
    assert legal_names(game) == ["pass", "bid violet 4", "bid gray 4"]
    play(game, "bid gray 4", "bid done", "pass", "pass")
    assert legal_names(game) == ["stop"]
    events = play(game, "stop")
    vp = [5, (3 * 2 + 2) // 2, 2 // 2]
    assert events == [
        {"event": "stop", "district": "W34", "seat": 0},
        {"event": "vp", "why": "stop", "place": "W34", "vp": vp},
        {"event": "auction", "place": "W42", "starter": 0},
    ]
    assert game.commissioners[1].markers == [E42]
    play(game, "bid green 5", "bid done", "pass", "pass")
    assert legal_names(game) == ["build 0", "build 1", "build 2", "stop"]
    events = play(game, "stop")
    finals = [e["place"] for e in events if e.get("why") == "final"]
    assert finals == ["E34", "TSQ", "E42", "W52", "E52"]
    assert [e["event"] for e in events] == ["stop", "vp", *["vp"] * 5, "park", "vp", "end"]
    assert events[7] == {"event": "park", "tiles": []}
    assert game.over
    assert game.legal() == []
    assert game.rules["STOP-6.early"] == game.rules["STOP-1.must"] == game.rules["STOP-5"] == 1


def _alea_position() -> Referee:
    """Two players in W34's auction, which is empty but for boutiques on violet."""
    game = position(players=2)
    for plot in game.plots[W34]:
        plot.tiles = []
    game.plots[W34][VIOLET].tiles = [0]
    for seat in range(2):
        give(game, seat, green=[4, 6], black=[6, 6])
    return game


def test_alea_bids_once_after_both() -> None:
    """ALEA-2 to ALEA-5: Alea's bid, the overbid, and the auction going on."""
    game = _alea_position()
    start_auctions(game, W34)
    assert play(game, "pass") == []
    events = play(game, "bid green 4", "bid done", script=[4, 6, 5, 6])
    assert events == [{"event": "alea", "cards": [4, 6, 5, 6]}]
    assert game.seat == 1
    assert legal_names(game) == ["pass", "bid green 6"]
    play(game, "bid green 6", "bid black 6")
    events = play(game, "bid black 6", "bid done")
    assert events == [{"event": "won", "seat": 1, "total": 22}]
    assert game.black_up == Counter({6: 4, 4: 1, 5: 1})


def test_alea_out_and_auction_goes_on() -> None:
    """ALEA-3, ALEA-4: with a lower total Alea is out; the real players go on."""
    game = _alea_position()
    start_auctions(game, W34)
    play(game, "bid green 4", "bid done", "bid green 6", "bid black 6", "bid done", script=[4, 4])
    assert (game.seat, legal_names(game)) == (0, ["pass", "bid green 6", "bid black 6"])
    play(game, "bid green 6", "bid black 6", "bid done")
    assert play(game, "pass")[0] == {"event": "won", "seat": 0, "total": 16}


def test_alea_builds_on_ties() -> None:
    """ALEA-2, ALEA-6: wins when both passed; one on each best plot in ring order, as many as there
    are.
    """
    game = _alea_position()
    start_auctions(game, W34)
    events = play(game, "pass", "pass", script=[4, 4])
    assert events[:3] == [
        {"event": "alea", "cards": [4, 4]},
        {"event": "won", "seat": -1, "total": 8},
        {"event": "alea builds", "district": "W34", "plots": ["green", "brown"]},
    ]
    for left, built in ((1, [["green"]]), (0, [])):
        game = _alea_position()
        game.alea_supply = left
        start_auctions(game, W34)
        events = play(game, "pass", "pass", script=[4, 4])
        assert [e["plots"] for e in events if e["event"] == "alea builds"] == built
    play(game, "pass")
    events = play(game, "pass", script=[5, 5])
    assert [e["event"] for e in events] == ["alea", "won"]
    assert game.rules["ALEA-8"] == 1
    assert (game.phase, game.seat) == ("option", 1)


def test_alea_without_cards() -> None:
    """ALEA-2, AUC-9: the cards run out, with a shuffle before; with none Alea is out and nobody
    bid.
    """
    game = _alea_position()
    game.black, game.black_up = Counter({4: 1}), Counter({5: 1})
    start_auctions(game, W34)
    events = play(game, "pass", "pass", script=[4, 5])
    assert events[:3] == [
        {"event": "shuffle"},
        {"event": "alea", "cards": [4, 5]},
        {"event": "won", "seat": -1, "total": 9},
    ]
    game = _alea_position()
    game.black, game.black_up = Counter(), Counter()
    start_auctions(game, W34)
    events = play(game, "pass", "pass")
    assert events[:2] == [
        {"event": "alea", "cards": []},
        {"event": "won", "seat": None, "total": 0},
    ]


def test_alea_stops() -> None:
    """ALEA-7, STOP-3, ALEA-9: both real players earn half."""
    game = _alea_position()
    fill(game, W34, 0, None, 1, ALEA, ALEA)
    start_auctions(game, W34)
    events = play(game, "pass", "pass", script=[4, 4])
    assert events[2:4] == [
        {"event": "stop", "district": "W34", "seat": -1},
        {"event": "vp", "why": "stop", "place": "W34", "vp": [1, 1]},
    ]


def test_truncation_and_ties() -> None:
    """END-4, END-5: only an `end` line; cards in hand break a tie; else the win is shared."""
    game = position()
    game.max_turns = 1
    give(game, 0)
    give(game, 1, black=[4, 4, 4])
    give(game, 2, gray=[4, 4, 4])
    game.phase, game.last_move = "move", True
    end = {
        "event": "end",
        "reason": "truncated",
        "scores": [0, 0, 0],
        "cards": [0, 3, 3],
        "winners": [1, 2],
    }
    assert play(game, "move beige W34") == [end]
