"""The game behind OpenSpiel: its own checks, the same game as everywhere, hidden cards that stay
hidden, and its bots.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import generate_playthrough, ismcts, mcts

from processes import printed, python
from scenario import even
from skyenv import (
    ACTION_NAMES,
    AgentError,
    ChanceError,
    Game,
    Games,
    IllegalActionError,
    OptionError,
)
from skyenv.agents import Agent
from skyenv.engine.game import OUTCOMES
from skyenv.engine.information_state import information_state, information_tensor
from skyenv.engine.knowledge import resample, view
from skyenv.envs.open_spiel import SHORT_NAME, AgentBot
from skyenv.histories.states import OUTCOME_NAMES
from skyenv.rules.state import GAME_DTYPE

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
PLAYTHROUGH = Path(__file__).parent / "fifth_avenue_playthrough.txt"
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
inf = pytest.mark.rule("INF-1", "INF-2", "INF-3")


def loaded(players: int = 2, side: str = "front", **more: int) -> Any:
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


def again(game: Any, history: list[int]) -> Any:
    """The state after a history, every move of which must be legal."""
    state = game.new_initial_state()
    for move in history:
        state.apply_action_with_legality_check(move)
    return state


# ---- what OpenSpiel is told ----


def test_type() -> None:
    kind = loaded().get_type()
    assert kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert kind.utility == pyspiel.GameType.Utility.ZERO_SUM
    assert kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert (kind.min_num_players, kind.max_num_players) == (2, 4)
    for players in (2, 3, 4):
        game = loaded(players)
        assert game.num_distinct_actions() == len(ACTION_NAMES) == 103
        assert game.max_chance_outcomes() == len(OUTCOMES) == len(OUTCOME_NAMES) == 12
        assert (game.min_utility(), game.max_utility()) == pytest.approx((-1 / (players - 1), 1))
        assert game.utility_sum() == 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"players": 5}, "num_players must be a whole number from 2 to 4, not 5"),
        ({"side": "left"}, "side must be 'front' or 'back', not 'left'"),
        ({"max_turns": 0}, "max_turns must be a whole number from 1 to 1000000"),
        ({"events": 0}, "events must be a whole number from 1"),
    ],
)
def test_wrong_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        pyspiel.load_game(SHORT_NAME, params)


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises((OptionError, pyspiel.SpielError), match="colour"):
        pyspiel.load_game(SHORT_NAME, {"colour": 1})


# ---- OpenSpiel's own checks ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_random_simulation(players: int, side: str) -> None:
    """OpenSpiel's: clones, serialisation, histories, masks, names of actions, lengths, sums and
    bounds of returns.
    """
    pyspiel.random_sim_test(
        loaded(players, side, max_turns=4), num_sims=1, serialize=True, verbose=False
    )


@pytest.mark.long
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_random_simulation_of_whole_games(players: int, side: str) -> None:
    pyspiel.random_sim_test(loaded(players, side), num_sims=2, serialize=True, verbose=False)


def check_determinizations(state: Any, uniform: Callable[[], float]) -> None:
    """What OpenSpiel checks of resampling (its check is not offered to Python), and what a seat
    sees besides.
    """
    for seat in range(state.num_players()):
        other = state.resample_from_infostate(seat, uniform)
        assert other.information_state_string(seat) == state.information_state_string(seat)
        assert other.information_state_tensor(seat) == state.information_state_tensor(seat)
        assert other.current_player() == state.current_player()
        assert other.observation_tensor(seat) == state.observation_tensor(seat)
        assert other.observation_string(seat) == state.observation_string(seat)
        assert other.move_number() == state.move_number()
        if state.current_player() == seat:
            assert other.legal_actions() == state.legal_actions()


@inf
@pytest.mark.parametrize("players", [2, 3, 4])
def test_determinizations_look_the_same(players: int) -> None:
    uniform = np.random.default_rng(players).random
    for number, state in enumerate(states(loaded(players), players, 150)):
        if not state.is_chance_node() and number % 5 == 0:
            check_determinizations(state, uniform)


@inf
@pytest.mark.rule("AUC-9")
@pytest.mark.parametrize(("players", "seed"), [(2, 1), (2, 2), (3, 3), (4, 4)])
def test_determinizations_have_a_possible_past(players: int, seed: int) -> None:
    """Their histories can be played, chance included, and lead to the same position, also for the
    seats that differ.
    """
    game, uniform = loaded(players), np.random.default_rng(seed).random
    for number, state in enumerate(states(game, seed)):
        if state.is_chance_node() or number % 40:
            continue
        for seat in range(players):
            other = state.resample_from_infostate(seat, uniform)
            played = again(game, other.history())
            assert played.position.record == other.position.record
            assert str(played) == str(other)
            assert played.legal_actions() == other.legal_actions()
            for third in range(players):
                assert played.information_state_string(third) == other.information_state_string(
                    third
                )
            shared = [event for event in state.position.events if event["event"] == "shuffle"]
            assert shared == [
                event for event in other.position.events if event["event"] == "shuffle"
            ]
    if players == 2:  # Alea turns up so many black cards that the stack was shuffled
        assert shared


# ---- the same game as everywhere ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_same_play_same_record(players: int, side: str) -> None:
    """Actions and chance from outside, in a Game and in OpenSpiel: the same nodes, probabilities,
    positions and record.
    """
    rng = np.random.default_rng(players)
    state = loaded(players, side, max_turns=15).new_initial_state()

    def decided(ahead: Callable[[list[Any]], dict[Any, float]]) -> list[Any]:
        chance: list[Any] = []
        while outcomes := ahead(chance):
            assert state.current_player() == CHANCE
            assert {
                OUTCOMES[number]: chance for number, chance in state.chance_outcomes()
            } == outcomes
            numbers = [number for number, _ in state.chance_outcomes()]
            number = int(rng.choice(numbers, p=list(outcomes.values())))
            chance.append(OUTCOMES[number])
            state.apply_action(number)
        return chance

    setup = decided(lambda chance: Game.setup_chance(players, side, chance=chance))
    game = Game(players, side, 5, max_turns=15, chance=setup)
    while not game.is_over:
        assert state.current_player() == game.seat
        assert state.legal_actions() == game.legal_actions
        assert [
            state.action_to_string(action) for action in state.legal_actions()
        ] == game.legal_names
        action = int(rng.choice(game.legal_actions))
        state.apply_action(action)
        chance = decided(lambda chance, action=action: game.chance_ahead(action, chance))  # type: ignore[misc]
        game.play(action, chance)
        seat = int(rng.integers(players))
        assert (state.observation_tensor(seat) == game.observation(seat)).all()
    assert state.current_player() == TERMINAL
    for seat in range(players):
        assert state.information_state_string(seat) == information_state(game, seat)
        assert (
            state.information_state_tensor(seat)
            == information_tensor(game, seat, scaled=True).tolist()
        )
    header, *lines = state.to_game().to_record().splitlines()
    assert lines == game.to_record().splitlines()[1:]
    assert header == game.to_record().splitlines()[0].replace('"seed": 5', '"seed": null')
    assert state.to_game().state.tobytes() == state.position.record
    assert Game.from_record(state.to_game().to_record()).outcome == game.outcome


@pytest.mark.rule("END-4", "END-5")
@pytest.mark.parametrize(("players", "max_turns"), [(2, 500), (3, 500), (4, 500), (3, 5)])
def test_returns_are_the_outcome_reward(players: int, max_turns: int) -> None:
    *_, state = states(loaded(players, max_turns=max_turns), 2)
    played = state.to_game()
    games = Games(1, players, max_turns=max_turns, autoreset=False)
    before = Game.from_record(
        played.to_record(), step=sum("action" in event for event in played.events) - 1
    )
    games.state[:] = before.state
    games.refresh()
    last = [event for event in played.events if event["event"] == "action"][-1]["action"]
    games.step(
        [last]
    )  # what chance decides now may differ, but who has how many VP is settled but for the park's tiles
    if not any(event["event"] == "park" for event in played.events):
        assert state.returns() == pytest.approx(games.reward[0].tolist())
    winners = played.outcome.winners if max_turns == 500 else ()
    expected = [
        ((seat in winners) / max(len(winners), 1) - 1 / players) * players / (players - 1)
        for seat in range(players)
    ]
    assert state.returns() == pytest.approx(expected if winners else [0] * players)
    assert sum(state.returns()) == pytest.approx(0)
    assert state.rewards() == state.returns()


def test_no_game_is_longer_than_is_said() -> None:
    for players in (2, 4):
        game = loaded(players, max_turns=10)
        *_, state = states(game, players)
        deciders = [move.player for move in state.full_history()]
        assert deciders.count(CHANCE) <= game.max_chance_nodes_in_history()
        assert len(deciders) - deciders.count(CHANCE) <= game.max_game_length()
        assert len(deciders) <= game.max_history_length()


# ---- what seats see ----


@inf
@pytest.mark.parametrize("players", [2, 3, 4])
def test_other_hands_are_not_seen(players: int) -> None:
    """The same play with other first hands: seats that don't hold the cards see the same, the seat
    that holds them doesn't.
    """
    game = loaded(players)
    compared = 0
    for seed in range(2):
        history = state_after(game, seed, 30).history()
        for owner in range(players):
            other = list(history)
            start = 14 + 20 + 9 * owner
            for place in (*range(start, start + 5), start + 5):
                other[place] = (other[place] + 1) % 3
            states_ = game.new_initial_state(), game.new_initial_state()
            for number, moves in enumerate(zip(history, other, strict=True)):
                if any(
                    move not in state.legal_actions()
                    for state, move in zip(states_, moves, strict=True)
                ):
                    break  # the cards of one of them don't allow it
                for state, move in zip(states_, moves, strict=True):
                    state.apply_action(move)
                if number % 6 == 0:
                    compared += compare(*states_, owner)
    assert compared > 6 * players


def compare(one: Any, other: Any, owner: int) -> bool:
    """What seats see of two states that differ in the owner's first hand; whether that hand was
    there.
    """
    assert one.current_player() == other.current_player()
    for seat in range(one.num_players()):
        texts = [
            (state.information_state_string(seat), state.observation_string(seat))
            for state in (one, other)
        ]
        dealt = bool(one.position.steps)
        assert (texts[0] == texts[1]) == (seat != owner or not dealt)
        if seat != owner:
            assert one.observation_tensor(seat) == other.observation_tensor(seat)
            assert one.information_state_tensor(seat) == other.information_state_tensor(seat)
    return bool(one.position.steps)


@inf
def test_nothing_is_seen_before_all_of_it_is_decided() -> None:
    """At a chance node every seat sees the action, but not what chance has decided of it so far."""
    seen_before: dict[int, str] = {}
    nodes = 0
    for state in states(loaded(3), 5, 60):
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


@inf
def test_perfect_recall() -> None:
    texts = [
        state.information_state_string(1)
        for state in states(loaded(3), 6, 80)
        if not state.is_chance_node()
    ]
    assert all(later.startswith(earlier + "\n") for earlier, later in pairwise(texts))


def test_too_many_events_are_named() -> None:
    state = state_after(loaded(2, events=20), 1, 30)
    assert state.information_state_string(0)
    with pytest.raises(
        OptionError, match="there is room for 20; load the game with a larger parameter events"
    ):
        state.information_state_tensor(0)


def test_observers() -> None:
    game = loaded(2, events=100)
    state = state_after(game, 1, 5)
    recall = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    recall.set_from(state, 1)
    assert recall.tensor.tolist() == state.information_state_tensor(1)
    assert recall.string_from(state, 1) == state.information_state_string(1)
    public = pyspiel.IIGObservationType(
        public_info=True, perfect_recall=False, private_info=pyspiel.PrivateInfoType.NONE
    )
    assert game.make_py_observer(public) is None
    with pytest.raises(OptionError, match="no parameters"):
        game.make_py_observer(None, {"size": 3})


# ---- determinizations are drawn fairly ----


@inf
def test_determinizations_depend_on_what_the_seat_has_seen_alone() -> None:
    """From a determinization for a seat, the same random number leads to the same further one as
    from the real one.
    """
    for players, seed in ((2, 3), (3, 4)):
        for number, state in enumerate(states(loaded(players), seed)):
            if state.is_chance_node() or number % 60:
                continue
            for seat in range(players):
                other = state.resample_from_infostate(seat, lambda: 0.3)
                one, two = (
                    start.resample_from_infostate(seat, lambda: 0.7) for start in (state, other)
                )
                assert one.history() == two.history()
                assert one.position.record == two.position.record
    assert one.history() != other.history()


@inf
def test_determinizations_are_as_likely_as_positions() -> None:
    """Before the black stack is shuffled, remembering tells nothing more than a view: hands as in
    skyenv.engine.knowledge.
    """
    state = state_after(loaded(3), 12, 90)
    events = state.position.events
    assert not any(event["event"] == "shuffle" for event in events)
    assert any(event.get("name", "").startswith("bid black") for event in events)
    rng = np.random.default_rng(1)
    records = [state.resample_from_infostate(0, rng.random).position.record for _ in range(800)]
    hands = np.frombuffer(b"".join(records), GAME_DTYPE)["hand"]
    real = np.frombuffer(state.position.record, GAME_DTYPE)
    expected = resample(view(real, 0), np.arange(30_000))["hand"]
    for seat in (1, 2):
        for colour in range(6):
            drawn = counted(hands[:, seat, colour])
            likely = counted(expected[:, seat, colour])
            assert set(drawn) <= set(likely)
            chances = {hand: number / 30_000 for hand, number in likely.items()}
            assert even([drawn.get(hand, 0) for hand in chances], list(chances.values()))


def counted(rows: np.ndarray) -> dict[Any, int]:
    """How often each row comes."""
    kinds, numbers = np.unique(rows, axis=0, return_counts=True)
    return {tuple(kind.tolist()): int(number) for kind, number in zip(kinds, numbers, strict=True)}


# ---- copies ----


def test_a_pickled_game_is_found_by_a_process_that_has_not_imported_it(tmp_path: Path) -> None:
    file = tmp_path / "game.pickle"
    file.write_bytes(pickle.dumps(loaded(4, max_turns=9)))
    program = "import pickle, sys\ngame = pickle.load(open(sys.argv[1], 'rb'))\nprint(game, game.new_initial_state().current_player())"
    told = printed("-W", "ignore", "-c", program, file)
    assert told.split() == [
        "fifth_avenue(events=2048,information_state=True,max_turns=9,players=4,side=front)",
        str(CHANCE),
    ]


# ---- bots ----


def outcome_of(game: Any, bots: list[Any], seed: int = 1) -> list[float]:
    """One game between bots; OpenSpiel's `evaluate_bots` asks more of a bot than its own search
    offers (`restart_at`).
    """
    rng = np.random.RandomState(seed)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            numbers, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choice(numbers, p=chances))
        else:
            state.apply_action_with_legality_check(bots[state.current_player()].step(state))
    returns: list[float] = state.returns()
    return returns


def search_bot(game: Any, simulations: int, **options: Any) -> Any:
    """OpenSpiel's information set Monte Carlo tree search, with random rollouts."""
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    return ismcts.ISMCTSBot(
        game, evaluator, 2.0, simulations, random_state=np.random.RandomState(1), **options
    )


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("observations", [False, True])
def test_information_set_search(players: int, observations: bool) -> None:
    """From several positions; it checks by itself that every determinization looks like the real
    position.
    """
    game = loaded(players, max_turns=8)
    bot = search_bot(
        game, 15, use_observation_string=observations, allow_inconsistent_action_sets=observations
    )
    for decisions in (0, 7, 25):
        state = state_after(game, 3, decisions)
        policy = dict(bot.get_policy(state))
        assert sorted(policy) == state.legal_actions()
        assert sum(policy.values()) == pytest.approx(1)


