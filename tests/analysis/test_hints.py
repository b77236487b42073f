"""Hints: complete choices, their probabilities, and win chances."""

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from crowd_games import played
from skyenv import Game
from skyenv.agents import Decisions, RandomAgent, SearchProgress, decide_game, make_agent
from skyenv.analysis import choices
from skyenv.analysis.choices import Path
from skyenv.analysis.hints import MIN_TRIES, advise
from skyenv.analysis.playouts import shares_of
from skyenv.analysis.win_chance import win_chances
from skyenv.rules.actions import BID_DONE, PASS
from skyenv_agents import GreedyAgent, TrainedAgent


def at(phase: str, least: int = 3) -> Game:
    """Return a game at the start of a choice in a phase, with at least `least` first actions."""
    game, agent = Game(2, seed=3), GreedyAgent()
    while game.phase != phase or len(game.legal_actions) < least:
        game.play(decide_game(game, agent))
    return game


@pytest.mark.parametrize("phase", ["start", "option", "take", "move", "bid"])
@pytest.mark.parametrize("name", ["random", "crowd", "greedy"])
def test_choices_are_complete_and_distinct(phase: str, name: str) -> None:
    """Every choice can be played and completes its decision; the agent's own is among them."""
    game = at(phase)
    hints = advise(make_agent(name), game)
    position = game.batch.state[0]
    kinds = [choices.same(position, one.actions) for one in hints.best]
    assert len(set(kinds)) == len(kinds) <= 6
    assert choices.same(position, hints.own) in kinds
    for one in hints.best:
        after = game.copy()
        for action in one.actions:
            assert after.seat == game.seat
            after.play(action)
        assert not choices.is_incomplete(after.batch.state)[0]


def kind(text: str) -> tuple[str, str, str]:
    """Return a bid's total, its colour and its highest card."""
    bid, _, cards = text.partition(": ")
    return bid, cards.partition(" ")[0], max(filter(str.isdigit, cards), default="")


def every_bid(game: Game, path: Path = (), chance: float = 1.0) -> Iterator[tuple[Path, float]]:
    """Yield every bid and the pass with its probability under uniformly random actions."""
    for action in game.legal_actions:
        after, share = game.copy(), chance / len(game.legal_actions)
        after.play(action)
        if action in (PASS, BID_DONE):
            yield (*path, action), share
        else:
            yield from every_bid(after, (*path, action), share)


@pytest.mark.rule("AUC-3", "AUC-4", "AUC-5", "AUC-10")
def test_a_bids_probability_is_the_product_of_its_actions() -> None:
    """Bids of one total that differ in colour or highest card are different choices."""
    game = at("bid", least=4)
    position, chances = game.batch.state[0], Counter[tuple[str, str, str]]()
    for path, chance in every_bid(game):
        chances[kind(choices.text(position, path))] += chance  # type: ignore[assignment]
    hints = advise(make_agent("random"), game).best
    assert len(hints) > 3
    for one in hints:
        told = kind(choices.text(position, one.actions))
        assert one.sure == pytest.approx(chances[told], rel=0.1)


class Settled(RandomAgent):
    """An agent that tries each action of a decision equally often."""

    tries = 4

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress:
        """See :class:`skyenv.agents.Agent`."""
        visits = self.tries * decisions.mask[0].astype(float)
        return SearchProgress(int(visits.argmax()), visits, 0.0, self.tries, 64)


@pytest.mark.parametrize(("tries", "kind"), [(4, "none"), (MIN_TRIES, "probability")])
def test_few_simulations_are_no_probabilities(tries: int, kind: str) -> None:
    agent, game = Settled(), at("option")
    agent.tries = tries
    hint = advise(agent, game)
    assert hint.kind == kind
    assert hint.own in [one.actions for one in hint.best]
    assert {one.sure is None for one in hint.best} == {kind == "none"}


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3])
def test_win_chances_agree_with_play_outs(players: int) -> None:
    """The mean error is below 15 points, of which the noise of 60 play-outs is about 4; estimates
    correlate with results.
    """
    trained = TrainedAgent()
    predicted, played_out = [], []
    for seed in range(6):
        game = played(players, seed, actions=40 + 25 * seed)
        position = game.batch.state[0]
        predicted += win_chances(trained, [(position, game.seat, ())]).shares[0].tolist()
        shares, _ = shares_of([trained] * players, position, range(60), game.seat)
        played_out += shares.mean(axis=0).tolist()
    assert np.abs(np.array(predicted) - played_out).mean() < 0.15
    assert np.corrcoef(predicted, played_out)[0, 1] > 0.8
