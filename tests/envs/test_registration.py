"""The environments' ids, known as soon as skyenv is imported."""

from __future__ import annotations

from processes import printed

PROGRAM = """
import pettingzoo, gymnasium
for name in ("FifthAvenue-v0", "FifthAvenueUnmasked-v0"):
    env = gymnasium.make(f"skyenv.envs:skyenv/{name}", num_players=3)
    print(type(env.unwrapped).__name__, env.unwrapped.core.illegal)
"""


def test_a_process_that_was_given_an_id_imports_its_module() -> None:
    """Without a warning."""
    assert printed("-W", "error", "-c", PROGRAM).split() == [
        "FifthAvenueEnv",
        "end",
        "FifthAvenueEnv",
        "random",
    ]
