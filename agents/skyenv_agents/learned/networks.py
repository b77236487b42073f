"""Agents from network files (``.npz``); they need only skyenv's core, and nothing is unpickled.

A network may have a *heuristic prior*, whose scores of the legal actions it corrects; see
:mod:`skyenv_agents.learned.prior`.
"""

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, Evaluations, sample
from skyenv.array_types import Float32, Float64, Int8, Int16, Int64
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError, OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.rules.record import as_records
from skyenv.rules.variant import of_variant
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent, HeuristicAgent
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.forward_pass import ROWS, evaluate_rows, new_memory, program_of
from skyenv_agents.learned.play_outs import values_after
from skyenv_agents.learned.prior import prior_codes, prior_memory

FORMAT: Final = of_variant("skyenv-network-2")
NETWORK_SUFFIX: Final = ".npz"
ABOUT: Final = "about"
TRAINED: Final = Path(__file__).resolve().parent.parent / "trained"
"""Folder of the shipped networks."""
# Players and sides of the shipped networks.
TABLES: Final = tuple(itertools.product(range(MIN_PLAYERS, MAX_PLAYERS + 1), SIDES))
# The reward whose value is an expected outcome.
OUTCOME_REWARD: Final = "outcome"
# Limit of a file's unpacked size: a hundred times that of the shipped networks.
MAX_BYTES: Final = 1 << 27
HEURISTICS: Final = {kind.name: kind for kind in (GreedyAgent, AppraiserAgent)}


def heuristic_of(name: str) -> HeuristicAgent | None:
    """Return the heuristic agent of that name, for a prior; None for ``""``.

    Raises:
        OptionError: unknown name.
    """
    if name == "":
        return None
    if name not in HEURISTICS:
        raise OptionError(
            f"prior must be one of {', '.join(HEURISTICS)}, or nothing, not {shown(name)}"
        )
    return HEURISTICS[name]()


