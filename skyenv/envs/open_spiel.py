"""The OpenSpiel game, registered on import: ``pyspiel.load_game("fifth_avenue(players=3)")``.

Every card, tile and plot that chance decides is a chance node of its own, in the order of
:meth:`skyenv.Game.chance_ahead`. Information states come from :mod:`skyenv.engine.information`,
observations from :mod:`skyenv.engine.observation`; returns are the reward "outcome". A state's
``resample_from_infostate`` returns a determinization with its whole history, so OpenSpiel's
searches use no hidden information. :class:`AgentBot` wraps skyenv's agents.
"""

import base64
import pickle
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np

from skyenv.agents import Agent, checked_actions, decisions_in, make_agent
from skyenv.array_types import Float32
from skyenv.checks import check_choice, check_flag, check_integer, check_name
from skyenv.engine.game import Game
from skyenv.engine.information import DEFAULT_EVENTS, information_size, most_decisions, most_events
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.openings import TASKS, numbers_of, task_name, task_of
from skyenv.engine.options import DEFAULT_MAX_TURNS, GameOptions
from skyenv.engine.rewards import outcome_of
from skyenv.engine.simulator import OUTCOMES, SETUP
from skyenv.errors import AgentError, OptionError, needs_extra
from skyenv.histories.resampling import resampled
from skyenv.histories.states import OUTCOME_NAMES, History, HistoryTable, table_of
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS
from skyenv.rules.state import NONE
from skyenv.solving.tree import LEAF, Opening

with needs_extra("openspiel"):
    import pyspiel

SHORT_NAME: Final = "fifth_avenue"
"""For ``pyspiel.load_game``."""
# The game's parameters and their defaults.
PARAMETERS: Final = {
    "players": 2,
    "side": "front",
    "board": "",
    "max_turns": DEFAULT_MAX_TURNS,
    "task": "",
    "opening": -1,
    "events": DEFAULT_EVENTS,
    "information_state": True,
}
# Black cards of option D (two, and one for every seat), two tops, and Alea's cards.
CHANCES_PER_TURN: Final = 2 + MAX_PLAYERS + 2 + 8 * 4
CHANCES_OF_SETUP_AND_END: Final = 7 * 2 + 20 + MAX_PLAYERS * 9 + 5 + 3
HIGHEST_PAYOFF: Final = 100.0
"""Bound of the absolute payoff of any task, in VP."""
LARGE_TREES: Final = ("duel-6", "alea-5", "set-3")
"""Tasks whose trees take seconds to traverse, so that HIGHEST_PAYOFF bounds every opening."""
# Size of an observer's cache: the vectors of all seats, and of the start.
REMEMBERED: Final = 2 * MAX_PLAYERS


def _game_type(information_state: bool, zero_sum: bool = True) -> pyspiel.GameType:
    """Return OpenSpiel's description of the game, with or without an information state."""
    utility = pyspiel.GameType.Utility
    return pyspiel.GameType(
        short_name=SHORT_NAME,
        long_name="Fifth Avenue",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=utility.ZERO_SUM if zero_sum else utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=MAX_PLAYERS,
        min_num_players=MIN_PLAYERS,
        provides_information_state_string=information_state,
        provides_information_state_tensor=information_state,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=PARAMETERS,
    )


_CHANCE: Final = int(pyspiel.PlayerId.CHANCE)
_TERMINAL: Final = int(pyspiel.PlayerId.TERMINAL)
_NOTHING: Final = base64.b64encode(pickle.dumps({})).decode()


