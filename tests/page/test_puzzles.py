"""Bidding puzzles and their exact answers."""

from collections.abc import Iterator

import pytest
from pages import act, begin, payload
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.analysis.choices import Path
from skyenv.page.agents.puzzles import SHOWN, _bids, _solved, answer, first_bid, puzzle
from skyenv.rules.actions import BID_DONE, PASS
from skyenv.solving.best_response import Evaluator, seat_value

NUMBER = 2  # of alea-3, which is solved at once


def test_the_best_bids_of_all_hands_are_worth_the_best_response() -> None:
    deal = puzzle(NUMBER)
    opening, policy, error = _solved(deal.task)
    evaluator = Evaluator(opening.tree)
    value = evaluator.best_responses(policy)[deal.seat]
    seat_value(opening.tree, policy, evaluator.reach, evaluator.worth, deal.seat, True)
    best = [
        max(evaluator.worth[node, hand] for _, node in _bids(opening.tree, deal.seat, hand))
        for hand in range(len(opening.hands[deal.seat]))
    ]
    assert sum(best) == pytest.approx(value)
    assert 0 <= error <= 0.001 * evaluator.payoff_range


def bids_of(game: Game, path: Path = ()) -> Iterator[Path]:
    """Yield every bid of the seat to act, and the pass."""
    for action in game.legal_actions:
        if action in (PASS, BID_DONE):
            yield (*path, action)
        else:
            after = game.copy()
            after.play(action)
            yield from bids_of(after, (*path, action))


def test_an_answer_ranks_exactly_the_legal_bids() -> None:
    deal = puzzle(NUMBER)
    game = Game(task=deal.task, seed=deal.seed)
    assert game.seat == deal.seat
    found = [answer(deal, path, lambda so_far: None) for path in bids_of(game)]
    values = sorted((one["own"]["value"] for one in found), reverse=True)
    assert len({one["own"]["text"] for one in found}) == len(found) > 3
    for one in found:
        assert [each["value"] for each in one["choices"]] == values[:SHOWN]
        assert one["cost"] == pytest.approx(values[0] - one["own"]["value"], abs=0.011)


def test_puzzles_are_answered_after_the_first_bid(ann: TestClient) -> None:
    ann.get("/")
    pages = [ann.get(f"/puzzle?number={NUMBER}", follow_redirects=False) for _ in range(2)]
    (page,) = {one.headers["location"] for one in pages}  # a number is one game
    seat = f"/api/seats/{page.removeprefix('seat/')}"
    assert ann.get(f"{seat}/answer").status_code == 409
    state = payload(ann, seat)
    assert state["puzzle"] == {"number": NUMBER, "answered": False}
    assert act(ann, seat, state, PASS).status_code == 200
    assert ann.get(f"{seat}/answer").json()["own"]["text"].startswith("pass")
    assert ann.get("/puzzle", follow_redirects=False).headers["location"] != page
    assert ann.get("/puzzle?number=999999999999").status_code == 400


def test_other_games_have_no_answer(ann: TestClient) -> None:
    """Keys are the client's own."""
    deal = puzzle(NUMBER)
    seats = ["me" if seat == deal.seat else "agent:greedy" for seat in range(2)]
    wanted = {"task": deal.task, "seed": f"{deal.seed + 1}"}
    other = begin(ann, seats, **wanted, idempotency_key=f"puzzle-no-{NUMBER}")
    assert act(ann, other, payload(ann, other), PASS).status_code == 200
    assert ann.get(f"{other}/answer").status_code == 409
    assert first_bid((79, 80)) == ()
    assert first_bid((79, BID_DONE, PASS)) == (79, BID_DONE)
