"""Players from network files (``.npz``). NumPy alone plays them; nothing is unpickled.

A network may have a *heuristic prior*: what a heuristic agent scores every legal action (VP that it should bring) is a part of
the network's input, and the starting point of its policy, which the network corrects.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions, checked_decisions, sample
from skyenv.errors import CheckpointError, OptionError, shown
from skyenv.games import outcome_of
from skyenv.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.heuristic.player import AppraiserAgent, GreedyAgent, HeuristicAgent
from skyenv_agents.heuristic.win_probability import win_probabilities_seen

FORMAT: Final = "skyenv-network-1"
NETWORK_SUFFIX: Final = ".npz"
ABOUT: Final = "about"
TRAINED: Final = Path(__file__).resolve().parent.parent / "trained"
"""Folder of the networks that ship with the project."""
WORST_PRIOR: Final = 3.0
"""Actions that the heuristic holds to be worse than the best one by more VP than this are all alike to the network, or it could
never learn to take one."""

IN_FILES: Final[Mapping[str, str]] = {
    "policy_head": "action", "value_head": "outlook", "prior_weight": "trust",
    "prior": "advisor", "prior_version": "advisor_version",
}  # fmt: skip
"""What files of this format call some weights and entries. The networks that ship keep their bytes, by which the version of their
agent goes, so the names of 0.1 live on in files, and nowhere else."""
IN_MEMORY: Final[Mapping[str, str]] = {in_file: name for name, in_file in IN_FILES.items()}

MOST_BYTES: Final = 1 << 27
"""A file with more in it is refused unread: a hundred times as much as the networks that ship have."""

Float32 = npt.NDArray[np.float32]


HEURISTICS: Final[Mapping[str, type[HeuristicAgent]]] = {GreedyAgent.name: GreedyAgent, AppraiserAgent.name: AppraiserAgent}


def heuristic_of(name: str) -> HeuristicAgent | None:
    """The heuristic agent of that name, for a prior; None for ``""``.

    Raises:
        OptionError: there is none.
    """
    if name == "":
        return None
    if name not in HEURISTICS:
        raise OptionError(f"prior must be one of {', '.join(HEURISTICS)}, or nothing, not {shown(name)}")
    return HEURISTICS[name]()


def prior_scores(heuristic: HeuristicAgent, decisions: Decisions) -> Float32:
    """By how many VP each legal action falls behind the best: float32 (k, 103), from −WORST_PRIOR to 0; 0 if illegal."""
    legal = decisions.mask != 0
    scores = np.where(legal, heuristic.scores(decisions), -np.inf)
    behind = scores - scores.max(axis=1, keepdims=True)
    return np.where(legal, np.maximum(behind, -WORST_PRIOR), 0.0).astype(np.float32)


class Network:
    """The weights of a policy and value network.

    A layer that both share (``trunk``), then one layer each (``policy``, ``value``), with ReLU behind all of them, then linear
    outputs (``policy_head``, ``value_head``). The prior's scores, times ``prior_weight``, are added to the policy's outputs.

    Args:
        weights: float32 arrays by name: ``trunk.weight`` (width, inputs), ``trunk.bias`` (width,), …, ``prior_weight`` ().
        about: what is said of it: ``prior`` and ``prior_version`` (strings), and anything else that JSON can hold.

    Raises:
        CheckpointError: the arrays don't fit together, or not to today's observation and actions.
    """

    def __init__(self, weights: Mapping[str, npt.NDArray[Any]], about: Mapping[str, Any]) -> None:
        self.about = dict(about)
        for name, array in weights.items():
            if array.dtype not in (np.float16, np.float32):
                raise CheckpointError(f"the network's {name} has type {array.dtype}, not float32")
        self.weights = {name: np.asarray(array, np.float32) for name, array in weights.items()}
        self._check()
        # In double precision rounding doesn't reach the decisions: see agents/skyenv_agents/learned/policy.py.
        self._double = {
            name: np.ascontiguousarray(array.T if array.ndim == 2 else array, np.float64) for name, array in self.weights.items()
        }

    def _check(self) -> None:
        inputs = OBSERVATION_SIZE + (NUM_ACTIONS if self.about.get("prior") else 0)
        shapes = {name: array.shape for name, array in self.weights.items()}
        try:
            width, size = shapes["trunk.weight"]
            sizes = {
                "trunk": (width, inputs),
                "policy": (shapes["policy.bias"][0], width),
                "value": (shapes["value.bias"][0], width),
            }
            sizes |= {"policy_head": (NUM_ACTIONS, sizes["policy"][0]), "value_head": (1, sizes["value"][0])}
        except (KeyError, ValueError, IndexError) as error:
            raise CheckpointError(f"the network lacks or has misshapen weights ({error})") from error
        if size != inputs:
            raise CheckpointError(f"the network was trained for inputs of length {size}; they have {inputs} now")
        wanted: dict[str, tuple[int, ...]] = {"prior_weight": ()}
        for layer, shape in sizes.items():
            wanted |= {f"{layer}.weight": shape, f"{layer}.bias": shape[:1]}
        if unknown := set(shapes) - set(wanted):
            raise CheckpointError(f"the network has weights that no network has: {shown(sorted(unknown))}")
        for name, expected in wanted.items():
            if shapes.get(name) != expected:
                raise CheckpointError(f"the network's {name} has shape {shapes.get(name)}, not {expected}")
        if not all(np.isfinite(array).all() for array in self.weights.values()):
            raise CheckpointError("the network has weights that are not finite")

    def _layer(self, name: str, inputs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        outputs: npt.NDArray[np.float64] = inputs @ self._double[f"{name}.weight"] + self._double[f"{name}.bias"]
        return outputs

    def __call__(
        self, observation: Float32, prior: Float32 | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The policy's logits, float64 (k, 103), legal or not, and the expected return, float64 (k,).

        Args:
            observation: float32 (k, OBSERVATION_SIZE).
            prior: :func:`prior_scores`, float32 (k, 103), for a network with a prior.
        """
        inputs = observation if prior is None else np.concatenate([observation, prior], axis=1)
        features = np.maximum(self._layer("trunk", inputs.astype(np.float64)), 0.0)
        logits = self._layer("policy_head", np.maximum(self._layer("policy", features), 0.0))
        if prior is not None:
            logits += self._double["prior_weight"] * prior
        return logits, self._layer("value_head", np.maximum(self._layer("value", features), 0.0))[:, 0]

    def to_bytes(self) -> bytes:
        """The content of a network file."""
        file = io.BytesIO()
        about = json.dumps({"format": FORMAT, **_renamed(self.about, IN_FILES)}, sort_keys=True)
        np.savez_compressed(file, **{ABOUT: np.array(about)}, **_renamed(self.weights, IN_FILES))  # type: ignore[arg-type]
        return file.getvalue()

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read a network file.

        Raises:
            CheckpointError: the file is missing, damaged, something else, or made for another observation or other actions.
        """
        if not Path(path).is_file():
            raise CheckpointError(f"there is no network file {path}")
        try:
            arrays = _arrays(Path(path))
            content = json.loads(str(arrays.pop(ABOUT)))
            version = content.pop("format")
            weights, about = (_renamed(entries, IN_MEMORY) for entries in (arrays, content))
        except CheckpointError:
            raise
        except Exception as error:  # NumPy, zipfile and zlib raise many kinds of errors over damaged files
            raise CheckpointError(f"{path} is damaged or no network file ({type(error).__name__}: {error!s:.100})") from error
        if version != FORMAT:
            raise CheckpointError(f"{path} has the format {shown(version, 40)}; this version reads {FORMAT}")
        try:
            return cls(weights, about)
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error


def _renamed(entries: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Entries by other names; of a name with a dot the part before it changes."""
    parts = [(*name.partition("."), entry) for name, entry in entries.items()]
    return {names.get(layer, layer) + dot + rest: entry for layer, dot, rest, entry in parts}


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays in a file, by name; nothing of a file is unpacked that says that it unpacks to more than a network has."""
    size = path.stat().st_size
    if size <= MOST_BYTES:
        content = io.BytesIO(path.read_bytes())  # NumPy leaves files open that it can't read
        with zipfile.ZipFile(content) as archive:
            size = sum(member.file_size for member in archive.infolist())
    if size > MOST_BYTES:
        raise CheckpointError(f"{path} holds {size / 1e6:.0f} MB; no network has more than {MOST_BYTES / 1e6:.0f} MB")
    with np.load(content, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


class NetworkAgent(Agent):
    """Plays a network's policy on the CPU, a whole batch in one pass.

    Args:
        network: a network, or the path of its file.
        deterministic: take the most probable action instead of drawing one with the decision's random number.
        name: name in tables and records; None takes it from the path.

    Raises:
        CheckpointError: the file can't be used, or its prior's heuristic isn't there in the version that it was trained with.
    """

    uses_observation = True

    def __init__(self, network: Network | str | Path, *, deterministic: bool = False, name: str | None = None) -> None:
        is_path = isinstance(network, (str, Path))
        self.network = Network.load(network) if isinstance(network, (str, Path)) else network
        self.deterministic = deterministic
        self.name = name or (name_of(Path(network)) if isinstance(network, (str, Path)) else "network")
        self.description = str(self.network.about.get("description", "a trained network"))
        self.version = str(self.network.about.get("version", "1"))
        self._heuristic = _heuristic_of(self.network, f"{network}: " if is_path else "")
        self.uses_view = self._heuristic is not None and self._heuristic.uses_view

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        weights, _ = self._weights_and_value(self._checked(decisions))
        if self.deterministic:
            return np.asarray(np.argmax(weights, axis=1), np.int64)
        return sample(weights, decisions.uniform)

    def evaluate(self, decisions: Decisions) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        """See :class:`skyenv.agents.Agent`."""
        decisions = self._checked(decisions)
        weights, value = self._weights_and_value(decisions)
        return weights, self._outcome(value, decisions)

    def _checked(self, decisions: Decisions) -> Decisions:
        """Decisions as the heuristic takes them, if there is one: checked once."""
        return decisions if self._heuristic is None else checked_decisions(decisions)

    def _outcome(self, value: npt.NDArray[np.float64], decisions: Decisions) -> npt.NDArray[np.float64] | None:
        """The outcome expected, from what the network tells: the return, which lacks what a potential has paid already."""
        about = self.network.about
        if about.get("reward") != "outcome" or "shaping" not in about:
            return None
        if about["shaping"] == 0:
            return value
        if decisions.view is None:
            return None
        players = decisions.num_players
        chance = win_probabilities_seen(np.asarray(decisions.view))[np.arange(len(value)), decisions.seat]
        paid = float(about["shaping"]) * outcome_of(chance, players)
        return np.clip(value + paid, -1.0, 1.0)

    def _weights_and_value(self, decisions: Decisions) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Probabilities of the actions, 0 for illegal ones, and what the network tells of the return."""
        assert decisions.observation is not None
        prior = None if self._heuristic is None else prior_scores(self._heuristic, decisions)
        logits, value = self.network(decisions.observation, prior)
        logits = np.where(decisions.mask != 0, logits, -np.inf)
        weights: npt.NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights, value


