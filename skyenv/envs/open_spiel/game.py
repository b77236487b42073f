"""The game and its states as OpenSpiel knows them, registered under :data:`SHORT_NAME`."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyspiel

from skyenv.checks import check_flag, check_integer
from skyenv.engine.game import OUTCOMES, SETUP, Game
from skyenv.engine.information_state import information_size, most_events
from skyenv.engine.kernels import outcome_of
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.errors import OptionError, shown
from skyenv.histories.resampling import resampled
from skyenv.histories.states import (
    CHANCES_AT_THE_END,
    CHANCES_OF_SETUP,
    CHANCES_PER_TURN,
    DECISIONS_PER_TURN,
    OUTCOME_NAMES,
    State,
    Table,
    table_of,
)
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS
from skyenv.rules.state import NONE

SHORT_NAME: Final = "fifth_avenue"
"""For ``pyspiel.load_game``."""
PARAMETERS: Final = {
    "players": 2,
    "side": "front",
    "max_turns": DEFAULT_MAX_TURNS,
    "events": 0,
    "information_state": True,
}
"""The game's parameters and their defaults."""
MOST_EVENTS: Final = 1_000_000


def _game_type(information_state: bool) -> pyspiel.GameType:
    """What OpenSpiel is told of the game, with or without an information state."""
    return pyspiel.GameType(
        short_name=SHORT_NAME,
        long_name="Fifth Avenue",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=MAX_PLAYERS,
        min_num_players=MIN_PLAYERS,
        provides_information_state_string=information_state,
        provides_information_state_tensor=information_state,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=PARAMETERS,
    )


GAME_TYPE: Final = _game_type(information_state=True)
_CHANCE: Final = int(pyspiel.PlayerId.CHANCE)
_TERMINAL: Final = int(pyspiel.PlayerId.TERMINAL)
_NOTHING: Final = base64.b64encode(pickle.dumps({})).decode()


def _info(players: int, max_turns: int) -> pyspiel.GameInfo:
    return pyspiel.GameInfo(
        num_distinct_actions=NUM_ACTIONS,
        max_chance_outcomes=len(OUTCOME_NAMES),
        num_players=players,
        min_utility=outcome_of(0.0, players),
        max_utility=outcome_of(1.0, players),
        utility_sum=0.0,
        max_game_length=2 * players + max_turns * DECISIONS_PER_TURN,
    )


