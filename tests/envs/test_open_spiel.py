"""The OpenSpiel game: OpenSpiel's own checks, hidden information, determinizations, bots, and
bidding tasks with the values of OpenSpiel's algorithms.
"""

import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import (
    cfr,
    evaluate_bots,
    exploitability,
    generate_playthrough,
)
from open_spiel.python.bots import uniform_random

from positions import paid_at_random
from scenario import as_likely, counted
from skyenv import (
    ACTION_NAMES,
    AgentError,
    BoardError,
    ChanceError,
    Game,
    IllegalActionError,
    OptionError,
)
from skyenv.engine.information import DEFAULT_EVENTS, information_state, information_tensor
from skyenv.engine.knowledge import resample, view
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.openings import OF_AUCTIONS, task_of
from skyenv.engine.rewards import CARD_VP
from skyenv.engine.simulator import OUTCOMES, SETUP
from skyenv.envs.open_spiel import (
    HIGHEST_PAYOFF,
    LARGE_TREES,
    SHORT_NAME,
    AgentBot,
    FifthAvenueGame,
)
from skyenv.rules.board import load_board
from skyenv.rules.state import GAME_DTYPE
from skyenv.solving.best_response import Evaluator
from skyenv.solving.equilibrium import Solver
from skyenv.solving.tree import Opening

TABLES = [(2, "back"), (3, "front"), (4, "back")]
PLAYTHROUGH = Path(__file__).parent / "fifth_avenue_playthrough.txt"
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
inf = pytest.mark.rule("INF-1", "INF-2", "INF-3")


def loaded(players: int = 2, side: str = "front", **more: int | str) -> Any:
    return pyspiel.load_game(SHORT_NAME, {"players": players, "side": side, **more})


def states(game: Any, seed: int, decisions: int = 10**9) -> Iterator[Any]:
    """The states of a random game, one object that changes; chance decides by its probabilities, up
    to so many decisions.
    """
    rng = np.random.default_rng(seed)
    state = game.new_initial_state()
    yield state
    while not state.is_terminal() and (decisions > 0 or state.is_chance_node()):
        if state.is_chance_node():
            numbers, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(numbers, p=chances)))
        else:
            decisions -= 1
            state.apply_action(int(rng.choice(state.legal_actions())))
        yield state


def state_after(game: Any, seed: int, decisions: int) -> Any:
    """A state in which a seat is to act, after so many decisions of a random game."""
    *_, state = states(game, seed, decisions)
    return state


# ---- what OpenSpiel is told ----


@pytest.mark.parametrize(("players", "side"), [(2, "back"), (4, "front")])
def test_openspiels_game_and_simulation_checks_pass(players: int, side: str) -> None:
    """The game's text restores it in other processes; OpenSpiel simulates clones, serialization,
    masks, names, lengths and returns.
    """
    game = loaded(players, side, max_turns=2)
    assert str(game).startswith("fifth_avenue(")
    assert f"opening=-1,players={players},side={side}" in str(game)
    assert game.num_distinct_actions() == len(ACTION_NAMES) == 103
    assert game.max_chance_outcomes() == len(OUTCOMES) == 12
    assert (game.min_utility(), game.max_utility()) == pytest.approx((-1 / (players - 1), 1))
    assert pickle.loads(pickle.dumps(game)) == pyspiel.load_game(str(game)) == game
    load, _ = game.__reduce__()
    assert load.__module__ == "skyenv.envs.open_spiel"  # whose import registers the game
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    *_, state = states(game, players)
    deciders = [move.player for move in state.full_history()]
    assert deciders.count(CHANCE) <= game.max_chance_nodes_in_history()
    assert len(deciders) - deciders.count(CHANCE) <= game.max_game_length()


