"""Bidding tasks: deals, payoffs, trees, equilibria, and best responses to agents."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from positions import paid_at_random
from skyenv import CheckpointError, Game, GameOptions, Games, OptionError, make_agent
from skyenv.agents import decide
from skyenv.engine.openings import (
    HELD_OUT,
    NUM_OPENINGS,
    OF_AUCTIONS,
    TASKS,
    measured,
    numbers_of,
    openings,
)
from skyenv.engine.results import results
from skyenv.engine.rewards import CARD_VP
from skyenv.rules.components import BLACK
from skyenv.rules.state import END_REASONS, PHASE_BID, PHASE_BUILD
from skyenv.solving.best_response import Evaluator, largest_losses
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.tree import CHANCE, Opening

pytestmark = pytest.mark.compiled

Deal = tuple[int, ...]


@cache
def opening(name: str) -> Opening:
    return Opening(name)


def uniform_policy(made: Opening) -> npt.NDArray[np.float64]:
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
def test_hidden_cards_are_dealt_from_the_unlocated_ones(name: str) -> None:
    """INF-2: with the number of cards that the task names, every seat in every opening."""
    task = TASKS[name]
    games = Games(400, task=name, seed=5, observation=False)
    again = Games(400, task=name, seed=5, threads=2, observation=False)
    assert games.state.tobytes() == again.state.tobytes()
    state = games.state
    hidden = (state["hand"] - state["known"]).sum(axis=1)
    assert (state["face_down"] + hidden == state["unlocated"]).all()
    assert (state["face_down"] >= 0).all()
    seats = slice(0, task.num_players)
    assert (hidden[:, BLACK].sum(axis=1) == state["unknown"][:, seats, BLACK].sum(axis=1)).all()
    assert TASKS[name].auctions == 0 or not hidden[:, :BLACK].any()  # coloured cards are public
    hands = Games(60, task=f"{name}/0", seed=1, observation=False).state["hand"]
    assert (
        hands[:, seats, :BLACK].sum(axis=(2, 3)) == hands[0, seats, :BLACK].sum(axis=(1, 2))
    ).all()
    assert not task.auctions or len(np.unique(hands[:, seats, BLACK], axis=0)) > 3


@pytest.mark.parametrize("name", TASKS)
def test_held_out_openings_are_never_trained_on(name: str) -> None:
    """Nor is one in both parts; and a game has the opening that a row with its seed begins with."""
    for part, numbers in ((name, range(1024)), (f"{name}/{HELD_OUT}", range(1024, NUM_OPENINGS))):
        assert numbers_of(part) == numbers
        stored = public(openings(part))
        assert len(set(stored)) == len(numbers)
        games = Games(300, task=part, seed=7, observation=False)
        begun = public(games.state)
        assert len(set(begun) & set(stored)) > 100
        assert set(begun) <= set(stored)
        opening = str(Game(task=part, seed=7).options.task)
        assert public(openings(opening)) == begun[:1]
        assert begun[0] not in public(openings(name if part != name else f"{name}/{HELD_OUT}"))
    assert measured(name, 2) == [f"{name}/1024", f"{name}/1025"]


def public(state: Any) -> list[bytes]:
    """What tells openings apart, whatever has been dealt."""
    told = (
        "owner",
        "floors",
        "tiles",
        "score",
        "known",
        "unknown",
        "auction_place",
        "top",
        "turns",
    )
    return [b"".join(row[name].tobytes() for name in told) for row in state]


@pytest.mark.parametrize("name", OF_AUCTIONS)
def test_a_task_lasts_its_auctions_and_pays_for_vp_and_cards(name: str) -> None:
    """Zero-sum with two seats, and equal to a plain computation."""
    task = TASKS[name]
    games = Games(200, task=name, seed=2, autoreset=False, observation=False)
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


def test_the_last_turns_of_a_game_pay_its_outcome() -> None:
    """END-4, END-5: truncated games pay nothing; strong agents rarely reach the cap."""
    games = Games(200, task="last-turns", seed=2, autoreset=False)
    agent = make_agent("greedy")
    paid = np.zeros((200, 2))
    while (rows := np.flatnonzero(games.seat >= 0)).size:
        games.step(decide(games, agent, rows), rows)
        paid[rows] += games.reward[rows]
    shares, _ = results(games.state)
    expected = np.where(games.truncated[:, None], 0.0, 2 * shares[:, :2] - 1)
    assert np.allclose(paid, expected)
    assert games.truncated.mean() < 0.2
    assert {END_REASONS[end] for end in games.state["end"]} <= {"businesses", "stops", "truncated"}


def test_whole_games_have_task_names() -> None:
    assert GameOptions(task="full-2-back") == GameOptions(2, "back")
    assert GameOptions(task="full-4") == GameOptions(4)
    with pytest.raises(OptionError, match="full-3 decides num_players and side"):
        GameOptions(4, task="full-3")


def standing(state: Any, players: int) -> npt.NDArray[np.float64]:
    """The margin over the best other seat, had all districts been scored (SCO-2)."""
    worth = (state["floors"] * state["value"].astype(np.int64))[:, None]
    owned = state["owner"][:, None] == np.arange(players)[None, :, None, None]
    vp = state["score"][:, :players] + (worth * owned).sum(axis=(2, 3))
    best = [np.delete(vp, seat, axis=1).max(axis=1) for seat in range(players)]
    margin: npt.NDArray[np.float64] = vp - np.stack(best, axis=1).astype(np.float64)
    return margin


def test_invalid_tasks_are_refused() -> None:
    with pytest.raises(OptionError, match=r"task must be one of duel-3, .* not 'chess'"):
        Games(1, task="chess")
    message = "openings alea-4/0 to alea-4/1279, those from alea-4/1024 held out, not 'alea-4/1280'"
    with pytest.raises(OptionError, match=message):
        Games(1, task="alea-4/1280")
    with pytest.raises(OptionError, match="give no num_players, side, board or max_turns"):
        GameOptions(3, task="alea-4")
    assert GameOptions(task="three-3").num_players == 3
    with pytest.raises(OptionError, match="has 1024 openings"):
        Opening("duel-3")


# ---- trees ----


@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/1", "park-4/1", "set-2/0", "three-3/1"])
def test_values_in_the_tree_equal_the_mean_of_random_play(name: str) -> None:
    """ALEA-2: including her cards, which depend on all hands."""
    made = opening(name)
    expected = Evaluator(made.tree).values(uniform_policy(made))
    brought = paid_at_random(name, 20_000, seed=9)
    error = brought.std(axis=0) / np.sqrt(20_000)
    assert (abs(brought.mean(axis=0) - expected) < 4 * error).all()


def brute_force(made: Opening, responder: int) -> float:
    """The best response to random play, by whole games from every deal, without the tree."""
    games = Games(1, task=made.name, seed=0, autoreset=False, observation=False)
    first = openings(made.name)
    start: dict[Deal, tuple[Any, float, float]] = {}
    for deal in np.ndindex(*made.tree.deals.shape[1:]):
        chance = made.tree.deals[(0, *deal)]
        if chance:
            state = first.copy()
            for seat, own in enumerate(made.hands):
                state["hand"][0, seat, BLACK] = own[deal[seat]]
                state["face_down"][0, BLACK] -= own[deal[seat]]
            state["random"] = 1
            start[deal] = (state, float(chance), 0.0)

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


@pytest.mark.parametrize(
    ("name", "seat"),
    [
        pytest.param("park-4/0", 0, marks=pytest.mark.long),
        pytest.param("park-4/0", 1, marks=pytest.mark.long),
        ("three-3/0", 2),
    ],
)
def test_best_responses_equal_brute_force(name: str, seat: int) -> None:
    made = opening(name)
    responses = Evaluator(made.tree).best_responses(uniform_policy(made))
    assert responses[seat] == pytest.approx(brute_force(made, seat), abs=1e-5)


@pytest.mark.parametrize("name", ["duel-3/1", "alea-3/0", "three-3/0"])
def test_losses_per_decision_sum_to_the_best_responses_gain(name: str) -> None:
    made = opening(name)
    evaluator, policy = Evaluator(made.tree), uniform_policy(made)
    gains = np.subtract(evaluator.best_responses(policy), evaluator.values(policy))
    losses = [evaluator.losses(policy, seat) for seat in range(len(made.hands))]
    assert min(part.min() for part in losses) > -1e-12
    assert [part.sum() for part in losses] == pytest.approx(gains)
    largest = largest_losses(made, evaluator, policy, 3)
    assert [loss.vp for loss in largest] == sorted((loss.vp for loss in largest), reverse=True)
    assert largest[0].vp == pytest.approx(max(part.max() for part in losses))
    assert largest[0].better != largest[0].played


@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/0", "park-4/1"])
def test_best_responses_to_an_equilibrium_gain_nothing(name: str) -> None:
    *_, solution = solve(Solver(opening(name).tree), 0.0002)
    assert 0 <= solution.nash_conv <= 0.0002 * solution.payoff_range
    value, least = solution.responses[0], -solution.responses[1]
    responses = Evaluator(opening(name).tree).best_responses(uniform_policy(opening(name)))
    assert responses[0] >= least
    assert -responses[1] <= value


def test_a_resumed_solver_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    made, file = opening("duel-3/0"), tmp_path / "duel-3-0.npz"
    tree = made.tree
    whole, first, second = Solver(tree), Solver(tree), Solver(tree)
    whole.run(50)
    first.run(20)
    first.save(file)
    made.states_of(np.ones(len(tree.kind), np.bool_))  # a walk leaves the tree as it is
    second.load(file)
    second.run(30)
    assert whole.solution().policy.tobytes() == second.solution().policy.tobytes()
    with pytest.raises(CheckpointError, match="not a saved solution of this opening"):
        Solver(opening("duel-3/1").tree).load(file)
    content = file.read_bytes()
    middle = len(content) // 2
    for damaged in (content[:-9], content[:middle] + b"\xff" * 60 + content[middle + 60 :]):
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match="is not a saved solution"):
            second.load(file)
    with pytest.raises(OptionError, match="solving needs a task with two seats"):
        Solver(opening("three-3/0").tree)
