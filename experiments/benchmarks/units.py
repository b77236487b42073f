"""Units of the shipped networks that are never active."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from experiments.figures import Figure, Scale, figure
from skyenv.arena.matches import play_games
from skyenv.array_types import Float32
from skyenv_agents.learned.networks import TABLES, Network, NetworkAgent, TrainedAgent

# Games of a network's own. In half as many, units that are seldom active pass for lost ones.
GAMES: Final = 20


def units(scale: Scale) -> Iterator[Figure]:
    """Units of the shipped networks that are active in no decision of 20 games that the network
    plays alone, by the name of their ReLU, in % of its units. ``trunk.out`` is the trunk's output,
    behind the residual blocks.
    """
    for players, side in TABLES:
        network = Network.load(TrainedAgent().path(players, side))
        for name, share in never_active(network, players, side, scale.of(GAMES)).items():
            yield figure(f"{players} players, {side}: {name}", "%", [100 * share])


def never_active(network: Network, players: int, side: str, games: int) -> dict[str, float]:
    """Return the share of a network's units that are active in no decision of games that it plays
    alone, by the name of their ReLU.
    """
    largest = np.zeros(network.program.width, np.float32)

    def note(activations: Float32) -> None:
        np.maximum(largest, activations.max(axis=0), out=largest)

    network.watch = note
    agent = NetworkAgent(network, deterministic=True)
    play_games([agent], np.zeros((games, players), np.int64), np.arange(games), side)
    shares = {}
    for name, layer in zip(network.layers, network.program.layers, strict=True):
        if layer["rectified"]:
            end = layer["target"] + layer["entities"] * layer["outputs"]
            most = largest[layer["target"] : end].reshape(-1, layer["outputs"]).max(axis=0)
            relu = "trunk.out" if name.endswith(".out") else name
            shares[relu] = float((most <= 0).mean())
    return shares
