"""A player from a checkpoint of RLlib's new API stack, as ``examples/rllib_self_play.py`` writes
them: ``rllib:PATH``.

A checkpoint holds pickled Python objects, which can run code when they are read: use only those
that you trust.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.errors import AgentError, CheckpointError, cause
from skyenv_agents.learned.masked import MaskedAgent, check_spaces
from skyenv_agents.learned.networks import name_of

OBSERVATIONS: Final = "observations"
"""Where RLlib's masking module looks for the vector (``mask="rllib"``)."""
CLASS_FILE: Final = "class_and_ctor_args.pkl"
"""What stands in the folder of everything that RLlib can make anew from a checkpoint."""
MODULES: Final = ("learner_group/learner/rl_module", "learner/rl_module", "rl_module", ".")
"""Where the folder of the policies stands in a checkpoint of an algorithm, a group of learners, a
learner, and itself.
"""


class RllibAgent(MaskedAgent):
    """Plays a policy that RLlib has trained, on the CPU.

    The policy saw the observation alone, or, as RLlib's masking modules do, a dict of it and the
    mask (``mask="rllib"``).

    Args:
        source: folder of a checkpoint of an algorithm or of one policy (``…/rl_module/NAME``); or a
            policy (an RLModule), which is copied, so that it may go on learning.
        deterministic: take the most probable action instead of drawing one with the decision's
            random number.
        name: name in tables and records; None takes it from the path.

    Raises:
        CheckpointError: the folder is missing or damaged, has several policies, or was made for
            another observation.
        AgentError: RLlib is not installed.
    """

    description = "a policy trained by RLlib"

    def __init__(
        self, source: Any, *, deterministic: bool = False, name: str | None = None
    ) -> None:
        is_path = isinstance(source, (str, Path))
        module = load_module(Path(source)) if is_path else copy.deepcopy(source)
        space = module.observation_space
        inner = getattr(space, "spaces", {})
        self._takes_mask = OBSERVATIONS in inner
        check_spaces(
            inner.get(OBSERVATIONS, space),
            module.action_space,
            f"the policy of {source}" if is_path else "the policy given",
        )
        self.module = (
            module.cpu().double()
        )  # rounding doesn't reach the decisions, however many are taken at once
        self.module.eval()
        self.module.requires_grad_(False)
        self.deterministic = deterministic
        self.name = name or (name_of(Path(source)) if is_path else "policy")

    def _logits(
        self, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.floating]:
        import torch

        vector = torch.from_numpy(observation).double()
        seen = (
            {OBSERVATIONS: vector, "action_mask": torch.from_numpy(mask).double()}
            if self._takes_mask
            else vector
        )
        with torch.inference_mode():
            logits: npt.NDArray[np.floating] = self.module.forward_inference({"obs": seen})[
                "action_dist_inputs"
            ].numpy()
        return logits


def load_module(path: Path) -> Any:
    """The policy in a checkpoint, an RLModule on PyTorch.

    Raises:
        CheckpointError, AgentError: as for :class:`RllibAgent`.
    """
    folder = _policy_folder(path)
    try:
        from ray.rllib.core.rl_module.rl_module import RLModule
    except ImportError as error:
        hint = "in a clone, python -m pip install -r examples/rllib_self_play.txt"
        raise AgentError(
            f"agent rllib:{path} needs RLlib, which isn't there: {error}; {hint}"
        ) from error
    try:
        return RLModule.from_checkpoint(folder.resolve())
    except Exception as error:  # a damaged file can fail anywhere in pickle, torch or RLlib
        raise CheckpointError(
            f"RLlib's checkpoint {path} is damaged or no policy on PyTorch ({cause(error)})"
        ) from error


def _policy_folder(path: Path) -> Path:
    """The folder of the one policy in a checkpoint."""
    if not path.is_dir():
        raise CheckpointError(f"there is no folder {path} with a checkpoint of RLlib")
    policies: list[Path] = []
    for place in MODULES:
        if (path / place / CLASS_FILE).is_file():
            policies = sorted(inner.parent for inner in (path / place).glob(f"*/{CLASS_FILE}")) or [
                path / place
            ]
            break
    if not policies:
        raise CheckpointError(
            f"the folder {path} holds no checkpoint of RLlib: no {CLASS_FILE} stands there or in "
            f"{MODULES[0]}"
        )
    if len(policies) > 1:
        raise CheckpointError(
            f"the checkpoint {path} has several policies; take one of "
            f"{', '.join(map(str, policies))}"
        )
    return policies[0]