@pytest.mark.long
def test_information_set_search_beats_random_play() -> None:
    game, rng = loaded(2), np.random.RandomState(1)
    bot = search_bot(game, 25)
    bot.set_resampler(
        lambda state, player: state.resample_from_infostate(player, rng.random_sample)
    )  # not from the clock
    wins = [outcome_of(game, [bot, AgentBot("random", seed)], seed)[0] for seed in range(4)]
    assert sum(wins) >= 2


class Watching(Agent):
    """Takes the last legal action, and keeps what it was shown."""

    name = "watching"
    uses_observation = True
    uses_view = True

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def act(self, decisions: Any) -> Any:
        self.seen.append(decisions)
        return np.array([np.flatnonzero(decisions.mask[0])[-1]])


def test_agents_see_what_they_may_see() -> None:
    agent = Watching()
    bot = AgentBot(agent, 1)
    for state in states(loaded(3), 9, 40):
        if state.is_chance_node():
            continue
        assert bot.step(state) == state.legal_actions()[-1]
        decisions, seat = agent.seen[-1], state.current_player()
        assert decisions.seat.tolist() == [seat]
        assert decisions.num_players == 3
        assert decisions.observation[0].tolist() == state.observation_tensor(seat)
        assert (
            decisions.view.tobytes()
            == view(np.frombuffer(state.position.record, GAME_DTYPE), seat).tobytes()
        )
        assert 0 <= decisions.uniform[0] < 1


