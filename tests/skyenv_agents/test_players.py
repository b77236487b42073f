"""What all players have in common: legal to the end, as strong as they should be, and careful with
decisions made by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

from processes import printed
from skyenv.agents import Agent, RandomAgent, make_agent
from skyenv.arena.matches import play_games, rotations
from skyenv_agents import AppraiserAgent, GreedyAgent, GuidedAgent, RolloutAgent, SearchAgent

QUICK: dict[str, tuple[Agent, int]] = {
    "greedy": (GreedyAgent(), 24),
    "appraiser": (AppraiserAgent(), 24),
    "rollout": (RolloutAgent(8, turns=1, candidates=3), 1),
    "ismcts": (SearchAgent(24, turns=0), 1),
    "ismcts-trained": (GuidedAgent(16), 1),
}
"""By name: an agent, quick if it searches, and how many paired seeds it plays."""


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("num_players", "side"), [(2, "back"), (3, "front"), (4, "back")])
def test_plays_legally_to_the_end_and_beats_random(num_players: int, side: str, name: str) -> None:
    """Also with itself alone, where nobody else ends a game; an illegal action would raise."""
    agent, number = QUICK[name]
    alone = np.zeros((number, num_players), np.int64)
    seating = np.concatenate([rotations(num_players, number), alone])
    played = play_games([agent, RandomAgent()], seating, np.arange(len(seating)), side)
    assert played.finished.all()
    assert not played.truncated.any()
    mixed = seating.any(axis=1)
    assert played.shares[mixed][seating[mixed] == 0].mean() >= 0.9


@pytest.mark.parametrize(
    ("name", "opponent", "number", "share"),
    [
        ("appraiser", "greedy", 200, 0.45),
        ("rollout-24", "greedy", 8, 0.6),
        ("ismcts-40", "greedy", 10, 0.55),
        pytest.param("ismcts-trained", "trained", 40, 0.5, marks=pytest.mark.long),
        pytest.param("ismcts-trained", "ismcts-100", 40, 0.5, marks=pytest.mark.long),
    ],
)
def test_is_as_strong_as_it_should_be(name: str, opponent: str, number: int, share: float) -> None:
    """The paired seeds are few, but the same each time."""
    seating, seeds = rotations(2, number), np.repeat(np.arange(3000, 3000 + number), 2)
    played = play_games([make_agent(name), make_agent(opponent)], seating, seeds)
    assert played.shares[seating == 0].mean() > share


HOSTILE = """
import sys
from dataclasses import replace
import numpy as np
from skyenv import Games
from skyenv.agents import Agent, Decisions, make_agent
from skyenv.errors import SkyenvError
from skyenv.engine.knowledge import view

games = Games(4, 2, seed=1)
games.play_random(60)


def decisions(**changes):
    given = dict(mask=games.mask, seat=games.seat, num_players=2, uniform=games.uniforms())
    given["observation"] = games.observe(games.seat)
    return Decisions(**{**given, "view": view(games.state, games.seat), **changes})


def vars_of(given):
    return {name: value for name, value in vars(given).items() if name != "trusted"}


def edited(**fields):
    views = view(games.state, games.seat)
    for name, value in fields.items():
        (views if name in views.dtype.names else views["game"])[name] = value
    return views


garbage = view(games.state, games.seat)
noise = np.random.default_rng(0).integers(0, 256, garbage.nbytes)
garbage.view(np.ndarray).view(np.uint8)[:] = noise
cases = [
    dict(view=None), dict(view=np.zeros(4)), dict(view=edited()[:1]), dict(view=edited(seat=100)),
    dict(view=edited(seat=-1)), dict(view=edited(seat=1 - games.seat)), dict(view=garbage),
    dict(view=edited(phase=5, auction_place=120)), dict(view=edited(num_players=4)),
    dict(mask=games.mask[:1]), dict(mask=games.mask[:, :50]), dict(mask=games.mask * 1.5),
    dict(seat=games.seat[:2]), dict(num_players=7), dict(num_players=3), dict(uniform=np.zeros(1)),
    dict(uniform=np.full(4, 1e300)), dict(uniform=np.full(4, np.nan)),
]
trusted = Decisions(**vars_of(decisions())).as_trusted()
overrides = lambda agent, name: getattr(type(agent), name, None) is not getattr(Agent, name, None)
agents = [make_agent(name) for name in sys.argv[1:]]
for agent in agents:
    wanted = agent.act(decisions())
    assert (agent.act(decisions(mask=games.mask.astype(bool)[:, ::-1][:, ::-1])) == wanted).all()
    for number, case in enumerate(cases):
        names = [name for name in ("scores", "evaluate", "search") if overrides(agent, name)]
        for ask in [agent.act] + [getattr(agent, name) for name in names]:
            for made in (decisions(**case), replace(trusted, **case)):
                try:
                    ask(made)
                except SkyenvError as error:
                    print(error)
                else:
                    sys.exit(f"{agent.name} took case {number}")
"""


@pytest.mark.compiled
def test_decisions_that_fit_no_game_are_refused() -> None:
    """In a process of their own: compiled code that took them would read memory that isn't
    theirs. What replaces a part of trusted decisions isn't trusted.
    """
    printed("-c", HOSTILE, "greedy", "appraiser", "rollout-2", "ismcts-2", "trained")


EVERYTHING_LEGAL = """
import numpy as np
from skyenv import Games
from skyenv.agents import Decisions, make_agent
from skyenv.engine.knowledge import view
from skyenv.rules.components import CENTRAL_PARK
from skyenv.rules.state import PHASES

games = Games(8, 3, seed=3)
seen = set()
while ("build", CENTRAL_PARK) not in seen:
    views = view(games.state, games.seat)
    seen |= {(PHASES[one["phase"]], int(one["auction_place"])) for one in games.state}
    for agent in (make_agent("greedy"), make_agent("appraiser")):
        agent.act(Decisions(np.ones_like(games.mask), games.seat, 3, games.uniforms(), view=views))
    games.play_random(8)
"""


@pytest.mark.compiled
def test_a_mask_of_another_position_leads_nowhere_else() -> None:
    """Without compilation an index out of range is an error."""
    printed("-c", EVERYTHING_LEGAL, environment={"NUMBA_DISABLE_JIT": "1"})
