"""The game in figures: ``python -m experiments.benchmarks.game_figures --json docs/game.json``
(docs/game.md shows them).

**Mirror games**, in which one agent has all seats, tell of seats, length, choices and ends. Of the
greedy and the trained agent, for 2, 3 and 4 players, on both sides; intervals are 95 %, by the
bootstrap of :mod:`skyenv.arena.estimates` over deals.

**The tree**: the sum of log₁₀ (legal actions) over a game's decisions, its mean over games: a tree
that branches as these games did, with chance as it fell, has so many digits. Chance comes on top.

**Information sets**: how many hands the others can hold, as far as the seat to act can tell: for
each colour of cards, in how many ways the ranks that it can't locate can lie in the places that it
knows of. Counted exactly, at one of `EVERY` decisions; what memory of a shuffle of black cards
excludes is not taken off, and the order of face-down cards, which is drawn when they are, is not
counted.

**Luck**: the same deal, from the same seed, is played `REPEATS` times by the trained agent, which
draws its actions from its policy. The share of the variance of a seat's wins that lies between
deals (a random-effects analysis of variance, all seats together) is what the deal decides. Chance
is one stream: once two games of a deal have parted, its next number decides something else. So the
rest is play, the agents' own dice, and chance after the games have parted; how much of it is luck
isn't told.

**Luck against skill**, two players: every agent of `FIELD` meets every other in the same deals,
from both seats. The variance of the wins of seat 0 is taken apart into what differs between the
pairs of agents (skill), between deals (luck that all pairs share), and the rest (what a deal means
to one pair and not to another, the agents' own dice, and chance after the games have parted).
Single games are meant: skill adds up over many games, luck cancels.
"""

from __future__ import annotations

import datetime
import itertools
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from experiments.benchmarks.figures import machine
from skyenv.agents import Agent, Decisions, ReportingAgent, make_agent
from skyenv.arena.estimates import Floats, Weights, estimates, interval, percent
from skyenv.arena.matches import Played, play_games
from skyenv.arena.units import run_units
from skyenv.commands import INTERRUPTED, complain, exit_code
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.files import check_writable, write_atomically
from skyenv.options import Options, common, option, parse
from skyenv.progress import progress
from skyenv.rules.components import SIDES
from skyenv.rules.state import END_BUSINESSES, END_STOPS, END_TRUNCATED
from skyenv.tables import markdown as as_markdown
from skyenv_agents import TrainedAgent

FORMAT: Final = 1
COMMAND: Final = "experiments.benchmarks.game_figures"
AGENTS: Final = ("greedy", "trained")
FIELD: Final = ("greedy", "appraiser", "builder", "bidder", "trained")
PLAYERS: Final = (2, 3, 4)
DEALS: Final = 1000
REPEATS: Final = 4
EVERY: Final = 16
"""One of so many decisions is looked at for its information set."""
SECRET: Final = 1
"""The figures are of the deals of this secret."""
ENDS: Final = {
    END_BUSINESSES: "12th business (BUS-5)",
    END_STOPS: "second stop (STOP-6)",
    END_TRUNCATED: "500 turns (END-5)",
}
"""What ends a game by END-1, and END-5."""

Row = dict[str, Any]
"""What was found of an agent, a number of players and a side."""


# ---- watching ----


@lru_cache(maxsize=100_000)
def ways(unseen: tuple[int, ...], places: tuple[int, ...]) -> int:
    """In how many ways cards of three ranks can lie in places that hold so many each; what is left
    lies face down.
    """
    if not places:
        return 1
    size, *others = places
    taken = (
        (one, two, size - one - two)
        for one in range(min(unseen[0], size) + 1)
        for two in range(min(unseen[1], size - one) + 1)
        if size - one - two <= unseen[2]
    )
    return sum(
        ways(tuple(have - gone for have, gone in zip(unseen, cards, strict=True)), tuple(others))
        for cards in taken
    )


def hands(view: np.void) -> float:
    """How many hands the others can hold, as a seat sees it: log₁₀.

    `view`: one record of VIEW_DTYPE.
    """
    others = np.delete(view["unknown"], int(view["seat"]), axis=0)
    total = 0.0
    for unseen, places in zip(view["unseen"].tolist(), others.T.tolist(), strict=True):
        total += float(
            np.log10(max(1, ways(tuple(unseen), tuple(sorted(size for size in places if size)))))
        )
    return total


