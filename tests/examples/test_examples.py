"""The examples run as their first lines say."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from processes import printed

pytestmark = pytest.mark.programs

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = {
    "gpu_games": ["--games", "2", "--steps", "5"],
    "ppo": ["--steps", "512", "--num-envs", "8", "--rollout", "32", "--paired-seeds", "1"],
    "behaviour_cloning": shlex.split(
        "games --epochs 1 --batch 32 --trunk 16 --thing 8 --held-out 4 --paired-seeds 1"
    ),
    "maskable_ppo": [
        "--decisions",
        "512",
        "--environments",
        "8",
        "--steps",
        "32",
        "--batch",
        "64",
        "--paired-seeds",
        "1",
    ],
}
"""By example, what makes it short."""
SAYS = {
    "gpu_games": "0 games ended; ",
    "random_play": "returns: {'seat_0': ",
    "my_agent": "builder  greedy",
    "search": "expects ",
    "records": "position.svg: the table after ten actions",
    "ppo": "the network's weights are in ppo.pt",
    "maskable_ppo": "512 decisions; the agent is runs/maskable/model.zip",
    "behaviour_cloning": "the clone is runs/clone/model.npz",
}
"""By example, what its output holds."""
BEFORE = {
    "behaviour_cloning": shlex.split(
        "-m skyenv dataset random crowd --games 4 --max-turns 9 -o games"
    )
}
"""By example, what makes what it needs."""
SIMULATED = {"gpu_games": {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}}
"""By example, what stands for a GPU."""


@pytest.mark.parametrize(
    "name",
    sorted(path.stem for path in EXAMPLES.glob("*.py") if not path.with_suffix(".txt").exists()),
)
def test_example_runs(name: str, tmp_path: Path) -> None:
    """Those with requirements beside them run in environments of their own, `make
    test-libraries`.
    """
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), **SIMULATED.get(name, {})}
    if name in BEFORE:
        printed(*BEFORE[name], cwd=tmp_path, environment=environment)
    command = ["-W", "error", EXAMPLES / f"{name}.py", *ARGUMENTS.get(name, [])]
    assert SAYS[name] in printed(*command, cwd=tmp_path, environment=environment)
