"""Players of many styles: the heuristic players with other weights, so that who learns meets more
than two opponents.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Final, Self

import numpy as np

from skyenv.checks import check_integer
from skyenv.errors import AgentError, shown
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.weights import (
    APPRAISER_WEIGHTS,
    GREEDY_WEIGHTS,
    AppraiserWeights,
    Weights,
    weights_record,
)

SPREAD: Final = 0.6
"""Standard deviation of the logarithm of what a weight is multiplied with: every third changes by
more than a factor of 1.8.
"""
HIGHEST: Final = 10**9


class StyleAgent(HeuristicAgent):
    """Greedy (even numbers) or the appraiser (odd ones) with every weight changed at random, by the
    number.

    One is reckless, another one hoards cards or shies away from auctions; most are weaker than what
    they are made of, and all are sensible. ``"style"`` is number 0, ``"style-7"`` number 7.

    Args:
        number: of the style, 0 to 10⁹.

    Raises:
        AgentError: there is no such style.
    """

    name = "style"
    version = "1"
    description = (
        "greedy or appraiser with weights changed at random, by its number: style-1, style-2 …"
    )
    kind = AppraiserWeights
    measured = APPRAISER_WEIGHTS

    def __init__(self, number: int = 0) -> None:
        number = check_integer("the number of a style", number, 0, HIGHEST, AgentError)
        self.name = f"{type(self).name}-{number}" if number else type(self).name
        if number:
            self.description = (
                f"{'appraiser' if number % 2 else 'greedy'} with weights changed at random"
            )
        measured = APPRAISER_WEIGHTS if number % 2 else GREEDY_WEIGHTS
        self._weights = {
            players: weights_record(changed(weights, number))
            for players, weights in measured.items()
        }

    @classmethod
    def variant(cls, name: str) -> Self:
        """The style with a number in its name: ``"style-7"``.

        Raises:
            AgentError: the number is none.
        """
        number = name.removeprefix(f"{cls.name}-")
        if not (number.isascii() and number.isdecimal() and len(number) <= len(str(HIGHEST))):
            raise AgentError(
                f"agent {shown(name, 80)}: the number of a style is a whole one, 0 to {HIGHEST:,}"
            )
        return cls(int(number))


def changed(weights: Weights, number: int) -> Weights:
    """Weights of a style, by its number; those of all numbers of players are changed alike."""
    names = list(asdict(weights))
    factors = np.exp(SPREAD * np.random.default_rng(number).standard_normal(len(names)))
    return replace(
        weights,
        **{
            name: getattr(weights, name) * float(factor)
            for name, factor in zip(names, factors, strict=True)
        },
    )
