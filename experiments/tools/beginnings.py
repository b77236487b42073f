"""The collection of bidding tasks' beginnings: ``python -m experiments.tools.beginnings``.

Beginnings are positions of agents' games in which an auction opens. Hands are cut to the task's
number of cards: some public coloured ones, and black ones, which every reset deals again. Surplus
cards return to their stacks. Each game gives a task at most one beginning.

Exit codes: 0 success, 2 invalid command, 130 interrupted.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import make_agent
from skyenv.arena.matches import play_games
from skyenv.engine import tasks
from skyenv.engine.games import Games
from skyenv.engine.tasks import TASKS, Task
from skyenv.files import write_atomically
from skyenv.options import Options, common, exit_code, option, parse
from skyenv.rules.actions import BID
from skyenv.rules.components import BLACK, CENTRAL_PARK, MARKERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.state import ALEA_OUT, NONE, PHASE_BID, PHASE_OPTION

LEAST_FACE_DOWN: Final = 5
"""Black cards face down that a beginning has: more than Alea turns up, so nothing is shuffled."""
LEAST_SUPPLY: Final = 3  # skyscrapers that every seat has ready


@dataclass(frozen=True)
class Collecting(Options):
    """What to play, and how much of it to keep.

    Attributes:
        out: the file to write.
        agent: who plays all seats.
        games: games to play at each table.
        number: beginnings of each task.
        seed: decides the games, and which beginnings are kept.
    """

    out: Path = option(Path(tasks.__file__).with_name(tasks.FILE), "file to write", writes=True)
    agent: str = option("trained", "who plays all seats")
    games: int = option(1000, "games to play at each table", low=1)
    number: int = option(32, "beginnings of each task", low=1)
    seed: int = common("seed")


class Positions:
    """An onlooker that keeps positions.

    Args:
        wanted: which, bool (n,) of GAME_DTYPE (n,).

    Attributes:
        kept: GAME_DTYPE (k,) each, and the games' numbers (k,).
    """

    def __init__(self, wanted: Callable[[Any], Any]) -> None:
        self.wanted = wanted
        self.kept: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = []

    def decided(self, games: Games, rows: Any, match: Any, actions: Any) -> None:
        """Keep the positions that are wanted."""
        state = games.state[rows]
        wanted = self.wanted(state)
        self.kept.append((state[wanted], match[wanted]))

    def played(self, games: Games, rows: Any, match: Any) -> None:
        """Nothing is kept of what came of it."""


def positions(
    options: Collecting, players: int, wanted: Callable[[Any], Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The positions of an agent's games that are wanted, and the games' numbers."""
    onlooker, seeds = Positions(wanted), options.seed + np.arange(options.games)
    seating = np.zeros((options.games, players), np.int64)
    play_games([make_agent(options.agent)], seating, seeds, onlooker=onlooker)
    states, matches = (np.concatenate(parts) for parts in zip(*onlooker.kept, strict=True))
    return states, matches


def auction_opens(state: Any) -> Any:
    """Where an auction begins in which nobody has bid or passed yet."""
    opens = (state["phase"] == PHASE_BID) & (state["highest_bidder"] == NONE)
    opens &= (state["laid"] == NONE) & (state["out"] == 0).all(axis=1)
    return opens & (state["seat"] == state["turn_seat"]) & (state["stops"] == 0)


def turn_begins(state: Any) -> Any:
    """Where a seat chooses the option of its turn."""
    return state["phase"] == PHASE_OPTION


def last_turns(options: Collecting, task: Task) -> npt.NDArray[np.void]:
    """The beginnings of games' last turns, where nothing can be deduced of hidden cards but that
    they aren't elsewhere.
    """
    states, matches = positions(options, task.num_players, turn_begins)
    last = np.zeros(options.games, np.int64)
    np.maximum.at(last, matches, states["turns"])
    states = states[states["turns"] == last[matches] - task.turns + 1]
    fit: Any = (states["deduced"] == 0).all(axis=(1, 2))
    fit &= states["face_down"][:, BLACK].sum(axis=1) >= LEAST_FACE_DOWN
    chosen = np.random.default_rng(options.seed).permutation(np.flatnonzero(fit))
    made = public(states[chosen[: options.number]], task)
    made["hand"], made["face_down"] = made["known"], made["unlocated"]
    made["max_turns"] = made["turns"] + 3 * task.turns
    made["auctions_left"] = NONE
    return made


