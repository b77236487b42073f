"""A custom agent, compared with the shipped agents; needs only the core.

Run `python examples/my_agent.py`; then rate it against the ladder, in this folder:
`python -m skyenv tournament --add my_agent:Builder --players 2 --minutes 2`.
"""

import numpy as np
import numpy.typing as npt

from skyenv import ACTION_NAMES, Agent, Decisions
from skyenv.agents import sample
from skyenv.arena.evaluate import evaluate, table

PASS = ACTION_NAMES.index("pass")
BUILDS = np.array([name.startswith("build ") for name in ACTION_NAMES])
SCORES = np.array([name.startswith("option D") for name in ACTION_NAMES])


class Builder(Agent):
    """An agent that builds as much as possible, prefers to score, and passes with probability 1/2.

    It samples other legal actions uniformly.
    """

    name = "builder"
    version = "1"
    description = "builds as much as possible"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """Return a legal action for each of k decisions, each in its own game, int64 (k,).

        `decisions.mask` is an int8 array (k, 103); `decisions.uniform` has one random number per
        decision. An agent without other randomness is reproducible by the seed.
        """
        legal = decisions.mask != 0
        preference = np.ones(len(ACTION_NAMES))
        preference[BUILDS] = 10.0 ** np.arange(BUILDS.sum())  # prefers larger numbers
        preference[SCORES] = 5.0
        preference[PASS] = 0.0
        weights = legal * preference
        weights[:, PASS] = legal[:, PASS] * np.maximum(weights.sum(axis=1), 1.0)
        return sample(weights, decisions.uniform)


if __name__ == "__main__":
    print(table(evaluate(Builder(), ["random", "greedy"], num_players=2, paired_seeds=100, seed=1)))
