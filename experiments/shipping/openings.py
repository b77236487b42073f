"""Collection of openings for bidding tasks: ``python -m experiments.shipping.openings``.

Openings are positions of games between several agents in which an auction opens. Hands are reduced
to the task's number of cards: some public coloured ones, and black ones, which every reset deals
again. Surplus and hidden coloured cards return to their stacks. Each game contributes at most one
opening to a task. A task with a `least_gap` takes those openings in which an equilibrium mixes: its
most probable actions alone lose that share of the payoffs' range.

Exit codes: 0 success, 2 invalid command, 130 interrupted.
"""

import io
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv.agents import make_agent
from skyenv.arena.matches import Onlooker, play_games
from skyenv.array_types import AnyArray, Bool, RecordArray
from skyenv.console.options import Help, Options, common, option, program
from skyenv.console.progress import progress
from skyenv.engine.games import Games
from skyenv.engine.openings import FILE, NUM_OPENINGS, TASKS, Task
from skyenv.errors import CheckpointError
from skyenv.files import write_atomically
from skyenv.rules.actions import BID
from skyenv.rules.components import BLACK, CENTRAL_PARK, MARKERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.state import ALEA_OUT, NONE, PHASE_BID, PHASE_OPTION
from skyenv.solving.best_response import Evaluator
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.mixing import purified
from skyenv.solving.tree import Opening

# Least face-down black cards after the deal, more than Alea turns up, so none are shuffled.
LEAST_FACE_DOWN: Final = 5
LEAST_SUPPLY: Final = 3  # least skyscrapers in every seat's supply
# STOP-6: the building stop that ends a game, with chance in its final scoring (END-3).
LAST_STOP: Final = 2
# Positions that are made candidates at once.
ROWS: Final = 2048
# Most public positions of a selected opening.
MOST_NODES: Final = 10_000
# NashConv of equilibria by which openings are selected, as shares of the payoffs' range.
PRECISIONS: Final = (0.005, 0.0005)


@dataclass(frozen=True)
class CollectOptions(Options):
    """Options of the command line.

    Attributes:
        out: the file to write.
        agents: the agents, each at random in every seat.
        games: games per table.
        number: most openings per task.
        seed: seed of the games and of the sampled openings.
    """

    out: Path = option(
        Path(str(files("skyenv.engine") / FILE)),
        "file to write (default: the shipped one)",
        writes=True,
    )
    agents: tuple[str, ...] = option(
        ("trained", "greedy", "appraiser"), "agents on the seats", metavar="AGENT"
    )
    tasks: tuple[str, ...] = option(
        tuple(TASKS), "tasks; the file keeps its openings of others", tuple(TASKS), metavar="TASK"
    )
    games: int = option(20_000, "games per table", low=1)
    number: int = option(NUM_OPENINGS, "most openings per task", low=1)
    seed: int = common("seed")


class Positions(Onlooker):
    """An observer that collects positions of a match.

    Args:
        wanted: function from games, GAME_DTYPE (n,), to a mask of those to collect, bool (n,).

    Attributes:
        batches: pairs of positions, GAME_DTYPE (k,), and the numbers of their games, int64 (k,).
    """

    def __init__(self, wanted: Callable[[Any], Any]) -> None:
        self.wanted = wanted
        self.batches: list[tuple[AnyArray, AnyArray]] = []

    def decided(self, games: Games, rows: Any, matches: Any, actions: Any) -> None:
        """Collect positions; see :class:`skyenv.arena.matches.Onlooker`."""
        state = games.state[rows]
        wanted = self.wanted(state)
        self.batches.append((state[wanted], matches[wanted]))


def positions(
    options: CollectOptions, players: int, wanted: Callable[[Any], Any]
) -> tuple[AnyArray, AnyArray]:
    """Return the wanted positions of agents' games, and the numbers of their games."""
    agents = [make_agent(name) for name in options.agents]
    onlooker, seeds = Positions(wanted), options.seed + np.arange(options.games)
    random = np.random.default_rng(options.seed)
    seating = random.integers(len(agents), size=(options.games, players))
    play_games(agents, seating, seeds, onlooker=onlooker)
    states, matches = (np.concatenate(parts) for parts in zip(*onlooker.batches, strict=True))
    return states, matches


def auction_opens(state: Any) -> Any:
    """Return where an auction opens, before any bid or pass, bool (n,)."""
    opens = (state["phase"] == PHASE_BID) & (state["highest_bidder"] == NONE)
    opens &= (state["laid"] == NONE) & (state["out"] == 0).all(axis=1)
    return opens & (state["seat"] == state["turn_seat"]) & (state["stops"] == 0)