def allowed_colours(states: Any, seat: int, places: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """The colours in which a seat may bid where these places are auctioned (AUC-5), bool (n, 5)."""
    games = Games(len(states), int(states["num_players"][0]), seed=0, observation=None)
    games.state[:] = states
    games.state["auction_place"] = places
    games.state["seat"] = seat
    for field in ("hand", "known"):  # a card of each kind, so that the mask tells
        games.state[field][:, seat, :NUM_COLOURS] = 1
    games.refresh()
    bids = games.mask[:, BID : BID + NUM_COLOURS * NUM_RANKS]
    return np.asarray(bids.reshape(-1, NUM_COLOURS, NUM_RANKS).any(axis=2))


def place_of(states: Any, number: int) -> npt.NDArray[Any]:
    """The place of the auction that comes `number` after the present one, int64 (n,); NONE: there
    is none in this set (AUC-1).
    """
    rows, commissioner = np.arange(len(states)), states["auction_commissioner"]
    left = states["markers"][rows, commissioner]
    district = states["visited"][rows, commissioner, min(number, MARKERS - 1)]
    place = np.where(number < left, district, NONE)
    return np.where(number == left, CENTRAL_PARK, place).astype(np.int64)


def cut(game: Any, allowed: npt.NDArray[np.bool_], task: Task, random: np.random.Generator) -> bool:
    """Cut the hands of a public position to a task's number of cards.

    Args:
        game: a record, written in place.
        allowed: bool (auctions, N, 5): the colours that seats may bid in.
        task: what is to begin.
        random: decides which cards stay.

    Returns:
        Whether every seat then has coloured and black cards for every auction.
    """
    for seat in range(task.num_players):
        to_bid = np.append(allowed[:, seat].any(axis=0), True)
        game["unlocated"][to_bid] += game["known"][seat, to_bid]
        coloured = np.argwhere(game["known"][seat] * to_bid[:, None])
        coloured = coloured[coloured[:, 0] != BLACK]
        game["unknown"][seat, to_bid] = game["known"][seat, to_bid] = 0
        if not len(coloured):
            return False
        kept = random.permutation(coloured)[: random.integers(1, task.cards)]
        for colour, rank in kept:
            game["known"][seat, colour, rank] += 1
            game["unlocated"][colour, rank] -= 1
        game["unknown"][seat, BLACK] = task.cards - len(kept)
        if not (game["known"][seat, :NUM_COLOURS].any(axis=1) & allowed[:, seat]).any(axis=1).all():
            return False
    game["hand"] = game["known"]
    game["face_down"] = game["unlocated"]
    return True


def public(states: npt.NDArray[np.void], task: Task) -> npt.NDArray[np.void]:
    """Positions as a task begins with them, but for their hands."""
    made = states.copy()
    made["deduced"] = made["random"] = made["decisions"] = 0
    made["seed"] = NONE
    made["auctions_left"] = task.auctions
    if task.num_players == 2 and not task.alea:
        made["alea_supply"], made["alea"] = NONE, ALEA_OUT
    return made


def of_task(states: Any, task: Task, options: Collecting) -> npt.NDArray[np.void]:
    """A task's beginnings, GAME_DTYPE (b,), from positions of different games in random order."""
    places = np.stack([place_of(states, auction) for auction in range(task.auctions)])
    fit: Any = (places != NONE).all(axis=0) & ((places[0] == CENTRAL_PARK) == task.park)
    fit &= states["supply"][:, : task.num_players].min(axis=1) >= LEAST_SUPPLY
    fit &= states["face_down"][:, BLACK].sum(axis=1) >= LEAST_FACE_DOWN
    fit &= (states["top"] != NONE).all(axis=1)
    states, places = states[fit], places[:, fit]
    seats = range(task.num_players)
    allowed = np.array(
        [[allowed_colours(states, seat, place) for seat in seats] for place in places]
    )
    made, random = public(states, task), np.random.default_rng(options.seed)
    kept: list[int] = []
    for row in range(len(made)):
        if len(kept) < options.number and cut(made[row], allowed[:, :, row], task, random):
            kept.append(row)
    return made[kept]


def collect(options: Collecting) -> dict[str, npt.NDArray[np.void]]:
    """Play the games, and return the beginnings of all tasks."""
    found: dict[str, npt.NDArray[np.void]] = {}
    of_auctions = {name: task for name, task in TASKS.items() if task.auctions}
    for players in sorted({task.num_players for task in of_auctions.values()}):
        states, matches = positions(options, players, auction_opens)
        order = np.random.default_rng(options.seed).permutation(len(states))
        one_of_each_game = np.unique(matches[order], return_index=True)[1]
        states = states[order][np.sort(one_of_each_game)]
        for name, task in of_auctions.items():
            if task.num_players == players:
                found[name] = of_task(states, task, options)
                print(f"{name}: {len(found[name])} of {len(states):,} auctions", flush=True)
    for name in TASKS.keys() - of_auctions.keys():
        found[name] = last_turns(options, TASKS[name])
        print(f"{name}: {len(found[name])} of {options.games:,} games", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    description = "Collect the beginnings of bidding tasks from games between agents."
    return exit_code(
        "beginnings",
        lambda: _run(parse(Collecting, "experiments.tools.beginnings", description, arguments)),
    )


def _run(options: Collecting) -> None:
    content = io.BytesIO()
    np.savez_compressed(content, **collect(options))  # type: ignore[arg-type]
    write_atomically(options.out, content.getvalue())


if __name__ == "__main__":
    sys.exit(main())
