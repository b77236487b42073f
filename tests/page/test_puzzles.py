"""Bidding puzzles and their exact answers."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest
from pages import Json, act, begin, payload
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.agents import decide_game
from skyenv.analysis.choices import Path
from skyenv.page.agents.puzzles import (
    EQUILIBRIUM,
    SHARE,
    SHOWN,
    _choices,
    _solved,
    answer,
    puzzle,
    reply,
)
from skyenv.rules.actions import BID_DONE, PASS
from skyenv.solving.best_response import Evaluator, seat_value
from skyenv_agents import GreedyAgent

NUMBER = 2  # of alea-3, which is solved at once
BROWN_4 = 85  # the action "bid brown 4"


def test_the_best_bids_of_all_hands_are_worth_the_best_response() -> None:
    game = puzzle(NUMBER)
    opening, policy, error = _solved(str(game.options.task))
    seat = int(str(game.seat))
    evaluator = Evaluator(opening.tree)
    value = evaluator.best_responses(policy)[seat]
    seat_value(opening.tree, policy, evaluator.reach, evaluator.worth, seat, True)
    best = [
        max(evaluator.worth[node, hand] for _, node in _choices(opening.tree, seat, hand, 0))
        for hand in range(len(opening.hands[seat]))
    ]
    assert sum(best) == pytest.approx(value)
    assert 0 <= error <= SHARE * evaluator.payoff_range


def bids_of(game: Game, path: Path = ()) -> Iterator[Path]:
    """Yield every bid of the seat to act, and the pass."""
    for action in game.legal_actions:
        if action in (PASS, BID_DONE):
            yield (*path, action)
        else:
            after = game.copy()
            after.play(action)
            yield from bids_of(after, (*path, action))


def judged(game: Game, path: Path, seat: int | None) -> list[Json]:
    """Return the decisions of a seat after a choice, judged."""
    after = game.copy()
    for action in path:
        after.play(action)
    return list(answer(after, int(str(seat)), lambda so_far: None)["decisions"])


def test_an_answer_ranks_exactly_the_legal_bids() -> None:
    game = puzzle(NUMBER + 6)  # more than SHOWN choices
    found = [judged(game, path, game.seat)[0] for path in bids_of(game)]
    values = sorted((one["own"]["value"] for one in found), reverse=True)
    assert len({one["own"]["text"] for one in found}) == len(found) > SHOWN
    for one in found:
        assert ([each["value"] for each in one["choices"][:SHOWN]], one["choices"][SHOWN:]) == (
            values[:SHOWN],
            [] if one["own"] in one["choices"][:SHOWN] else [one["own"]],
        )
        assert one["cost"] == pytest.approx(values[0] - one["own"]["value"], abs=0.011)


@pytest.mark.parametrize("number", [NUMBER, NUMBER + 1])
def test_what_is_built_after_the_auction_is_worth_what_it_pays(number: int) -> None:
    """The line goes on against the equilibrium; nothing is left to chance then."""
    deal, greedy, built = puzzle(number), GreedyAgent(), 0
    for seed in range(20):
        game = Game(task=deal.options.task, seed=seed)
        while not game.is_over:
            bids = game.seat == deal.seat
            for action in [decide_game(game, greedy)] if bids else reply(game, lambda _: None):
                game.play(action)
        found = judged(game, (), deal.seat)
        assert all(one["cost"] >= 0 for one in found)
        if found[-1]["own"]["text"].startswith("build"):
            built += 1
            payoff = game.events[-1]["payoff"][int(str(deal.seat))]
            assert found[-1]["own"]["value"] == pytest.approx(payoff, abs=0.006)
    assert built
    # Where only the equilibrium still decides it does best, also after a bid that is never right.
    game = puzzle(date(2026, 11, 27).toordinal())
    for path in ([BROWN_4, BID_DONE], None, [PASS], None):
        for action in path or reply(game, lambda _: None):
            game.play(action)
    assert judged(game, (), 0)[-1]["own"]["value"] == game.events[-1]["payoff"][0] == -3.0


def test_puzzles_are_answered_choice_by_choice(ann: TestClient) -> None:
    ann.get("/")
    pages = [ann.get(f"/puzzle?number={NUMBER}", follow_redirects=False) for _ in range(2)]
    (page,) = {one.headers["location"] for one in pages}  # a number is one game
    seat = f"/api/seats/{page.removeprefix('seat/')}"
    assert ann.get(f"{seat}/answer").json()["decisions"] == []
    state = payload(ann, seat)
    assert state["puzzle"] == {
        "number": 2,
        "title": "Puzzle 2",
        "goal": "Goal: lead gained, all districts scored, less 1.5 VP a card",
        "next": 1,
        "decisions": 0,
    }
    assert state["names"].count(EQUILIBRIUM) == 1
    assert act(ann, seat, state, PASS).status_code == 200
    (one,) = ann.get(f"{seat}/answer").json()["decisions"]
    assert one["own"]["text"].startswith("pass")
    wait_until(lambda: payload(ann, seat)["over"])
    state = payload(ann, seat)
    assert state["puzzle"]["decisions"] == 1
    assert not state["people"]["can_rematch"]
    assert ann.get("/api/games").json() == {"games": []}
    today = datetime.now(UTC).date()
    for number, title in (
        (1, "Puzzle 1"),
        (today.toordinal(), f"Puzzle of {today.day} {today:%B %Y}"),
    ):
        place = ann.get(f"/puzzle?number={number}").url.path.replace("seat", "api/seats")
        about = payload(ann, place)["puzzle"]
        assert (about["title"], about["next"]) == (title, number - 1 or today.toordinal())
    for wrong in (0, today.toordinal() + 2, 999999999999):
        assert ann.get(f"/puzzle?number={wrong}").status_code == 400


def test_other_games_have_no_answer(ann: TestClient) -> None:
    """Keys are the client's own."""
    deal = puzzle(NUMBER)
    seats = ["me" if seat == deal.seat else "agent:greedy" for seat in range(2)]
    wanted = {"task": deal.options.task, "seed": f"{deal.seed}"}
    other = begin(ann, seats, **wanted, idempotency_key=f"puzzle-no-{NUMBER}")
    assert act(ann, other, payload(ann, other), PASS).status_code == 200
    assert ann.get(f"{other}/answer").status_code == 409
    assert payload(ann, other)["puzzle"] is None
    with pytest.raises(AssertionError, match="there is no agent 'equilibrium'"):
        begin(ann, ["me", f"agent:{EQUILIBRIUM}"])
