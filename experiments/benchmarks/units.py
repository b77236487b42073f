"""Units of the shipped networks that are never active."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from experiments.figures import Figure, Scale, figure
from skyenv.agents import Decisions, Evaluations
from skyenv.arena.matches import play_games
from skyenv_agents.learned.networks import NUMPY, TABLES, Network, NetworkAgent, TrainedAgent

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
    return {name: float((most <= 0).mean()) for name, most in agent.largest.items()}


class Watched(NetworkAgent):
    """An agent that notes its network's largest activations in decisions with a choice, which are
    those that networks learn from.
    """

    def __init__(self, network: Network) -> None:
        super().__init__(Network(network.weights, network.about), deterministic=True)
        self.largest: dict[str, Any] = {}
        self.network.library = replace(NUMPY, rectify=self._rectify)

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`."""
        self._chooses = decisions.mask.sum(axis=1) > 1
        return super().evaluate(decisions)

    def _rectify(self, name: str, array: Any) -> Any:
        most = array[self._chooses].reshape(-1, array.shape[-1]).max(axis=0, initial=0.0)
        self.largest[name] = np.maximum(self.largest.get(name, most), most)
        return NUMPY.rectify(name, array)
