"""A player from a checkpoint of sb3-contrib's MaskablePPO, as ``examples/maskable_ppo.py`` writes
them.

A checkpoint holds pickled Python objects, which can run code when they are read: use only those
that you trust.
"""

from __future__ import annotations

import copy
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.errors import AgentError, CheckpointError, install_hint
from skyenv_agents.learned.masked import MaskedAgent, check_spaces
from skyenv_agents.learned.networks import name_of

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
"""What a checkpoint says about learning; a player needs none of it, and a small rollout buffer
saves memory.
"""


class PolicyAgent(MaskedAgent):
    """Plays a trained policy on the CPU, a whole batch in one forward pass.

    Args:
        source: path of a checkpoint, or a policy (such as ``model.policy``), which is copied, so
            that it may go on learning.
        deterministic: take the most probable action instead of drawing one with the decision's
            random number. Drawing is much stronger after little training (71 against 49 % wins over
            random), a little weaker after five minutes (44 % against the deterministic twin), and
            always harder to predict; so it is the default.
        name: name in tables and records; None takes it from the path.

    Raises:
        CheckpointError: the file is missing, damaged, or made for another observation or other
            actions.
        AgentError: torch, stable-baselines3 or sb3-contrib is not installed.
    """

    description = "a trained policy"

    def __init__(
        self, source: Any, *, deterministic: bool = False, name: str | None = None
    ) -> None:
        is_path = isinstance(source, (str, Path))
        policy = load_policy(source) if is_path else _copied(source)
        observations, actions = (
            getattr(policy, name, None) for name in ("observation_space", "action_space")
        )
        check_spaces(observations, actions, str(source) if is_path else "the policy given")
        # In double precision rounding doesn't reach the decisions: single precision depends on the
        # number of rows, and of some 10 million random draws one would fall differently. Twice the
        # time (14 instead of 7 µs for 2 · 256 units).
        self.policy = policy.to("cpu").double()
        self.policy.set_training_mode(False)
        self.policy.requires_grad_(False)
        self.deterministic = deterministic
        self.name = name or (name_of(Path(source)) if is_path else "policy")

    def _logits(
        self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.float64]:
        import torch

        with torch.inference_mode():
            features = self.policy.pi_features_extractor(torch.from_numpy(observation).double())
            latent = self.policy.mlp_extractor.forward_actor(features)
            logits: npt.NDArray[np.float64] = self.policy.action_net(latent).numpy()
        return logits


def load_policy(path: str | Path) -> Any:
    """The policy in a checkpoint, on the CPU.

    Raises:
        CheckpointError, AgentError: as for :class:`PolicyAgent`.
    """
    try:
        from sb3_contrib import MaskablePPO
    except ImportError as error:
        raise AgentError(
            f"checkpoints need a package that isn't there: {error}; {install_hint('train')}"
        ) from error
    if not Path(path).is_file():
        raise CheckpointError(f"there is no checkpoint {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            broken = archive.testzip()
        if broken is not None:
            raise CheckpointError(f"checkpoint {path} is damaged: {broken} in it can't be read")
        return MaskablePPO.load(path, device="cpu", custom_objects=dict(IGNORED)).policy
    except CheckpointError:
        raise
    except (
        Exception
    ) as error:  # a damaged file can fail anywhere in zipfile, json, pickle, torch or SB3
        first_line = (str(error).splitlines() or [""])[0]
        raise CheckpointError(
            f"checkpoint {path} is damaged or no MaskablePPO model ({type(error).__name__}: "
            f"{first_line:.100})"
        ) from error


def _copied(policy: Any) -> Any:
    """An independent copy of a policy, less what only learning needs."""
    # A policy that has just acted holds tensors of a gradient's graph, which can't be copied; the
    # optimiser is large.
    left_out = (getattr(policy, name, None) for name in ("action_dist", "optimizer"))
    return copy.deepcopy(policy, {id(thing): None for thing in left_out if thing is not None})
