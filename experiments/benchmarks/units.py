"""Units of the shipped networks that are never active."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from experiments.figures import Figure, Scale, figure
from skyenv.agents import Decisions
from skyenv.arena.matches import play_games
from skyenv.array_types import Float32, Int64
from skyenv_agents.learned.networks import TABLES, Network, NetworkAgent, TrainedAgent

# Games of a network's own, which have some 2,600 decisions with a choice at two players.
GAMES: Final = 10


def units(scale: Scale) -> Iterator[Figure]:
    """Units of the shipped networks that are active in no decision with a choice of 10 games that
    the network plays alone, by the name of their ReLU, in % of its units. ``trunk.out`` is the
    trunk's output, behind the residual blocks.
    """
    for players, side in TABLES:
        network = Network.load(TrainedAgent().path(players, side))
        shares = never_active(network, players, side, scale.of(GAMES))
        for name, share in shares.items():
            yield figure(f"{players} players, {side}: {name}", "%", [100 * share])


def never_active(network: Network, players: int, side: str, games: int) -> dict[str, float]:
    """Return the share of units that are active in no decision with a choice of games that a
    network plays alone, by the name of their ReLU.
    """
    agent = Watched(network)
    play_games([agent], np.zeros((games, players), np.int64), np.arange(games), side)
    shares = {}
    for name, layer in zip(agent.network.layers, agent.network.program.layers, strict=True):
        if layer["rectified"]:
            end = layer["target"] + layer["entities"] * layer["outputs"]
            largest = agent.largest[layer["target"] : end].reshape(-1, layer["outputs"])
            relu = "trunk.out" if name.endswith(".out") else name
            shares[relu] = float((largest.max(axis=0) <= 0).mean())
    return shares


class Watched(NetworkAgent):
    """An agent that notes its network's largest activations in decisions with a choice, which are
    those that networks learn from.
    """

    def __init__(self, network: Network) -> None:
        super().__init__(Network(network.weights, network.about), deterministic=True)
        self.largest = np.zeros(self.network.program.width, np.float32)
        self.network.watch = self._note

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        actions: Int64 = decisions.mask.argmax(axis=1)
        rows = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        if rows.size:
            actions[rows] = super().act(decisions.take(rows))
        return actions

    def _note(self, activations: Float32) -> None:
        np.maximum(self.largest, activations.max(axis=0), out=self.largest)
