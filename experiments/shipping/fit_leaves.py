"""The fit of the leaf network: ``python -m experiments.shipping.fit_leaves --players 2``.

A softened greedy agent plays the games: it samples actions by its scores, and sometimes uniformly,
for varied positions. From one position in twelve, greedy agents with their own views play a copy of
the game to its end. The network (:mod:`skyenv_agents.search.leaf_network`) learns to predict the
result: the win, and a share for VP, as searches value finished games. The last positions are held
out; their cross-entropy is printed.

600,000 positions take about five minutes on one core, mostly for playing. Exit codes: 0 success, 2
invalid command, 130 interrupted.
"""

import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from experiments.shipping.openings import Positions
from skyenv.agents import Agent, Decisions
from skyenv.arena.matches import play_games
from skyenv.array_types import Float32, Int64
from skyenv.console.options import Help, Options, common, option, program
from skyenv.console.progress import progress
from skyenv.files import write_atomically
from skyenv.rules.compiling import entry_point
from skyenv.rules.components import NUM_DISTRICTS
from skyenv.rules.record import Array, as_records
from skyenv.rules.state import GAME_DTYPE, PHASE_START
from skyenv_agents.heuristic.features import extract_board
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, SEAT_INPUTS, write_district, write_seat
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.search.leaf_network import DISTRICT_UNITS, FOLDER, SEAT_UNITS, extract_open_hands
from skyenv_agents.search.rollouts import (
    Scratch,
    evaluate,
    new_scratch,
    rollout,
    search_options,
)

# Games played at once; three batches in four have the front side.
GAMES: Final = 256
# Share of the positions that are collected.
RATE: Final = 1 / 12
# VP by which an action must be better to be drawn e times as often; each seat of each game has one
# of these.
TEMPERATURES: Final = (0.05, 0.5, 1.5, 3.0, 5.0)
# Share of the actions that are drawn from all legal ones.
ANY_ACTION: Final = 0.02
LAST_TURN: Final = 2**31 - 2
HELD_OUT: Final = 20_000
BATCH: Final = 1024
LEARNING_RATE: Final = 0.004


class Samples(NamedTuple):
    """Positions, k in all, and their results.

    Attributes:
        districts: float32 (k, players, 7, DISTRICT_INPUTS). seats: float32 (k, players,
            SEAT_INPUTS).
        open: float32 (k, 7), 0 for a stopped district. outcomes: float32 (k, players), each row
            sums to 1.
    """

    districts: Float32
    seats: Float32
    open: Float32
    outcomes: Float32


class Softened(Agent):
    """Draws an action by greedy's scores, or now and then any legal one.

    Args:
        temperature: see TEMPERATURES.
        rng: decides what is drawn.
    """

    name, version, uses_view = "softened", "1", True

    def __init__(self, temperature: float, rng: np.random.Generator) -> None:
        self._temperature, self._greedy, self._rng = temperature, GreedyAgent(), rng

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        scores = self._greedy.scores(decisions) / self._temperature
        scores[self._rng.random(len(scores)) < ANY_ACTION] = 0.0
        drawn = scores + self._rng.gumbel(size=scores.shape)  # the largest: a draw by their softmax
        return np.asarray(np.where(decisions.mask, drawn, -np.inf).argmax(axis=1))


@entry_point("positions for leaves")
def write_samples(
    games: Array,
    options: Array,
    weights: Array,
    scratch: Scratch,
    districts: Array,
    seats: Array,
    opens: Array,
    outcomes: Array,
) -> None:
    """Write positions and their outcomes into the last four arrays, see :class:`Samples`; the games
    are played to their ends.
    """
    s, w, h = options[0], weights[0], scratch.heuristic[0]
    for i in range(len(games)):
        game = games[i]
        extract_board(game, w, h)
        extract_open_hands(game, h)
        for seat in range(game.num_players):
            write_seat(game, h, seat, seats[i, seat])
            for district in range(NUM_DISTRICTS):
                if game.stopped[district] == 0:
                    opens[i, district] = 1.0
                    write_district(game, h, district, seat, districts[i, seat, district])
        rollout(game, w, scratch, LAST_TURN, 0)
        evaluate(game, s, w, scratch, 0)
        for seat in range(game.num_players):
            outcomes[i, seat] = h.win[seat]


