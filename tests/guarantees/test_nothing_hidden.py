"""INF: no output reveals hidden information, and determinizations vary exactly the hidden part."""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from interfaces import INTERFACES, SEED, Interface, begun
from twins import TABLES, decided, twins

from positions import deal_anew
from skyenv import NUM_ACTIONS, Game, IllegalActionError, make_agent
from skyenv.agents import Agent, agent_names, decisions_in
from skyenv.arena.lookahead import LookaheadAgent
from skyenv.engine.events import seen_by
from skyenv.engine.information import information_state, information_tensor
from skyenv.engine.knowledge import PUBLIC, resample
from skyenv.engine.simulator import SETUP, outcome_numbers
from skyenv.histories.resampling import resampled
from skyenv.histories.states import History, HistoryTable, replayed, table_of
from skyenv.render import words
from skyenv.render.reasons import why_illegal
from skyenv.render.svg import svg
from skyenv.render.table import if_scored_now, visible_table
from skyenv.render.text import text

pytestmark = pytest.mark.compiled
each_table = pytest.mark.parametrize(("players", "side"), TABLES)
NAMES = ["ann", "bob", "cid", "dan"]


# ---- what a seat is told of a game ----


def refusals(game: Game, seat: int) -> list[str]:
    """Return the errors of illegal actions."""
    illegal = np.flatnonzero(game.mask == 0)[:: NUM_ACTIONS // 6]
    told = []
    for action in illegal:
        with pytest.raises(IllegalActionError) as error:
            game.play(int(action))
        told.append(str(error.value))
    return told


def agents_numbers(game: Game, seat: int) -> list[float]:
    """Return agents' random numbers, which reveal neither cards nor chance, given the seed."""
    same = game.copy()
    same.state["seed"] = SEED
    return [float(same.batch.uniforms(salt=salt)[0]) for salt in range(3)]


def asked(name: str | Agent) -> Callable[[Game, int], Any]:
    """Return an agent's action and evaluations of its decision, with one random number."""

    def answer(game: Game, seat: int) -> list[Any]:
        agent = made(name)
        numbers = np.full(1, 0.3)
        decisions = replace(decisions_in(game.batch, agent), uniform=numbers).as_trusted()
        return [agent.act(decisions).tolist(), agent.evaluate(decisions)]

    return answer


@cache
def made(name: str | Agent) -> Any:
    """An agent, made once."""
    return make_agent(name)


def openspiel(game: Game, seat: int) -> list[Any]:
    """Return OpenSpiel's outputs for a seat."""
    pyspiel = pytest.importorskip("pyspiel")
    import skyenv.envs.open_spiel  # noqa: F401 (registers the game)

    kind = {"players": game.num_players, "side": game.side, "max_turns": game.max_turns}
    state = pyspiel.load_game("fifth_avenue", kind).new_initial_state()
    state.position = position_of(game)
    return [
        state.observation_string(seat),
        state.observation_tensor(seat),
        state.information_state_string(seat),
        state.information_state_tensor(seat),
        state.legal_actions(seat),
    ]


def page(game: Game, seat: int) -> str:
    """Return the payload of a player."""
    from skyenv.page.view.payloads import SeatView

    seen = [
        SeatView(game, seat, NAMES[: game.num_players], narrow=narrow).payload()
        for narrow in (False, True)
    ]
    return json.dumps(seen) + text(SeatView(game, seat, NAMES[: game.num_players]).position)


def spectators(game: Game, seat: int) -> str:
    """Return the payload of a spectator."""
    return page(game, PUBLIC)


def hints(game: Game, seat: int) -> str:
    """Return hints of agents with win chances."""
    from skyenv.analysis import advise

    agents = [made(name) for name in ("greedy", "trained", "ismcts-20")]
    told = [*(advise(agent, game) for agent in agents), advise(agents[0], game, agents[1])]
    return repr([(one.own, one.kind, one.tries, one.best, one.chances) for one in told])


def analysis(game: Game, seat: int) -> str:
    """Return an agent's analysis of the seat's decision, with win chances."""
    from skyenv.analysis.mistakes import Decision, assess
    from skyenv.analysis.playouts import PlayOuts

    agent = made("trained")
    told = assess(agent, agent, [Decision(0, game.batch.state[0], ())], PlayOuts())
    return repr([(one.best, one.chances) for bunch, _ in told for one in bunch])


def draw_odds(game: Game, seat: int) -> Any:
    """Return draw odds, and the starts of simulations for a seat."""
    from skyenv import analysis
    from skyenv.analysis.playouts import starts

    return analysis.draw_odds(game.state, seat), starts(game.state, range(5), seat).tobytes()


# Outputs for any seat. A new output is one more line.
OUTLETS: dict[str, Callable[[Game, int], Any]] = {
    "view": lambda game, seat: game.view(seat).tobytes(),
    "public view": lambda game, seat: game.public_view().tobytes(),
    "observation": lambda game, seat: game.observation(seat).tobytes(),
    "information state": information_state,
    "information tensor": lambda game, seat: information_tensor(game, seat, 4096).tobytes(),
    "events": lambda game, seat: list(seen_by(game.events, seat)),
    "events of spectators": lambda game, seat: list(seen_by(game.events, PUBLIC)),
    "log": lambda game, seat: words.Narrator(NAMES, seat).lines(game.events),
    "event texts": lambda game, seat: [words.event_text(one, seat=seat) for one in game.events],
    "standing": lambda game, seat: if_scored_now(game.state, game.num_players).tolist(),
    "situation": lambda game, seat: words.situation(visible_table(game.state, seat)),
    "text picture": lambda game, seat: text(game.state, seat),
    "SVG": lambda game, seat: svg(game.state, seat, events=game.events[-40:]),
    "SVG of a view": lambda game, seat: svg(game.view(seat), events=game.events[-40:], width=640),
    "page": page,
    "page of spectators": spectators,
    "OpenSpiel": openspiel,
    "draw odds": draw_odds,
    "agents' numbers": agents_numbers,
}
QUICK = {name: f"{name}-20" for name in ("ismcts", "ismcts-trained", "rollout")}
# Outputs for the seat to act, and its actions.
DECIDING: dict[str, Callable[[Game, int], Any]] = {
    "action mask": lambda game, seat: game.mask.tobytes(),
    "SVG with choices": lambda game, seat: svg(game.state, seat, legal=game.mask),
    "texts of actions": lambda game, seat: [
        words.action_text(game.view(), action) for action in range(NUM_ACTIONS)
    ],
    "reasons": lambda game, seat: [
        why_illegal(game.state, action) for action in range(NUM_ACTIONS)
    ],
    "refusals": refusals,
    "hints": hints,
    "analysis": analysis,
    "look-ahead": asked(LookaheadAgent(make_agent("greedy"))),
    **{f"agent {name}": asked(QUICK.get(name, name)) for name in agent_names()},
}


@each_table
def test_twins_differ_in_all_hidden_information(players: int, side: str) -> None:
    """So the tests below can fail."""
    kinds = set()
    for game, other, seat in twins(players, side):
        others = [number for number in range(players) if number != seat]
        hands, stacks = game.state["hand"] != other.state["hand"], game.state["face_down"]
        assert not hands[seat].any()
        assert game.seed != other.seed
        kinds |= {
            (what, seat)
            for what, differs in {
                "coloured cards": hands[others, :5].any(),
                "black cards": hands[others, 5].any(),
                "stacks": (stacks != other.state["face_down"]).any(),
                "chance": (game.state["random"] != other.state["random"]).any(),
                "events": game.events != other.events,
            }.items()
            if differs
        }
    assert len(kinds) == 5 * players


@pytest.mark.rule("INF-1", "INF-2", "INF-3")
@pytest.mark.parametrize("outlet", OUTLETS)
@each_table
def test_outputs_for_a_seat_do_not_depend_on_hidden_cards(
    outlet: str, players: int, side: str
) -> None:
    """The page opens all hands at the end."""
    for game, other, seat in twins(players, side):
        is_open = game.is_over and outlet in ("page", "page of spectators")
        assert equal(OUTLETS[outlet](game, seat), OUTLETS[outlet](other, seat)) is not is_open


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize("outlet", DECIDING)
@each_table
def test_outputs_for_the_seat_to_act_do_not_depend_on_hidden_cards(
    outlet: str, players: int, side: str
) -> None:
    number = 0
    for game, other, seat in twins(players, side):
        if game.seat == seat:
            number += 1
            assert equal(DECIDING[outlet](game, seat), DECIDING[outlet](other, seat))
    assert number >= 3


def equal(one: Any, two: Any) -> bool:
    """Whether two answers are the same, arrays in tuples included."""
    return repr(one) == repr(two) and _bytes(one) == _bytes(two)


def _bytes(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_bytes(one) for one in value]
    return value.tobytes() if isinstance(value, np.ndarray) else value


# ---- environments ----


def hidden_redrawn(table: Interface, seat: int, rng: np.random.Generator) -> Interface:
    """A copy of an environment in which the hidden cards of its game are others."""
    twin = copy.deepcopy(table)
    games, row = twin.batch()
    hands = games.state["hand"][row].copy()
    seed = games.state["seed"][row]
    deal_anew(games.state[row], seat, rng)
    games.state["seed"][row] = seed  # which agents draw their numbers by
    games.refresh()
    assert (games.state["hand"][row] != hands).any()
    return twin


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(
    "name", [name for name in INTERFACES if INTERFACES[name].says is not Interface.says]
)
@each_table
def test_environments_do_not_depend_on_hidden_cards(name: str, players: int, side: str) -> None:
    """Observations, masks, infos and pictures, before and after a move without chance."""
    rng = np.random.default_rng(players)
    table = begun(name, players, side, max_turns=60, render_mode="ansi")
    number = 0
    for _ in range(40):
        decision: Any = table.asked()
        seat, _, mask = decision
        if mask[0]:  # option A: the same seat then takes a card
            number += 1
            twin = hidden_redrawn(table, seat, rng)
            assert repr(table.asked()) == repr(twin.asked())
            assert table.says() == twin.says()
            for one in (table, twin):
                one.play(0)
            assert repr(table.asked()) == repr(twin.asked())
            assert table.says() == twin.says()
        else:
            table.play(int(np.flatnonzero(mask)[-1]))
    assert number > 2


# ---- determinizations ----


def position_of(game: Game) -> History:
    """The game as a position with its history."""
    table: HistoryTable = table_of(game.options)
    steps = (
        (SETUP if action is None else action, outcome_numbers(chance))
        for action, chance in decided(game)
    )
    return replayed(table, steps)


def histories(game: Game, seat: int) -> Iterator[tuple[Any, Any]]:
    """Yield what a seat has seen and the whole position, of a history and of its resamples."""
    uniform = np.random.default_rng(seat).random
    position = position_of(game)
    for one in (position, *(resampled(position, seat, uniform) for _ in range(8))):
        state = np.frombuffer(one.record, game.state.dtype)[0]
        yield one.information(seat), state


def determinizations(game: Game, seat: int) -> Iterator[tuple[Any, Any]]:
    """Positions drawn from a seat's view."""
    one = game.copy()
    yield game.view(seat).tobytes(), game.state
    for state in resample(np.array([game.view(seat)]).repeat(8).view(np.recarray), range(8)):
        one.batch.state[0] = state
        yield one.view(seat).tobytes(), state


def records_for_the_page(game: Game, seat: int) -> Iterator[tuple[Any, Any]]:
    """Records from which a visitor of a finished game may play on."""
    from skyenv.analysis.recording import Recording
    from skyenv.analysis.variations import resampled_record

    yield information_state(game, seat), game.state
    recording = Recording.of(game.to_record())
    for number in range(8):
        one = Game.from_record(resampled_record(recording, recording.steps, seat, number / 8))
        yield information_state(one, seat), one.state


REDRAWN = {
    "histories": histories,
    "determinizations": determinizations,
    "records for the page": records_for_the_page,
}


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize("way", REDRAWN)
@each_table
def test_determinizations_keep_visible_and_vary_hidden_cards(
    way: str, players: int, side: str
) -> None:
    """OpenSpiel's issue 1273: a determinization that keeps hidden cards reveals them."""
    varied: dict[str, int] = {}
    for game, _, seat in twins(players, side):
        if game.is_over:
            continue
        (seen, real), *others = REDRAWN[way](game, seat)
        real = real.copy()
        hands = set()
        for seen_now, state in others:
            assert seen_now == seen
            assert (state["hand"][seat] == real["hand"][seat]).all()
            hands.add(state["hand"].tobytes())
            for what in ("hand", "face_down", "random"):
                varied[what] = varied.get(what, 0) + bool((state[what] != real[what]).any())
        assert len(hands) > 2
    if way == "histories":  # whose chance to come is decided from outside
        del varied["random"]
    assert min(varied.values()) > 4 * players * 6
