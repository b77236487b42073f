"""Play-outs of positions."""

import pytest

from crowd_games import played
from skyenv.agents import CrowdAgent
from skyenv.analysis.playouts import PlayOuts, Question, play_out, shares_of


def test_play_outs_give_shares_with_intervals_and_margins() -> None:
    position = played(2, seed=3, actions=200).batch.state[0]
    found = list(play_out([CrowdAgent()] * 2, position, 30, 0))
    assert [done for done, _ in found] == [25, 30]
    first, second = found[-1][1]
    assert first.share.mean + second.share.mean == pytest.approx(1)
    assert first.share.low < first.share.mean < first.share.high
    assert first.margin == -second.margin == pytest.approx(first.vp - second.vp)


def test_more_games_refine_the_same_result() -> None:
    """Results are those of the first seeds, in whatever portions; merging takes the larger."""
    game = played(2, seed=3, actions=200)
    question = Question((CrowdAgent(),) * 2, game.batch.state[0], game.seat)
    portions, at_once, fewer = PlayOuts(), PlayOuts(), PlayOuts()
    for number in (3, 5):
        portions.extend(question, number)
    tally, few = at_once.extend(question, 8), fewer.extend(question, 3)
    assert (portions.tally(question) or few).sums == pytest.approx(tally.sums)
    assert PlayOuts(5).extend(question, 8).sums != pytest.approx(tally.sums)
    shares, _ = shares_of(*question[:2], range(8), question.seat)
    assert tally.variances == pytest.approx(shares.var(axis=0, ddof=1) / 8)
    for store in (fewer, at_once):
        store.merge(portions if store is fewer else fewer)
        assert store.tallies.keys() == portions.tallies.keys()
        assert (store.tally(question) or few).games == 8
