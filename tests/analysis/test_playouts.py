"""Play-outs of positions."""

import pytest

from crowd_games import played
from skyenv.agents import CrowdAgent
from skyenv.analysis.playouts import play_out


def test_play_outs_give_shares_with_intervals_and_margins() -> None:
    position = played(2, seed=3, actions=200).batch.state[0]
    found = list(play_out([CrowdAgent()] * 2, position, 30, 0))
    assert [done for done, _ in found] == [25, 30]
    first, second = found[-1][1]
    assert first.share.mean + second.share.mean == pytest.approx(1)
    assert first.share.low < first.share.mean < first.share.high
    assert first.margin == -second.margin == pytest.approx(first.vp - second.vp)
