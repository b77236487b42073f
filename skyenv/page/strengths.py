"""How strong the agents are that the lobby offers to whoever just wants to play: in words, in
points, and how they play.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

from skyenv.arena import ladder

PLAYERS: Final = 2
SIDE: Final = "front"
"""The table of the published ladder that the points are of, which is the table that the lobby sets
up.
"""
STRENGTHS: Final = {
    "easy": ("crowd", "Goes for full districts and plays much at random. Good for a first game."),
    "medium": ("greedy", "Takes what brings the most points right now, and never looks ahead."),
    "strong": (
        "trained",
        "A neural network that has learnt by playing against itself. It decides at once.",
    ),
    "strongest": (
        "ismcts-trained",
        "The same network, and it thinks some moves ahead before it decides.",
    ),
}
"""For each strength in words, from the weakest: the agent that has it, and how it plays."""


def ratings() -> dict[str, float]:
    """Points of the agents on the published ladder; 400 more are odds of 10 to 1."""
    content = ladder.read(ladder.path_of(PLAYERS, SIDE))
    return {agent["name"]: float(agent["rating"]["mean"]) for agent in content["agents"]}


def strengths(offered: Container[str]) -> list[dict[str, Any]]:
    """What the lobby offers, from the weakest agent to the strongest, for the page.

    Args:
        offered: names of the agents that can be chosen; others are left out.

    Returns:
        For each its strength in words, its name, its points (None if the ladder doesn't have it),
        and how it plays.
    """
    points = ratings()
    return [
        {"word": word, "agent": name, "rating": points.get(name), "style": style}
        for word, (name, style) in STRENGTHS.items()
        if name in offered
    ]
