"""Units of the shipped networks that are never active."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from experiments.figures import Figure, Scale, figure
from skyenv.arena.matches import play_games
from skyenv_agents.learned.networks import NUMPY, TABLES, Network, NetworkAgent, TrainedAgent

# Games of a network's own, which have some 2,500 decisions with a choice, and as many forced ones.
GAMES: Final = 32


def units(scale: Scale) -> Iterator[Figure]:
    """Units of the shipped networks that are active in no decision of 32 games that the network
    plays alone, by the name of their ReLU, in % of its units. ``trunk.out`` is the
    trunk's output, behind the residual blocks.
    """
    for players, side in TABLES:
        network = Network.load(TrainedAgent().path(players, side))
        shares = never_active(network, players, side, scale.of(GAMES))
        for name, share in shares.items():
            yield figure(f"{players} players, {side}: {name}", "%", [100 * share])


def never_active(network: Network, players: int, side: str, games: int) -> dict[str, float]:
    """Return the share of units that are active in no decision of games that a network plays alone,
    by the name of their ReLU.
    """
    largest: dict[str, Any] = {}

    def rectify(name: str, array: Any) -> Any:
        most = array.reshape(-1, array.shape[-1]).max(axis=0)
        largest[name] = np.maximum(largest.get(name, most), most)
        return NUMPY.rectify(name, array)

    watched = Network(network.weights, network.about)
    watched.library = replace(NUMPY, rectify=rectify)
    agent = NetworkAgent(watched, deterministic=True)
    play_games([agent], np.zeros((games, players), np.int64), np.arange(games), side)
    return {name: float((most <= 0).mean()) for name, most in largest.items()}