class FifthAvenueGame(pyspiel.Game):  # type: ignore[misc]
    """The game in OpenSpiel; ``pyspiel.load_game("fifth_avenue(players=3)")`` creates one.

    Args:
        params: ``players`` (2 to 4), ``side`` (``"front"`` or ``"back"``), ``board``, the path of
            a board file, ``max_turns`` (END-5; 1 to 1,000,000), ``task``, a bidding task, which
            decides the former four; ``opening``, its number (−1: chance draws one of those that
            `task` names); ``events``, the room for events in the information state's tensor (0:
            enough for any game); and ``information_state``: False if the type must not offer one,
            so that algorithms that prefer it use the observation.

    Attributes:
        table: the data that all positions of the game share.
        max_events: the room for events in the information state's tensor.

    Raises:
        OptionError: a parameter is unknown or has a wrong value.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**PARAMETERS, **(params or {})}
        for name in given:
            check_name(SHORT_NAME, name, tuple(PARAMETERS))
        options = _options_of(given)
        self.table: HistoryTable = table_of(options)
        task, turns = options.task, options.max_turns
        players, zero_sum = options.num_players, True
        low, high = _payoff_range(task, players)
        if task is not None:
            kind = task_of(task)
            turns, zero_sum = kind.auctions or 3 * kind.turns, players == MIN_PLAYERS
        self._turns = turns
        events = check_integer("events", given["events"], 0, 10**6)
        most = most_events(players, turns)
        self.max_events = min(events or most, most)
        has_information = check_flag("information_state", given["information_state"])
        type_of_game = _game_type(has_information, zero_sum)
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=max(
                len(OUTCOME_NAMES), *(1 + number for number, _ in self.table.start.outcomes)
            ),
            num_players=players,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if zero_sum else None,
            max_game_length=most_decisions(players, turns),
        )
        super().__init__(type_of_game, info, params or {})

    def __reduce__(self) -> tuple[Any, ...]:
        # OpenSpiel's default creates a game of this class without calling __init__; copies and
        # pickles load the game again instead.
        return _load, (str(self),)

    def new_initial_state(self) -> "FifthAvenueState":
        """Return the state before the setup, a chance node."""
        return FifthAvenueState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return an upper bound of the chance nodes in a game."""
        return int(CHANCES_OF_SETUP_AND_END + self._turns * CHANCES_PER_TURN)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer | None":
        """Return an observer: of information states with perfect recall, else of observations.

        Returns:
            The observer; None if only the public or only the private part is requested.
        """
        # C++ passes parameters (there are none) first if no type is requested.
        if iig_obs_type is None or isinstance(iig_obs_type, dict):
            iig_obs_type = pyspiel.IIGObservationType(perfect_recall=False)
        one = pyspiel.PrivateInfoType.SINGLE_PLAYER
        if not iig_obs_type.public_info or iig_obs_type.private_info != one:
            return None
        if not iig_obs_type.perfect_recall:
            return Observer(
                "observation", OBSERVATION_SIZE, History.observation, History.observation_text
            )
        events = self.max_events
        return Observer(
            "info_state",
            information_size(events),
            lambda state, player: state.information_vector(player, events),
            History.information,
        )


def _options_of(given: Mapping[str, Any]) -> GameOptions:
    """Return the kind of game that the parameters name.

    Raises:
        OptionError: a parameter has a wrong value, or there is an opening without a task.
        BoardError: the board file is wrong.
    """
    turns = check_integer("max_turns", given["max_turns"], 1, 10**6)
    opening = check_integer("opening", given["opening"], -1, 10**6)
    task, board = given["task"], given["board"] or None
    if not task:
        if opening >= 0:
            raise OptionError("opening is the number of a task's opening; name the task, too")
        return GameOptions(given["players"], given["side"], board=board, max_turns=turns)
    check_choice("task", task_name(task), tuple(TASKS))
    return GameOptions(task=task if opening < 0 else f"{task}/{opening}", board=board)


@lru_cache
def _payoff_range(task: str | None, players: int) -> tuple[float, float]:
    """Return the lowest and the highest payoff of a seat, or bounds of them."""
    if task is None or not task_of(task).auctions:
        return outcome_of(0.0, players), outcome_of(1.0, players)
    if task_name(task) in LARGE_TREES or len(numbers_of(task)) > 1:
        return -HIGHEST_PAYOFF, HIGHEST_PAYOFF
    tree = Opening(task).tree
    paid = tree.payoff[tree.kind == LEAF]
    return float(paid.min()), float(paid.max())


def _load(parameters: str) -> FifthAvenueGame:
    """Return the game for its text.

    It is in this module so that unpickling imports it, which registers the game.
    """
    return cast(FifthAvenueGame, pyspiel.load_game(parameters))


class Observer:
    """An observer for OpenSpiel: vector and text of a state for a seat.

    It caches the latest vectors: with every vector OpenSpiel also requests that of the start, for
    its shape, and learners request one several times.

    Attributes:
        tensor: float32, as :meth:`set_from` wrote it last.
        dict: the tensor under its only name.
    """

    def __init__(
        self,
        name: str,
        size: int,
        vector: Callable[[History, int], Float32],
        text: Callable[[History, int], str],
    ) -> None:
        self.tensor = np.zeros(size, np.float32)
        self.dict = {name: self.tensor}
        self._vector, self._text = lru_cache(REMEMBERED)(vector), text

    def set_from(self, state: "FifthAvenueState", player: int) -> None:
        """Write a seat's vector into the tensor."""
        self.tensor[:] = self._vector(state.position, player)

    def string_from(self, state: "FifthAvenueState", player: int) -> str:
        """Return a seat's information state or observation as text."""
        return self._text(state.position, player)


