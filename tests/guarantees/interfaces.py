"""All interfaces behind one protocol: open decision, play, result."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, cast

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import NUM_ACTIONS, Decisions, Game, Games
from skyenv.agents import Agent, decide
from skyenv.engine.events import setup_outcomes
from skyenv.records.replay import outcomes_in

SEED: Final = 1234
# Rows of a batch; the game stands in row 1.
ROWS: Final = 3
# A decision: the seat to act, its observation, its action mask.
Asked = tuple[int, npt.NDArray[Any], npt.NDArray[np.int8]]


class Hashing(Agent):
    """Choose by a hash of the observation and nothing else: equal actions where all is equal."""

    name = "hashing"
    uses_observation = True

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        return choices(decisions.observation, decisions.mask)


def choices(observations: Any, masks: Any) -> npt.NDArray[np.int64]:
    """The hashing agent's actions, int64 (k,)."""
    bits = np.ascontiguousarray(observations, np.float32).view(np.uint32).astype(np.uint64)
    weights = np.arange(1, 2 * bits.shape[1], 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    hashed = ((bits * weights).sum(axis=1, dtype=np.uint64) >> np.uint64(33)).astype(np.int64)
    sums = np.cumsum(masks, axis=1)
    wanted = hashed % np.maximum(sums[:, -1], 1)
    actions: npt.NDArray[np.int64] = np.argmax(sums > wanted[:, None], axis=1)
    return actions


class Interface(ABC):
    """One game in an interface.

    Attributes:
        sees_all: whether every seat's decisions are asked, or those of seat `seat` alone.
    """

    sees_all = True

    def __init__(self, players: int, side: str, seat: int, **options: Any) -> None:
        self.seat, self.options = seat, {"num_players": players, "side": side, **options}

    @abstractmethod
    def asked(self) -> Asked | None:
        """The decision that is open; None once the game is over."""

    @abstractmethod
    def play(self, action: int) -> None:
        """Play an action."""

    def batch(self) -> tuple[Any, int]:
        """The engine's games, and the row of this one."""
        raise NotImplementedError

    def ended(self) -> bytes:
        """The game's record at its end."""
        games, row = self.batch()
        return bytes(games.state[row].tobytes())

    def says(self) -> str:
        """What an environment tells beside that: infos and text pictures."""
        raise NotImplementedError

    def infos(self) -> list[dict[str, Any]]:
        """The latest infos, one per agent or row or of all rows together."""
        raise NotImplementedError


class OneGame(Interface):
    """skyenv.Game."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.game = Game(seed=SEED, **self.options)

    def asked(self) -> Asked | None:
        game = self.game
        return None if game.seat is None else (game.seat, game.observation(), game.mask)

    def play(self, action: int) -> None:
        self.game.play(action)

    def batch(self) -> tuple[Any, int]:
        return self.game.batch, 0


class OneOfABatch(Interface):
    """skyenv.Games; the other rows are played too."""

    more: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.games: Any = Games(ROWS, seed=SEED - 1, **self.more, **self.options)
        self.over = False

    def asked(self) -> Asked | None:
        games = self.games
        if self.over:
            return None
        return int(games.seat[1]), games.observation[1].copy(), games.mask[1].copy()

    def play(self, action: int) -> None:
        actions = decide(self.games, Hashing())
        assert actions[1] == action
        self.games.step(actions)
        self.over = bool(self.games.done[1])

    def batch(self) -> tuple[Any, int]:
        return self.games, 1

    def ended(self) -> bytes:
        return bytes(self.games.finished[1].tobytes())


class RowByRow(OneOfABatch):
    """skyenv.Games, stepped a row at a time in a changing order."""

    more: ClassVar = {"autoreset": False}

    def play(self, action: int) -> None:
        self.games.step([action], rows=[1])
        others = [row for row in (2, 0) if self.games.seat[row] >= 0]
        self.games.step(decide(self.games, Hashing(), others), rows=others)
        self.over = bool(self.games.seat[1] < 0)

    def ended(self) -> bytes:
        return Interface.ended(self)


class RawAec(Interface):
    """PettingZoo's raw environment."""

    kind = "raw_env"

    def __init__(self, *args: Any, **options: Any) -> None:
        from skyenv import fifth_avenue_v0

        super().__init__(*args, **options)
        self.env = getattr(fifth_avenue_v0, self.kind)(**self.options)
        self.told: Any = self.env.reset(seed=SEED)

    @property
    def aec(self) -> Any:
        """The environment whose agents act in turn."""
        return self.env

    def asked(self) -> Asked | None:
        observation, _, terminated, truncated, _ = self.aec.last()
        if terminated or truncated:
            return None
        seat = int(self.aec.agent_selection.removeprefix("seat_"))
        return seat, observation["observation"].copy(), observation["action_mask"].copy()

    def play(self, action: int) -> None:
        self.env.step(action)

    def batch(self) -> tuple[Any, int]:
        return self.aec.unwrapped.games, 0

    def says(self) -> str:
        aec = self.aec
        return repr([aec.last()[1:], aec.infos, aec.rewards]) + str(self.env.render())

    def infos(self) -> list[dict[str, Any]]:
        return list(self.env.infos.values())


class Aec(RawAec):
    """PettingZoo's wrapped environment."""

    kind = "env"


class Parallel(RawAec):
    """PettingZoo's parallel environment."""

    kind = "parallel_env"

    @property
    def aec(self) -> Any:
        return self.env.aec_env

    def asked(self) -> Asked | None:
        return super().asked() if self.env.agents else None

    def play(self, action: int) -> None:
        selected = self.aec.agent_selection
        actions = {agent: action if agent == selected else 77 for agent in self.env.agents}
        self.told = self.env.step(actions)

    def infos(self) -> list[dict[str, Any]]:
        return list(self.told[-1].values())


class Single(Interface):
    """Gymnasium's environment of one learner."""

    sees_all = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.options |= {"opponents": Hashing(), "seat": self.seat}
        self.begin()

    def begin(self) -> None:
        """Make and reset the environment."""
        import gymnasium

        self.env: Any = gymnasium.make("skyenv/FifthAvenue-v0", **self.options)
        self.observation, self.info = self.env.reset(seed=SEED)
        self.over = False

    def asked(self) -> Asked | None:
        if self.over:
            return None
        return self.seat, np.array(self.observation), self.env.unwrapped.action_masks().copy()

    def play(self, action: int) -> None:
        self.observation, _, terminated, truncated, self.info = self.env.step(action)
        self.over = terminated or truncated

    def batch(self) -> tuple[Any, int]:
        return self.env.unwrapped.core.games, 0

    def says(self) -> str:
        return repr(self.info) + str(self.env.render())

    def infos(self) -> list[dict[str, Any]]:
        return [self.info]


class Vector(Single):
    """Gymnasium's vector environment; NEXT_STEP, so that the ended game stays until then."""

    def begin(self) -> None:
        import gymnasium

        self.env = gymnasium.make_vec("skyenv/FifthAvenue-v0", num_envs=ROWS, **self.options)
        self.observation, self.info = self.env.reset(seed=SEED - 1)
        self.over = False

    def asked(self) -> Asked | None:
        if self.over:
            return None
        return self.seat, np.array(self.observation[1]), self.env.action_masks()[1].copy()

    def play(self, action: int) -> None:
        actions = choices(self.observation, self.env.action_masks())
        actions[1] = action
        self.observation, _, terminated, truncated, self.info = self.env.step(actions)
        self.over = bool(terminated[1] or truncated[1])

    def batch(self) -> tuple[Any, int]:
        return self.env.core.games, 1


class Sb3(Vector):
    """The environment of Stable-Baselines3, which resets in the same step."""

    def begin(self) -> None:
        from skyenv.envs.sb3 import SkyenvVecEnv

        self.env = SkyenvVecEnv(ROWS, seed=SEED - 1, **self.options)
        self.observation, self.info, self.over = self.env.reset(), self.env.reset_infos, False

    def play(self, action: int) -> None:
        actions = choices(self.observation, self.env.action_masks())
        actions[1] = action
        self.observation, _, dones, self.info = self.env.step(actions)
        self.over = bool(dones[1])

    def infos(self) -> list[dict[str, Any]]:
        own, rows = {"terminal_observation", "episode"}, cast(list[dict[str, Any]], self.info)
        return [{name: info[name] for name in info if name not in own} for info in rows]

    def ended(self) -> bytes:
        return bytes(self.env.core.games.finished[1].tobytes())


class OpenSpiel(Interface):
    """A state of OpenSpiel, whose chance is decided as a Game's seed does."""

    def __init__(self, *args: Any, **options: Any) -> None:
        import pyspiel

        import skyenv.envs.open_spiel  # noqa: F401 (registers the game)

        super().__init__(*args, **options)
        kind = {"players": self.options["num_players"], "side": self.options["side"], **options}
        self.state = pyspiel.load_game("fifth_avenue", kind).new_initial_state()
        self.game = Game(seed=SEED, **self.options)
        self.decide_chance(setup_outcomes(self.game.events[0], self.game.side))

    def decide_chance(self, outcomes: Any) -> None:
        """Play what chance has decided in the game."""
        from skyenv.engine.simulator import OUTCOMES

        numbers = {outcome: number for number, outcome in enumerate(OUTCOMES)}
        for outcome in outcomes:
            self.state.apply_action(numbers[outcome])
        assert not self.state.is_chance_node()

    def asked(self) -> Asked | None:
        state = self.state
        if state.is_terminal():
            return None
        seat = state.current_player()
        mask = np.zeros(NUM_ACTIONS, np.int8)
        mask[state.legal_actions()] = 1
        return seat, np.array(state.observation_tensor(seat), np.float32), mask

    def play(self, action: int) -> None:
        self.state.apply_action(action)
        before = self.game.state.copy()
        events = self.game.play(action)[1:]
        told = (outcomes_in(before, action, event) for event in events)
        self.decide_chance(outcome for outcomes in told for outcome in outcomes)

    def ended(self) -> bytes:
        return np.array(self.state.to_game().state).tobytes()


# A new interface is one more line.
INTERFACES: Final[dict[str, type[Interface]]] = {
    "Game": OneGame,
    "Games": OneOfABatch,
    "Games row by row": RowByRow,
    "raw_env": RawAec,
    "env": Aec,
    "parallel_env": Parallel,
    "gymnasium.make": Single,
    "gymnasium.make_vec": Vector,
    "SkyenvVecEnv": Sb3,
    "OpenSpiel": OpenSpiel,
}

Walk = list[tuple[int, bytes, bytes]]


def begun(name: str, players: int, side: str, seat: int = 1, **options: Any) -> Interface:
    """A new game in an interface, unless its library isn't installed."""
    try:
        return INTERFACES[name](players, side, seat, **options)
    except ImportError as error:
        pytest.skip(str(error))


def walked(table: Interface, most: int = 10**6) -> Walk:
    """Play on: what was asked and seen, decision by decision."""
    walk: Walk = []
    while len(walk) < most and (asked := table.asked()) is not None:
        seat, observation, mask = asked
        walk.append((seat, observation.tobytes(), mask.tobytes()))
        table.play(int(choices(observation[None], mask[None])[0]))
    return walk
