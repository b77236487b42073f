"""Bidding tasks: what they deal, when they end and what they pay; their trees, equilibria, and best
responses to agents.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import GameOptions, Games, OptionError, make_agent
from skyenv.agents import decisions_in
from skyenv.cli import main
from skyenv.engine.kernels import CARD_VP
from skyenv.engine.tasks import TASKS, beginnings
from skyenv.rules.components import BLACK
from skyenv.rules.state import END_REASONS, PHASE_BID, PHASE_BUILD
from skyenv.tasks.equilibrium import best_responses, solve
from skyenv.tasks.responses import policy_of, questions
from skyenv.tasks.tree import CHANCE, LEAF, Beginning

pytestmark = pytest.mark.compiled

Deal = tuple[int, int]


@cache
def beginning(name: str) -> Beginning:
    return Beginning(name)


def uniform_policy(made: Beginning) -> npt.NDArray[np.float64]:
    """Every legal edge alike."""
    tree = made.tree
    policy = np.zeros(tree.block[-1])
    for node in np.flatnonzero(tree.kind < CHANCE):
        edges = np.arange(tree.first[node + 1] - tree.first[node])
        bits = tree.legal[tree.first_legal[node] : tree.first_legal[node + 1]]
        legal = (bits[None] >> edges[:, None]) & 1
        block = legal / np.maximum(legal.sum(axis=0), 1)
        policy[tree.block[node] : tree.block[node + 1]] = block.reshape(-1)
    return policy


@pytest.mark.parametrize("name", TASKS)
def test_hidden_cards_are_dealt_anew_from_those_that_nobody_can_locate(name: str) -> None:
    """INF-2: with the number of cards that the task names, every seat in every beginning."""
    task, stored = TASKS[name], beginnings(name)
    games = Games(400, task=name, seed=5, observation=None)
    again = Games(400, task=name, seed=5, threads=2, observation=None)
    assert games.state.tobytes() == again.state.tobytes()
    state = games.state
    hidden = (state["hand"] - state["known"]).sum(axis=1)
    assert (state["face_down"] + hidden == state["unlocated"]).all()
    assert (state["face_down"] >= 0).all()
    seats = slice(0, task.num_players)
    assert (hidden[:, BLACK].sum(axis=1) == state["unknown"][:, seats, BLACK].sum(axis=1)).all()
    assert len(np.unique(state["owner"], axis=0)) == len(np.unique(stored["owner"], axis=0)) > 20
    hands = Games(60, task=f"{name}/0", seed=1, observation=None).state["hand"]
    assert (
        hands[:, seats, :BLACK].sum(axis=(2, 3)) == hands[0, seats, :BLACK].sum(axis=(1, 2))
    ).all()
    assert len(np.unique(hands[:, seats, BLACK], axis=0)) > 3


@pytest.mark.parametrize("name", TASKS)
def test_a_task_lasts_its_auctions_and_pays_for_vp_and_cards(name: str) -> None:
    """Zero-sum with two seats, and what a plain account of the step gives."""
    task = TASKS[name]
    games = Games(200, task=name, seed=2, autoreset=False, observation=None)
    paid, won = np.zeros((200, task.num_players)), np.zeros(200, np.int64)
    start = standing(games.state, task.num_players)
    cards = np.zeros_like(paid)
    while (going := np.flatnonzero(games.seat >= 0)).size:
        before = games.state[going].copy()
        games.play_random(1)
        after = games.state[going]
        built = (before["phase"] == PHASE_BID) & (after["phase"] == PHASE_BUILD)
        winners = after["seat"][built]
        cards[going[built], winners] += after["bid_cards"][built, winners].sum(axis=(1, 2))
        won[going] += built
        paid[going] += games.reward[going]
        assert (after["auctions_left"] <= before["auctions_left"]).all()
    assert {END_REASONS[end] for end in games.state["end"]} == {"task"}
    assert games.done.all()
    assert not games.truncated.any()
    assert won.max() == task.auctions
    others = (cards.sum(axis=1, keepdims=True) - cards) / (task.num_players - 1)
    gained = standing(games.state, task.num_players) - start
    assert np.allclose(paid, gained + CARD_VP * (others - cards), atol=1e-5)
    assert task.num_players > 2 or np.allclose(paid.sum(axis=1), 0, atol=1e-5)


def standing(state: Any, players: int) -> npt.NDArray[np.float64]:
    """The margin over the best other seat, had all districts been scored (SCO-2)."""
    worth = (state["floors"] * state["value"].astype(np.int64))[:, None]
    owned = state["owner"][:, None] == np.arange(players)[None, :, None, None]
    vp = state["score"][:, :players] + (worth * owned).sum(axis=(2, 3))
    best = [np.delete(vp, seat, axis=1).max(axis=1) for seat in range(players)]
    margin: npt.NDArray[np.float64] = vp - np.stack(best, axis=1).astype(np.float64)
    return margin


def test_wrong_tasks_are_named() -> None:
    with pytest.raises(OptionError, match=r"task must be one of duel-3, .* not 'chess'"):
        Games(1, task="chess")
    with pytest.raises(OptionError, match="beginnings alea-4/0 to alea-4/31, not 'alea-4/32'"):
        Games(1, task="alea-4/32")
    with pytest.raises(OptionError, match="give no num_players, side, board or max_turns"):
        GameOptions(3, task="alea-4")
    assert GameOptions(task="three-3").num_players == 3
    with pytest.raises(OptionError, match="has 32 beginnings"):
        Beginning("duel-3")


# ---- trees ----


@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/1", "park-4/1", "set-2/0"])
def test_the_tree_expects_of_random_play_what_random_play_brings(name: str) -> None:
    """ALEA-2: with her cards, which hang together with both hands."""
    made = beginning(name)
    tree, policy = made.tree, uniform_policy(made)
    reach = np.ones((len(tree.kind), 2, max(len(own) for own in made.hands)))
    for node in range(len(tree.kind)):
        for edge in range(tree.first[node], tree.first[node + 1]):
            reach[tree.child[edge]] = reach[node]
            kind = tree.kind[node]
            if kind < CHANCE:
                hands = len(made.hands[kind])
                at = tree.block[node] + (edge - tree.first[node]) * hands
                reach[tree.child[edge], kind, :hands] *= policy[at : at + hands]
    expected = np.zeros(2)
    total = 0.0
    first, second = (len(own) for own in made.hands)
    for leaf in np.flatnonzero(tree.kind == LEAF):
        deals = tree.joint[tree.cards[leaf] + 1]
        weight = reach[leaf, 0, :first] @ deals @ reach[leaf, 1, :second]
        expected += weight * tree.payoff[leaf]
        total += weight
    assert total == pytest.approx(1, abs=1e-12)
    games = Games(20_000, task=name, seed=9, autoreset=False, observation=None)
    brought = np.zeros((20_000, 2))
    while (games.seat >= 0).any():
        going = games.seat >= 0
        games.play_random(1)
        brought[going] += games.reward[going]
    error = brought[:, 0].std() / np.sqrt(20_000)
    assert abs(brought[:, 0].mean() - expected[0]) < 4 * error


def brute_force(made: Beginning, responder: int) -> float:
    """The best response to random play, by whole games from every deal, without the tree."""
    games = Games(1, task=made.name, seed=0, autoreset=False, observation=None)
    first = beginnings(made.name)
    start: dict[Deal, tuple[Any, float, float]] = {}
    for deal in np.ndindex(*made.tree.joint.shape[1:]):
        chance = made.tree.joint[(0, *deal)]
        if chance:
            state = first.copy()
            for seat, index in enumerate(deal):
                state["hand"][0, seat, BLACK] = made.hands[seat][index]
                state["face_down"][0, BLACK] -= made.hands[seat][index]
            state["random"] = 1
            start[(deal[0], deal[1])] = (state, float(chance), 0.0)

    def legal_in(state: Any) -> list[int]:
        games.state[:] = state
        games.refresh()
        return np.flatnonzero(games.mask[0]).tolist()

    def worth(reached: dict[Deal, tuple[Any, float, float]]) -> dict[int, float]:
        """By the responder's hand: what is won from here on, weighted."""
        hands = {deal[responder] for deal in reached}
        state = next(iter(reached.values()))[0]
        seat = int(state["seat"][0])
        if seat < 0:
            return {
                hand: sum(w * p for deal, (_, w, p) in reached.items() if deal[responder] == hand)
                for hand in hands
            }
        legal = {deal: legal_in(reached[deal][0]) for deal in reached}
        best: dict[int, list[float]] = {hand: [] for hand in hands}
        for action in sorted(set().union(*legal.values())):
            after: dict[Deal, tuple[Any, float, float]] = {}
            for deal, (position, weight, paid) in reached.items():
                if action in legal[deal]:
                    games.state[:] = position
                    games.refresh()
                    games.step([action])
                    share = 1.0 if seat == responder else 1 / len(legal[deal])
                    payoff = paid + float(games.reward[0, responder])
                    after[deal] = (games.state.copy(), weight * share, payoff)
            for hand, value in worth(after).items():
                best[hand].append(value)
        return {hand: (max if seat == responder else sum)(found) for hand, found in best.items()}

    return sum(worth(start).values())


