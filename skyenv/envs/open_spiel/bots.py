"""skyenv's agents as OpenSpiel's bots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from skyenv.agents import Agent, Decisions, checked_actions, make_agent
from skyenv.checks import check_integer
from skyenv.engine.knowledge import view
from skyenv.envs.open_spiel.game import FifthAvenueState
from skyenv.errors import AgentError
from skyenv.histories.states import game_of
from skyenv.rules.actions import NUM_ACTIONS


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """A bot that decides as an agent does, from what the seat to act may see; it can play several
    seats, and keeps no history.

    Args:
        agent: an agent, or what :func:`skyenv.make_agent` takes, such as ``"greedy"``.
        seed: of the agent's random numbers, at least 0; None takes one from the operating system.

    Raises:
        AgentError: there is no such agent.
        CheckpointError: the checkpoint is missing, damaged, or made for something else.
        OptionError: the seed is no whole number.
    """

    def __init__(self, agent: Agent | Callable[..., Any] | str, seed: int | None = None) -> None:
        super().__init__()
        self.agent = make_agent(agent)
        self._generator = np.random.default_rng(
            None if seed is None else check_integer("seed", seed, 0, 2**63 - 1)
        )

    def step(self, state: FifthAvenueState) -> int:
        """The agent's action.

        Raises:
            AgentError: no seat is to act, or the agent's answer isn't a legal action.
        """
        return int(checked_actions(self.agent, self._decisions(state))[0])

    def _decisions(self, state: FifthAvenueState) -> Decisions:
        position = state.position
        if not position.legal:
            raise AgentError(f"agent {self.agent.name} was asked where no seat is to act")
        mask = np.zeros((1, NUM_ACTIONS), np.int8)
        mask[0, position.legal] = 1
        return Decisions(
            mask=mask,
            seat=np.array([position.seat]),
            num_players=position.num_players,
            uniform=self._generator.random(1),
            observation=position.observation(position.seat)[None]
            if self.agent.uses_observation
            else None,
            view=view(game_of(position.record), position.seat) if self.agent.uses_view else None,
        ).as_trusted()

    def restart(self) -> None:
        """Begin another game: nothing to do."""

    def restart_at(self, state: FifthAvenueState) -> None:
        """Begin at a state: nothing to do."""

    def inform_action(self, state: FifthAvenueState, player_id: int, action: int) -> None:
        """Hear of an action of somebody else, or of chance: nothing to do."""