def turn_begins(state: Any) -> Any:
    """Return where a seat chooses the option of its turn, bool (n,)."""
    return state["phase"] == PHASE_OPTION


def last_turns(options: CollectOptions, task: Task) -> RecordArray:
    """Return openings at games' last turns, GAME_DTYPE (b,).

    In them, hidden cards can only be deduced by elimination.
    """
    states, matches = positions(options, task.num_players, turn_begins)
    last = np.zeros(options.games, np.int64)
    np.maximum.at(last, matches, states["turns"])
    states = states[states["turns"] == last[matches] - task.turns + 1]
    fit: Any = (states["deduced"] == 0).all(axis=(1, 2))
    fit &= states["face_down"][:, BLACK].sum(axis=1) >= LEAST_FACE_DOWN
    chosen = np.random.default_rng(options.seed).permutation(np.flatnonzero(fit))
    openings = with_settings(states[chosen[: options.number]], task)
    openings["hand"], openings["face_down"] = openings["known"], openings["unlocated"]
    openings["max_turns"] = openings["turns"] + 3 * task.turns
    openings["auctions_left"] = NONE
    return openings


def allowed_colours(states: Any, seat: int, places: AnyArray) -> Bool:
    """Return the colours that a seat may bid in auctions of given places (AUC-5), bool (n, 5)."""
    changed = states.copy()
    changed["auction_place"], changed["seat"] = places, seat
    # one card of each kind, so that the mask shows the colours
    for field in ("hand", "known"):
        changed[field][:, seat, :NUM_COLOURS] = 1
    bids = Games.of(changed).mask[:, BID : BID + NUM_COLOURS * NUM_RANKS]
    return np.asarray(bids.reshape(-1, NUM_COLOURS, NUM_RANKS).any(axis=2))


def place_of(states: Any, number: int) -> AnyArray:
    """Return the place of the auction `number` after the current one, int64 (n,); NONE if there is
    none in this set (AUC-1).
    """
    rows, commissioner = np.arange(len(states)), states["auction_commissioner"]
    left = states["markers"][rows, commissioner]
    district = states["visited"][rows, commissioner, min(number, MARKERS - 1)]
    place = np.where(number < left, district, NONE)
    return np.where(number == left, CENTRAL_PARK, place).astype(np.int64)


def may_stop(states: Any, places: AnyArray) -> Bool:
    """Return where the auction of a place may lead to a building stop: in a district without an
    empty plot (STOP-1), or with one, which an earlier auction can occupy; bool (n,).
    """
    rows, districts = np.arange(len(states)), np.minimum(places, CENTRAL_PARK - 1)
    empty = states["owner"][rows, districts] == NONE
    empty &= states["tiles"][rows, districts, :NUM_COLOURS].sum(axis=2) == 0
    return np.asarray((places < CENTRAL_PARK) & (empty.sum(axis=1) <= 1))


def reduce_hands(game: Any, allowed: Bool, task: Task, random: np.random.Generator) -> bool:
    """Reduce the hands of a public position to a task's number of cards.

    Args:
        game: a record, changed in place.
        allowed: the colours that each seat may bid in each auction, bool (auctions, players, 5).
        task: the task that begins with this position.
        random: generator that samples the remaining cards.

    Returns:
        Whether every seat then has coloured and black cards for every auction, and enough black
        cards are left for Alea.
    """
    for seat in range(task.num_players):
        to_bid = np.append(allowed[:, seat].any(axis=0), True)
        game["unlocated"][to_bid] += game["known"][seat, to_bid]
        coloured = np.argwhere(game["known"][seat] * to_bid[:, None])
        coloured = coloured[coloured[:, 0] != BLACK]
        game["unknown"][seat, to_bid] = game["known"][seat, to_bid] = 0
        if not len(coloured):
            return False
        sampled = random.permutation(coloured)[: random.integers(1, task.cards)]
        for colour, rank in sampled:
            game["known"][seat, colour, rank] += 1
            game["unlocated"][colour, rank] -= 1
        game["unknown"][seat, BLACK] = task.cards - len(sampled)
        if not (game["known"][seat, :NUM_COLOURS].any(axis=1) & allowed[:, seat]).any(axis=1).all():
            return False
    game["hand"] = game["known"]
    game["face_down"] = game["unlocated"]
    left = int(game["unlocated"][BLACK].sum()) - int(game["unknown"][:, BLACK].sum())
    return left >= LEAST_FACE_DOWN


def with_settings(states: RecordArray, task: Task) -> RecordArray:
    """Return positions with a task's settings, without hidden facts and, if it is of auctions,
    without hidden coloured cards; known hands are unchanged.
    """
    openings = states.copy()
    if task.auctions:
        openings["unknown"][:, :, :NUM_COLOURS] = 0
    openings["deduced"] = openings["random"] = openings["decisions"] = 0
    openings["seed"] = NONE
    openings["auctions_left"] = task.auctions
    if task.num_players == 2 and not task.alea:
        openings["alea_supply"], openings["alea"] = NONE, ALEA_OUT
    return openings