def make_samples(players: int, number: int, seed: int) -> Samples:
    """Return positions of games between softened greedy agents, and their results."""
    rng = np.random.default_rng(seed)
    options = search_options(turns=LAST_TURN)
    weights, scratch = GreedyAgent().weights(players), new_scratch()
    agents = [Softened(temperature, rng) for temperature in TEMPERATURES]
    samples = Samples(
        np.zeros((number, players, NUM_DISTRICTS, DISTRICT_INPUTS), np.float32),
        np.zeros((number, players, SEAT_INPUTS), np.float32),
        np.zeros((number, NUM_DISTRICTS), np.float32),
        np.zeros((number, players), np.float32),
    )

    def wanted(states: Any) -> Any:
        return (rng.random(len(states)) < RATE) & (states["phase"] != PHASE_START)

    done, first = 0, int(rng.integers(2**62))
    with progress(number, "position") as bar:
        while done < number:
            side = "back" if first // GAMES % 4 == 0 else "front"
            seating = rng.integers(len(agents), size=(GAMES, players))
            onlooker, seeds = Positions(wanted), first + np.arange(GAMES)
            play_games(agents, seating, seeds, side, onlooker=onlooker)
            states = np.concatenate([states for states, _ in onlooker.batches])
            states = rng.permutation(states)[: number - done]
            rows = slice(done, done + len(states))
            parts = [part[rows] for part in samples]
            write_samples(as_records(states, GAME_DTYPE), options, weights, scratch, *parts)
            done, first = rows.stop, first + GAMES
            bar.update(len(states))
    return samples


def fit(samples: Samples, epochs: int, seed: int) -> tuple[dict[str, Float32], float]:
    """Fit the network to all positions except the last ones; return its arrays (SHAPES) and its
    loss on the last ones, in nats.
    """
    import torch
    from torch import nn

    torch.manual_seed(seed)
    first_layer = nn.Linear(DISTRICT_INPUTS, DISTRICT_UNITS)
    second_layer = nn.Linear(SEAT_INPUTS + DISTRICT_UNITS, SEAT_UNITS)
    strength = nn.Linear(SEAT_UNITS, 1, bias=False)
    modules = nn.ModuleList([first_layer, second_layer, strength])
    districts, seats, opens, outcomes = (torch.from_numpy(array) for array in samples)

    def loss(rows: Any) -> Any:
        units = (torch.relu(first_layer(districts[rows])) * opens[rows][:, None, :, None]).sum(2)
        strengths = strength(torch.relu(second_layer(torch.cat([seats[rows], units], -1))))[..., 0]
        return -(outcomes[rows] * torch.log_softmax(strengths, -1)).sum(1).mean()

    number = len(outcomes) - min(HELD_OUT, len(outcomes) // 10)
    steps = -(-number // BATCH)
    optimizer = torch.optim.Adam(modules.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=epochs * steps + 1
    )
    with progress(epochs, "epoch") as bar:
        for _ in range(epochs):
            order = torch.randperm(number)
            for start in range(0, number, BATCH):
                optimizer.zero_grad()
                loss(order[start : start + BATCH]).backward()
                optimizer.step()
                schedule.step()
            bar.update(1)
    with torch.no_grad():
        arrays = {
            "district": first_layer.weight.T,
            "district_bias": first_layer.bias,
            "seat": second_layer.weight.T,
            "seat_bias": second_layer.bias,
            "strength": strength.weight[0],
        }
        return {name: array.numpy().copy() for name, array in arrays.items()}, float(
            loss(slice(number, None))
        )


@dataclass(frozen=True)
class Fitting(Options):
    """Options of the command."""

    players: int = common("players")
    positions: int = option(600_000, "positions to learn from", low=1000, high=10**7, metavar="K")
    epochs: int = option(6, "passes over the positions", low=1, high=1000, metavar="E")
    seed: int = common("seed")
    out: Path = option(FOLDER, "folder of the network (default: the search)", metavar="FOLDER")


def _run(options: Fitting) -> None:
    samples = make_samples(options.players, options.positions, options.seed)
    arrays, loss = fit(samples, options.epochs, options.seed)
    held_out = min(HELD_OUT, options.positions // 10)
    print(f"{options.players} players, loss on {held_out:,} held-out positions: {loss:.4f}")
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    options.out.mkdir(parents=True, exist_ok=True)
    write_atomically(options.out / f"{options.players}-players.npz", file.getvalue())


main = program(
    Fitting,
    "experiments.shipping.fit_leaves",
    Help(
        "fit the network that tells searches what the leaves of their trees are worth",
        "--players 2 --out runs/leaves",
        "docs/agents.md#searching-a-tree",
    ),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
