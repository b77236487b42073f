"""Tasks as they are dealt: an independent recursion over games, without the tree."""

from collections.abc import Iterator
from dataclasses import dataclass

from skyenv import Game, make_agent
from skyenv.agents import decide_game, evaluation_of
from skyenv.engine.events import ChanceOutcome
from skyenv.engine.openings import payoffs
from skyenv.engine.simulator import SETUP
from skyenv.rules.actions import NUM_ACTIONS

Chance = tuple[ChanceOutcome, ...]

# Openings with few positions.
SMALL = ("duel-3/573", "alea-3/573", "set-2/376", "park-4/16")


def outcomes(game: Game, action: int) -> Iterator[tuple[Chance, float]]:
    """All chance outcomes of an action, or of the setup, with their probabilities."""
    open_ones: list[tuple[Chance, float]] = [((), 1.0)]
    while open_ones:
        chance, probability = open_ones.pop()
        further = game.chance_ahead(action, chance)
        if not further:
            yield chance, probability
        open_ones += [((*chance, one), probability * share) for one, share in further.items()]


@dataclass(frozen=True)
class Dealt:
    """A dealt game, with the probability of chance and of the agent's choices."""

    game: Game
    hands: tuple[bytes, ...]
    weight: float


def dealt_games(name: str) -> list[Dealt]:
    """The games of an opening, one for each deal."""
    found: dict[tuple[bytes, ...], Dealt] = {}
    for chance, probability in outcomes(Game(task=name, seed=0), SETUP):
        game = Game(task=name, seed=None, chance=chance)
        hands = tuple(hand.tobytes() for hand in game.batch.state["hand"][0])
        before = found[hands].weight if hands in found else 0.0
        found[hands] = Dealt(game, hands, before + probability)
    return list(found.values())


class Recursion:
    """The values of an agent that plays all seats, and of best responses to it.

    Every position is asked about in a game that was dealt with the task's own setup.
    """

    def __init__(self, name: str, agent: str) -> None:
        self.name, self.agent = name, make_agent(agent)
        self.games = dealt_games(name)

    def value(self, seat: int, responder: int | None = None) -> float:
        """What a seat is paid, if the responder plays its best response."""
        return sum(self._worth(self.games, seat, responder).values())

    def _worth(self, reached: list[Dealt], seat: int, responder: int | None) -> dict[bytes, float]:
        """What a seat is paid, by its hand at the deal, weighted: from games with one history."""
        first = reached[0].game
        if first.is_over:
            paid = (payoffs(self.name, one.game.batch.state)[seat] * one.weight for one in reached)
            return added(zip((one.hands[seat] for one in reached), paid, strict=True))
        follows = first.seat == responder
        by_action = []
        for action in range(NUM_ACTIONS):
            after: dict[Chance, list[Dealt]] = {}
            for one in reached:
                share = float(one.game.mask[action]) if follows else self._share(one.game, action)
                for chance, probability in outcomes(one.game, action) if share else ():
                    game = one.game.copy()
                    game.play(action, chance)
                    more = Dealt(game, one.hands, one.weight * share * probability)
                    after.setdefault(chance, []).append(more)
            worth = (self._worth(games, seat, responder) for games in after.values())
            by_action.append(added(pair for values in worth for pair in values.items()))
        if not follows:
            return added(pair for values in by_action for pair in values.items())
        hands = {one.hands[seat] for one in reached}
        return {hand: max(some[hand] for some in by_action if hand in some) for hand in hands}

    def _share(self, game: Game, action: int) -> float:
        """The probability of an action."""
        if not game.mask[action]:
            return 0.0
        evaluation = evaluation_of(game, self.agent)
        if evaluation is None:
            return float(decide_game(game, self.agent) == action)
        return float(evaluation.probabilities[action])


def added(pairs: Iterator[tuple[bytes, float]]) -> dict[bytes, float]:
    sums: dict[bytes, float] = {}
    for hand, value in pairs:
        sums[hand] = sums.get(hand, 0.0) + value
    return sums
