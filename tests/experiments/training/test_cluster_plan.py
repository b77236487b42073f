"""The plan of a cluster: where each part of it alone is what limits, it carries what that part
does.
"""

from __future__ import annotations

import pytest

from experiments.training.cluster_plan import PLAYED, ROLLOUT, STATE, Cluster, carried
from processes import ROOT, printed


@pytest.mark.parametrize(
    ("cluster", "pace"),
    [
        (Cluster(4, 2, 1e15, 1e3, 1e12), 4e3),
        (Cluster(4, 2, 1e15, 1e9, 500.0), 500.0),
        (Cluster(100, 0, 1e6, 1e12, 1e12), 1e6 * PLAYED / (ROLLOUT + STATE)),
    ],
)
def test_one_part_alone_limits(cluster: Cluster, pace: float) -> None:
    assert carried(cluster) == pytest.approx(pace, rel=1e-3)


def test_the_docs_show_the_table() -> None:
    told = printed("-m", "experiments.training.cluster_plan")
    assert told.strip() in (ROOT / "docs" / "many_machines.md").read_text(encoding="utf-8")