def test_chance_nodes_stay_within_their_bound() -> None:
    """Of a game with many times more of them than turns."""
    game = loaded(2, max_turns=21)
    *_, state = states(game, 1)
    nodes = [move.player for move in state.full_history()].count(CHANCE)
    assert 150 < nodes <= game.max_chance_nodes_in_history()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        *(
            ({name: value}, name)
            for name, value in (
                *(("players", 5), ("side", "left"), ("max_turns", 0), ("max_turns", 1_500_000)),
                *(("events", -1), ("colour", 1)),
            )
        ),
        ({"task": "chess"}, "task must be one of"),
        ({"task": "duel-3", "opening": 1280}, "openings duel-3/0 to duel-3/1279"),
        ({"opening": 3}, "name the task"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises((OptionError, pyspiel.SpielError), match=message):
        pyspiel.load_game(SHORT_NAME, params)
    with pytest.raises(OptionError, match=message):
        FifthAvenueGame(params)


def test_the_information_state_can_be_disabled() -> None:
    """Libraries then use the observation; the information state stays available."""
    game = loaded(3, information_state=False)
    assert not pickle.loads(pickle.dumps(game)).get_type().provides_information_state_tensor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        environment = rl_environment.Environment(game)
    assert environment.observation_spec()["info_state"] == (OBSERVATION_SIZE,)
    texts = [state_after(one, 1, 5).information_state_string(0) for one in (loaded(3), game)]
    assert texts[0] == texts[1]


# ---- the same game as everywhere ----


@pytest.mark.rule("END-4")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_openspiel_and_game_give_the_same_record(players: int, side: str) -> None:
    """With given actions and chance: equal nodes, probabilities, information states, record and
    outcome.
    """
    rng = np.random.default_rng(players)
    state = loaded(players, side, events=DEFAULT_EVENTS).new_initial_state()

    def decided(ahead: Callable[[list[Any]], dict[Any, float]]) -> list[Any]:
        chance: list[Any] = []
        while outcomes := ahead(chance):
            assert state.current_player() == CHANCE
            told = {OUTCOMES[number]: chance for number, chance in state.chance_outcomes()}
            assert told == outcomes
            chance.append(list(outcomes)[int(rng.choice(len(outcomes), p=list(outcomes.values())))])
            state.apply_action(OUTCOMES.index(chance[-1]))
        return chance

    setup = decided(lambda chance: Game(players, side, 0).chance_ahead(SETUP, chance))
    game = Game(players, side, 5, chance=setup)
    while not game.is_over:
        assert (state.current_player(), state.legal_actions()) == (game.seat, game.legal_actions)
        action = int(rng.choice(game.legal_actions))
        assert state.action_to_string(action) == ACTION_NAMES[action]
        assert state.returns() == [0] * players
        tensor = information_tensor(game, state.current_player())
        for other in (state, state.clone()):
            told = other.information_state_tensor(other.current_player())
            assert np.array_equal(told, tensor)
        state.apply_action(action)
        chance = decided(lambda chance, action=action: game.chance_ahead(action, chance))  # type: ignore[misc]
        game.play(action, chance)
    assert state.current_player() == TERMINAL
    for seat in range(players):
        assert state.information_state_string(seat) == information_state(game, seat)
        tensor = information_tensor(game, seat)
        assert state.information_state_tensor(seat) == tensor.tolist()
    assert state.to_game().to_record().splitlines()[1:] == game.to_record().splitlines()[1:]
    assert state.to_game().seed is None
    assert state.to_game().position() == state.position.record
    assert game.outcome is not None
    shares = np.isin(range(players), game.outcome.winners) / len(game.outcome.winners)
    expected = (shares - 1 / players) * players / (players - 1)
    assert state.returns() == state.rewards() == pytest.approx(expected.tolist())


@pytest.mark.rule("COM-7", "COM-9")
def test_openspiel_plays_on_own_boards(tmp_path: Path) -> None:
    """The file's path is part of the game's text; determinizations are on the same board."""
    file = tmp_path / "board.toml"
    file.write_text('[rings]\nTSQ = ["green", "brown", "violet", "orange", "gray"]\n')
    game = loaded(3, board=str(file), max_turns=5)
    assert pickle.loads(pickle.dumps(game)) == pyspiel.load_game(str(game)) == game
    state = state_after(game, 2, 30)
    played = state.resample_from_infostate(1, lambda: 0.3).to_game()
    assert played.board == state.to_game().board == load_board(file, "front")
    assert Game.from_record(played.to_record()).board == played.board
    with pytest.raises((BoardError, pyspiel.SpielError), match="no_file"):
        loaded(3, board="no_file")


# ---- what seats see ----


@inf
def test_chance_is_hidden_until_the_whole_action_is_resolved() -> None:
    """At chance nodes every seat sees the action but none of its outcomes so far."""
    seen_before: dict[int, str] = {}
    nodes = 0
    for state in states(loaded(3, events=500), 5, 60):
        if not state.is_chance_node():
            seen_before = {}
            continue
        for seat in range(3):
            text = state.information_state_string(seat)
            assert seen_before.setdefault(seat, text) == text
            assert (
                len(state.information_state_tensor(seat))
                == state.get_game().information_state_tensor_size()
            )
            nodes += 1
        if state.position.steps:
            assert text.splitlines()[-1].startswith('{"event":"action"')
    assert nodes > 150


def test_openspiels_observers_match_the_information_state() -> None:
    game = loaded(2, events=100)
    state = state_after(game, 1, 5)
    recall = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    recall.set_from(state, 1)
    assert recall.tensor.tolist() == state.information_state_tensor(1)
    assert recall.string_from(state, 1) == state.information_state_string(1)
    nothing = pyspiel.PrivateInfoType.NONE
    public = pyspiel.IIGObservationType(
        public_info=True, perfect_recall=False, private_info=nothing
    )
    assert game.make_py_observer(public) is None
    with pytest.raises(OptionError, match="room for 20"):
        state_after(loaded(2, events=20), 1, 30).information_state_tensor(0)


@pytest.mark.long
def test_the_information_state_tensor_holds_the_longest_games() -> None:
    game, bots = loaded(4, events=0), [AgentBot("hoard", 1)] * 4
    state = game.new_initial_state()
    evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(1))
    events = len(state.position.events) - 1
    assert events > 2048
    tensor = np.array(state.information_state_tensor(0))
    assert np.flatnonzero(tensor[103:].reshape(-1, 7).any(axis=1)).size == events