@pytest.mark.parametrize("seat", [0, 1])
def test_the_best_response_is_that_of_brute_force(seat: int) -> None:
    made = beginning(SMALL)
    responses = best_responses(made.tree, uniform_policy(made))
    assert responses[seat] == pytest.approx(brute_force(made, seat), abs=1e-5)


SMALL = "park-4/0"


@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/0", "park-4/1"])
def test_an_equilibrium_is_what_no_best_response_gains_from(name: str) -> None:
    *_, solution = solve(beginning(name).tree, 0.0002)
    assert 0 <= solution.nash_conv <= 0.0002 * solution.payoff_range
    value, least = solution.responses[0], -solution.responses[1]
    responses = best_responses(beginning(name).tree, uniform_policy(beginning(name)))
    assert responses[0] >= least
    assert -responses[1] <= value


# ---- agents ----


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_agents_are_exploited_by_what_they_do(name: str) -> None:
    """Random play is exploited as the uniform policy is; nobody is less exploited than 0."""
    made = beginning("duel-3/0")
    *_, policy = policy_of(make_agent(name), made, samples=60)
    conv, uniform = (
        sum(best_responses(made.tree, policy)),
        sum(best_responses(made.tree, uniform_policy(made))),
    )
    if name == "random":
        assert conv == pytest.approx(uniform, rel=0.03)
    else:
        assert 0 < conv < uniform / 2


