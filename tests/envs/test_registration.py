"""The environments' ids, known as soon as skyenv is imported."""

from __future__ import annotations

import pytest

from processes import printed

IDS = """
print(gymnasium.spec("skyenv/FifthAvenue-v0").id)
if hasattr(pettingzoo, "register"):  # PettingZoo has ids since 1.27
    print(pettingzoo.spec("aec", "skyenv/fifth_avenue_v0").id)
from skyenv.envs.registration import register
register()  # once more does no harm
"""
MODULE = """
import gymnasium
env = gymnasium.make("skyenv.envs:skyenv/FifthAvenue-v0", num_players=3)
print(type(env.unwrapped).__name__, env.unwrapped.core.games.num_players)
"""


@pytest.mark.parametrize(
    ("program", "first_line"),
    [
        ("import skyenv, gymnasium, pettingzoo" + IDS, "skyenv/FifthAvenue-v0"),
        ("import pettingzoo, gymnasium, skyenv" + IDS, "skyenv/FifthAvenue-v0"),
        (MODULE, "FifthAvenueEnv 3"),  # as a worker must that was given an id and nothing else
    ],
    ids=["skyenv first", "skyenv last", "by its module"],
)
def test_the_ids_are_known(program: str, first_line: str) -> None:
    """In whatever order the imports stand, and without a warning."""
    first, *others = printed("-W", "error", "-c", program).splitlines()
    assert first == first_line
    assert others in ([], ["skyenv/fifth_avenue-v0"])
