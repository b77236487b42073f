"""Players from network files (``.npz``). The core's packages alone play them; nothing is unpickled.

A network may have a *heuristic prior*: what a heuristic agent scores every legal action (VP that it
should bring) is a part of the network's input, and the starting point of its policy, which the
network corrects.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, Evaluations, checked_decisions, sample
from skyenv.engine.kernels import outcome_of
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError, OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent, HeuristicAgent
from skyenv_agents.heuristic.win_probability import win_probabilities_seen
from skyenv_agents.learned.architecture import Library, Sizes, run
from skyenv_agents.learned.arithmetic import products
from skyenv_agents.learned.layout import (
    CODE_SCALE,
    COMMON_CODES,
    COMMON_TOLD,
    GROUPS,
    INPUTS,
    NUM_INPUTS,
    OUTCOME_PARTS,
    POSITION,
    POSITION_PARTS,
    PRIOR_PARTS,
)
from skyenv_agents.learned.masked import masked_softmax

FORMAT: Final = "skyenv-network-2"
PLAIN_FORMAT: Final = "skyenv-network-1"
NETWORK_SUFFIX: Final = ".npz"
ABOUT: Final = "about"
TRAINED: Final = Path(__file__).resolve().parent.parent / "trained"
"""Folder of the networks that ship with the project."""
TABLES: Final = tuple(itertools.product(range(MIN_PLAYERS, MAX_PLAYERS + 1), SIDES))
"""Players and sides of the board for which there is one."""
OUTCOME_REWARD: Final = "outcome"
"""The reward of which networks tell what they expect."""
WORST_PRIOR: Final = 3.0
"""Actions that the heuristic holds to be worse than the best one by more VP than this are all alike
to the network, or it could
never learn to take one."""

IN_MEMORY: Final[Mapping[str, str]] = {
    "action": "policy_head",
    "outlook": "value_head",
    "trust": "prior_weight",
    "advisor": "prior",
    "advisor_version": "prior_version",
}
"""What is called otherwise in files of version 0.1."""

MOST_BYTES: Final = 1 << 27
"""A file with more in it is refused unread: a hundred times as much as the networks that ship have.
"""

LARGEST_CODE: Final = np.iinfo(np.int16).max
Float32 = npt.NDArray[np.float32]


HEURISTICS: Final[Mapping[str, type[HeuristicAgent]]] = {
    GreedyAgent.name: GreedyAgent,
    AppraiserAgent.name: AppraiserAgent,
}


def heuristic_of(name: str) -> HeuristicAgent | None:
    """The heuristic agent of that name, for a prior; None for ``""``.

    Raises:
        OptionError: there is none.
    """
    if name == "":
        return None
    if name not in HEURISTICS:
        raise OptionError(
            f"prior must be one of {', '.join(HEURISTICS)}, or nothing, not {shown(name)}"
        )
    return HEURISTICS[name]()


def prior_scores(heuristic: HeuristicAgent, decisions: Decisions) -> Float32:
    """By how many VP each legal action falls behind the best: float32 (k, 103), from −WORST_PRIOR
    to 0; 0 if illegal.
    """
    legal = decisions.mask != 0
    scores = np.where(legal, heuristic.scores(decisions), -np.inf)
    behind = scores - scores.max(axis=1, keepdims=True)
    return np.where(legal, np.maximum(behind, -WORST_PRIOR), 0.0).astype(np.float32)


Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Prior:
    """What a heuristic holds of some decisions.

    Attributes:
        scores: :func:`prior_scores`, float32 (k, 103). outcome: float64 (k,), the outcome to expect
            by what seats have.
        position: float32 (k, NUM_POSITION_INPUTS), see
            :func:`skyenv_agents.heuristic.inputs.write_inputs`.
    """

    scores: Float32
    outcome: Vector
    position: Float32

    @classmethod
    def of(cls, heuristic: HeuristicAgent, decisions: Decisions) -> Prior:
        """Ask a heuristic agent."""
        decisions = checked_decisions(decisions)
        assert decisions.view is not None
        chance = win_probabilities_seen(np.asarray(decisions.view), trusted=True)[
            np.arange(len(decisions)), decisions.seat
        ]
        return cls(
            prior_scores(heuristic, decisions),
            outcome_of(chance, decisions.num_players),
            heuristic.inputs(decisions),
        )

    def codes(self, with_outcome: bool) -> npt.NDArray[np.int16]:
        """As networks take it, int16 (k, NUM_INPUTS − OBSERVATION_SIZE); the outcome where that is
        the reward, else 0.
        """
        codes = np.zeros((len(self.scores), NUM_INPUTS - OBSERVATION_SIZE), np.int16)
        codes[:, :NUM_ACTIONS] = np.rint(self.scores * PRIOR_PARTS)
        if with_outcome:
            codes[:, NUM_ACTIONS] = np.rint(self.outcome * OUTCOME_PARTS)
        codes[:, NUM_ACTIONS + 1 :] = np.clip(
            np.rint(self.position * POSITION_PARTS), -LARGEST_CODE, LARGEST_CODE
        )
        return codes


class Network(ABC):
    """The weights of a policy and value network.

    Args:
        weights: float32 arrays by name.
        about: what is said of it: ``prior`` and ``prior_version`` (strings), ``reward``, and
            anything else that JSON can hold.

    Raises:
        CheckpointError: the arrays don't fit together, or not to today's observation and actions.
    """

    FORMAT: ClassVar[str]
    PRECISION: ClassVar[type[np.floating[Any]]] = np.float32
    """What it computes in; its results are the same in batches of any size, on any machine."""

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
        self.about = dict(about)
        for name, array in weights.items():
            if array.dtype not in (np.float16, np.float32):
                raise CheckpointError(f"the network's {name} has type {array.dtype}, not float32")
        self.weights = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        wanted = self._shapes({name: array.shape for name, array in self.weights.items()})
        if unknown := set(self.weights) - set(wanted):
            raise CheckpointError(
                f"the network has weights that no network has: {shown(sorted(unknown))}"
            )
        for name, expected in wanted.items():
            shape = self.weights[name].shape if name in self.weights else None
            if shape != expected:
                raise CheckpointError(f"the network's {name} has shape {shape}, not {expected}")
        if not all(np.isfinite(array).all() for array in self.weights.values()):
            raise CheckpointError("the network has weights that are not finite")
        self._arrays = {
            name: np.ascontiguousarray(
                array.T if name.endswith(".weight") else array, self.PRECISION
            )
            for name, array in self.weights.items()
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.weights, self.about)  # without what is computed of them

    @abstractmethod
    def _shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        """The shapes that the weights must have, where they are free as they are."""

    @abstractmethod
    def __call__(
        self, observation: Float32, prior: Prior | None = None
    ) -> tuple[Vector, Vector | None]:
        """The policy's logits, float64 (k, 103), legal or not, and the outcome expected, float64
        (k,), −1 to 1.

        A network that has learned from another reward than the outcome tells none.

        Args:
            observation: float32 (k, OBSERVATION_SIZE).
            prior: what the heuristic holds, for a network with a prior.
        """

    def _layer(self, name: str, inputs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return products(inputs, self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"])

    def digest(self) -> str:
        """Tells networks apart: eight hex digits, made of the weights and of what is said of
        them.
        """
        about = {"format": self.FORMAT, **self.about}
        digest = hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=4)
        for name, array in sorted(self.weights.items()):
            digest.update(
                json.dumps([name, array.shape]).encode() + np.ascontiguousarray(array).tobytes()
            )
        return digest.hexdigest()

    def rounded(self) -> Network:
        """The same with weights that float16 can hold, off by up to 0.05 %, tiny ones by 3·10⁻⁸:
        its file takes half of the room.

        Raises:
            CheckpointError: a weight is too large for it.
        """
        largest = max(float(np.abs(array).max()) for array in self.weights.values())
        if largest > np.finfo(np.float16).max:
            raise CheckpointError(
                f"the network has a weight of {largest:.0f}, and float16 holds none above 65504"
            )
        return type(self)(
            {name: array.astype(np.float16) for name, array in self.weights.items()}, self.about
        )

    def to_bytes(self, precision: type[np.floating[Any]] = np.float32) -> bytes:
        """The content of a network file.

        Args:
            precision: of the weights; float16 for a network that is :meth:`rounded`.
        """
        file = io.BytesIO()
        about = json.dumps({"format": self.FORMAT, **self.about}, sort_keys=True)
        weights = {name: array.astype(precision) for name, array in self.weights.items()}
        np.savez_compressed(file, **{ABOUT: np.array(about)}, **weights)  # type: ignore[arg-type]
        return file.getvalue()

    @staticmethod
    def load(path: str | Path) -> Network:
        """Read a network file.

        Raises:
            CheckpointError: the file is missing, damaged, something else, or made for another
                observation or other actions.
        """
        if not Path(path).is_file():
            raise CheckpointError(f"there is no network file {path}")
        try:
            arrays = _arrays(Path(path))
            about = json.loads(str(arrays.pop(ABOUT)))
            version = about.pop("format")
        except CheckpointError:
            raise
        except (
            Exception
        ) as error:  # NumPy, zipfile and zlib raise many kinds of errors over damaged files
            raise CheckpointError(
                f"{path} is damaged or no network file ({type(error).__name__}: {error!s:.100})"
            ) from error
        kinds = {kind.FORMAT: kind for kind in (ThingsNetwork, PlainNetwork)}
        if not isinstance(version, str) or version not in kinds:
            raise CheckpointError(
                f"{path} has the format {shown(version, 40)}; this version reads "
                f"{' and '.join(kinds)}"
            )
        try:
            return kinds[version].of_file(arrays, about)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> Network:
        """From what a file holds."""
        return cls(arrays, about)


def _join(parts: list[Any], axis: int) -> Any:
    return np.concatenate(parts, axis)


def _rectify(array: Any) -> Any:
    return np.maximum(array, 0.0)


def _take(array: Any, columns: npt.NDArray[np.int64]) -> Any:
    return array[:, columns]


NUMPY: Final = Library(_join, _rectify, np.maximum, _take)


class ThingsNetwork(Network):
    """The network that experiments/training trains: see
    :mod:`skyenv_agents.learned.architecture`.
    """

    FORMAT = FORMAT

    def _shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        try:
            self.sizes = Sizes.of(shapes)
        except (KeyError, ValueError, IndexError) as error:
            raise CheckpointError(
                f"the network lacks or has misshapen weights ({error})"
            ) from error
        return self.sizes.shapes()

    def __call__(
        self, observation: Float32, prior: Prior | None = None
    ) -> tuple[Vector, Vector | None]:
        """See :meth:`Network.__call__`."""
        codes = np.zeros((len(observation), NUM_INPUTS), self.PRECISION)
        codes[:, :OBSERVATION_SIZE] = observation
        if prior is not None:
            told = prior.codes(self.about.get("reward") == OUTCOME_REWARD)
            codes[:, OBSERVATION_SIZE:] = told * CODE_SCALE[OBSERVATION_SIZE:]
        inputs, own = codes[:, INPUTS], codes[:, OBSERVATION_SIZE:POSITION]
        logits, values = (
            array.astype(np.float64)
            for array in run(self.sizes, self._layer, self._arrays.__getitem__, NUMPY, inputs, own)
        )
        outcome = (
            np.clip(values[:, 0], -1.0, 1.0) if self.about.get("reward") == OUTCOME_REWARD else None
        )
        return logits, outcome

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> Network:
        """See :meth:`Network.of_file`; older files lack a floor, and weights for what they weren't
        told.
        """
        floor = arrays.get("prior_floor", np.array(-WORST_PRIOR, np.float32))
        return cls({**_widened(arrays), "prior_floor": floor}, about)


def _widened(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a network of things, with 0 as the weights of what is told of the position if
    it wasn't told that yet.
    """
    widened = dict(arrays)
    first = arrays.get(f"{GROUPS[0].name}.weight")
    if first is None or first.ndim != 2 or first.shape[1] != GROUPS[0].features - GROUPS[0].told:
        return widened
    places = {group.name: (group.features - group.told, group.told) for group in GROUPS}
    places["trunk"] = (len(COMMON_CODES) - COMMON_TOLD, COMMON_TOLD)
    for layer, (place, number) in places.items():
        weight = arrays.get(f"{layer}.weight")
        if weight is not None and weight.ndim == 2:
            missing = np.zeros((len(weight), number), weight.dtype)
            widened[f"{layer}.weight"] = np.concatenate(
                [weight[:, :place], missing, weight[:, place:]], axis=1
            )
    return widened