def of_task(states: Any, matches: AnyArray, name: str, options: CollectOptions) -> RecordArray:
    """Return a task's openings, GAME_DTYPE (b,), from shuffled positions and the numbers of their
    games, int64 (n,).
    """
    task, random = TASKS[name], np.random.default_rng(options.seed)
    found: list[RecordArray] = []
    used = set[int]()
    with progress(options.number, "opening") as bar:
        for first in range(0, len(states), ROWS):
            part = slice(first, first + ROWS)
            for opening, match in candidates(states[part], matches[part], task, random, used):
                if len(found) < options.number and is_mixed(name, opening):
                    found.append(opening)
                    used.add(match)
                    bar.update()
            if len(found) == options.number:
                break
    return np.concatenate(found) if found else states[:0]


def candidates(
    states: Any, matches: AnyArray, task: Task, random: np.random.Generator, used: set[int]
) -> Iterator[tuple[RecordArray, int]]:
    """Yield possible openings of a task, GAME_DTYPE (1,), and the numbers of their games, except of
    games that are used.
    """
    places = np.stack([place_of(states, auction) for auction in range(task.auctions)])
    fit: Any = (places != NONE).all(axis=0) & ((places[0] == CENTRAL_PARK) == task.park)
    fit &= states["supply"][:, : task.num_players].min(axis=1) >= LEAST_SUPPLY
    fit &= (states["top"] != NONE).all(axis=1)
    fit &= np.sum([may_stop(states, place) for place in places], axis=0) < LAST_STOP
    openings, places = with_settings(states[fit], task), places[:, fit]
    seats = range(task.num_players)
    allowed = np.array(
        [[allowed_colours(states[fit], seat, place) for seat in seats] for place in places]
    )
    for row, match in enumerate(matches[fit].tolist()):
        if match not in used and reduce_hands(openings[row], allowed[:, :, row], task, random):
            yield openings[row : row + 1], match


def is_mixed(name: str, state: RecordArray) -> bool:
    """Return whether an opening loses a task's `least_gap` without mixing; True without one."""
    task = TASKS[name]
    if task.least_gap == 0.0:
        return True
    unselected = replace(task, least_gap=0.0)
    opening = Opening(next(one for one in TASKS if TASKS[one] == unselected), state)
    if len(opening.tree.kind) > MOST_NODES:
        return False
    evaluator, solver = Evaluator(opening.tree), Solver(opening.tree)
    for precision in PRECISIONS:  # the coarse one refuses most openings
        *_, solution = solve(solver, precision)
        gap = evaluator.nash_conv(purified(opening.tree, solution.policy))
        if gap < task.least_gap * evaluator.payoff_range:
            return False
    return True


def collect(options: CollectOptions) -> dict[str, RecordArray]:
    """Play the games and return the openings of the tasks by name."""
    found: dict[str, RecordArray] = {}
    of_auctions = [name for name in options.tasks if TASKS[name].auctions]
    for players in sorted({TASKS[name].num_players for name in of_auctions}):
        states, matches = positions(options, players, auction_opens)
        order = np.random.default_rng(options.seed).permutation(len(states))
        states, matches = states[order], matches[order]
        for name in of_auctions:
            if TASKS[name].num_players == players:
                found[name] = of_task(states, matches, name, options)
                print(f"{name}: {len(found[name])} of {len(states):,} auctions", flush=True)
    for name in options.tasks:
        if not TASKS[name].auctions:
            found[name] = last_turns(options, TASKS[name])
            print(f"{name}: {len(found[name])} of {options.games:,} games", flush=True)
    return found


def _run(options: CollectOptions) -> None:
    kept: dict[str, Any] = {}
    if options.out.exists() and len(options.tasks) < len(TASKS):
        try:
            with options.out.open("rb") as stream, np.load(stream) as file:
                kept = {name: file[name] for name in file.files if name in TASKS}
        except Exception as error:  # zipfile, zlib and NumPy raise many kinds
            raise CheckpointError(f"{options.out} holds no openings: {error}") from error
    content = io.BytesIO()
    np.savez_compressed(content, **(kept | collect(options)))
    write_atomically(options.out, content.getvalue())


main = program(
    CollectOptions,
    "experiments.shipping.openings",
    Help(
        "collect openings of bidding tasks from games",
        "--tasks duel-4 alea-4 --out openings.npz",
        "docs/benchmark.md#bidding-tasks",
    ),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