class Watching(ReportingAgent):
    """An agent whose choices are counted.

    Attributes:
        legal: int64 (104,), decisions by their number of legal actions. hands: log₁₀ of the hands
            that others can hold.
    """

    def __init__(self, inner: Agent) -> None:
        super().__init__(inner)
        self.uses_view = True
        self.legal = np.zeros(104, np.int64)
        self.hands: list[float] = []
        self.seen = 0

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        self.legal += np.bincount(
            decisions.mask.sum(axis=1, dtype=np.int64), minlength=len(self.legal)
        )
        views = np.asarray(decisions.view).view(VIEW_DTYPE)
        self.hands += [
            hands(views[row]) for row in range(-self.seen % EVERY, len(decisions), EVERY)
        ]
        self.seen += len(decisions)
        return super().act(decisions)


class Redrawing(ReportingAgent):
    """An agent with random numbers of its own, so that it plays the same deal otherwise each
    time.
    """

    def __init__(self, inner: Agent, seed: int) -> None:
        super().__init__(inner)
        self.rng = np.random.default_rng(seed)

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        return super().act(replace(decisions, uniform=self.rng.random(len(decisions))))


# ---- figures ----


def spread(values: npt.NDArray[np.int64]) -> dict[str, float]:
    """The mean of some numbers, and what nine of ten lie between."""
    low, high = np.percentile(values, [5, 95])
    return {"mean": round(float(values.mean()), 1), "low": float(low), "high": float(high)}


def mirror(played: Played, watching: Watching) -> Row:
    """What mirror games tell; game i is that of deal i."""
    deals, players = played.shares.shape
    weights = Weights.draw(np.random.default_rng(0), deals, players)
    each = np.arange(deals)
    choices = np.repeat(np.arange(len(watching.legal)), watching.legal)
    digits = float((np.log10(np.maximum(choices, 1))).sum() / deals)
    return {
        "deals": deals,
        "seats": [
            weights.mean(played.shares[:, seat], each, share=True).rounded(4)
            for seat in range(players)
        ],
        "turns": spread(played.turns),
        "decisions": spread(played.decisions),
        "legal": {
            "mean": round(float(choices.mean()), 2),
            "median": float(np.median(choices)),
            "highest": int(choices.max()),
            "forced": round(float((choices == 1).mean()), 4),
        },
        "tree": round(digits, 1),
        "hands": {
            "median": round(float(np.median(watching.hands)), 2),
            "high": round(float(np.percentile(watching.hands, 95)), 2),
            "highest": round(max(watching.hands), 2),
        },
        "ends": {
            name: round(float((played.ends == number).mean()), 4) for number, name in ENDS.items()
        },
        "vp": {
            "winner": round(float(played.scores.max(axis=1).mean()), 1),
            "loser": round(float(played.scores.min(axis=1).mean()), 1),
        },
    }


def between(wins: Floats, weights: Floats) -> Floats:
    """The share of the variance of wins that lies between deals.

    Args:
        wins: float64 (deals, repeats, seats). weights: float64 (1 + r, deals).

    Returns:
        float64 (1 + r,): unbiased components of variance, those of all seats added up.
    """
    repeats = wins.shape[1]
    share = weights / weights.sum(axis=1, keepdims=True)
    means = wins.mean(axis=1)
    within = share @ wins.var(axis=1, ddof=1)
    centre = share @ means
    raw = (share @ means**2 - centre**2) / (1 - (share**2).sum(axis=1, keepdims=True))
    deal = (raw - within / repeats).sum(axis=1)
    return np.asarray(deal / (deal + within.sum(axis=1)))


def parts(wins: Floats, weights: Floats) -> Floats:
    """The shares of pairs, deals and the rest in the variance of wins, float64 (1 + r, 3).

    Args:
        wins: float64 (deals, pairs). weights: float64 (1 + r, deals).
    """
    pairs = wins.shape[1]
    share = weights / weights.sum(axis=1, keepdims=True)
    left = 1 - (share**2).sum(axis=1)  # of one deal's weight, what is independent of the mean
    by_pair = share @ wins
    rows = wins.mean(axis=1)
    grand = by_pair.mean(axis=1)
    squares = share @ (wins**2)
    within_pair = (squares - by_pair**2) / left[:, None]  # between deals, of each pair
    raw_deals = (share @ rows**2 - grand**2) / left
    # A pair's variance over deals is that of deals and the rest; that of the deals' means has 1 /
    # pairs of the rest.
    rest = (within_pair.mean(axis=1) - raw_deals) / (1 - 1 / pairs)
    deal = raw_deals - rest / pairs
    skill = by_pair.var(axis=1, ddof=1) - rest * (share**2).sum(axis=1)
    whole = np.stack([skill, deal, rest], axis=1)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


