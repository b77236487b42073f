"""The strengths that the lobby suggests, and the page's names of agents."""

from collections.abc import Container
from typing import Any, Final

from skyenv.arena import ladder

PLAYERS: Final = 2
# The players and side of the ladder from which points come; the lobby sets up the same table.
SIDE: Final = "front"
# By the names that the lobby gives them, from the weakest: agents about 150 points apart, and how
# each plays.
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
# Those that are shown first; the others are behind "more".
OFFERED: Final = ("Shopkeeper", "Banker", "Architect", "Tycoon")
# The agents that replays suggest first.
STRONGEST: Final = ("lookahead", "ismcts-trained-1000", "trained", "greedy")
# The lobby's names of agents.
WORDS: Final = {agent: word for word, (agent, _) in STRENGTHS.items()}


def called(agent: str) -> str:
    """Return the page's name of an agent: the lobby's, or the agent's own if it has none there."""
    return WORDS.get(agent, agent)


def strengths(offered: Container[str]) -> list[dict[str, Any]]:
    """Return the lobby's suggestions: those of OFFERED, then the others, each from the weakest
    agent to the strongest.

    Args:
        offered: names of the agents that can be chosen; others are left out.

    Returns:
        For each agent the lobby's name for it, its own, points on the published ladder (400 more
        are odds of 10 to 1; None if it isn't on the ladder), how it plays, and whether it is one
        of OFFERED.
    """
    rated = ladder.read(ladder.path_of(PLAYERS, SIDE))["agents"]
    points = {agent["name"]: float(agent["rating"]["mean"]) for agent in rated}
    return [
        {
            "word": word,
            "agent": STRENGTHS[word][0],
            "rating": points.get(STRENGTHS[word][0]),
            "style": STRENGTHS[word][1],
            "first": word in OFFERED,
        }
        for word in sorted(STRENGTHS, key=lambda word: word not in OFFERED)
        if STRENGTHS[word][0] in offered
    ]