class FifthAvenueGame(pyspiel.Game):  # type: ignore[misc]
    """The game for some number of players; ``pyspiel.load_game("fifth_avenue(players=3)")`` makes
    one.

    Args:
        params: ``players`` (2 to 4), ``side`` (``"front"`` or ``"back"``), ``max_turns`` (END-5; 1
            to 1,000,000), ``events``, for how many events the information state's tensor has room
            (0: for all that a game can have), and ``information_state``: False for a game whose
            type says that it provides none, so that algorithms that prefer it take the observation.

    Attributes:
        table: what all positions of the game share.
        max_events: the room for events in the information state's tensor.

    Raises:
        OptionError: a parameter is unknown or has a wrong value.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**PARAMETERS, **(params or {})}
        if unknown := sorted(set(given) - set(PARAMETERS)):
            raise OptionError(
                f"{SHORT_NAME} has no parameter {shown(unknown[0])}; it has {', '.join(PARAMETERS)}"
            )
        self.table: Table = table_of(given["players"], given["side"], given["max_turns"])
        events = check_integer("events", given["events"], 0, MOST_EVENTS)
        self.max_events = events or most_events(self.table.num_players, self.table.max_turns)
        kind = _game_type(check_flag("information_state", given["information_state"]))
        super().__init__(kind, _info(self.table.num_players, self.table.max_turns), params or {})

    def __reduce__(self) -> tuple[Any, ...]:
        # OpenSpiel's own way makes a game of this class without calling __init__; copies and
        # pickles are loaded anew instead.
        return _load, (str(self),)

    def new_initial_state(self) -> FifthAvenueState:
        """The state before the setup, in which chance begins."""
        return FifthAvenueState(self)

    def max_chance_nodes_in_history(self) -> int:
        """More chance nodes than this no game has."""
        return int(CHANCES_OF_SETUP + self.table.max_turns * CHANCES_PER_TURN + CHANCES_AT_THE_END)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
        """What a seat sees: with perfect recall its information state, else its observation.

        Returns:
            None for what there is not: the public part alone, or the private part alone.

        Raises:
            OptionError: parameters are given; there are none.
        """
        if isinstance(iig_obs_type, dict):  # from C++, if no type is asked for
            iig_obs_type, params = None, iig_obs_type
        if params:
            raise OptionError(f"observers of {SHORT_NAME} have no parameters, not {shown(params)}")
        if iig_obs_type is None:
            return Observer(
                "observation", OBSERVATION_SIZE, State.observation, State.observation_text
            )
        if (
            not iig_obs_type.public_info
            or iig_obs_type.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER
        ):
            return None
        if not iig_obs_type.perfect_recall:
            return self.make_py_observer()
        events = self.max_events
        return Observer(
            "info_state",
            information_size(events),
            lambda position, player: position.information_vector(player, events),
            State.information,
        )


def _load(parameters: str) -> FifthAvenueGame:
    """The game that its text stands for.

    It stands here so that a pickle, wherever it is read, finds the game registered.
    """
    game: FifthAvenueGame = pyspiel.load_game(parameters)
    return game


class Observer:
    """OpenSpiel's observer: a seat's vector and text of a state.

    Attributes:
        tensor: float32, as :meth:`set_from` wrote it last.
        dict: the tensor by its only name.
    """

    def __init__(
        self,
        name: str,
        size: int,
        vector: Callable[[State, int], npt.NDArray[np.float32]],
        text: Callable[[State, int], str],
    ) -> None:
        self.tensor = np.zeros(size, np.float32)
        self.dict = {name: self.tensor}
        self._vector, self._text = vector, text

    def set_from(self, state: FifthAvenueState, player: int) -> None:
        """Write what a seat sees into the tensor."""
        self.tensor[:] = self._vector(state.position, player)

    def string_from(self, state: FifthAvenueState, player: int) -> str:
        """What a seat sees, as a text."""
        return self._text(state.position, player)


class FifthAvenueState(pyspiel.State):  # type: ignore[misc]
    """A state: a decision of a seat, of chance, or the end.

    OpenSpiel makes states, and copies them; the Python side of a state is one position that never
    changes, so a copy shares it.

    Attributes:
        position: the position, :class:`skyenv.histories.states.State`.
    """

    def __init__(self, game: FifthAvenueGame) -> None:
        super().__init__(game)
        self.position: State = game.table.start

    def current_player(self) -> int:
        """The seat to act, or OpenSpiel's number for chance or the end."""
        position = self.position
        if position.seat >= 0:
            return position.seat
        return _TERMINAL if position.pending is None else _CHANCE

    def is_terminal(self) -> bool:
        """Whether the game has ended or was truncated."""
        return self.position.is_over

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal if player == self.position.seat else []

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What chance can decide here, by number, with probabilities."""
        return self.position.outcomes

    def _apply_action(self, action: int) -> None:
        self.position = self.position.after(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return OUTCOME_NAMES[action] if player == _CHANCE else ACTION_NAMES[action]

    def returns(self) -> list[float]:
        """Every seat's outcome at the end; zeros before it, and in a truncated game."""
        return self.position.returns()

    def __str__(self) -> str:
        return str(self.position)

    def resample_from_infostate(self, player_id: int, rng: Callable[[], float]) -> FifthAvenueState:
        """A determinization, which a seat can't tell from this state: the whole past is drawn anew
        with it.

        Args:
            player_id: the seat.
            rng: gives numbers in [0, 1).

        Raises:
            OptionError: chance is to decide here, or there is no such seat.
        """
        position = resampled(self.position, player_id, rng)
        moves = [f"{player}:{action}" for player, action in moves_of(position)]
        # Reading a text is the only way to give a state a history without playing it.
        text = f"history={','.join(moves)}\nmove_number={len(moves)}\n__dict__={_NOTHING}"
        state: FifthAvenueState = self.get_game().deserialize_state(text)
        state.position = position
        return state

    def to_game(self) -> Game:
        """The game so far as a :class:`skyenv.Game`: to look at, to record, or to play on, its
        chance then being its own.

        Raises:
            OptionError: chance is to decide here.
        """
        position = self.position
        if position.pending is not None:
            raise OptionError(
                "a Game stands where a seat is to act or the game is over, not while chance decides"
            )
        return game_from(position)


def game_from(position: State) -> Game:
    """A Game that was played as the position was; its seed is None."""
    setup, *steps = (
        (step.action, [OUTCOMES[number] for number in step.chance]) for step in position.steps
    )
    game = Game(
        position.num_players, position.side, 0, max_turns=position.max_turns, chance=setup[1]
    )
    game.state["seed"] = NONE
    for action, chance in steps:
        game.play(action, chance)
    return game


def moves_of(position: State) -> list[tuple[int, int]]:
    """The history as OpenSpiel tells it: who decided, and what."""
    moves: list[tuple[int, int]] = []
    for step in position.steps:
        if step.action != SETUP:
            moves.append((step.seat, step.action))
        moves += [(_CHANCE, number) for number in step.chance]
    return moves


pyspiel.register_game(GAME_TYPE, FifthAvenueGame)