class PlainNetwork(Network):
    """A network of version 0.1.

    A layer that both share (``trunk``), then one layer each (``policy``, ``value``), with ReLU
    behind all of them, then linear outputs (``policy_head``, ``value_head``). The prior's scores,
    times ``prior_weight``, are added to the policy's outputs.
    """

    FORMAT = PLAIN_FORMAT
    PRECISION = np.float64  # as it was: its decisions stay what they were

    def _shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        inputs = OBSERVATION_SIZE + (NUM_ACTIONS if self.about.get("prior") else 0)
        try:
            width, size = shapes["trunk.weight"]
            sizes = {
                "trunk": (width, inputs),
                "policy": (shapes["policy.bias"][0], width),
                "value": (shapes["value.bias"][0], width),
            }
            sizes |= {
                "policy_head": (NUM_ACTIONS, sizes["policy"][0]),
                "value_head": (1, sizes["value"][0]),
            }
        except (KeyError, ValueError, IndexError) as error:
            raise CheckpointError(
                f"the network lacks or has misshapen weights ({error})"
            ) from error
        if size != inputs:
            raise CheckpointError(
                f"the network was trained for inputs of length {size}; they have {inputs} now"
            )
        wanted: dict[str, tuple[int, ...]] = {"prior_weight": ()}
        for layer, shape in sizes.items():
            wanted |= {f"{layer}.weight": shape, f"{layer}.bias": shape[:1]}
        return wanted

    def __call__(
        self, observation: Float32, prior: Prior | None = None
    ) -> tuple[Vector, Vector | None]:
        """See :meth:`Network.__call__`."""
        inputs = (
            observation if prior is None else np.concatenate([observation, prior.scores], axis=1)
        )
        features = np.maximum(self._layer("trunk", inputs.astype(np.float64)), 0.0)
        logits = self._layer("policy_head", np.maximum(self._layer("policy", features), 0.0))
        if prior is not None:
            logits += self._arrays["prior_weight"] * prior.scores
        value = self._layer("value_head", np.maximum(self._layer("value", features), 0.0))[:, 0]
        return logits, self._outcome(value, prior)

    def _outcome(self, value: Vector, prior: Prior | None) -> Vector | None:
        """The outcome expected, from the return, which lacks what a potential has paid already."""
        shaping = self.about.get("shaping")
        if (
            self.about.get("reward") != OUTCOME_REWARD
            or shaping is None
            or (shaping != 0 and prior is None)
        ):
            return None
        paid = 0.0 if prior is None else float(shaping) * prior.outcome
        return np.clip(value + paid, -1.0, 1.0)

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> Network:
        """See :meth:`Network.of_file`; files have the names of 0.1."""
        return cls(_renamed(arrays, IN_MEMORY), _renamed(about, IN_MEMORY))


