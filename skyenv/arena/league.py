"""A league: a growing population of agents, and what each of them wins against each."""

from collections.abc import Sequence
from typing import Final, Literal, Unpack

import numpy as np

from skyenv.agents import Agent, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.array_types import Float64
from skyenv.checks import check_choice
from skyenv.console.tables import columns
from skyenv.engine.options import GameKeywords, options_of
from skyenv.errors import OptionError, needs_extra
from skyenv.statistics import Estimate, interval

MIXTURES: Final = ("nash", "uniform")


class League:
    """A population of agents for self-play, such as snapshots of a learner and its best responses.

    Every new agent plays every other one. With two players an equilibrium of the payoff matrix
    tells how often to meet each (PSRO: Lanctot et al. 2017).

    Args:
        agents: to begin with, as for :meth:`add`.
        num_players, side, game: the games, as for :class:`skyenv.Games`.
        paired_seeds: of each pair of agents, each played once from every seat.
        seed: the first paired seed.

    Attributes:
        specs, agents: as given, and made of it.
        shares: float64 (3, n, n), the share of the wins of each row's agent against copies of each
            column's, and the ends of its 95 % interval; par on the diagonal.

    Raises:
        OptionError, AgentError, CheckpointError: as for :func:`skyenv.arena.evaluate.evaluate`.
    """

    def __init__(
        self,
        agents: Sequence[Agent | str] = (),
        num_players: int = 2,
        side: str = "front",
        *,
        paired_seeds: int = 50,
        seed: int = 1,
        **game: Unpack[GameKeywords],
    ) -> None:
        self.options = options_of(num_players, side, **game)
        self.paired_seeds, self.seed = paired_seeds, seed
        self.specs: list[Agent | str] = []
        self.agents: list[Agent] = []
        self.shares = np.zeros((3, 0, 0))
        for agent in agents:
            self.add(agent)

    def add(self, agent: Agent | str) -> None:
        """Let an agent play all others, and add it; nothing changes if that is interrupted.

        Args:
            agent: an agent, or a specification for :func:`skyenv.make_agent`. One that goes on
                learning must be copied first.
        """
        made, number, players = make_agent(agent), len(self.agents), self.options.num_players
        shares = np.full((3, number + 1, number + 1), 1 / players)
        shares[:, :number, :number] = self.shares
        for other, opponent in enumerate(self.agents):
            found = self._share(made, opponent)
            back = (
                Estimate(1 - found.mean, 1 - found.high, 1 - found.low)
                if players == 2
                else self._share(opponent, made)
            )
            shares[:, number, other] = found.mean, found.low, found.high
            shares[:, other, number] = back.mean, back.low, back.high
        self.specs.append(agent)
        self.agents.append(made)
        self.shares = shares

    def _share(self, agent: Agent, opponent: Agent) -> Estimate:
        results = evaluate(
            agent, [opponent], paired_seeds=self.paired_seeds, seed=self.seed, options=self.options
        )
        if not results or results[0].interrupted:
            raise KeyboardInterrupt
        return results[0].share

    def mixture(self, kind: Literal["nash", "uniform"] = "nash") -> Float64:
        """Return how often to meet each agent, float64 (n,), summing to 1.

        Args:
            kind: ``"nash"``, an equilibrium of the shares of the wins as they were measured, for
                two players; or ``"uniform"``.

        Raises:
            OptionError: there is no agent, no such mixture, or no equilibrium with more players.
        """
        check_choice("kind", kind, MIXTURES)
        number = len(self.agents)
        if not number:
            raise OptionError("the league has no agents")
        if kind == "uniform":
            return np.full(number, 1 / number)
        if self.options.num_players > 2:
            raise OptionError("a league of more than two players has the mixture 'uniform' alone")
        with needs_extra("train"):
            from scipy.optimize import linprog
        # Maximise the least share v that the mixture wins against any agent.
        found = linprog(
            [*np.zeros(number), -1.0],
            A_ub=np.column_stack([-self.shares[0].T, np.ones(number)]),
            b_ub=np.zeros(number),
            A_eq=[[*np.ones(number), 0.0]],
            b_eq=[1.0],
        )
        weights = np.maximum(found.x[:number], 0.0)
        return np.asarray(weights / weights.sum())

    def table(self) -> str:
        """Return the wins in percent as text, a row for each agent."""
        names = [agent.name for agent in self.agents]
        rows = [
            [name, *(interval(Estimate(*one), 0, 100) for one in self.shares[:, row].T)]
            for row, name in enumerate(names)
        ]
        return columns([["wins, %", *names], *rows])
