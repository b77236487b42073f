"""The figures of a GPU, where there is none: it is hidden, or a simulator stands for it."""

from __future__ import annotations

import json

from processes import ROOT, printed, python

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
HIDDEN = {"CUDA_VISIBLE_DEVICES": ""}


def test_without_a_gpu_it_says_so() -> None:
    for program in (("gpu",), ("speed", "--device", "cuda")):
        done = python("-m", f"experiments.benchmarks.{program[0]}", *program[1:], "--quick", environment=HIDDEN)
        assert done.returncode == 2
        assert done.stderr.strip().endswith("there is no GPU here that Numba can use; python -m numba -s says what it finds")


def test_the_comparison_finds_games_that_differ() -> None:
    """In the simulator: none as things are, and all when the device counts a decision too many."""
    program = """
import json
from experiments.benchmarks import gpu
from skyenv.cuda import Games

same = gpu.differences(1)
play_random = Games.play_random
Games.play_random = lambda games, steps: play_random(games, steps + 1)
print(json.dumps([same, gpu.differences(1)]))
"""
    same, other = json.loads(printed("-c", program, environment=SIMULATED, cwd=ROOT))
    assert same == []
    assert len(other) == 6
