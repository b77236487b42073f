"""The referee: an independent, slow and simple second implementation of the game, to check records
with.

Written from RULES.md and INTERFACE.md alone; it shares nothing with the engine. It replays a game
record line by line. At every decision it works out the seat to act and the legal actions by itself,
and for every action the exact event lines that must follow. From the record it takes only what
chance or a player decided. A variant's constants, and the openings of bidding tasks, are given to
it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

Event = dict[str, Any]
Card = tuple[int, int]  # (colour, value); colour 5 is black

COLORS = ("green", "violet", "brown", "orange", "gray")
BLACK = 5
HAND_COLORS = (*COLORS, "black")
PLOTS = (*COLORS, "sixth")
SIXTH = 5
DISTRICTS = ("W34", "E34", "W42", "TSQ", "E42", "W52", "E52")
PLACES = (*DISTRICTS, "CENTRAL_PARK", "CITY_HALL")
CENTRAL_PARK = 7
CITY_HALL = 8
BUSINESSES = ("boutique", "jeweller", "gallery", "perfumery")
COMMISSIONERS = ("white", "beige")
VALUES = (4, 5, 6)
ALEA = -1

SET_SIZES = (3, 2, 3, 2, 3, 2, 3, 2)  # SET-3
BONUS_AFTER = (3, 6, 9)  # BUS-4: businesses placed
LAST_BUSINESS = 12  # BUS-5
PRICE = 1.5  # VP that a task charges for each card paid
STREETS = {  # COM-5; MOVE-4 for the park
    CITY_HALL: (0, 1),
    0: (2, 3),
    1: (4, 3),
    2: (5,),
    4: (6,),
    3: (5, 6),
    5: (CENTRAL_PARK,),
    6: (CENTRAL_PARK,),
    CENTRAL_PARK: (CITY_HALL,),
}

OPTION_A, OPTION_B, OPTION_C, OPTION_D = 0, 1, 5, 6
PLOT, TAKE, MOVE, PASS, BID, BID_BLACK, BID_DONE, BUILD, STOP = 13, 55, 60, 78, 79, 94, 97, 98, 102


@dataclass(frozen=True)
class Constants:
    """What a variant may change; by value 4, 5 and 6 where there are three of a card."""

    coloured_cards: Sequence[int] = (5, 4, 3)  # COM-1, of each colour
    black_cards: Sequence[int] = (20, 16, 14)  # COM-1
    build_limit: Sequence[int] = (3, 2, 1)  # COM-10
    starting_supply: int = 3  # COM-2
    starting_general_supply: int = 12  # COM-2
    skyscrapers_per_option: int = 3  # TURN-2
    alea_skyscrapers: int = 18  # ALEA-1
    starting_black_cards: int = 4  # SET-5
    tiles_per_business: int = 9  # COM-3
    plot_value: Sequence[int] = (1, 2, 3, 5, 8)  # SCO-2, by number of different businesses
    bonus_vp: Sequence[int] = (4, 6, 8)  # BUS-4, at each of BONUS_AFTER
    bonus_districts: Sequence[int] = (3, 4, 5)  # BUS-4
    max_stops: int = 2  # STOP-6
    tiles_turned_up: int = 3  # END-3

    def deck(self, color: int) -> Counter[int]:
        """COM-1: the number of cards of each value."""
        cards = self.black_cards if color == BLACK else self.coloured_cards
        return Counter(dict(zip(VALUES, cards, strict=True)))

    def limit(self, cards: Sequence[Card]) -> int:
        """COM-10: what the highest of these cards allows to build."""
        return self.build_limit[max(value for _, value in cards) - 4]


PRINTED = Constants()


def _action_names() -> tuple[str, ...]:
    """The names of the 103 actions, by number."""
    names = ["option A", *(f"option B {b}" for b in BUSINESSES), "option C"]
    names += [f"option D {d}" for d in DISTRICTS]
    names += [f"plot {d} {p}" for d in DISTRICTS for p in PLOTS]
    names += [f"take {c}" for c in COLORS]
    names += [f"move {m} {p}" for m in COMMISSIONERS for p in PLACES]
    names += ["pass", *(f"bid {c} {v}" for c in HAND_COLORS for v in VALUES), "bid done"]
    return (*names, *(f"build {n}" for n in range(4)), "stop")


NAMES = _action_names()


class Refutation(AssertionError):  # noqa: N818  # a refutation is no error of the referee
    """A record says something else than the rules. `line` is 1-based; 0 where there is no line."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.message = message
        self.line = line


def _refute(rules: str, record: object) -> NoReturn:
    """Raise what the rules say against what the record says (the line is added by the reader)."""
    raise Refutation(f"the rules say: {rules}; the record says: {record}")


def _demand(holds: object, rules: str, record: object) -> None:
    """Refute the record unless something holds."""
    if not holds:
        _refute(rules, record)


def same(left: object, right: object) -> bool:
    """Equality of JSON values with equal types: 1 is neither true nor 1.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


@dataclass
class Plot:
    """A building plot: empty, or one or two businesses, or skyscrapers of one owner."""

    tiles: list[int] = field(default_factory=list)
    owner: int | None = None
    count: int = 0

    @property
    def empty(self) -> bool:
        """Neither a business nor a skyscraper."""
        return not self.tiles and not self.count


@dataclass
class Stack:
    """A coloured stack: visible top, face-down cards (order unknown), returned cards in known
    order.
    """

    top: int | None
    hidden: Counter[int]
    returned: list[int] = field(default_factory=list)


@dataclass
class Commissioner:
    """A commissioner: where it stands, and its markers' districts in the order of the visits."""

    place: int = CITY_HALL
    markers: list[int] = field(default_factory=list)


@dataclass
class Auction:
    """The auction in progress."""

    place: int
    starter: int
    full: bool  # every plot was occupied before the auction (STOP-1)
    laid: list[list[Card]]  # per seat: all its cards in this auction
    fresh: list[Card] = field(default_factory=list)  # the cards laid down in the bid in progress
    highest: int = 0
    leader: int | None = None
    out: set[int] = field(default_factory=set)
    acted: set[int] = field(default_factory=set)
    color: int | None = None  # AUC-12: the colour that the first bidder chose
    alea_cards: list[int] | None = None  # None: Alea has not bid yet


