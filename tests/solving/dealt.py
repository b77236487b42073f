"""Tasks as they are dealt: an independent recursion over games, without the tree."""

from collections.abc import Iterator
from dataclasses import dataclass

from skyenv import Game, make_agent
from skyenv.agents import decide_game
from skyenv.engine.events import ChanceOutcome
from skyenv.engine.openings import payoffs
from skyenv.engine.simulator import SETUP

Chance = tuple[ChanceOutcome, ...]


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

    Every position is asked in a game that was dealt with the task's own setup.
    """

    def __init__(self, name: str, agent: str) -> None:
        self.name, self.agent = name, make_agent(agent)
        self.games = dealt_games(name)
        self.players = self.games[0].game.options.num_players

    def nash_conv(self) -> float:
        seats = range(self.players)
        best = [sum(self.worth(self.games, seat, seat).values()) for seat in seats]
        played = [sum(self.worth(self.games, seat, None).values()) for seat in seats]
        return sum(best) - sum(played)

    def worth(self, reached: list[Dealt], seat: int, responder: int | None) -> dict[bytes, float]:
        """What a seat is paid by its hand at the deal, weighted, from games with one history."""
        first = reached[0].game
        if first.is_over:
            return added(
                (one.hands[seat], one.weight * payoffs(self.name, one.game.batch.state)[seat])
                for one in reached
            )
        follows = first.seat == responder
        chosen = (
            {} if follows else {one.hands: decide_game(one.game, self.agent) for one in reached}
        )
        by_action = []
        for action in sorted({action for one in reached for action in one.game.legal_actions}):
            taking = [
                one
                for one in reached
                if (chosen[one.hands] == action if chosen else action in one.game.legal_actions)
            ]
            after: dict[Chance, list[Dealt]] = {}
            for one in taking:
                for chance, probability in outcomes(one.game, action):
                    game = one.game.copy()
                    game.play(action, chance)
                    more = Dealt(game, one.hands, one.weight * probability)
                    after.setdefault(chance, []).append(more)
            by_action.append(
                added(
                    pair
                    for games in after.values()
                    for pair in self.worth(games, seat, responder).items()
                )
            )
        if not follows:
            return added(pair for values in by_action for pair in values.items())
        hands = {one.hands[seat] for one in reached}
        return {hand: max(some[hand] for some in by_action if hand in some) for hand in hands}


def added(pairs: Iterator[tuple[bytes, float]]) -> dict[bytes, float]:
    sums: dict[bytes, float] = {}
    for hand, value in pairs:
        sums[hand] = sums.get(hand, 0.0) + value
    return sums