class FifthAvenueState(pyspiel.State):  # type: ignore[misc]
    """A state in OpenSpiel: a decision of a seat, a chance node, or the end.

    The Python side of a state is one immutable position, which copies share.

    Attributes:
        position: the position, :class:`skyenv.histories.states.History`.
    """

    def __init__(self, game: FifthAvenueGame) -> None:
        super().__init__(game)
        self.position: History = game.table.start

    def current_player(self) -> int:
        """Return the seat to act, or OpenSpiel's number for chance or the end."""
        position = self.position
        if position.seat >= 0:
            return position.seat
        return _TERMINAL if position.pending is None else _CHANCE

    def is_terminal(self) -> bool:
        """Return whether the game has ended or was truncated."""
        return self.position.is_over

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal if player == self.position.seat else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the possible chance outcomes by number, with probabilities."""
        return self.position.outcomes

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.name_of(action) if player == _CHANCE else ACTION_NAMES[action]

    def returns(self) -> list[float]:
        """Return every seat's outcome at the end, in a task its payoff; zeros before the end and in
        a truncated game.
        """
        return self.position.returns()

    def __str__(self) -> str:
        return str(self.position)

    def resample_from_infostate(
        self, player_id: int, rng: Callable[[], float]
    ) -> "FifthAvenueState":
        """Return a determinization that the seat can't tell from this state, with its whole history
        resampled.

        Args:
            player_id: the seat.
            rng: returns numbers in [0, 1).

        Raises:
            OptionError: the state is a chance node, or there is no such seat.
        """
        position = resampled(self.position, player_id, rng)
        moves: list[str] = []
        if self.get_game().table.draws_opening:
            _, number = str(position.task).split("/")
            moves.append(f"{_CHANCE}:{number}")
        for step in position.steps:
            moves += [] if step.action == SETUP else [f"{step.seat}:{step.action}"]
            moves += [f"{_CHANCE}:{number}" for number in step.chance]
        # Reading a text is the only way to give a state a history without playing it.
        text = f"history={','.join(moves)}\nmove_number={len(moves)}\n__dict__={_NOTHING}"
        state: FifthAvenueState = self.get_game().deserialize_state(text)
        state.position = position
        return state

    def to_game(self) -> Game:
        """Return the game so far as a :class:`skyenv.Game` with seed None, to inspect, record or
        continue with chance of its own.

        Raises:
            OptionError: the state is a chance node.
        """
        position, options = self.position, self.position.table.options
        if position.pending is not None:
            raise OptionError(
                "a Game can be made where a seat is to act or the game is over, not while chance "
                "decides"
            )
        setup, *steps = (
            (step.action, [OUTCOMES[number] for number in step.chance]) for step in position.steps
        )
        game = Game(seed=0, chance=setup[1], options=options)
        game.state["seed"] = NONE
        for action, chance in steps:
            game.play(action, chance)
        return game


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """A bot that plays as an agent, from the view of the seat to act; it can play several seats and
    stores no history.

    Args:
        agent: an agent, or what :func:`skyenv.make_agent` takes, such as ``"greedy"``.
        seed: seed of the agent's random numbers, at least 0; None takes one from the operating
            system.

    Raises:
        AgentError: there is no such agent.
        CheckpointError: the checkpoint is missing, damaged, or made for another kind of game or
            agent.
        ValueError: the seed is negative.
    """

    def __init__(self, agent: Agent | Callable[..., Any] | str, seed: int | None = None) -> None:
        super().__init__()
        self.agent = make_agent(agent)
        self._generator = np.random.default_rng(seed)

    def step(self, state: FifthAvenueState) -> int:
        """Return the agent's action.

        Raises:
            AgentError: no seat is to act, or the agent's answer isn't a legal action.
        """
        game = state.position.table.simulator
        game.rewind(state.position.record)
        if not state.position.legal:
            raise AgentError(
                f"agent {self.agent.name} was asked for an action where no seat is to act"
            )
        uniform = self._generator.random(1)
        decisions = decisions_in(game.batch, self.agent, uniform=uniform)
        return int(checked_actions(self.agent, decisions)[0])

    def restart_at(self, state: FifthAvenueState) -> None:
        """Begin at a state; nothing to do, as the bot stores no history."""


pyspiel.register_game(_game_type(information_state=True), FifthAvenueGame)