class Network:
    """A policy and value network for play; see :mod:`skyenv_agents.learned.architecture`.

    It computes in single precision, with the same results in batches of any size, on any machine.

    Args:
        weights: float16 or float32 arrays by name.
        about: metadata: ``prior`` and ``prior_version`` (strings), ``reward``, and any other JSON
            values.

    Attributes:
        sizes: sizes of the layers.
        program, layers: the network for compiled functions, and the names of its layers.
        watch: receives the activations of the next rows, float32 (k, program.width), a view of
            working memory; None: nothing does.

    Raises:
        CheckpointError: the arrays do not match each other, or the current observation and actions.
    """

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
        self.about = dict(about)
        for name, array in weights.items():
            if array.dtype not in (np.float16, np.float32):
                raise CheckpointError(f"the network's {name} has type {array.dtype}, not float32")
        self.weights = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        self.sizes = _sizes({name: array.shape for name, array in self.weights.items()})
        if not all(np.isfinite(array).all() for array in self.weights.values()):
            raise CheckpointError("the network has weights that are not finite")
        self.watch: Callable[[Float32], None] | None = None
        self.program, self.layers = program_of(
            self.sizes,
            {
                name: array.T if name.endswith(".weight") else array
                for name, array in self.weights.items()
            },
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.weights, self.about)  # without derived arrays

    @property
    def with_outcome(self) -> bool:
        """Whether the network was trained with the outcome as reward."""
        return self.about.get("reward") == OUTCOME_REWARD

    def __call__(
        self, observation: Float32, prior: Int16 | None = None
    ) -> tuple[Float64, Float64 | None]:
        """Return the policy's logits and the expected outcome.

        Args:
            observation: float32 (k, OBSERVATION_SIZE).
            prior: int16 (k, NUM_CODES), the codes of the heuristic prior
                (:func:`skyenv_agents.learned.prior.prior_codes`), for a network that has one.

        Returns:
            Logits of all actions, legal or not, float64 (k, 103). Expected outcome, float64 (k,),
            −1 to 1; None for a network trained with another reward.
        """
        out = np.empty((len(observation), NUM_ACTIONS + 1))
        memory = new_memory(self.program, min(len(observation), ROWS))
        codes = np.zeros((len(observation), 0), np.int16) if prior is None else prior
        for first in range(0, len(observation), ROWS):
            part = slice(first, first + ROWS)
            rows = np.ascontiguousarray(observation[part])
            evaluate_rows(self.program, memory, rows, codes[part], out[part])
            if self.watch is not None:
                self.watch(memory.activations[: len(rows)])
        values = np.clip(out[:, NUM_ACTIONS], -1.0, 1.0) if self.with_outcome else None
        return out[:, :NUM_ACTIONS], values

    def digest(self) -> str:
        """Return a digest of the weights and of `about`, eight hexadecimal digits."""
        about = {"format": FORMAT, **self.about}
        digest = hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=4)
        for name, array in sorted(self.weights.items()):
            shape = json.dumps([name, array.shape]).encode()
            digest.update(shape + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def rounded(self) -> "Network":
        """Return the network with its weights rounded to float16, which halves its file.

        The relative error is at most 0.05 %, the absolute error of tiny weights 3·10⁻⁸.

        Raises:
            CheckpointError: a weight is too large for float16.
        """
        largest = max(float(np.abs(array).max()) for array in self.weights.values())
        if largest > float(np.finfo(np.float16).max):
            raise CheckpointError(
                f"the network has a weight of {largest:.0f}; the largest in float16 is 65504"
            )
        halved = {name: array.astype(np.float16) for name, array in self.weights.items()}
        return Network(halved, self.about)

    def to_bytes(self, precision: type[np.floating[Any]] = np.float32) -> bytes:
        """Return the content of a network file.

        Args:
            precision: type of the weights; float16 for a :meth:`rounded` network.
        """
        file = io.BytesIO()
        about = json.dumps({"format": FORMAT, **self.about}, sort_keys=True)
        weights = {name: array.astype(precision) for name, array in self.weights.items()}
        np.savez_compressed(file, **{ABOUT: np.array(about)}, **weights)  # type: ignore[arg-type]
        return file.getvalue()

    @staticmethod
    def load(path: str | Path) -> "Network":
        """Read a network file.

        Raises:
            CheckpointError: the file is missing, damaged, no network file, or made for another
                observation or other actions.
        """
        if not Path(path).is_file():
            raise CheckpointError(f"there is no network file {path}")
        try:
            with Path(path).open("rb") as opened:
                _check_size(opened)
                with np.load(opened, allow_pickle=False) as file:
                    arrays = dict(file)
            about = json.loads(str(arrays.pop(ABOUT)))
            version = about.pop("format")
        except Exception as error:  # NumPy, zipfile and zlib raise many kinds for damaged files
            raise CheckpointError(
                f"{path} is damaged or not a network file ({type(error).__name__}: {error!s:.100})"
            ) from error
        if version != FORMAT:
            raise CheckpointError(
                f"{path} has format {shown(version, 80)}; this version of skyenv reads {FORMAT}"
            )
        try:
            return Network(arrays, about)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error


def _check_size(file: BinaryIO) -> None:
    """Raise CheckpointError if a file's declared unpacked size exceeds MAX_BYTES; leave the file
    at its beginning.
    """
    with zipfile.ZipFile(file) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_BYTES:
        raise CheckpointError(f"it unpacks to {size / 1e6:.0f} MB")
    file.seek(0)


def _sizes(shapes: Mapping[str, tuple[int, ...]]) -> Sizes:
    """Return the sizes of a network with weights of the given shapes.

    Raises:
        CheckpointError: no network has such shapes.
    """
    try:
        sizes = Sizes.of(shapes)
    except (KeyError, ValueError, IndexError) as error:
        raise CheckpointError(f"the network lacks or has misshapen weights ({error})") from error
    wanted = sizes.shapes()
    for name, _ in sorted(shapes.items() ^ wanted.items()):
        raise CheckpointError(
            f"the network's {shown(name)} has shape {shapes.get(name)}, not {wanted.get(name)}"
        )
    return sizes


def masked_softmax(logits: npt.NDArray[np.floating], mask: Int8) -> Float64:
    """Return the softmax of logits (k, 103) over the legal actions of a mask, int8 (k, 103):
    float64 (k, 103), exactly 0 for illegal actions.
    """
    logits = np.where(mask != 0, logits, -np.inf)
    weights: Float64 = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


class PolicyPlayer(Agent):
    """An agent that samples from its evaluated probabilities, or takes the argmax.

    Attributes:
        deterministic: whether it takes the argmax.
    """

    uses_observation = True
    deterministic: bool

    @property
    def samples_evaluation(self) -> bool:  # type: ignore[override]  # others have an attribute
        """See :class:`skyenv.agents.Agent`."""
        return not self.deterministic

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        evaluations = self.evaluate(decisions)
        assert evaluations is not None
        if self.deterministic:
            return np.asarray(np.argmax(evaluations[0], axis=1), np.int64)
        return sample(evaluations[0], decisions.uniform)


class NetworkAgent(PolicyPlayer):
    """An agent with a network's policy: one forward pass per batch on the CPU.

    Args:
        network: a network, or the path of its file.
        deterministic: take the argmax instead of sampling with the decision's random number.
        name: name in tables and records; None: derived from the path.

    Attributes:
        version: the network's version and digest.

    Raises:
        CheckpointError: the file is unusable, or its prior's heuristic has another version than in
            training.
    """

    def __init__(
        self, network: Network | str | Path, *, deterministic: bool = False, name: str | None = None
    ) -> None:
        is_file = not isinstance(network, Network)
        self.network = Network.load(network) if not isinstance(network, Network) else network
        self.deterministic = deterministic
        self.name = name or (name_of(Path(str(network))) if is_file else "network")
        self.description = str(self.network.about.get("description", "a trained network"))
        self.version = f"{self.network.about.get('version', '1')}+{self.network.digest()}"
        about, what = self.network.about, f"{network}: " if is_file else ""
        prior, wanted = str(about.get("prior", "")), about.get("prior_version")
        try:
            self._heuristic = heuristic_of(prior)
        except OptionError as error:
            raise CheckpointError(f"{what}{error}") from error
        if self._heuristic is not None and self._heuristic.version != wanted:
            raise CheckpointError(
                f"{what}the network was trained with version {wanted} of {prior}, but skyenv has "
                f"version {self._heuristic.version}"
            )
        self.uses_view = self._heuristic is not None

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`; no outcome if the network was trained without it."""
        prior = None
        if self._heuristic is not None:
            prior = prior_codes(self._heuristic, decisions, self.network.with_outcome)
        assert decisions.observation is not None
        logits, outcome = self.network(decisions.observation, prior)
        return masked_softmax(logits, decisions.mask), outcome

    def play_outs(
        self, decisions: Decisions, which: Int64, actions: Int64, seeds: Int64, length: int
    ) -> Float64 | None:
        """See :class:`skyenv.arena.lookahead.PlaysOut`; None if it samples its actions, or its
        network has no prior or no expected outcome.
        """
        network, heuristic = self.network, self._heuristic
        if not self.deterministic or heuristic is None or not network.with_outcome:
            return None
        prior = prior_memory(heuristic, decisions.num_players, True)
        views = as_records(decisions.trusted_view()[which], VIEW_DTYPE)
        return values_after(network.program, prior, views, actions, seeds, length)


class TrainedAgent(PolicyPlayer):
    """The agent ``trained``: one shipped network per number of players and side (docs/agents.md).

    Args:
        deterministic: as for :class:`NetworkAgent`; the argmax is slightly stronger than sampling.

    Raises:
        CheckpointError: as for :class:`NetworkAgent`, at the first decision in a game of that kind.
    """

    name = "trained"
    version = "1"
    description = "the shipped networks, trained by experiments/training"
    uses_view = True

    def __init__(self, *, deterministic: bool = True) -> None:
        self.deterministic = deterministic
        by_name = sorted(TABLES, key=lambda table: f"{table_name(*table)}{NETWORK_SUFFIX}")
        self.version = self._version_of(*(self.path(*table) for table in by_name))
        self._agents: dict[tuple[int, str], NetworkAgent] = {}

    def agent(self, players: int, side: str) -> NetworkAgent:
        """Return the agent for a number of players and a side of the board."""
        if (players, side) not in self._agents:
            self._agents[players, side] = NetworkAgent(
                self.path(players, side), deterministic=self.deterministic, name=self.name
            )
        return self._agents[players, side]

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the digest of that table's network."""
        return self._version_of(self.path(players, side))

    def path(self, players: int, side: str) -> Path:
        """Return the network file for a table."""
        return TRAINED / f"{table_name(players, side)}{NETWORK_SUFFIX}"

    def _version_of(self, *paths: Path) -> str:
        """Return the version and a digest of some networks' files."""
        content = b"".join(path.read_bytes() for path in paths)
        return f"{type(self).version}+{hashlib.blake2b(content, digest_size=4).hexdigest()}"

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :meth:`NetworkAgent.evaluate`; decisions may mix both sides of the board."""
        agents = self._agents_of(decisions)
        if len(agents) == 1:
            return agents[0][1].evaluate(decisions)
        weights, outcome = np.zeros(decisions.mask.shape), np.zeros(len(decisions))
        for rows, agent in agents:
            weights[rows], expected = agent.evaluate(decisions.take(rows))
            assert expected is not None  # all shipped networks were trained with the outcome
            outcome[rows] = expected
        return weights, outcome

    def play_outs(
        self, decisions: Decisions, which: Int64, actions: Int64, seeds: Int64, length: int
    ) -> Float64 | None:
        """See :meth:`NetworkAgent.play_outs`; decisions may mix both sides of the board."""
        values = np.zeros(len(actions))
        for rows, agent in self._agents_of(decisions):
            here = np.isin(which, rows)
            found = agent.play_outs(decisions, which[here], actions[here], seeds[here], length)
            if found is None:
                return None
            values[here] = found
        return values

    def _agents_of(self, decisions: Decisions) -> list[tuple[Int64, NetworkAgent]]:
        """Return the rows and the agent of each side of the board."""
        sides = decisions.trusted_view().view(np.ndarray)["game"]["side"]
        return [
            (np.flatnonzero(sides == number), self.agent(decisions.num_players, side))
            for number, side in enumerate(SIDES)
            if (sides == number).any()
        ]


def name_of(path: Path) -> str:
    """Return an agent's name by its checkpoint's path.

    For example, ``runs/first/model.npz`` is ``first``; other files have their own names.
    """
    return path.parent.name if path.stem == "model" and path.parent.name else path.stem