@pytest.mark.parametrize("name", ["duel-4/0", "alea-3/0", "set-2/0"])
def test_agents_cannot_tell_which_hand_the_other_was_given(name: str) -> None:
    """INF-2: any that fits does for asking them."""
    made = beginning(name)
    tree = made.tree
    nodes = np.flatnonzero(tree.kind < CHANCE)[:300]
    reach = np.ones((len(tree.kind), 2, max(len(own) for own in made.hands)))
    told: list[tuple[bytes, ...]] = []
    for last in (False, True):
        asked = questions(made, nodes, reach, last)
        games = Games(len(asked.node), task=name, seed=0, autoreset=False)
        games.state[:] = asked.states
        games.refresh()
        seen = decisions_in(games, make_agent("greedy"), uniform=np.zeros(len(asked.node)))
        assert seen.view is not None
        parts = (seen.mask, seen.view, games.observation, asked.states["hand"])
        told.append(tuple(part.tobytes() for part in parts))
    assert told[0][:3] == told[1][:3]
    assert told[0][3] != told[1][3]


def test_the_command_prints_a_line_for_every_beginning_and_keeps_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--task", "duel-3", "--positions", "2", "--json", str(tmp_path / "figures.json")]
    assert main(["exploitability", "greedy", *words]) == 0
    printed = capsys.readouterr().out
    told = json.loads((tmp_path / "figures.json").read_text())
    assert [row["position"] for row in told["positions"]] == ["duel-3/0", "duel-3/1"]
    for row in told["positions"]:
        assert f"{row['nash_conv']:.3f}" in printed
        assert row["nash_conv"] == pytest.approx(sum(row["responses"]))
        assert row["share"] == pytest.approx(row["nash_conv"] / row["range"])