# ---- determinizations ----


@inf
@pytest.mark.rule("AUC-9")
@pytest.mark.parametrize(
    ("kind", "seed", "every", "draws"),
    [
        ({"players": 2}, 1, 60, 1),
        ({"players": 3}, 3, 60, 1),
        *(({"task": task}, 3, 2, 4) for task in ("alea-4", "set-2")),
        ({"task": "duel-4", "opening": 3}, 3, 2, 4),
    ],
    ids=str,
)
def test_determinizations_have_a_possible_history(
    kind: dict[str, Any], seed: int, every: int, draws: int
) -> None:
    """As in OpenSpiel's check of resampling; the histories can also be replayed to the same
    position. Several of one state differ.
    """
    game, uniform = pyspiel.load_game(SHORT_NAME, kind), np.random.default_rng(seed).random
    drawn = set()
    for number, state in enumerate(states(game, seed)):
        if state.is_chance_node() or number % every:
            continue
        for seat in sorted([*range(game.num_players())] * draws):
            other = state.resample_from_infostate(seat, uniform)
            drawn.add((number, seat, other.information_state_string(int(seat == 0))))
            assert other.information_state_string(seat) == state.information_state_string(seat)
            assert other.move_number() == state.move_number()
            played = game.new_initial_state()
            for move in other.history():
                played.apply_action_with_legality_check(move)
            assert played.position.record == other.position.record
            assert played.legal_actions() == other.legal_actions()
            assert played.position.events == other.position.events
    assert draws == 1 or len(drawn) > len({(number, seat) for number, seat, _ in drawn})


@inf
def test_determinizations_follow_the_distribution_of_positions() -> None:
    """Before the first shuffle, memory adds nothing to a view."""
    state = state_after(loaded(3), 12, 90)
    events = state.position.events
    assert not any(event["event"] == "shuffle" for event in events)
    assert any(event.get("name", "").startswith("bid black") for event in events)
    rng = np.random.default_rng(1)
    records = [state.resample_from_infostate(0, rng.random).position.record for _ in range(500)]
    hands = np.frombuffer(b"".join(records), GAME_DTYPE)["hand"]
    real = np.frombuffer(state.position.record, GAME_DTYPE)
    expected = resample(view(real, 0), np.arange(10_000))["hand"]
    for seat in (1, 2):
        for colour in range(6):
            drawn = counted(hands[:, seat, colour])
            likely = counted(expected[:, seat, colour])
            assert set(drawn) <= set(likely)
            chances = {hand: number / 10_000 for hand, number in likely.items()}
            if len(chances) > 1:
                assert as_likely([drawn.get(hand, 0) for hand in chances], list(chances.values()))


# ---- bots ----


@pytest.mark.parametrize("players", [2, 4])
def test_openspiels_random_bots_play_to_the_end(players: int) -> None:
    """In C++ and Python, beside an agent of skyenv, whose seed decides its actions."""
    game, histories = loaded(players, max_turns=5), []
    for seed in (1, 1, 2):
        theirs = uniform_random.UniformRandomBot(1, np.random.RandomState(1))
        bots = [AgentBot("random", seed), theirs, *[AgentBot("crowd", seed)] * (players - 2)]
        state = game.new_initial_state()
        assert sum(evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(4))) == 0
        histories.append(state.history())
        bots[1] = pyspiel.make_uniform_random_bot(1, 1)
        assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 5)) == pytest.approx(0)
    assert histories[0] == histories[1] != histories[2]


