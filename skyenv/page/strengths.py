"""The strengths that the lobby suggests, and the page's names of agents."""

from collections.abc import Container
from functools import cache
from typing import Any, Final

from skyenv.arena import ladder

# By the names that the lobby gives them: agents, and how each plays.
STRENGTHS: Final = {
    "Tourist": ("greedy-4vp", "Guesses a lot: most of its moves cost it points."),
    "Shopkeeper": ("greedy-2.5vp", "Sees the points on the board, but often takes less."),
    "Landlord": ("greedy-1.5vp", "Takes good moves, with a slip in most turns."),
    "Broker": ("greedy-1vp", "Takes the points at hand, with a slip now and then."),
    "Banker": ("greedy", "Takes the most points available now and never looks ahead."),
    "Surveyor": ("rollout-16", "Tries its best moves in a few quick games."),
    "Planner": ("ismcts-100", "Searches a few moves ahead, a hundred times."),
    "Architect": ("trained", "A neural network trained by self-play. It moves at once."),
    "Developer": (
        "ismcts-trained-1000",
        "The Architect's network, searching a few moves ahead.",
    ),
    "Tycoon": ("lookahead", "The Architect's network, which plays its best moves out first."),
}
# Those that are shown first, about 400 points apart; the others are behind "more".
OFFERED: Final = ("Shopkeeper", "Broker", "Surveyor", "Tycoon")
# The page's names of agents: the lobby's, and those of others on the ladders.
WORDS: Final = {agent: word for word, (agent, _) in STRENGTHS.items()} | {
    agent: agent.capitalize() for agent in ("appraiser", "bidder", "builder", "crowd", "random")
}


@cache
def points(players: int = 2, side: str = "front") -> dict[str, float]:
    """Return the points of the lobby's agents on the ladder of a table, by default the one that the
    lobby sets up; the strongest first.
    """
    rated = ladder.read(ladder.path_of(players, side))["agents"]
    styles = dict(STRENGTHS.values())  # by agents
    return {one["name"]: float(one["rating"]["mean"]) for one in rated if one["name"] in styles}


def called(agent: str) -> str:
    """Return the page's name of an agent; its own if it has none in WORDS."""
    return WORDS.get(agent, agent)


def strengths(offered: Container[str]) -> list[dict[str, Any]]:
    """Return the lobby's suggestions: those of OFFERED, or all if none of them is there, then the
    others, each from the weakest agent on the ladder to the strongest.

    Args:
        offered: names of the agents that can be chosen; others are left out.

    Returns:
        For each agent the lobby's name for it, its own, points on the published ladder (400 more
        are odds of 10 to 1), how it plays, and whether it is one of the first.
    """
    words = [WORDS[agent] for agent in reversed(points()) if agent in offered]
    first = [word for word in words if word in OFFERED] or words
    return [
        {
            "word": word,
            "agent": STRENGTHS[word][0],
            "rating": points()[STRENGTHS[word][0]],
            "style": STRENGTHS[word][1],
            "first": word in first,
        }
        for word in sorted(words, key=lambda word: word not in first)
    ]
