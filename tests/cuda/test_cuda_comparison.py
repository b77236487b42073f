"""What the benchmark compares before it measures: both engines, stepped and played at random, and
heuristic agents' decisions.
"""

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
print(json.dumps([gpu.differences(**size), *(gpu.decided_otherwise(agent(), **size).highest for agent in gpu.HEURISTICS)]))
"""


@everywhere
def test_nothing_differs_but_what_rounding_decides(place: str) -> None:
    """Games are the same byte for byte.

    In the simulator agents decide the same, too; on a GPU all but one in a hundred times.
    """
    wrong, *others = json.loads(printed("-c", PROGRAM, environment=variables(place), cwd=ROOT))
    assert wrong == []
    assert len(others) == 2
    assert max(others) <= (0 if place == "simulator" else 10_000)
