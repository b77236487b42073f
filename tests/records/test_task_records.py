"""Records of bidding tasks: the opening, the hidden deal, and the payoff."""

import io
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from recorded import as_text, change_line, error_of, lines_of

from referee import Refutation, check_record
from skyenv import Game, records
from skyenv.agents import decide_game, make_agent
from skyenv.engine.information import information_state, information_tensor
from skyenv.engine.openings import TASKS, openings
from skyenv.render.words import Narrator
from skyenv.rules.components import BLACK

pytestmark = pytest.mark.compiled


def played(task: str, seed: int = 1, reward: str = "outcome") -> tuple[Game, Any]:
    """A task's game played to its end, and what it paid every seat by and by."""
    game, agent = Game(task=task, seed=seed, reward=reward), make_agent("random")
    paid = np.zeros(game.num_players)
    while not game.is_over:
        game.play(decide_game(game, agent))
        paid += game.batch.reward[0]
    return game, paid


@pytest.mark.parametrize("task", TASKS)
def test_a_task_is_restored_from_its_record(task: str) -> None:
    """Byte for byte, with or without its seed; the payoff doesn't depend on the reward."""
    for seed in range(3):
        game, paid = played(task, seed)
        assert np.allclose(game.events[-1]["payoff"], paid, atol=1e-5)
        assert played(task, seed, "points")[0].events == game.events
        text = game.to_record(["random"] * game.num_players)
        again = Game.from_record(text)
        assert (again == game, again.options, again.seed) == (True, game.options, seed)
        assert again.to_record(["random"] * game.num_players) == text
        header, *events = lines_of(text)
        foreign = as_text([{**header, "seed": None}, *events])
        assert Game.from_record(foreign).to_record(header["agents"]) == foreign
        assert records.verify(io.StringIO(text + foreign)).games == 2
        steps = [one.position() for one in Game.positions(records.nth_game(io.StringIO(text)))]
        assert Game.from_record(foreign, step=1).state["decisions"] == 1
        assert steps[-1] == game.position()


def test_the_header_names_the_opening_and_the_first_event_the_deal() -> None:
    game = Game(task="alea-4", seed=1)
    header, deal = lines_of(game.to_record())
    assert (header["format"], header["task"]) == ("skyenv-task-record", "alea-4/974")
    assert deal["hands"][0]["black"] == [5]
    assert Game(task="alea-4/974", seed=1) == game
    (limit,) = openings("last-turns/252")["max_turns"]  # END-5
    assert Game(task="last-turns/252").header()["max_turns"] == limit == 36
    assert any("hidden from the others" in line.text for line in Narrator().lines(game.events))
    with pytest.raises(Refutation, match="skyenv-task-record"):
        check_record(game.to_record().splitlines())


@pytest.mark.parametrize(
    "read", [information_state, lambda *args: information_tensor(*args).tolist()]
)
def test_seats_see_only_their_own_dealt_cards(read: Any) -> None:
    """INF-2."""
    hidden = openings("duel-4")["unknown"][:, 1, BLACK]
    first, second = np.flatnonzero(hidden == 3)[:2].tolist()
    header, deal = lines_of(Game(task=f"duel-4/{first}", seed=1).to_record())
    header["seed"], told = None, []
    for cards in ([4, 5, 6], [4, 4, 5]):
        deal["hands"][1]["black"] = cards
        game = Game.from_record(as_text([header, deal]))
        told.append([read(game, seat) for seat in (0, 1)])
    assert told[0][0] == told[1][0]
    assert told[0][1] != told[1][1]
    assert told[0][0] != read(Game(task=f"duel-4/{second}", seed=1), 0)


# ---- damaged records ----


@cache
def base() -> str:
    return played("duel-4/10", 4)[0].to_record()


HEADER, DEAL, END = 0, 1, -1
DAMAGES: list[tuple[int, Any, str]] = [
    (HEADER, {"format": "skyenv-record"}, "the header must have the fields"),
    (HEADER, {"version": 2}, '"version" must be'),
    (HEADER, {"task": None}, '"task" must be a str'),
    (HEADER, {"task": "chess/1"}, '"task": task must be one of duel-3'),
    (HEADER, {"task": "alea-4/1280"}, '"task": task alea-4 has the openings'),
    (HEADER, {"task": "duel-4"}, '"task" must name an opening, such as duel-4/0'),
    (HEADER, {"players": 3}, '"players" must be 2 in task duel-4/10, not 3'),
    (HEADER, {"side": "back"}, '"side" must be "front" in task duel-4/10, not "back"'),
    (HEADER, {"rings": []}, '"rings" must be'),
    (HEADER, {"max_turns": 499}, '"max_turns" must be 500 in task'),
    (HEADER, {"more": 1}, "the header must have the fields"),
    (DEAL, {"event": "setup"}, '"event" must be one of deal'),
    (DEAL, {"hands": []}, '"hands" must be'),
    (DEAL, lambda deal: deal["hands"][0].pop("green"), '"hands" must be'),
    (DEAL, lambda deal: deal["hands"][1]["black"].pop(), "there is no such setup|the rules give"),
    (DEAL, lambda deal: deal["hands"][1]["black"].append(4), "there is no such setup"),
    (DEAL, lambda deal: deal["hands"][1].update(green=[6] * 9), "there is no such setup"),
    (2, {"seat": 1}, "the rules give"),
    (END, {"reason": "stops"}, "the rules give"),
    (END, {"payoff": [1.0]}, '"payoff" must be a list of 2 to 2 entries, each a float'),
    (END, {"payoff": [0.0, float("nan")]}, "the rules give"),
    (END, lambda end: end["payoff"].reverse(), "the rules give"),
    (END, lambda end: end.pop("payoff"), '"end" must have the fields'),
]


@pytest.mark.parametrize(("place", "change", "message"), DAMAGES)
def test_damaged_records_give_one_error_with_the_line(
    place: int, change: Any, message: str
) -> None:
    lines = lines_of(base())
    number = change_line(lines, place, change) + 1
    error = error_of(as_text(lines))
    assert error.line == number
    assert re.search(message, str(error))
    assert len(str(error)) < 600
