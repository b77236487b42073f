"""Greedy and the appraiser: legal, strong, the same in any batch, blind to what is hidden, and
right where that is plain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from positions import auction, blank, choose, deal_anew, decisions_compiled_or_not, positions, stand
from processes import printed
from skyenv.agents import RandomAgent, decide, decisions_in
from skyenv.arena.matches import play_games, rotations
from skyenv.engine.game import Game
from skyenv.engine.knowledge import view
from skyenv.errors import AgentError
from skyenv.rules.components import BLACK, CENTRAL_PARK
from skyenv.rules.state import PHASES
from skyenv_agents import AppraiserAgent, GreedyAgent
from skyenv_agents.heuristic.player import HeuristicAgent

GREEDY, APPRAISER = GreedyAgent(), AppraiserAgent()

both = pytest.mark.parametrize("agent", [GREEDY, APPRAISER], ids=lambda agent: agent.name)


@both
@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("side", ["front", "back"])
def test_plays_legally_to_the_end_and_beats_random(
    agent: HeuristicAgent, num_players: int, side: str
) -> None:
    """Also with itself alone, where nobody else ends a game; an illegal action would raise."""
    seating = np.concatenate([rotations(num_players, 24), np.zeros((24, num_players), int)])
    seeds = np.concatenate([np.repeat(np.arange(24), num_players), np.arange(24)])
    played = play_games([agent, RandomAgent()], seating, seeds, side)
    assert played.finished.all()
    assert not played.truncated.any()
    mixed = seating.any(axis=1)
    assert played.shares[mixed][seating[mixed] == 0].mean() >= 0.9


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_the_appraiser_holds_its_own_against_greedy(num_players: int) -> None:
    seating = rotations(num_players, 150)
    played = play_games([APPRAISER, GREEDY], seating, np.repeat(np.arange(150), num_players))
    assert played.shares[seating == 0].mean() > 0.75 / num_players


@both
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (4, "back")])
def test_decides_alone_as_in_a_batch(agent: HeuristicAgent, num_players: int, side: str) -> None:
    games = positions(num_players, side)
    alone = [decide(games, agent, [row])[0] for row in range(games.num_games)]
    assert decide(games, agent).tolist() == alone
    assert decide(games, agent, np.arange(games.num_games)[::-1]).tolist() == alone[::-1]


@both
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_does_not_see_what_its_seat_cannot_know(
    agent: HeuristicAgent, num_players: int, side: str
) -> None:
    games = positions(num_players, side)
    decisions, rng = decisions_in(games, agent), np.random.default_rng(5)
    before, inputs = agent.act(decisions), agent.inputs(decisions)
    state = games.state.copy()
    for row, seat in enumerate(games.seat.tolist()):
        deal_anew(state[row], seat, rng)
    assert (state["hand"] != games.state["hand"]).any()
    other = replace(decisions, view=view(state, games.seat))
    assert np.array_equal(agent.act(other), before)
    assert np.array_equal(agent.inputs(other), inputs)
    assert {PHASES[phase] for phase in state["phase"]} >= {"option", "take", "move", "bid"}


@both
def test_decides_the_same_without_compilation(agent: HeuristicAgent) -> None:
    other = decisions_compiled_or_not(type(agent).__name__)
    assert other[0] == other[1]
    assert other[0].count(",") == 119


# ---- scores ----


def with_a_good_plot(game: Game) -> None:
    """Seat 0 has a skyscraper on the violet plot of Times Square, of value 8."""
    stand(game, 3, 1, 0, 1)
    game.state.tiles[3, 0] = [1, 1, 0, 0]
    game.state.tiles[3, 2] = [0, 0, 1, 1]


@both
def test_places_businesses_next_to_its_own_skyscrapers(agent: HeuristicAgent) -> None:
    game = blank(phase=2, option=1, business=2)
    stand(game, 3, 1, 0, 3)  # violet, between green and brown
    stand(game, 4, 1, 1, 3)
    assert choose(game, agent) in ("plot TSQ green", "plot TSQ brown")


@both
def test_scores_where_it_stands_well(agent: HeuristicAgent) -> None:
    game = blank(place=[3, 4])
    stand(game, 3, 1, 0, 4)
    stand(game, 4, 1, 1, 4)
    game.state.tiles[3:5, 0] = [1, 1, 0, 0]
    game.state.tiles[3:5, 2] = [0, 0, 1, 1]
    assert choose(game, agent) == "option D TSQ"


@both
def test_bids_the_cheapest_adequate_cards_and_not_more(agent: HeuristicAgent) -> None:
    game = blank()
    with_a_good_plot(game)
    auction(game, 3, 6, 1)
    state: Any = game.state
    state.hand[0, 1] = [3, 1, 1]
    assert choose(game, agent) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = (
        0,
        4,
        1,
        [2, 1, 1],
        [1, 0, 0],
    )
    assert choose(game, agent) == "bid violet 4"
    state.laid, state.bid_total[0], state.hand[0, 1], state.bid_cards[0, 0] = (
        0,
        8,
        [1, 1, 1],
        [2, 0, 0],
    )
    assert choose(game, agent) == "bid done"


@both
def test_saves_black_cards_where_coloured_ones_do(agent: HeuristicAgent) -> None:
    game = blank()
    with_a_good_plot(game)
    auction(game, 3, 6, 1)
    state: Any = game.state
    state.hand[0, 1], state.hand[0, BLACK] = [2, 0, 0], [3, 3, 3]
    assert choose(game, agent) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = (
        0,
        4,
        1,
        [1, 0, 0],
        [1, 0, 0],
    )
    assert choose(game, agent) == "bid violet 4"


@both
def test_passes_when_the_price_exceeds_the_worth(agent: HeuristicAgent) -> None:
    game = blank(placed=6)
    stand(game, 3, 1, 0, 1)  # value 1
    auction(game, 3, 30, 1)
    game.state.hand[0, 1], game.state.hand[0, BLACK] = [0, 3, 2], [0, 2, 2]
    assert choose(game, agent) == "pass"


@both
def test_does_not_bid_for_what_it_cannot_use(agent: HeuristicAgent) -> None:
    game = blank()
    game.state.supply[0] = 0  # nothing to build, and nobody else is in the way
    auction(game, CENTRAL_PARK, 6, 1)
    game.state.supply[1] = 0
    game.state.hand[0, 4], game.state.hand[0, BLACK] = [1, 1, 1], [2, 2, 2]
    game.state.park_colour = 4
    assert choose(game, agent) == "pass"


@both
@pytest.mark.parametrize(("lead", "wanted"), [(25, True), (-25, False)])
def test_ends_the_game_ahead_and_not_behind(agent: HeuristicAgent, lead: int, wanted: bool) -> None:
    game = blank(placed=11, score=[50 + lead, 50, 50, 0])
    game.state.row[:] = -1
    game.state.row[18:20] = 0
    assert choose(game, agent).startswith("option B") == wanted


@both
@pytest.mark.parametrize(
    ("mine", "others", "wanted"), [(60, 10, True), (60, 35, True), (10, 35, False)]
)
def test_declares_the_stop_that_ends_the_game_ahead_and_not_behind(
    agent: HeuristicAgent, mine: int, others: int, wanted: bool
) -> None:
    game = blank(
        score=[mine, others, others, 0], stops=1, phase=6, auction_place=3, auction_commissioner=0
    )
    for plot in range(3):
        stand(game, 3, plot, plot, 1)
    state: Any = game.state
    state.tiles[3, 3:5, 0] = 1
    state.bid_colour[0], state.bid_total[0], state.bid_cards[0, 0] = 0, 4, [1, 0, 0]
    state.highest, state.highest_bidder = 4, 0
    assert (choose(game, agent) == "stop") == wanted


def test_the_appraiser_outbids_whoever_would_end_the_game_by_a_stop() -> None:
    game = blank(score=[40, 48, 20, 0], stops=1, placed=3)
    for plot, seat in enumerate((1, 0, 2)):
        stand(game, 3, plot, seat, 1)
    game.state.tiles[3, 3:5, 0] = 1
    auction(game, 3, 18, 1)
    game.state.bid_colour[1] = 0
    game.state.out[2] = 1
    game.state.hand[0, 1], game.state.hand[0, BLACK] = [2, 1, 0], [0, 1, 1]
    assert choose(game, APPRAISER).startswith("bid")


# ---- weights ----


def test_weights() -> None:
    """Finite, at least 0, of the agent's own names; further ones are neutral in greedy's scores."""
    for agent in (GREEDY, APPRAISER):
        kind = type(agent)
        values = [value for weights in kind.measured.values() for value in weights.values()]
        assert (np.isfinite(values) & (np.array(values) >= 0)).all()
        assert (
            kind({**kind.measured, 2: {**kind.measured[2], "point": 1.5}}).weights(2)["point"]
            == 1.5
        )
        for wrong in ({"point": 1.0}, {**kind.measured[2], "other": 1.0}):
            with pytest.raises(AgentError, match=f"weights of {agent.name}"):
                kind({**kind.measured, 3: wrong})
    for players in (2, 3, 4):
        greedy, appraiser = GREEDY.weights(players)[0], APPRAISER.weights(players)[0]
        assert (bool(greedy["appraises"]), bool(appraiser["appraises"])) == (False, True)
        further = APPRAISER.measured[players].keys() - GREEDY.measured[players].keys()
        assert {name for name in further if greedy[name]} == {"limit", "park", "bonus"}


# ---- decisions made by hand ----

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
