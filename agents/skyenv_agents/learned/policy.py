"""Agents with PyTorch policies of other libraries; ``.zip`` files of sb3-contrib's MaskablePPO.

``experiments/baselines/sb3_maskable_ppo.py`` writes such files, and ``rllib_agent.py`` beside it
plays RLlib's. Checkpoints contain pickled Python objects, which can run code when loaded: use only
trusted ones.
"""

import copy
from abc import abstractmethod
from pathlib import Path
from typing import Any, Final

from skyenv.agents import Decisions, Evaluations
from skyenv.array_types import Float32, Float64, Int8
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import CheckpointError, cause, needs_extra
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.networks import PolicyPlayer, masked_softmax, name_of

# Overrides of training settings in MaskablePPO's checkpoints; a small rollout buffer saves memory.
IGNORED: Final = {
    "n_envs": 1,
    "n_steps": 2,
    "batch_size": 2,
    "n_epochs": 1,
    "learning_rate": 0.0,
    "lr_schedule": None,
    "clip_range": 0.2,
    "clip_range_vf": None,
    "ep_info_buffer": None,
    "ep_success_buffer": None,
    "tensorboard_log": None,
    "_last_obs": None,
    "_last_original_obs": None,
    "_last_episode_starts": None,
}


class MaskedAgent(PolicyPlayer):
    """An agent with a PyTorch policy: one forward pass per batch on the CPU.

    The policy computes in double precision, so decisions do not depend on the batch size. Single
    precision would change about one of 10 million samples, and takes half the time (7 instead of
    14 µs for 2 · 256 units).

    Args:
        source: a checkpoint's path; or a policy, which is copied and may continue training.
        deterministic: take the argmax instead of sampling with the decision's random number.
        name: name in tables and records; None: derived from the path.

    Raises:
        CheckpointError: the checkpoint is missing, damaged, or made for another observation or
            other actions.
        AgentError: the library is not installed.
    """

    def __init__(
        self, source: Any, *, deterministic: bool = False, name: str | None = None
    ) -> None:
        is_path = isinstance(source, (str, Path))
        self.deterministic = deterministic
        self.name = name or (name_of(Path(source)) if is_path else "policy")
        policy = self._load(Path(source)) if is_path else self._copy_of(source)
        self._set_policy(policy, f"the policy of {source}" if is_path else "the policy given")
        policy.requires_grad_(False)

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`; the critic is not used."""
        assert decisions.observation is not None
        return self.probabilities(decisions.observation, decisions.mask), None

    def probabilities(self, observation: Float32, mask: Int8) -> Float64:
        """Return the policy's probabilities, float64 (k, 103); illegal actions have exactly 0.

        Args:
            observation: float32 (k, OBSERVATION_SIZE).
            mask: int8 (k, 103).
        """
        import torch

        with torch.inference_mode():
            vector = torch.from_numpy(observation).double()
            logits = self._logits(vector, torch.from_numpy(mask))
        return masked_softmax(logits.numpy(), mask)

    @abstractmethod
    def _load(self, path: Path) -> Any:
        """Return the policy in a checkpoint, on the CPU."""

    def _copy_of(self, policy: Any) -> Any:
        """Return an independent copy of a policy."""
        # A policy of SB3 that has just acted holds tensors of an autograd graph, which can't be
        # copied. The optimizer is large.
        omitted = (getattr(policy, name, None) for name in ("action_dist", "optimizer"))
        return copy.deepcopy(policy, {id(part): None for part in omitted if part is not None})

    @abstractmethod
    def _set_policy(self, policy: Any, what: str) -> None:
        """Check the policy's spaces and store it in double precision."""

    @abstractmethod
    def _logits(self, observation: Any, mask: Any) -> Any:
        """Return the logits of all actions, a tensor (k, 103), for double observations and int8
        masks; those of illegal actions are ignored.
        """


def check_spaces(observations: Any, actions: Any, what: str) -> None:
    """Check that a policy's spaces match those of skyenv.

    Args:
        observations, actions: its Gymnasium spaces.
        what: its name in messages.

    Raises:
        CheckpointError: a space differs.
    """
    shape, number = getattr(observations, "shape", None), getattr(actions, "n", None)
    if shape != (OBSERVATION_SIZE,):
        length = shape[0] if isinstance(shape, tuple) and len(shape) == 1 else shape
        raise CheckpointError(
            f"{what} was trained for observations of length {length}; their length is now "
            f"{OBSERVATION_SIZE}"
        )
    if number != NUM_ACTIONS:
        raise CheckpointError(f"{what} was trained for {number} actions; there are {NUM_ACTIONS}")


class PolicyAgent(MaskedAgent):
    """An agent with a policy of sb3-contrib's MaskablePPO; see :class:`MaskedAgent`."""

    description = "a trained policy"

    def _set_policy(self, policy: Any, what: str) -> None:
        observations = getattr(policy, "observation_space", None)
        check_spaces(observations, getattr(policy, "action_space", None), what)
        self.policy = policy.to("cpu").double()
        self.policy.set_training_mode(False)

    def _logits(self, observation: Any, mask: Any) -> Any:
        features = self.policy.pi_features_extractor(observation)
        return self.policy.action_net(self.policy.mlp_extractor.forward_actor(features))

    def _load(self, path: Path) -> Any:
        with needs_extra("train"):
            from sb3_contrib import MaskablePPO
        if not path.is_file():
            raise CheckpointError(f"there is no checkpoint {path}")
        try:
            return MaskablePPO.load(path, device="cpu", custom_objects=dict(IGNORED)).policy
        except Exception as error:  # a damaged file can fail in zipfile, json, pickle, torch or SB3
            raise CheckpointError(
                f"checkpoint {path} is damaged or not a MaskablePPO model ({cause(error)})"
            ) from error