def test_what_bots_refuse() -> None:
    with pytest.raises(AgentError, match="no seat is to act"):
        AgentBot("random", 1).step(loaded(2).new_initial_state())
    with pytest.raises(AgentError, match="unknown agent"):
        AgentBot("nobody")
    with pytest.raises(OptionError, match="seed"):
        AgentBot("random", -1)


# ---- mistakes ----


def test_what_cannot_be_is_refused() -> None:
    game = loaded(2)
    state = game.new_initial_state()
    with pytest.raises(ChanceError, match=r"chance can't decide 0 here, only 7 \(plot green\)"):
        state.apply_action(0)
    with pytest.raises(OptionError, match="not while chance decides"):
        state.resample_from_infostate(0, lambda: 0.5)
    with pytest.raises(OptionError, match="not while chance decides"):
        state.to_game()
    assert state.history() == []
    state = state_after(game, 1, 3)
    before = str(state)
    with pytest.raises(IllegalActionError, match=r"action 78 \(pass\) is not legal for seat"):
        state.apply_action(78)
    with pytest.raises(OptionError, match="player must be a whole number from 0 to 1, not 2"):
        state.resample_from_infostate(2, lambda: 0.5)
    assert str(state) == before
    *_, state = states(loaded(2, max_turns=1), 1)
    with pytest.raises(IllegalActionError, match="the game is over"):
        state.position.after(0)


WITHOUT = """
import sys
sys.modules["pyspiel"] = None
import skyenv
try:
    import skyenv.envs.open_spiel
except ModuleNotFoundError as error:
    print(error)
"""


def test_a_missing_extra_is_named() -> None:
    done = python("-W", "error", "-c", WITHOUT)
    assert done.returncode == 0
    assert "pip install '.[openspiel]'" in done.stdout
    assert done.stderr == ""


# ---- a playthrough ----

GAME = "fifth_avenue(events=40,max_turns=1,players=2)"


def test_playthrough() -> None:
    """In OpenSpiel's format, to see what it sees of the game, and whether that changes;
    `write_playthrough` writes it anew.
    """
    written = PLAYTHROUGH.read_text(encoding="utf-8")
    assert generate_playthrough.playthrough(GAME, None, seed=1) == written


def write_playthrough() -> None:
    """``PYTHONPATH=tests python -c "from envs import test_open_spiel as t;
    t.write_playthrough()"``.
    """
    PLAYTHROUGH.write_text(generate_playthrough.playthrough(GAME, None, seed=1), encoding="utf-8")
