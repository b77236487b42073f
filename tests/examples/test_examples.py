"""The examples run as their first lines say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = {
    "ppo": ["--steps", "512", "--num-envs", "8", "--rollout", "32", "--deals", "1"],
    "maskable_ppo": ["--decisions", "512", "--environments", "8", "--steps", "32", "--batch", "64", "--deals", "1"],
}
"""By example, what makes it short."""
SAYS = {
    "random_play": "returns: {'seat_0': ",
    "my_agent": "builder  greedy",
    "search": "expects ",
    "records": "position.svg: the table after ten actions",
    "ppo": "the network's weights are in ppo.pt",
    "maskable_ppo": "512 decisions; the agent is runs/maskable/model.zip",
}
"""By example, what its output holds."""


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *ARGUMENTS.get(name, [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout
