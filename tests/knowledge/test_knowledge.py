"""Views: all that a seat may know, and nothing else."""

import numpy as np
import pytest

from scenario import GAME_FIELDS, TABLES, same_record, stages
from skyenv import Games
from skyenv.engine.knowledge import PUBLIC, resample, view
from skyenv.errors import OptionError

HIDDEN_FIELDS = ("seed", "random", "hand", "face_down")


@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.rule("INF-1", "INF-2", "INF-3")
def test_views_hold_common_knowledge_and_the_own_hand(players: int, side: str) -> None:
    """The public view differs from every seat's only in that seat's private knowledge. Other hands
    hold only public cards; no stack, no seed, no stream of chance. The rest is the position itself.
    """
    for game in stages(players, side, "crowd", seed=3):
        public = game.public_view()
        assert public["seat"] == PUBLIC
        assert (public["game"]["hand"] == game.state["known"]).all()
        assert not public["game"]["face_down"].any()
        assert not public["game"]["deduced"].any()
        assert (public["unknown"] == game.state["unknown"]).all()
        assert (public["unseen"] == game.state["unlocated"]).all()
        assert (
            public["unseen"].sum(axis=1) == public["unknown"].sum(axis=0) + public["num_face_down"]
        ).all()
        for seat in range(players):
            own = game.view(seat)["game"]
            assert (own["face_down"] == 0).all()
            assert (own["random"] == 0).all()
            assert own["seed"] == -1
            for other in range(4):
                assert (
                    own["hand"][other] == game.state["hand" if other == seat else "known"][other]
                ).all()
            for field in set(GAME_FIELDS) - set(HIDDEN_FIELDS):
                assert (own[field] == game.state[field]).all(), field
            for field in set(GAME_FIELDS) - {"hand", "deduced"}:
                assert (public["game"][field] == own[field]).all(), field
        with pytest.raises(OptionError, match="its seat"):
            resample(public, [1])


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_batched_views_equal_single_views(players: int, side: str) -> None:
    """One seat for all games or one per game; views are copies."""
    games = Games(5, players, side, seed=2)
    games.play_random(25)
    before, seats = games.state.tobytes(), np.arange(5) % players
    views = view(games.state, seats)
    assert views.seat.tolist() == seats.tolist()
    assert (view(games.state, 1).seat == 1).all()
    for row in range(5):
        alone = view(games.state[row : row + 1], int(seats[row]))
        for one in (views[row], *view(games.state, [seats[row]] * 2, [row, row])):
            assert same_record(one, alone[0])
    assert len(view(games.state[:0], 0)) == 0
    views["game"]["score"][:], views["unseen"][:] = 7, 0
    assert games.state.tobytes() == before