# ---- playing ----


@dataclass(frozen=True)
class Unit:
    """What one process finds out: a row of one of the tables.

    Attributes:
        table: "mirror", "luck" or "skill". agent: of mirror games. players, side, deals: what is
            played.
    """

    table: str
    agent: str
    players: int
    side: str
    deals: int

    def games(self) -> int:
        """How many games it plays."""
        return (
            self.deals
            * {"mirror": 1, "luck": REPEATS, "skill": len(FIELD) * (len(FIELD) - 1)}[self.table]
        )


def find(unit: Unit) -> Row:
    """Play a unit's games."""
    return {"mirror": mirror_row, "luck": luck_row, "skill": skill_row}[unit.table](unit)


def mirror_row(unit: Unit) -> Row:
    """Mirror games of an agent."""
    watching = Watching(make_agent(unit.agent))
    seating = np.zeros((unit.deals, unit.players), np.int64)
    played = play_games([watching], seating, np.arange(unit.deals), unit.side, secret=SECRET)
    return {
        "agent": unit.agent,
        "players": unit.players,
        "side": unit.side,
        **mirror(played, watching),
    }


def luck_row(unit: Unit) -> Row:
    """How much of a seat's wins the deal decides."""
    seating, deals = np.zeros((unit.deals, unit.players), np.int64), np.arange(unit.deals)
    agents = [Redrawing(TrainedAgent(deterministic=False), repeat) for repeat in range(REPEATS)]
    wins = [
        play_games([agent], seating, deals, unit.side, secret=SECRET).shares for agent in agents
    ]
    weights = Weights.draw(np.random.default_rng(0), unit.deals, unit.players).paired_seeds
    (share,) = estimates(between(np.stack(wins, axis=1), weights)[:, None])
    return {
        "players": unit.players,
        "side": unit.side,
        "deals": unit.deals,
        "deal": share.rounded(4),
    }


def skill_row(unit: Unit) -> Row:
    """Luck against skill."""
    agents = [make_agent(name) for name in FIELD]
    pairs = np.array(list(itertools.permutations(range(len(agents)), 2)))
    deals = np.repeat(np.arange(unit.deals), len(pairs))
    wins = play_games(
        agents, np.tile(pairs, (unit.deals, 1)), deals, unit.side, secret=SECRET
    ).shares[:, 0]
    weights = Weights.draw(np.random.default_rng(0), unit.deals, 2).paired_seeds
    skill, deal, rest = estimates(parts(wins.reshape(unit.deals, len(pairs)), weights))
    found = {"skill": skill.rounded(4), "deal": deal.rounded(4), "rest": rest.rounded(4)}
    return {"side": unit.side, "deals": unit.deals, "agents": list(FIELD), **found}


