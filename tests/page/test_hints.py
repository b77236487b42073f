"""Hints speak of whole choices, and of the chance to win by one estimator."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pages import Judge, played, quick_catalogue

from skyenv import Game
from skyenv.agents import Agent, decide_game
from skyenv.page import choices
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.errors import PageError
from skyenv.page.hints import advise, hint
from skyenv.page.win_chance import win_chances
from skyenv.rules.actions import ACTION_NUMBERS, BID_DONE, PASS
from skyenv_agents import GreedyAgent, TrainedAgent

JUDGE = CatalogueEntry("trained", Judge())


def nothing(so_far: Any) -> None:
    """A report that nobody reads."""


def at(phase: str, least: int = 3, seed: int = 3) -> Game:
    """A game at the beginning of a whole choice of that phase, with so many first actions."""
    game, agent = Game(2, seed=seed), GreedyAgent()
    while game.phase != phase or len(game.legal_actions) < least:
        game.play(decide_game(game, agent))
    return game


@pytest.mark.parametrize("phase", ["start", "option", "take", "move", "bid"])
@pytest.mark.parametrize("name", ["random", "crowd", "greedy"])
def test_choices_are_whole_and_differ(phase: str, name: str) -> None:
    """Every choice can be played and ends its decision; no two come to the same; and what the agent
    would do is among them.
    """
    game = at(phase)
    told = advise(quick_catalogue()[name], None, game, nothing)
    position = game.games.state[0]
    kinds = [choices.same(position, tuple(one["actions"])) for one in told["best"]]
    assert len(set(kinds)) == len(kinds) <= 6
    assert choices.same(position, tuple(told["actions"])) in kinds
    for one in told["best"]:
        after = game.copy()
        for action in one["actions"]:
            assert after.seat == game.seat
            after.play(action)
        assert not choices.in_midst(after.games.state)[0]
    sure = [one["sure"] for one in told["best"]]
    assert sure == sorted(sure, reverse=True)
    assert told["kind"] == ("vp" if name == "greedy" else "probability")
    assert sure[0] == 0 if name == "greedy" else 0 < sum(sure) <= 1.001


@pytest.mark.rule("AUC-3", "AUC-4")
def test_a_bid_is_one_choice_with_the_product_of_its_probabilities() -> None:
    """Worked out by hand for an agent that is as sure of one card as of another."""
    game = at("bid", least=4)
    random = quick_catalogue()["random"].agent
    state = choices.imagined(game.games.state[0], game.seat or 0)
    first = game.mask / game.mask.sum()
    found = choices.probable(random, state, first.astype(float), 1e-9)
    assert sum(one.sure or 0 for one in found) == pytest.approx(1)
    by_total: dict[int, float] = {}

    def follow(game: Game, total: int, chance: float) -> None:
        for action in game.legal_actions:
            after, share = game.copy(), chance / len(game.legal_actions)
            after.play(action)
            if action in (PASS, BID_DONE):
                key = 0 if action == PASS else total
                by_total[key] = by_total.get(key, 0) + share
            else:
                follow(after, total + (action - 79) % 3 + 4, share)

    seat = game.seat
    assert seat is not None
    follow(game, int(game.state["bid_total"][seat]), 1.0)
    told = {
        0 if one.actions == (PASS,) else choices.total(game.games.state[0], one.actions): one.sure
        for one in found
    }
    likely = {key: chance for key, chance in by_total.items() if chance > 0.02}
    assert len(likely) > 2
    assert {key: told[key] for key in likely} == pytest.approx(likely, rel=0.1)


def test_choices_in_words() -> None:
    position: Any = at("bid").games.state[0].copy()
    position["bid_total"] = 0
    names = ("bid green 5", "bid green 6", "bid black 4", "bid done")
    path = tuple(ACTION_NUMBERS[name] for name in names)
    assert choices.text(position, path) == "bid 15: green 6, 5 + black 4"
    taking = at("take")
    told = hint(quick_catalogue()["greedy"], taking).own
    text = choices.text(taking.games.state[0], told)
    assert text.startswith("take ")
    assert text.count(" and ") == 1


def test_chances_to_win_are_those_of_all_seats_and_depend_on_the_view_alone() -> None:
    game = played(3, seed=3, actions=60)
    told = advise(quick_catalogue()["greedy"], JUDGE, game, nothing)
    assert told["by"] == "trained"
    assert sum(told["win"]) == pytest.approx(1, abs=1e-3)
    assert all(0 <= one["win"] <= 1 for one in told["best"])
    seat = game.seat
    assert seat is not None
    other = choices.imagined(game.games.state[0], seat)[0]
    assert other.tobytes() != game.games.state[0].tobytes()
    first, second = win_chances(Judge(), [(one, seat, ()) for one in (game.games.state[0], other)])
    assert first.tolist() == second.tolist()
    assert win_chances(Judge(), [(other, None, ())])[0].sum() == pytest.approx(1)


@pytest.mark.long
@pytest.mark.parametrize("players", [2, 3])
def test_chances_to_win_are_near_to_what_play_outs_show(players: int) -> None:
    """On average 15 points or less off, of which the 60 play-outs are 4 themselves; and those that
    are told high come true more often than those told low.
    """
    from skyenv.page.playouts import shares_of

    trained = CatalogueEntry("trained", TrainedAgent())
    told, came = [], []
    for seed, agent in enumerate([GreedyAgent(), trained.agent] * 3):
        game = Game(players, seed=seed)
        play_until(game, agent, 40 + 45 * seed)
        if game.seat is not None:
            position = game.games.state[0]
            told += win_chances(trained.agent, [(position, game.seat, ())])[0].tolist()
            shares, _ = shares_of([trained] * players, position, range(60), game.seat)
            came += shares.mean(axis=0).tolist()
    assert np.abs(np.array(told) - came).mean() < 0.15
    assert np.corrcoef(told, came)[0, 1] > 0.8


def play_until(game: Game, agent: Agent, decisions: int) -> None:
    """Play on, to so many decisions or the end."""
    while not game.is_over and int(game.state["decisions"]) < decisions:
        game.play(decide_game(game, agent))


def test_a_hint_of_a_finished_game_is_refused() -> None:
    with pytest.raises(PageError, match="over"):
        advise(quick_catalogue()["random"], None, played(2, seed=3), nothing)


def test_a_search_reports_what_it_has_come_to() -> None:
    told: list[Any] = []
    game = at("bid")
    end = advise(CatalogueEntry("ismcts-60", "ismcts-60"), None, game, told.append)
    assert end["tries"] == (60, 60)
    assert all(first["tries"] <= second["tries"] for first, second in pairwise(told))
