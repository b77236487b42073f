"""Agents with policies of RLlib's new API stack.

``RllibAgent("runs/rllib/model")`` plays a checkpoint. In a module of your own (``mine.py``) such an
object is an agent of every command: ``python -m skyenv evaluate mine:agent``. RLlib's checkpoints
contain pickled Python objects, which can run code when loaded: use only trusted ones.
"""

from pathlib import Path
from typing import Any, Final

from skyenv.errors import AgentError, CheckpointError, cause
from skyenv_agents.learned.policy import MaskedAgent, check_spaces

# Key of the observation vector for RLlib's masking module (`mask="rllib"`).
OBSERVATIONS: Final = "observations"
# A file in the folder of every object that RLlib restores from a checkpoint.
CLASS_FILE: Final = "class_and_ctor_args.pkl"
# The policies' folder within a checkpoint of an algorithm, learner group, learner or module.
MODULES: Final = ("learner_group/learner/rl_module", "learner/rl_module", "rl_module", ".")


class RllibAgent(MaskedAgent):
    """An agent with a policy of RLlib; see :class:`skyenv_agents.learned.policy.MaskedAgent`.

    The policy's input is the observation or, for RLlib's masking modules, a dict of observation and
    mask (``mask="rllib"``). A path is the folder of an algorithm's checkpoint or of one policy's
    (``…/rl_module/NAME``); a policy is an RLModule.
    """

    description = "a policy trained by RLlib"

    def _set_policy(self, policy: Any, what: str) -> None:
        space = policy.observation_space
        inner = getattr(space, "spaces", {})
        self._takes_mask = OBSERVATIONS in inner
        check_spaces(inner.get(OBSERVATIONS, space), policy.action_space, what)
        self.module = policy.cpu().double()
        self.module.eval()

    def _logits(self, observation: Any, mask: Any) -> Any:
        masked = {OBSERVATIONS: observation, "action_mask": mask.double()}
        inputs = masked if self._takes_mask else observation
        return self.module.forward_inference({"obs": inputs})["action_dist_inputs"]

    def _load(self, path: Path) -> Any:
        folder = _policy_folder(path)
        try:
            from ray.rllib.core.rl_module.rl_module import RLModule
        except ImportError as error:
            hint = "python -m pip install -r experiments/baselines/rllib_self_play.txt"
            raise AgentError(f"checkpoint {path} needs RLlib: {error}; {hint}") from error
        try:
            return RLModule.from_checkpoint(folder.resolve())
        except Exception as error:  # a damaged file can fail anywhere in pickle, torch or RLlib
            raise CheckpointError(
                f"RLlib checkpoint {path} is damaged or not a PyTorch policy ({cause(error)})"
            ) from error


def _policy_folder(path: Path) -> Path:
    """Return the folder of the only policy in an RLlib checkpoint."""
    if not path.is_dir():
        raise CheckpointError(f"there is no folder {path} with an RLlib checkpoint")
    places = [path / place for place in MODULES if (path / place / CLASS_FILE).is_file()]
    if not places:
        raise CheckpointError(
            f"the folder {path} is not an RLlib checkpoint: no {CLASS_FILE} in it or in "
            f"{MODULES[0]}"
        )
    policies = sorted(inner.parent for inner in places[0].glob(f"*/{CLASS_FILE}")) or places[:1]
    if len(policies) > 1:
        raise CheckpointError(
            f"the checkpoint {path} has several policies; name one of "
            f"{', '.join(map(str, policies))}"
        )
    return policies[0]