def units_of(deals: int, players: Sequence[int]) -> list[Unit]:
    """All there is to find out, the longest first."""
    fewer = max(8, deals // 4)
    tables = [(number, side) for number in sorted(players, reverse=True) for side in SIDES]
    luck = [Unit("luck", "trained", number, side, fewer) for number, side in tables]
    mirrors = [
        Unit("mirror", agent, number, side, deals)
        for agent in reversed(AGENTS)
        for number, side in tables
    ]
    return [*(Unit("skill", "", 2, side, fewer) for side in SIDES), *luck, *mirrors]


def measure(deals: int, players: Sequence[int], workers: int) -> dict[str, list[Row]]:
    """All figures, in so many processes."""
    units = units_of(deals, players)
    found: dict[Unit, Row] = {}
    with progress(sum(unit.games() for unit in units)) as bar:

        def done(unit: Unit, row: Row) -> None:
            found[unit] = row
            bar.update(unit.games())

        run_units(
            find,
            iter(units),
            workers,
            done=done,
            tick=lambda: True,
            parts=lambda unit: [unit],
            about=lambda unit: f"playing {unit}",
        )
    order = sorted(units, key=lambda unit: (unit.players, SIDES.index(unit.side), unit.agent))
    return {
        table: [found[unit] for unit in order if unit.table == table]
        for table in ("mirror", "luck", "skill")
    }


# ---- telling ----


def _where(row: Row) -> list[str]:
    return [str(row["players"]), row["side"], *([row["agent"]] if "agent" in row else [])]


def seats_table(content: dict[str, Any]) -> str:
    """The wins of each seat."""
    most = max(row["players"] for row in content["mirror"])
    rows = [["players", "side", "agent", *(f"seat {seat}" for seat in range(most))]]
    for row in content["mirror"]:
        cells = [percent(seat) for seat in row["seats"]]
        rows.append([*_where(row), *cells, *[""] * (most - len(cells))])
    return as_markdown(rows, "rll" + "r" * most)


def length_table(content: dict[str, Any]) -> str:
    """How long games are, what there is to choose, and how they end."""
    head = [
        "players",
        "side",
        "agent",
        "turns",
        "decisions",
        "legal actions: mean",
        "median",
        "most",
        "only one",
        *ENDS.values(),
    ]
    rows = [head]
    for row in content["mirror"]:
        legal, ends = row["legal"], row["ends"]
        rows.append(
            [
                *_where(row),
                *(interval(row[name]) for name in ("turns", "decisions")),
                f"{legal['mean']:.1f}",
                f"{legal['median']:.0f}",
                str(legal["highest"]),
                f"{100 * legal['forced']:.0f} %",
                *(f"{100 * ends[name]:.1f} %" for name in ENDS.values()),
            ]
        )
    return as_markdown(rows, "rll" + "r" * (len(head) - 3))


def size_table(content: dict[str, Any]) -> str:
    """The tree, the information sets, and VP."""
    rows = [
        [
            "players",
            "side",
            "agent",
            "tree",
            "others' hands: median",
            "one in twenty above",
            "most",
            "winner's VP",
            "last one's VP",
        ]
    ]
    for row in content["mirror"]:
        sizes = [f"10^{row['hands'][name]:.1f}" for name in ("median", "high", "highest")]
        rows.append(
            [
                *_where(row),
                f"10^{row['tree']:.0f}",
                *sizes,
                f"{row['vp']['winner']:.0f}",
                f"{row['vp']['loser']:.0f}",
            ]
        )
    return as_markdown(rows, "rll" + "r" * 6)


def luck_table(content: dict[str, Any]) -> str:
    """What the deal decides."""
    rows = [["players", "side", "decided by the deal"]]
    rows += [[*_where(row), percent(row["deal"])] for row in content["luck"]]
    return as_markdown(rows, "rlr")


def skill_table(content: dict[str, Any]) -> str:
    """Luck against skill."""
    names = ("skill", "deal", "rest")
    rows = [["side", "who plays", "the deal", "the rest"]]
    rows += [[row["side"], *(percent(row[name]) for name in names)] for row in content["skill"]]
    return as_markdown(rows, "lrrr")


def about(content: dict[str, Any]) -> str:
    """When, where and how it was measured."""
    where = content["machine"]
    return (
        f"{content['date']}, {content['seconds'] / 60:.0f} minutes on {where['processor']}: "
        f"`{content['command']}`."
        f" {content['deals']:,} deals for mirror games, a quarter as many for luck; intervals are "
        "95 %."
    )


TABLES: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "seats": seats_table,
    "length": length_table,
    "size": size_table,
    "luck": luck_table,
    "skill": skill_table,
    "about": about,
}
"""The parts of docs/game.md, by name."""


# ---- the command line ----


@dataclass(frozen=True)
class GameFiguresOptions(Options):
    """What the command takes."""

    deals: int = option(
        DEALS, "deals for mirror games; a quarter as many for luck and skill", low=8, high=10**6
    )
    players: tuple[int, ...] = option(PLAYERS, "numbers of players", low=2, high=4, metavar="N")
    workers: int = common("workers", text="processes; 0: one for each core")
    json: Path | None = common("json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 0 all right, 1 a file is bad, 2 the command is, 130
    interrupted.
    """
    return exit_code(
        "game_figures",
        lambda: _run(parse(GameFiguresOptions, COMMAND, "Measure the game itself.", arguments)),
    )


def _run(options: GameFiguresOptions) -> int:
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        check_writable(options.json)
    started = time.perf_counter()
    try:
        figures = measure(options.deals, options.players, options.workers)
    except KeyboardInterrupt:
        complain("game_figures", "interrupted; nothing was written")
        return INTERRUPTED
    content = {
        "format": FORMAT,
        "date": datetime.date.today().isoformat(),
        "command": f"python -m {COMMAND} --deals {options.deals}",
        "machine": machine(),
        "seconds": round(time.perf_counter() - started, 1),
        "deals": options.deals,
        **figures,
    }
    print("\n\n".join(make(content) for make in TABLES.values()))
    if options.json is not None:
        write_atomically(options.json, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