class TrainedAgent(Agent):
    """The trained agents that ship with the project, one network for each number of players (see docs/agents.md).

    Args:
        deterministic: as for :class:`NetworkAgent`; the most probable action is a little stronger than a drawn one.

    Raises:
        CheckpointError: as for :class:`NetworkAgent`; at the first decision in a game of that many players.
    """

    name = "trained"
    version = "1"
    description = "the networks that ship with the project, trained by experiments/training/train.py"
    uses_observation = True
    uses_view = True

    def __init__(self, *, deterministic: bool = True) -> None:
        self.deterministic = deterministic
        self.version = f"{type(self).version}+{_digest_of_shipped()}"
        self._agents: dict[int, NetworkAgent] = {}

    def agent(self, players: int) -> NetworkAgent:
        """The one that plays games of so many players."""
        if players not in self._agents:
            path = TRAINED / f"{players}-players{NETWORK_SUFFIX}"
            self._agents[players] = NetworkAgent(path, deterministic=self.deterministic, name=self.name)
        return self._agents[players]

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self.agent(decisions.num_players).act(decisions)

    def evaluate(self, decisions: Decisions) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
        """See :meth:`NetworkAgent.evaluate`."""
        return self.agent(decisions.num_players).evaluate(decisions)


def _digest_of_shipped() -> str:
    """Tells one set of networks from another."""
    digest = hashlib.blake2b(digest_size=4)
    for path in sorted(TRAINED.glob(f"*{NETWORK_SUFFIX}")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _heuristic_of(network: Network, where: str) -> HeuristicAgent | None:
    """The heuristic of the network's prior, in the version that it was trained with."""
    name = str(network.about.get("prior", ""))
    try:
        heuristic = heuristic_of(name)
    except OptionError as error:
        raise CheckpointError(f"{where}{error}") from error
    wanted = network.about.get("prior_version")
    if heuristic is not None and heuristic.version != wanted:
        raise CheckpointError(f"{where}the network was trained with version {wanted} of {name}, which is {heuristic.version} now")
    return heuristic


def name_of(path: Path) -> str:
    """An agent's name by its checkpoint: ``runs/first/model.npz`` → ``first``; other files by their own name."""
    return path.parent.name if path.stem == "model" and path.parent.name else path.stem
