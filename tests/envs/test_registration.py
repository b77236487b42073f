"""The environments' ids, known as soon as skyenv is imported."""

from __future__ import annotations

from processes import printed

PROGRAM = """
import pettingzoo, gymnasium
env = gymnasium.make("skyenv.envs:skyenv/FifthAvenue-v0", num_players=3)
print(type(env.unwrapped).__name__, env.unwrapped.core.games.num_players)
"""


def test_a_process_that_was_given_an_id_imports_its_module() -> None:
    """Without a warning."""
    assert printed("-W", "error", "-c", PROGRAM).split() == ["FifthAvenueEnv", "3"]
