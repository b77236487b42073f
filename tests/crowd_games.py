"""Games of crowd agents, and an agent that estimates their outcomes."""

from collections.abc import Iterator

import numpy as np

from scenario import stages
from skyenv import Board, Game, make_agent
from skyenv.agents import Decisions, RandomAgent, decide_game
from skyenv.agents.interface import Evaluations


class Judge(RandomAgent):
    """An agent that estimates win chances from the lead in VP."""

    name = "trained"
    uses_view = True

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`."""
        scores = decisions.trusted_view().game.score[:, : decisions.num_players]
        own = scores[np.arange(len(decisions)), decisions.seat]
        ahead = np.tanh((own - scores.mean(axis=1)) / 20)
        return decisions.mask / decisions.mask.sum(axis=1, keepdims=True), ahead


def played(
    players: int = 2,
    seed: int = 1,
    actions: int | None = None,
    side: str = "front",
    turns: int = 500,
    agent: str = "crowd",
    board: Board | None = None,
    legal: bool = False,
) -> Game:
    """Return a game of equal agents, complete or after some actions, of at most `turns` turns; its
    record tells the legal actions on demand.
    """
    game, player = Game(players, side, seed, board=board, max_turns=turns), make_agent(agent)
    while not game.is_over and (actions is None or int(game.state["decisions"]) < actions):
        was_legal = {"legal": game.legal_actions} if legal else {}
        game.play(decide_game(game, player))[0].update(was_legal)
    return game


def actions_of(game: Game) -> tuple[int, ...]:
    """Return the actions played."""
    return tuple(event["action"] for event in game.events if event["event"] == "action")


def positions(players: int, seed: int, phase: str | None = None) -> Iterator[Game]:
    """Yield the positions of a whole game with a seat to act, or those of one phase."""
    games = stages(players, "front", "crowd", seed, every=1, max_turns=500)
    return (game.copy() for game in games if not game.is_over and phase in (None, game.phase))
