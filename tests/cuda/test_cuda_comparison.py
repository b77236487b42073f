"""What the benchmark compares before it measures: both engines, stepped and played at random."""

from __future__ import annotations

import json

from cuda_places import everywhere, variables

from processes import ROOT, printed

PROGRAM = """
import json
from experiments.benchmarks import gpu
from skyenv.cuda.arrays import SIMULATED

size = {"num_games": 1, "max_turns": 2} if SIMULATED else {"num_games": 20}
if SIMULATED:
    gpu.TABLES, gpu.AT_A_TIME = gpu.TABLES[::5], 10
print(json.dumps(gpu.differences(**size)))
"""


@everywhere
def test_games_are_the_same_byte_for_byte(place: str) -> None:
    assert json.loads(printed("-c", PROGRAM, environment=variables(place), cwd=ROOT)) == []