def _renamed(entries: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Entries by other names; of a name with a dot the part before it changes."""
    parts = [(*name.partition("."), entry) for name, entry in entries.items()]
    return {names.get(layer, layer) + dot + rest: entry for layer, dot, rest, entry in parts}


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays in a file, by name; nothing of a file is unpacked that says that it unpacks to
    more than a network has.
    """
    size = path.stat().st_size
    if size <= MOST_BYTES:
        content = io.BytesIO(path.read_bytes())  # NumPy leaves files open that it can't read
        with zipfile.ZipFile(content) as archive:
            size = sum(member.file_size for member in archive.infolist())
    if size > MOST_BYTES:
        raise CheckpointError(
            f"{path} holds {size / 1e6:.0f} MB; no network has more than {MOST_BYTES / 1e6:.0f} MB"
        )
    with np.load(content, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


class NetworkAgent(Agent):
    """Plays a network's policy on the CPU, a whole batch in one pass.

    Args:
        network: a network, or the path of its file.
        deterministic: take the most probable action instead of drawing one with the decision's
            random number.
        name: name in tables and records; None takes it from the path.

    Attributes:
        version: that which the network tells, and the network's digest: many networks tell the
            same.

    Raises:
        CheckpointError: the file can't be used, or its prior's heuristic isn't there in the version
            that it was trained with.
    """

    uses_observation = True

    def __init__(
        self, network: Network | str | Path, *, deterministic: bool = False, name: str | None = None
    ) -> None:
        is_path = isinstance(network, (str, Path))
        self.network = Network.load(network) if isinstance(network, (str, Path)) else network
        self.deterministic = deterministic
        self.name = name or (
            name_of(Path(network)) if isinstance(network, (str, Path)) else "network"
        )
        self.description = str(self.network.about.get("description", "a trained network"))
        self.version = f"{self.network.about.get('version', '1')}+{self.network.digest()}"
        self._heuristic = _heuristic_of(self.network, f"{network}: " if is_path else "")
        self.uses_view = self._heuristic is not None and self._heuristic.uses_view

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        weights, _ = self._evaluation(self._checked(decisions))
        if self.deterministic:
            return np.asarray(np.argmax(weights, axis=1), np.int64)
        return sample(weights, decisions.uniform)

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`."""
        return self._evaluation(self._checked(decisions))

    def _checked(self, decisions: Decisions) -> Decisions:
        """Decisions as the heuristic takes them, if there is one: checked once."""
        return decisions if self._heuristic is None else checked_decisions(decisions)

    def _evaluation(self, decisions: Decisions) -> tuple[Vector, Vector | None]:
        """Probabilities of the actions, 0 for illegal ones, and the outcome expected."""
        assert decisions.observation is not None
        prior = None if self._heuristic is None else Prior.of(self._heuristic, decisions)
        logits, outcome = self.network(decisions.observation, prior)
        return masked_softmax(logits, decisions.mask), outcome


class TrainedAgent(Agent):
    """The trained agents that ship with the project, one network for each number of players and
    side (see docs/agents.md).

    Args:
        deterministic: as for :class:`NetworkAgent`; the most probable action is a little stronger
            than a drawn one.

    Raises:
        CheckpointError: as for :class:`NetworkAgent`; at the first decision in a game of that kind.
    """

    name = "trained"
    version = "1"
    description = "the networks that ship with the project, trained by experiments/training"
    uses_observation = True
    uses_view = True

    def __init__(self, *, deterministic: bool = True) -> None:
        self.deterministic = deterministic
        self.version = self._version_of(*(path_of(*table) for table in TABLES))
        self._agents: dict[tuple[int, str], NetworkAgent] = {}

    def agent(self, players: int, side: str) -> NetworkAgent:
        """The one that plays games of so many players on this side of the board."""
        if (players, side) not in self._agents:
            self._agents[players, side] = NetworkAgent(
                path_of(players, side), deterministic=self.deterministic, name=self.name
            )
        return self._agents[players, side]

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the digest of the one network that plays there."""
        return self._version_of(path_of(players, side))

    def _version_of(self, *paths: Path) -> str:
        """Return the version and a digest of some networks' files."""
        digest = hashlib.blake2b(digest_size=4)
        for path in sorted(paths):
            digest.update(path.read_bytes())
        return f"{type(self).version}+{digest.hexdigest()}"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        actions = np.zeros(len(decisions), np.int64)
        for side, rows, part in self._by_side(decisions):
            actions[rows] = self.agent(decisions.num_players, side).act(part)
        return actions

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :meth:`NetworkAgent.evaluate`."""
        weights, outcome = np.zeros(decisions.mask.shape), np.zeros(len(decisions))
        for side, rows, part in self._by_side(decisions):
            weights[rows], told = self.agent(decisions.num_players, side).evaluate(part)
            assert told is not None  # all that ship have learned from the outcome
            outcome[rows] = told
        return weights, outcome

    def _by_side(
        self, decisions: Decisions
    ) -> Iterator[tuple[str, npt.NDArray[np.int64], Decisions]]:
        """The decisions on each side of the board that is played: which ones they are, and they
        alone.
        """
        decisions = checked_decisions(decisions)
        assert decisions.view is not None
        sides = decisions.view.game.side
        for number in np.unique(sides).tolist():
            rows = np.flatnonzero(sides == number)
            yield (
                SIDES[number],
                rows,
                decisions if rows.size == len(decisions) else decisions.take(rows),
            )


def path_of(players: int, side: str) -> Path:
    """Return the file of the network that ships for a table."""
    return TRAINED / f"{table_name(players, side)}{NETWORK_SUFFIX}"


def _heuristic_of(network: Network, where: str) -> HeuristicAgent | None:
    """The heuristic of the network's prior, in the version that it was trained with."""
    name = str(network.about.get("prior", ""))
    try:
        heuristic = heuristic_of(name)
    except OptionError as error:
        raise CheckpointError(f"{where}{error}") from error
    wanted = network.about.get("prior_version")
    if heuristic is not None and heuristic.version != wanted:
        raise CheckpointError(
            f"{where}the network was trained with version {wanted} of {name}, which is "
            f"{heuristic.version} now"
        )
    return heuristic


def name_of(path: Path) -> str:
    """An agent's name by its checkpoint: ``runs/first/model.npz`` → ``first``; other files by their
    own name.
    """
    return path.parent.name if path.stem == "model" and path.parent.name else path.stem