# ---- mistakes ----


def observed(state: Any, seat: int, recall: bool) -> None:
    """Ask an observer from Python, past OpenSpiel's own checks."""
    kind = pyspiel.IIGObservationType(perfect_recall=recall)
    state.get_game().make_py_observer(kind).set_from(state, seat)


@pytest.mark.parametrize(
    ("decisions", "call", "error", "message"),
    [
        (None, lambda s: s.apply_action(0), ChanceError, r"only 7 \(plot green\)"),
        (None, lambda s: s.resample_from_infostate(0, float), OptionError, "while chance decides"),
        (None, lambda s: s.to_game(), OptionError, "not while chance decides"),
        (3, lambda s: s.apply_action(78), IllegalActionError, r"78 \(pass\)"),
        (3, lambda s: s.resample_from_infostate(2, float), OptionError, "player"),
        *(
            (3, lambda s, recall=recall: observed(s, 2, recall), OptionError, "seat must be")
            for recall in (False, True)
        ),
        (10**9, lambda s: s.position.after(0), IllegalActionError, "the game is over"),
        (None, lambda s: AgentBot("random", 1).step(s), AgentError, "no seat is to act"),
        (None, lambda s: AgentBot("nobody"), AgentError, "nobody"),
        (None, lambda s: AgentBot("random", -1), ValueError, "non-negative"),
    ],
)
def test_invalid_histories_and_bots_are_refused(
    decisions: int | None, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    game = loaded(2, max_turns=1)
    state = game.new_initial_state() if decisions is None else state_after(game, 1, decisions)
    before = str(state)
    with pytest.raises(error, match=message):
        call(state)
    assert str(state) == before


# ---- a playthrough ----

GAME = "fifth_avenue(events=40,max_turns=1,players=2)"


def test_the_stored_playthrough_is_current() -> None:
    """In OpenSpiel's format; `write_playthrough` writes it."""
    written = PLAYTHROUGH.read_text(encoding="utf-8")
    assert generate_playthrough.playthrough(GAME, None, seed=1) == written


def write_playthrough() -> None:
    """``PYTHONPATH=tests python -c "from envs import test_open_spiel as t;
    t.write_playthrough()"``.
    """
    PLAYTHROUGH.write_text(generate_playthrough.playthrough(GAME, None, seed=1), encoding="utf-8")


@pytest.mark.parametrize(
    ("task", "opening"),
    [("alea-4", -1), ("set-2/held-out", -1), ("duel-3", 7), ("three-3", 2), ("last-turns", 5)],
)
def test_openspiel_plays_bidding_tasks(task: str, opening: int) -> None:
    """OpenSpiel's simulation, and the payoff of the other interfaces."""
    game = loaded(task=task, opening=opening)
    assert game.num_players() == task_of(task).num_players
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    for seed in range(5):
        *_, state = states(game, seed)
        assert sum(move.player >= 0 for move in state.full_history()) <= game.max_game_length()
        played = state.to_game()
        assert played.options.task == state.position.task
        assert played.events[-1]["payoff"] == state.returns()
        again = Game.from_record(played.to_record())
        assert again.events == played.events


def test_best_responses_and_cfr_are_those_of_openspiel() -> None:
    made, game = Opening("park-4/31"), loaded(task="park-4", opening=31)
    evaluator, ours, theirs = Evaluator(made.tree), Solver(made.tree), cfr.CFRPlusSolver(game)
    for _ in range(3):
        ours.run(1)
        theirs.evaluate_and_update_policy()
        conv = exploitability.nash_conv(game, theirs.average_policy())
        assert ours.solution().nash_conv == pytest.approx(conv, abs=1e-9)
        assert evaluator.nash_conv(ours.solution().policy) == pytest.approx(conv, abs=1e-9)


@pytest.mark.parametrize("task", OF_AUCTIONS)
def test_no_payoff_exceeds_the_bounds(task: str) -> None:
    """Those of a named opening are its true range, unless its tree is large."""
    assert abs(paid_at_random(task, 2000, seed=4)).max() < HIGHEST_PAYOFF / 2
    game, paid = loaded(task=task, opening=7), paid_at_random(f"{task}/7", 20_000, seed=4)
    low, high = game.min_utility(), game.max_utility()
    assert low <= paid.min() < 0 < paid.max() <= high
    assert (high == HIGHEST_PAYOFF) == (task in LARGE_TREES)
    assert paid.max() >= high - CARD_VP or task in LARGE_TREES