# The special branches that a game took, by rule id; a suffix tells the case: `AUC-5.1` to `.3` the
# cases of AUC-5 (`.none` no colour, `.nocard` no card of one, `.same` a colour that another bidder
# uses), `AUC-8.top` cards returned to an empty stack, `.order` of several values, `.again` a
# returned card came up; `AUC-9` a shuffle, `.none` no black card at all; `TURN-4` a single stack,
# `.none` no stack; `STOP-1` a voluntary stop, `.must` a forced one; `ALEA-6` a tie, `.short` too
# few left.
Rules = Counter[str]


def _only_fields(what: str, value: object, fields: Iterable[str]) -> dict[str, Any]:
    """The value, if it is an object with exactly these fields."""
    wanted = sorted(fields)
    if not isinstance(value, dict) or sorted(value) != wanted:
        _refute(f"{what} has exactly the fields {wanted}", value)
    return value


def _is_int(value: object, low: int | None = None) -> bool:
    """A JSON integer (not true or false), at least `low`."""
    return type(value) is int and (low is None or value >= low)


def _is_list(
    value: object, length: int | None = None, check: Callable[[Any], bool] = lambda _: True
) -> bool:
    """A JSON list of so many entries, all of which pass a check."""
    return isinstance(value, list) and length in (None, len(value)) and all(map(check, value))


def _is_text(value: object) -> bool:
    """A JSON string."""
    return isinstance(value, str)


FORMAT, TASK_FORMAT = "skyenv-record", "skyenv-task-record"


def check_header(header: object, constants: Constants = PRINTED, is_task: bool = False) -> None:
    """A header as INTERFACE.md defines it."""
    names = ("format", "version", "players", "side", "rings", "max_turns", "seed", "agents")
    head = _only_fields("a header", header, (*names, "task") if is_task else names)
    wanted = TASK_FORMAT if is_task else FORMAT
    plain, of_variant, _ = str(head["format"]).partition(" of variant ")
    _demand(
        same([plain, head["version"]], [wanted, 1]) and bool(of_variant) == (constants != PRINTED),
        f"format {wanted}, version 1",
        [head["format"], head["version"]],
    )
    players, turns, seed = head["players"], head["max_turns"], head["seed"]
    _demand(_is_int(players, 2) and players <= 4, "2 to 4 players", players)
    _demand(head["side"] in ("front", "back"), "side is front or back", head["side"])
    _demand(_is_int(turns, 1), "max_turns is an integer, at least 1 (END-5)", turns)
    _demand(seed is None or _is_int(seed), "seed is null or an integer", seed)
    _demand(
        head["agents"] is None or _is_list(head["agents"], players, _is_text),
        "agents is null or one string per seat",
        head["agents"],
    )
    _check_rings(head["rings"], head["side"])


def _check_rings(rings: Any, side: str) -> None:
    """COM-6, COM-8: seven rings, each naming every plot of its district once."""
    wanted = sorted(COLORS if side == "front" else PLOTS)
    _demand(_is_list(rings, len(DISTRICTS)), "one ring per district", rings)
    for ring in rings:
        _demand(
            _is_list(ring, len(wanted), _is_text) and sorted(ring) == wanted,
            f"a ring has each of {wanted} once (COM-6, COM-8)",
            ring,
        )


def check_setup(setup: object, players: int, side: str, constants: Constants) -> None:
    """SET-1 to SET-5: the counts, and where the first businesses lie."""
    start = _only_fields("a setup", setup, ("event", "plots", "row", "hands", "tops"))
    _demand(start["event"] == "setup", "the setup follows the header", start["event"])
    _check_first_businesses(_only_fields("plots", start["plots"], DISTRICTS), side)
    row = start["row"]
    _demand(
        _is_list(row, sum(SET_SIZES), BUSINESSES.__contains__),
        "a supply row of twenty businesses (SET-3)",
        row,
    )
    tiles = Counter(row) + Counter(business for _, business in start["plots"].values())
    most = constants.tiles_per_business
    _demand(max(tiles.values()) <= most, f"{most} businesses of each type (COM-3)", dict(tiles))
    _check_hands(start["hands"], _only_fields("tops", start["tops"], COLORS), players, constants)


def _check_first_businesses(plots: dict[str, Any], side: str) -> None:
    """SET-1, SET-2: one business per district; every plot colour once or twice, or all on the sixth
    plots.
    """
    free = COLORS if side == "front" else ("sixth",)
    for entry in plots.values():
        _demand(
            _is_list(entry, 2) and entry[0] in free and entry[1] in BUSINESSES,
            f"one of the plots {free} and a business (SET-1, SET-2)",
            entry,
        )
    uses = Counter(entry[0] for entry in plots.values())
    _demand(
        side == "back" or all(uses[color] in (1, 2) for color in COLORS),
        "every plot colour is used once or twice (SET-1)",
        dict(uses),
    )


def _check_hands(hands: Any, tops: dict[str, Any], players: int, constants: Constants) -> None:
    """SET-4, SET-5: one card per colour and four black ones each, out of decks that hold them."""
    _demand(_is_list(hands, players), "one hand per seat", hands)
    dealt: Counter[Card] = Counter()
    for hand in hands:
        for color, values in _only_fields("a hand", hand, HAND_COLORS).items():
            size = constants.starting_black_cards if color == "black" else 1
            _demand(
                _is_list(values, size, _is_value) and values == sorted(values),
                f"{size} {color} card(s) with values 4 to 6, ascending (SET-4, SET-5)",
                values,
            )
            dealt.update((HAND_COLORS.index(color), value) for value in values)
    for color, value in tops.items():
        _demand(_is_value(value), f"a visible {color} top with value 4 to 6 (SET-4)", value)
        dealt[HAND_COLORS.index(color), value] += 1
    for (index, value), count in dealt.items():
        held = constants.deck(index)[value]
        _demand(count <= held, f"{held} {HAND_COLORS[index]} {value}s (COM-1)", f"{count} of them")


def _is_value(value: object) -> bool:
    """A bidding card's value."""
    return _is_int(value) and value in VALUES


class Referee:
    """A position of the game.

    `legal()` and `seat` tell the decision that is open; `play` goes on.
    """

    def __init__(self, header: Event, constants: Constants) -> None:
        """Put up the board (SET-6, SET-7)."""
        self.constants = constants
        self.players: int = header["players"]
        self.max_turns: int = header["max_turns"]
        self.rings = [[PLOTS.index(name) for name in ring] for ring in header["rings"]]
        self.plots = [[Plot() for _ in ring] for ring in self.rings]
        self.sets: list[list[int]] = []
        self.hands: list[Counter[Card]] = []
        self.black = Counter[int]()  # face down
        self.black_up = Counter[int]()  # face up under the stack
        self.stacks: list[Stack] = []
        self.supply = [constants.starting_supply] * self.players  # COM-2
        self.general = [constants.starting_general_supply] * self.players
        self.alea_bids = self.players == 2  # ALEA-1
        self.alea_supply = constants.alea_skyscrapers
        self.scores = [0] * self.players
        self.commissioners = [Commissioner(), Commissioner()]  # SET-6
        self.stopped: set[int] = set()
        self.park_tiles = Counter[int]()
        self.park_buildings = [0] * self.players
        self.placed = 0  # businesses placed by option B
        self.turns = 0
        seats = range(self.players)
        backwards = [-step % self.players for step in seats]  # SET-7: 0, N-1, ..., 1
        self.starters = backwards + [(step + 1) % self.players for step in seats]
        self.phase = "start"
        self.seat = self.starters[0]
        self.business = -1  # option B's choice, while its plot is chosen
        self.first_take: int | None = None
        self.last_move = True
        self.queue: list[int] = []  # auctions still to come in this set
        self.auction: Auction  # in progress
        self.rules = Rules()

    def set_up(self, setup: Event) -> None:
        """Check the setup, and deal the game (SET-1 to SET-5)."""
        side = "back" if len(self.rings[0]) > SIXTH else "front"
        check_setup(setup, self.players, side, self.constants)
        for name, (plot, business) in setup["plots"].items():
            self.plots[DISTRICTS.index(name)][PLOTS.index(plot)].tiles.append(
                BUSINESSES.index(business)
            )
        row = [BUSINESSES.index(name) for name in setup["row"]]
        self.sets = [[row.pop(0) for _ in range(size)] for size in SET_SIZES]
        self.black = self.constants.deck(BLACK)
        for index, color in enumerate(COLORS):
            top = setup["tops"][color]
            self.stacks.append(Stack(top, self.constants.deck(index) - Counter([top])))
        self.hands = [Counter() for _ in setup["hands"]]
        self.deal(setup["hands"])

    def deal(self, hands: list[dict[str, list[int]]]) -> None:
        """SET-4, SET-5: cards from the stacks into the hands."""
        for seat, hand in enumerate(hands):
            for index, color in enumerate(HAND_COLORS):
                stack = self.black if index == BLACK else self.stacks[index].hidden
                for value in hand[color]:
                    self.hands[seat][index, value] += 1
                    stack[value] -= 1

    # ---- the decision that is open ----

    def legal(self) -> list[int]:
        """The legal actions of the open decision, ascending; empty when the game is over."""
        choices = {
            "start": self._legal_start,
            "option": self._legal_option,
            "plot": self._legal_plot,
            "take": self._legal_take,
            "move": self._legal_move,
            "bid": self._legal_bid,
            "build": self._legal_build,
            "over": list[int],
        }
        return sorted(choices[self.phase]())

    def _legal_start(self) -> list[int]:
        """SET-8: an empty coloured plot, the second one in another district."""
        return [
            PLOT + 6 * d + p
            for d in range(7)
            if not self._owns_in(d, self.seat)
            for p, plot in enumerate(self.plots[d])
            if plot.empty and p != SIXTH
        ]

    def _legal_option(self) -> list[int]:
        """TURN-2, TURN-3, BUS-1, SCO-1."""
        actions = [OPTION_C]
        if self.general[self.seat]:
            actions.append(OPTION_A)
        if self._legal_plot():
            actions += {OPTION_B + business for business in self._current_set()}
        stands = {
            c.place for c in self.commissioners if c.place < 7 and c.place not in self.stopped
        }
        return actions + [OPTION_D + d for d in stands]

    def _legal_plot(self) -> list[int]:
        """BUS-2: empty or with exactly one business, in a district that is not stopped."""
        return [
            PLOT + 6 * d + p
            for d in range(7)
            if d not in self.stopped
            for p, plot in enumerate(self.plots[d])
            if plot.count == 0 and len(plot.tiles) < 2
        ]

    def _legal_take(self) -> list[int]:
        """TURN-4, in ascending colour order; the first take leaves a second one, if there are two
        stacks.
        """
        colors = [c for c, stack in enumerate(self.stacks) if stack.top is not None]
        if self.first_take is not None:
            return [TAKE + c for c in colors if c > self.first_take]
        return [TAKE + c for c in (colors[:-1] or colors)]

    def _legal_move(self) -> list[int]:
        """MOVE-1: either commissioner to any next place."""
        return [
            MOVE + 9 * index + place
            for index, commissioner in enumerate(self.commissioners)
            for place in self._next_places(commissioner.place)
        ]

    def _next_places(self, place: int) -> set[int]:
        """COM-5 with MOVE-3: a stopped district is replaced by its own next places."""
        places: set[int] = set()
        for there in STREETS[place]:
            places |= self._next_places(there) if there in self.stopped else {there}
        return places

    def _legal_bid(self) -> list[int]:
        """AUC-3, AUC-4 and "one choice, one path": ascending cards, each leaving a bid above the
        highest.
        """
        auction = self.auction
        total = _total(auction.laid[self.seat])
        actions = [] if auction.fresh else [PASS]
        if auction.fresh and total > auction.highest:
            actions.append(BID_DONE)
        for color in self._bid_colors():
            kinds = (color, BLACK)
            for card in self._playable(kinds):
                left = sum(c[1] * n for c, n in self._cards_from(card, kinds).items())
                if total + left > auction.highest:
                    actions.append(_bid_action(card))
        return list(set(actions))

    def _bid_colors(self) -> list[int]:
        """The colours that the seat may use in this auction: what it has laid down, or AUC-5,
        AUC-12.
        """
        auction = self.auction
        own = auction.laid[self.seat]
        if own:
            return [own[0][0]]
        if auction.place == CENTRAL_PARK:
            return list(range(5)) if auction.color is None else [auction.color]
        return self._district_colors(auction.place, self.seat)

    def _district_colors(self, district: int, seat: int) -> list[int]:
        """AUC-5, AUC-6."""
        colored = [(p, plot) for p, plot in enumerate(self.plots[district]) if p != SIXTH]
        own = [p for p, plot in colored if plot.owner == seat]
        empty = [p for p, plot in colored if plot.empty]
        return own or empty or [p for p, plot in colored if plot.tiles]

    def _playable(self, kinds: tuple[int, int]) -> list[Card]:
        """The cards in hand of one colour or black that may come next (AUC-4, ascending order)."""
        auction = self.auction
        if not auction.laid[self.seat]:
            kinds = (kinds[0], kinds[0])  # AUC-4: the first card is coloured
        held = [card for card, count in self.hands[self.seat].items() if count and card[0] in kinds]
        last = auction.fresh[-1] if auction.fresh else None
        return [card for card in held if last is None or _order(card) >= _order(last)]

    def _cards_from(self, card: Card, kinds: tuple[int, int]) -> Counter[Card]:
        """The cards in hand of one colour or black that do not come before this one when laid
        down.
        """
        hand = self.hands[self.seat]
        return Counter(
            {c: n for c, n in hand.items() if c[0] in kinds and _order(c) >= _order(card)}
        )

    def _legal_build(self) -> list[int]:
        """AUC-10, AUC-12, STOP-1."""
        auction = self.auction
        cards = auction.laid[self.seat]
        limit = min(self.constants.limit(cards), self.supply[self.seat])
        builds = [BUILD + n for n in range(limit + 1)]
        if auction.place == CENTRAL_PARK:
            return builds
        if not self._owns_in(auction.place, self.seat) and auction.full:
            return [STOP]
        return [*builds, STOP] if auction.full else builds

    # ---- playing ----

    def play(self, action: int, reader: "Reader") -> None:
        """Play a legal action of the seat to act: the reader has what chance decided, and checks
        the event lines that follow the `action` line.
        """
        self.reader = reader
        step = {
            "start": self._play_start,
            "option": self._play_option,
            "plot": self._play_business,
            "take": self._play_take,
            "move": self._play_move,
            "bid": self._play_bid,
            "build": self._play_build,
        }[self.phase]
        step(action)

    def action_line(self, action: int, legal: bool = False) -> Event:
        """The `action` line of this action, before it is played."""
        line: Event = {
            "event": "action",
            "seat": self.seat,
            "action": action,
            "name": NAMES[action],
        }
        return {**line, "legal": self.legal()} if legal else line

    def _emit(self, event: str, **fields: object) -> None:
        """The next event line."""
        self.reader.emit({"event": event, **fields})

    def _play_start(self, action: int) -> None:
        """SET-7, SET-8, SET-9."""
        district, plot = divmod(action - PLOT, 6)
        self._put(self.seat, district, plot, 1)
        self.starters.pop(0)
        if self.starters:
            self.seat = self.starters[0]
        else:
            self.seat = 0
            self._begin_turn()

    def _begin_turn(self) -> None:
        """TURN-1: an option is chosen."""
        self.phase = "option"
        if not self.general[self.seat]:
            self.rules["TURN-2"] += 1
        if not self._legal_plot():
            self.rules["TURN-3"] += 1

    def _end_turn(self) -> None:
        """TURN-1, END-5."""
        self.turns += 1
        if self.turns >= self.max_turns:
            self.rules["END-5"] += 1
            self._finish("truncated")
            return
        self.seat = (self.seat + 1) % self.players
        self._begin_turn()

    def _play_option(self, action: int) -> None:
        """The 1st action of the options A, C and D; for B the plot comes next."""
        if action == OPTION_A:
            taken = min(self.constants.skyscrapers_per_option, self.general[self.seat])
            self.general[self.seat] -= taken
            self.supply[self.seat] += taken
            self._begin_take()
        elif action == OPTION_C:
            self._draw_black(self.seat)
            self._begin_move(last=False)
        elif action < OPTION_C:
            self.business = action - OPTION_B
            self.phase = "plot"
        else:
            self._score_district(action - OPTION_D)
            self._begin_move(last=True)

    # ---- businesses ----

    def _current_set(self) -> list[int]:
        """BUS-1."""
        return next(tiles for tiles in self.sets if tiles)

    def _play_business(self, action: int) -> None:
        """BUS-2 to BUS-5."""
        district, index = divmod(action - PLOT, 6)
        plot = self.plots[district][index]
        self.rules["BUS-2.second"] += bool(plot.tiles)
        tiles = self._current_set()
        tiles.remove(self.business)
        plot.tiles.append(self.business)
        self.placed += 1
        if len(tiles) == 1:
            self.rules["BUS-3"] += 1
            self.park_tiles[tiles[0]] += 1
            self._emit("tile to park", business=BUSINESSES[tiles.pop()])
        if self.placed == LAST_BUSINESS:
            self.rules["BUS-5"] += 1
            self._end_scoring("businesses")
            return
        if self.placed in BONUS_AFTER:
            which = BONUS_AFTER.index(self.placed)
            self._special_points(
                self.constants.bonus_vp[which], self.constants.bonus_districts[which]
            )
        self._begin_take()

    def _special_points(self, points: int, needed: int) -> None:
        """BUS-4."""
        spread = [sum(self._owns_in(d, seat) for d in range(7)) for seat in range(self.players)]
        gains = [points if count >= needed else 0 for count in spread]
        self.rules["BUS-4"] += 1
        self.rules["BUS-4.earned"] += any(gains)
        self._gain("bonus", None, gains)

    # ---- cards ----

    def _draw_black(self, seat: int) -> None:
        """TURN-5, AUC-9: one black card, if there is one."""
        if self._black_ready():
            card = self.reader.card("black")
            self._from_black(card)
            self.hands[seat][BLACK, card] += 1
            self._emit("black", seat=seat, card=card)

    def _black_ready(self, announce: bool = True) -> bool:
        """AUC-9: shuffle when the next card lies face up; whether there is a card to draw."""
        if not self.black.total():
            if not self.black_up.total():
                self.rules["AUC-9.none"] += 1
                return False
            self.rules["AUC-9"] += 1
            self.black, self.black_up = self.black_up, Counter()
            if announce:
                self._emit("shuffle")
        return True

    def _from_black(self, card: int) -> None:
        """Take a card out of the face-down black stack."""
        if self.black[card] < 1:
            _refute(f"the face-down black cards are {_shown(self.black)}", card)
        self.black[card] -= 1

    def _begin_take(self) -> None:
        """TURN-4."""
        stacks = sum(stack.top is not None for stack in self.stacks)
        self.first_take = None
        if stacks == 1:
            self.rules["TURN-4"] += 1
        if stacks:
            self.phase = "take"
        else:
            self.rules["TURN-4.none"] += 1
            self._begin_move(last=True)

    def _play_take(self, action: int) -> None:
        """TURN-4, TURN-5."""
        color = action - TAKE
        stack = self.stacks[color]
        assert stack.top is not None
        self.hands[self.seat][color, stack.top] += 1
        stack.top = self._next_top(color)
        self._emit("top", color=COLORS[color], card=stack.top)
        if self.first_take is None:
            self.first_take = color
            if self._legal_take():
                return
        self._begin_move(last=True)

    def _next_top(self, color: int) -> int | None:
        """The face-down cards come first, then the returned ones in their order (AUC-8)."""
        stack = self.stacks[color]
        if stack.hidden.total():
            card = self.reader.card("top")
            if stack.hidden[card] < 1:
                _refute(f"the face-down {COLORS[color]} cards are {_shown(stack.hidden)}", card)
            stack.hidden[card] -= 1
            return card
        if stack.returned:
            self.rules["AUC-8.again"] += 1
            return stack.returned.pop(0)
        return None

    # ---- commissioners ----

    def _begin_move(self, last: bool) -> None:
        """A move: the last action of a turn, or part of the 1st action of C."""
        self.phase = "move"
        self.last_move = last

    def _play_move(self, action: int) -> None:
        """MOVE-1 to MOVE-5."""
        index, place = divmod(action - MOVE, 9)
        commissioner = self.commissioners[index]
        start = commissioner.place
        self.rules["MOVE-3"] += place not in STREETS[start]
        if start in self.stopped:
            self.rules["MOVE-5"] += 1
        elif start < 7:
            commissioner.markers.append(start)
        commissioner.place = place
        if place == CITY_HALL:
            self.rules["MOVE-4"] += 1
            self.rules["TURN-7"] += not self.last_move
            self.queue = [*commissioner.markers, CENTRAL_PARK]
            commissioner.markers = []
            self._next_auction()
        else:
            self._after_move()

    def _after_move(self) -> None:
        """TURN-7: after the move, with its auctions, the turn goes on or ends."""
        if self.last_move:
            self._end_turn()
        else:
            self._begin_take()

    # ---- scoring ----

    def _owns_in(self, district: int, seat: int) -> bool:
        """The seat (or Alea) has a skyscraper in the district."""
        return any(plot.owner == seat and plot.count for plot in self.plots[district])

    def _put(self, owner: int, district: int, plot: int, count: int) -> None:
        """Put skyscrapers of one owner on a plot (from setup, a supply or Alea's stock)."""
        if count:
            self.plots[district][plot].owner = owner
            self.plots[district][plot].count += count

    def _plot_vp(self, district: int, plot: int) -> int:
        """SCO-2: what one skyscraper on this plot earns."""
        ring = self.rings[district]
        at = ring.index(plot)
        beside = (ring[at - 1], ring[(at + 1) % len(ring)])
        types = {tile for p in beside for tile in self.plots[district][p].tiles}
        return self.constants.plot_value[len(types)]

    def _district_vp(self, district: int) -> list[int]:
        """SCO-2 for every seat; Alea never scores (ALEA-9)."""
        gains = [0] * self.players
        for index, plot in enumerate(self.plots[district]):
            if plot.count and plot.owner is not None and plot.owner != ALEA:
                gains[plot.owner] += plot.count * self._plot_vp(district, index)
        return gains

    def _gain(self, why: str, place: int | None, gains: list[int]) -> None:
        """VP are scored."""
        self.scores = [score + gain for score, gain in zip(self.scores, gains, strict=True)]
        self._emit("vp", why=why, place=None if place is None else PLACES[place], vp=gains)

    def _score_district(self, district: int) -> None:
        """SCO-1 to SCO-4: option D with its black cards."""
        if not any(self._owns_in(d, self.seat) for d in range(7)):
            self.rules["SCO-4.none"] += 1
        self._gain("district", district, self._district_vp(district))
        self._draw_black(self.seat)
        self._draw_black(self.seat)
        for seat in self._clockwise(self.seat):
            if not self._owns_in(district, seat):
                self.rules["SCO-4" if seat == self.seat else "SCO-3"] += 1
                self._draw_black(seat)

    def _clockwise(self, seat: int) -> list[int]:
        """All seats, clockwise from this one."""
        return [(seat + step) % self.players for step in range(self.players)]

    # ---- auctions ----

    def _next_auction(self) -> None:
        """AUC-1, AUC-2: the next auction of the set; after the last one the turn goes on."""
        if not self.queue:
            self._after_move()
            return
        self._open_auction(self.queue.pop(0))
        self._emit("auction", place=PLACES[self.auction.place], starter=self.seat)

    def _open_auction(self, place: int) -> None:
        """AUC-2: the player who moved the commissioner bids first."""
        full = place != CENTRAL_PARK and not any(plot.empty for plot in self.plots[place])
        self.auction = Auction(place, self.turn_seat, full, [[] for _ in range(self.players)])
        self.phase, self.seat = "bid", self.turn_seat
        self._note_bidder()

    @property
    def turn_seat(self) -> int:
        """The seat whose turn it is: turns go round from seat 0 (SET-9)."""
        return self.turns % self.players

    def _note_bidder(self) -> None:
        """Count the special cases of a bidder (AUC-2, AUC-5)."""
        auction = self.auction
        others = self.players - len(auction.out)
        self.rules["AUC-2.last"] += others == 1 and auction.leader is None
        if not auction.laid[self.seat]:
            colors = self._bid_colors()
            held = any(n and card[0] in colors for card, n in self.hands[self.seat].items())
            self.rules["AUC-5.none"] += not colors
            self.rules["AUC-5.nocard"] += bool(colors) and not held

    def _play_bid(self, action: int) -> None:
        """AUC-2 to AUC-4, AUC-7: a card is laid down, a bid is ended, or the seat passes."""
        auction = self.auction
        if action == PASS:
            self.rules["AUC-7"] += bool(auction.laid[self.seat])
            self.rules["ALEA-4"] += auction.leader == ALEA
            self.hands[self.seat].update(auction.laid[self.seat])
            auction.laid[self.seat] = []
            auction.out.add(self.seat)
        elif action == BID_DONE:
            self._end_bid()
        else:
            color, rank = divmod(action - BID, 3)
            self._lay_down((color, VALUES[rank]))
            return
        auction.acted.add(self.seat)
        if self.alea_bids and auction.alea_cards is None and len(auction.acted) == 2:
            self._bid_of_alea()
        self._next_bidder()

    def _lay_down(self, card: Card) -> None:
        """One card more of the bid in progress; it leaves the hand."""
        auction = self.auction
        self._note_card(card)
        self.hands[self.seat][card] -= 1
        auction.laid[self.seat].append(card)
        auction.fresh.append(card)

    def _note_card(self, card: Card) -> None:
        """Count the cases of AUC-4, AUC-5, AUC-6 and AUC-12 that a card shows."""
        auction = self.auction
        color, own = card[0], auction.laid[self.seat]
        self.rules["AUC-4.black"] += color == BLACK
        if own or color == BLACK:
            return
        if any(cards and cards[0][0] == color for cards in auction.laid):
            self.rules["AUC-5.same"] += 1
        if auction.place == CENTRAL_PARK:
            self.rules["AUC-12.late"] += auction.leader is None and bool(auction.out)
            return
        case = 1 if self._owns_in(auction.place, self.seat) else 3 if auction.full else 2
        self.rules[f"AUC-5.{case}"] += 1
        self.rules["AUC-6"] += case == 3 and len(self.plots[auction.place]) > SIXTH

    def _end_bid(self) -> None:
        """AUC-3: the cards laid down are the highest bid now; AUC-12: it may fix the colour."""
        auction = self.auction
        cards = auction.laid[self.seat]
        self.rules["AUC-3.raise"] += len(cards) > len(auction.fresh)
        self.rules["ALEA-3.overbid"] += auction.leader == ALEA
        auction.highest = _total(cards)
        auction.leader = self.seat
        auction.fresh = []
        if auction.place == CENTRAL_PARK:
            auction.color = cards[0][0]

    def _next_bidder(self) -> None:
        """AUC-2: the next seat that is in and not the highest bidder; with none the auction is
        over.
        """
        auction = self.auction
        for seat in self._clockwise(self.seat + 1):
            if seat not in auction.out and seat != auction.leader:
                self.seat = seat
                self._note_bidder()
                return
        self._settle()

    def _settle(self) -> None:
        """AUC-8, ALEA-5: the auction is won, or nobody bid; the cards are paid."""
        auction = self.auction
        winner = auction.leader
        self._emit("won", seat=winner, total=auction.highest)
        self.black_up.update(auction.alea_cards or [])
        if winner is None:
            self.rules["AUC-2.nobody"] += 1
            self.seat = auction.starter
            self._next_auction()
        elif winner == ALEA:
            self.seat = auction.starter
            self._alea_wins(auction.place)
        else:
            self._pay(auction.laid[winner])
            self.phase, self.seat = "build", winner
            limit = self.constants.limit(auction.laid[winner])
            self.rules["AUC-10"] += self.supply[winner] < limit

    def _pay(self, cards: list[Card]) -> None:
        """AUC-8: black cards under the black stack, coloured ones under theirs, the lowest value
        first.
        """
        color = cards[0][0]
        self.black_up.update(value for kind, value in cards if kind == BLACK)
        values = sorted(value for kind, value in cards if kind == color)
        self.rules["AUC-8.order"] += len(set(values)) > 1
        stack = self.stacks[color]
        stack.returned += values
        if stack.top is None:
            self.rules["AUC-8.top"] += 1
            stack.top = stack.returned.pop(0)
            self._emit("top", color=COLORS[color], card=stack.top)

    def _play_build(self, action: int) -> None:
        """AUC-10 to AUC-12, STOP-1."""
        auction = self.auction
        winner = self.seat
        self.seat = auction.starter
        if action == STOP:
            self.rules["STOP-1" if self._owns_in(auction.place, winner) else "STOP-1.must"] += 1
            self._building_stop(auction.place, winner)
            return
        count = action - BUILD
        self.supply[winner] -= count
        if auction.place == CENTRAL_PARK:
            self.rules["AUC-12"] += bool(count)
            self.park_buildings[winner] += count
        else:
            self._put(winner, auction.place, auction.laid[winner][0][0], count)
        self._next_auction()

    # ---- the building stop ----

    def _building_stop(self, district: int, declarer: int) -> None:
        """STOP-2 to STOP-6."""
        full = self._district_vp(district)
        gains = [vp // 2 for vp in full]
        if declarer != ALEA:
            gains[declarer] = sum(plot.count for plot in self.plots[district])
        self.rules["STOP-2.alea"] += any(plot.owner == ALEA for plot in self.plots[district])
        self.rules["STOP-3"] += any(vp % 2 for seat, vp in enumerate(full) if seat != declarer)
        self._emit("stop", district=DISTRICTS[district], seat=declarer)
        self._gain("stop", district, gains)
        self.plots[district] = [Plot() for _ in self.plots[district]]
        self.stopped.add(district)
        for commissioner in self.commissioners:
            if district in commissioner.markers:
                self.rules["STOP-5"] += 1
                commissioner.markers.remove(district)
        if len(self.stopped) == self.constants.max_stops:
            self.rules["STOP-6"] += 1
            self.rules["STOP-6.early"] += len(self.queue) > 1
            self._end_scoring("stops")
        else:
            self._next_auction()

    # ---- Alea ----

    def _bid_of_alea(self) -> None:
        """ALEA-2, ALEA-3: cards are turned until a value appears for the second time."""
        auction = self.auction
        cards: list[int] = []
        shuffles = self.rules["AUC-9"]
        while len(set(cards)) == len(cards):
            if not self._black_ready(announce=False):
                self.rules["ALEA-2.short"] += 1
                break
            card = self.reader.alea(len(cards))
            self._from_black(card)
            cards.append(card)
        if self.rules["AUC-9"] > shuffles:
            self._emit("shuffle")
        self._emit("alea", cards=cards)
        auction.alea_cards = cards
        self.rules[f"ALEA-2.{len(cards)}"] += 1
        if sum(cards) > auction.highest:
            auction.highest, auction.leader = sum(cards), ALEA
        else:
            self.rules["ALEA-3.out"] += 1

    def _alea_wins(self, place: int) -> None:
        """ALEA-6 to ALEA-8."""
        if place == CENTRAL_PARK:
            self.rules["ALEA-8"] += 1
            self._next_auction()
        elif self.auction.full:
            self.rules["ALEA-7"] += 1
            self._building_stop(place, ALEA)
        else:
            self._alea_builds(place)
            self._next_auction()

    def _alea_builds(self, district: int) -> None:
        """ALEA-6: one skyscraper on each of the best empty plots, in ring order."""
        empty = [p for p in self.rings[district] if self.plots[district][p].empty]
        best = max(self._plot_vp(district, p) for p in empty)
        plots = [p for p in empty if self._plot_vp(district, p) == best]
        self.rules["ALEA-6"] += len(plots) > 1
        self.rules["ALEA-6.short"] += len(plots) > self.alea_supply
        plots = plots[: self.alea_supply]
        for plot in plots:
            self._put(ALEA, district, plot, 1)
        self.alea_supply -= len(plots)
        if plots:
            self._emit("alea builds", district=DISTRICTS[district], plots=[PLOTS[p] for p in plots])

    # ---- the end ----

    def _end_scoring(self, reason: str) -> None:
        """END-2, END-3."""
        for district in range(7):
            if district not in self.stopped:
                self._gain("final", district, self._district_vp(district))
        wanted = self.constants.tiles_turned_up
        count = min(wanted, self.park_tiles.total())
        self.rules["END-3.few"] += count < wanted
        self.rules["END-3"] += count == wanted
        tiles = self.reader.park()
        if len(tiles) != count or Counter(tiles) - self.park_tiles:
            held = sorted(BUSINESSES[t] for t in self.park_tiles.elements())
            _refute(f"{count} of the park's tiles {held} (END-3)", [BUSINESSES[t] for t in tiles])
        self._emit("park", tiles=[BUSINESSES[tile] for tile in tiles])
        each = self.constants.plot_value[len(set(tiles))]
        self._gain("park", CENTRAL_PARK, [each * built for built in self.park_buildings])
        self._finish(reason)

    def _finish(self, reason: str) -> None:
        """END-4, END-5: the winners; the game is over."""
        cards = [hand.total() for hand in self.hands]
        standing = list(zip(self.scores, cards, strict=True))
        winners = [seat for seat, result in enumerate(standing) if result == max(standing)]
        self.rules["END-4"] += self.scores.count(max(self.scores)) > 1
        self.rules["END-4.shared"] += len(winners) > 1
        end = {"reason": reason, "scores": list(self.scores), "cards": cards, "winners": winners}
        self._emit("end", **end, **self._payoff(reason, winners))
        self.phase = "over"
        self.rules = +self.rules

    def _payoff(self, reason: str, winners: list[int]) -> Event:
        """What the end of a task has beside that of a game."""
        return {}


class TaskReferee(Referee):
    """A position of a bidding task: from its opening up to a number of auctions, or to the game's
    end.
    """

    def __init__(self, header: Event, opening: Any) -> None:
        """The opening has the fields of a position, as skyenv/rules/state.py describes them."""
        super().__init__(header, PRINTED)
        rings = [[PLOTS[plot] for plot in ring if plot >= 0] for ring in opening["ring"]]
        wanted = {
            "players": int(opening["num_players"]),
            "side": ("front", "back")[opening["side"]],
            "rings": rings,
            "max_turns": int(opening["max_turns"]),
        }
        _demand(
            all(same(header[name], value) for name, value in wanted.items()),
            f"the opening has {wanted}",
            header,
        )
        self._read_board(opening)
        self._read_cards(opening)
        self.unknown = opening["unknown"].tolist()
        self.seat, self.turns = int(opening["seat"]), int(opening["turns"])
        self.auctions_left = int(opening["auctions_left"])  # -1: a game's last turns
        self.in_park = opening["auction_place"] == CENTRAL_PARK
        if self.auctions_left < 0:
            self._begin_turn()
            return
        districts = self.commissioners[opening["auction_commissioner"]].markers
        self.queue, self.last_move = [*districts, CENTRAL_PARK], bool(opening["step"] == 3)
        districts.clear()

    def _read_board(self, opening: Any) -> None:
        """What lies on the board, and the supplies."""
        for district, plots in enumerate(self.plots):
            for index, plot in enumerate(plots):
                tiles = Counter(dict(enumerate(opening["tiles"][district, index].tolist())))
                plot.tiles = list(tiles.elements())
                if index != SIXTH and opening["floors"][district, index]:
                    owner = int(opening["owner"][district, index])
                    plot.owner = ALEA if owner == 4 else owner
                    plot.count = int(opening["floors"][district, index])
        row = opening["row"].tolist()
        sets = [[row.pop(0) for _ in range(size)] for size in SET_SIZES]
        self.sets = [[tile for tile in tiles if tile >= 0] for tiles in sets]
        for index, commissioner in enumerate(self.commissioners):
            commissioner.place = int(opening["place"][index])
            visited = opening["visited"][index].tolist()
            commissioner.markers = visited[: opening["markers"][index]]
        self.stopped = {d for d in range(7) if opening["stopped"][d]}
        self.park_tiles = Counter(dict(enumerate(opening["park_tiles"].tolist())))
        self.park_buildings = opening["park"][: self.players].tolist()
        self.placed = int(opening["placed"])
        self.supply = opening["supply"][: self.players].tolist()
        self.general = opening["general"][: self.players].tolist()
        self.scores = opening["score"][: self.players].tolist()
        self.alea_supply = int(opening["alea_supply"])
        self.alea_bids = self.players == 2 and self.alea_supply >= 0

    def _read_cards(self, opening: Any) -> None:
        """The stacks, and the cards in hand that all know."""
        face_down = [_cards(ranks) for ranks in opening["face_down"]]
        self.black, self.black_up = face_down[BLACK], _cards(opening["black_face_up"])
        for color, top in enumerate(opening["top"].tolist()):
            returned = opening["returned"][color, : opening["num_returned"][color]] + 4
            self.stacks.append(
                Stack(top + 4 if top >= 0 else None, face_down[color], returned.tolist())
            )
        for hand in opening["hand"][: self.players]:
            held = ((c, v, n) for c, ranks in enumerate(hand) for v, n in _cards(ranks).items())
            self.hands.append(Counter({(color, value): n for color, value, n in held}))

    def set_up(self, setup: Event) -> None:
        """The hidden cards are dealt, and the first auction has begun."""
        hands = _only_fields("a deal", setup, ("event", "hands"))["hands"]
        _demand(
            setup["event"] == "deal" and _is_list(hands, self.players),
            "a deal with one hand per seat",
            setup,
        )
        for hand, sizes in zip(hands, self.unknown, strict=False):
            cards = _only_fields("a hand", hand, HAND_COLORS)
            for color, size in zip(HAND_COLORS, sizes, strict=True):
                values = cards[color]
                _demand(
                    _is_list(values, size, _is_value) and values == sorted(values),
                    f"{size} {color} card(s) with values 4 to 6, ascending",
                    values,
                )
        self.deal(hands)
        left = [*self.black.values(), *(n for s in self.stacks for n in s.hidden.values())]
        _demand(min(left) >= 0, "cards that lay face down", hands)
        self.cards = [hand.total() for hand in self.hands]
        self.margins = self._margins()
        if self.queue:
            self._open_auction(self.queue.pop(0))

    def _next_auction(self) -> None:
        """A task ends after its last auction."""
        self.auctions_left -= self.auctions_left > 0
        if self.auctions_left == 0:
            self._finish("task")
            return
        super()._next_auction()

    def _margins(self) -> list[int]:
        """VP over the best other seat, as if the districts were scored; in a task of the park area
        that one, too, with all its tiles turned up (END-3).
        """
        vp = list(self.scores)
        for district in range(7):
            vp = [all_ + more for all_, more in zip(vp, self._district_vp(district), strict=True)]
        if self.in_park:
            types = len(+self.park_tiles)
            each = self.constants.plot_value[min(types, self.constants.tiles_turned_up)]
            vp = [all_ + each * park for all_, park in zip(vp, self.park_buildings, strict=True)]
        seats = range(self.players)
        return [vp[seat] - max(vp[other] for other in seats if other != seat) for seat in seats]

    def _payoff(self, reason: str, winners: list[int]) -> Event:
        """The change of the margin, less the price of the cards paid, which the others share; of a
        game's last turns the share of the win, from -1 to 1 for two.
        """
        seats, others = range(self.players), self.players - 1
        if self.auctions_left < 0:
            ended = reason != "truncated"
            shares = [(seat in winners) / len(winners) for seat in seats]
            return {"payoff": [(2 * share - 1) * ended + 0.0 for share in shares]}
        paid = [before - hand.total() for before, hand in zip(self.cards, self.hands, strict=True)]
        charges = [PRICE * (paid[seat] - (sum(paid) - paid[seat]) / others) for seat in seats]
        gains = [now - before for now, before in zip(self._margins(), self.margins, strict=True)]
        return {"payoff": [round(gains[seat] - charges[seat], 2) for seat in seats]}


def _cards(ranks: Any) -> Counter[int]:
    """The cards of a stack by value, from their numbers."""
    return Counter(dict(zip(VALUES, ranks.tolist(), strict=True)))


def _bid_action(card: Card) -> int:
    """The action that lays this card down; black follows the five colours."""
    return BID + 3 * card[0] + card[1] - 4


def _order(card: Card) -> Card:
    """The order of laying down: coloured 4, 5, 6, black 4, 5, 6."""
    return (1 if card[0] == BLACK else 0, card[1])


def _total(cards: Sequence[Card]) -> int:
    """The points of these cards."""
    return sum(value for _, value in cards)


def _shown(cards: Counter[int]) -> list[int]:
    """The cards of a counter as a list, for messages."""
    return sorted((+cards).elements())


# ---- reading a record ----


class Reader:
    """The lines of a record, as a source of chance; every line emitted must be the next line."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)
        self.at = 0  # the index of the next line
        self.looked = 0  # the 1-based number of the line looked at last

    @property
    def done(self) -> bool:
        """No line is left."""
        return self.at >= len(self.lines)

    def peek(self, ahead: int = 0) -> Event:
        """A line not yet taken, parsed."""
        index = self.at + ahead
        self.looked = index + 1
        if index >= len(self.lines):
            raise Refutation(
                "the rules say: the game goes on here; the record says: end of file", self.looked
            )
        try:
            value = json.loads(self.lines[index], object_pairs_hook=_unique)
        except ValueError as error:
            raise Refutation(
                f"the rules say: a JSON object; the record says: {error}", self.looked
            ) from error
        if not isinstance(value, dict):
            _refute("a JSON object", value)
        return value

    def take(self) -> Event:
        """The next line."""
        event = self.peek()
        self.at += 1
        return event

    def emit(self, event: Event) -> None:
        """Check that the next line is exactly this event."""
        recorded = self.take()
        if not same(recorded, event):
            _refute(json.dumps(event), json.dumps(recorded))

    def _field(self, event: str, name: str, ahead: int = 0) -> Any:
        """A field of the next line, which must be this event."""
        recorded = self.peek(ahead)
        if recorded.get("event") != event or name not in recorded:
            _refute(f"a line {event!r} with {name!r} is due", json.dumps(recorded))
        return recorded[name]

    def card(self, event: str) -> int:
        """The value of a card in the next line, as the record has it."""
        card = self._field(event, "card")
        _demand(_is_value(card), "a card of value 4, 5 or 6", card)
        return int(card)

    def alea(self, turned: int) -> int:
        """Alea's card number `turned`, from 0; a `shuffle` may stand before the `alea` line."""
        values = self._field("alea", "cards", int(self.peek().get("event") == "shuffle"))
        _demand(
            _is_list(values, check=_is_value) and turned < len(values),
            f"Alea turns more than {turned} card(s) of value 4 to 6 (ALEA-2)",
            values,
        )
        return int(values[turned])

    def park(self) -> list[int]:
        """The tiles turned up at the end (END-3)."""
        names = self._field("park", "tiles")
        _demand(
            _is_list(names, check=BUSINESSES.__contains__), "the park's tiles are businesses", names
        )
        return [BUSINESSES.index(tile) for tile in names]


def _unique(pairs: list[tuple[str, Any]]) -> Event:
    """An object's fields, each only once."""
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a field stands twice: {names}")
    return dict(pairs)


def check_action(referee: Referee, reader: Reader) -> None:
    """Check one `action` line with its seat, legality, name and legal list, and all lines that
    follow it.
    """
    line = reader.take()
    legal = referee.legal()
    action = line.get("action")
    if line.get("event") != "action" or not _is_int(action) or action not in legal:
        _refute(f"seat {referee.seat} acts ({referee.phase}), legal are {legal}", json.dumps(line))
    assert isinstance(action, int)
    wanted = referee.action_line(action, legal="legal" in line)
    if not same(line, wanted):
        _refute(json.dumps(wanted), json.dumps(line))
    referee.play(action, reader)


# The opening of a name: a record with the fields of a position.
Openings = Callable[[str], Any]


def check_game(reader: Reader, constants: Constants, opening: Openings | None) -> Rules:
    """Check one game, from its header to its `end`."""
    header = reader.take()
    check_header(header, constants, is_task=opening is not None)
    setup = reader.take()
    referee = (
        Referee(header, constants)
        if opening is None
        else TaskReferee(header, opening(header["task"]))
    )
    referee.set_up(setup)
    while referee.phase != "over":
        check_action(referee, reader)
    return referee.rules


def check_record(
    lines: Iterable[str], constants: Constants = PRINTED, opening: Openings | None = None
) -> list[Rules]:
    """Check a record of any number of games; a Refutation names the first line that is wrong.

    Args:
        lines: its lines.
        constants: those of the variant, if it isn't of the printed rules.
        opening: the openings of the tasks, if it is of tasks.
    """
    reader = Reader(lines)
    games = []
    try:
        while not reader.done:
            games.append(check_game(reader, constants, opening))
    except Refutation as refutation:
        if refutation.line:
            raise
        raise Refutation(refutation.message, reader.looked) from refutation
    return games
