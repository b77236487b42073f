"""What seats can expect: from what the onlooker knows alone, the same for the same view, and as the
agent's own values say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pages import Json, act, begin, client_of, payload, quick, wait_for_turn
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.agents import RandomAgent, decide_game
from skyenv.engine.kernels import share_of
from skyenv.engine.knowledge import resample
from skyenv.errors import AgentError
from skyenv.page import expectations
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.expectations import Expectations, expect, judged
from skyenv.page.hints import hint
from skyenv.page.preparing import Preparation
from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application
from skyenv.page.workers import Workers
from skyenv_agents import GreedyAgent, TrainedAgent

TRAINED = CatalogueEntry("trained", TrainedAgent())


def nothing(value: Any) -> None:
    """A job that tells nobody how far it is."""
    raise AssertionError


def midway(players: int, actions: int, seed: int = 5) -> Game:
    """A game between greedy players after so many actions."""
    game, agent = Game(players, seed=seed), GreedyAgent()
    for _ in range(actions):
        game.play(decide_game(game, agent))
    return game


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_seat_to_act_is_judged_as_the_network_does_and_others_where_they_decide_next(
    players: int,
) -> None:
    """The seat to act knows its view, so every world has the network's own value for it; what
    others hold differs.
    """
    game = midway(players, 60)
    while len(game.legal_actions) < 2:
        game.play(game.legal_actions[0])
    seat = game.seat
    assert seat is not None
    shares = judged(TRAINED.agent, game.state, seat)
    value = hint(TRAINED, game).value
    assert value is not None
    assert shares.shape == (expectations.WORLDS, players)
    assert shares[:, seat] == pytest.approx(share_of(np.array(value), players))
    assert (np.delete(shares, seat, axis=1).std(axis=0) > 0).all()
    told = expect(TRAINED, game.state, seat, nothing)
    assert sum(told) == pytest.approx(1)
    assert told == pytest.approx(shares.mean(axis=0) / shares.mean(axis=0).sum())


def test_who_leads_far_at_the_end_can_expect_the_win() -> None:
    game = midway(2, 320)
    assert game.scores[0] > game.scores[1]
    for seat in (0, 1, None):
        assert expect(TRAINED, game.state, seat, nothing)[0] > 0.8
    while not game.is_over:
        game.play(decide_game(game, GreedyAgent()))
    assert expect(TRAINED, game.state, 1, nothing) == [
        float(seat in game.events[-1]["winners"]) for seat in (0, 1)
    ]


@pytest.mark.rule("INF-2")
def test_hidden_cards_change_nothing() -> None:
    """Another position that the seat can't tell from the real one gives the very same shares; open
    hands give others.
    """
    game = midway(3, 90)
    other = resample(np.array([game.view(0)]).view(np.recarray), [77])[0]
    assert not np.array_equal(game.state["hand"][1], other["hand"][1])
    assert expect(TRAINED, game.state, 0, nothing) == expect(TRAINED, other, 0, nothing)
    assert expect(TRAINED, game.state, None, nothing) != expect(TRAINED, other, None, nothing)


def test_an_agent_that_expects_nothing_is_refused() -> None:
    with pytest.raises(AgentError, match="random doesn't tell what outcome it expects"):
        expect(CatalogueEntry("random", RandomAgent()), midway(2, 8).state, 0, nothing)


# ---- at a table ----


@pytest.fixture
def ann() -> Iterator[TestClient]:
    agents = Catalogue([TRAINED, CatalogueEntry("greedy", GreedyAgent())])
    with client_of(application(Storage(MEMORY), agents, ["localhost"])) as client:
        yield client


def expected(client: TestClient, seat: str, state: Json) -> list[float]:
    """What the page is told at a step."""
    answer = client.get(f"{seat}/expected?step={state['step']}")
    assert answer.status_code == 200, answer.text
    shares: list[float] = answer.json()["shares"]
    return shares


def test_a_seat_is_told_each_position_once(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def counted(*values: Any) -> list[float]:
        asked.append(values)
        return expect(*values)

    monkeypatch.setattr(expectations, "expect", counted)
    seat = begin(ann, ["me", "agent:greedy"], seed="5")
    first = payload(ann, seat)
    assert first["can_expect"]
    shares = expected(ann, seat, first)
    assert sum(shares) == pytest.approx(1, abs=0.002)
    assert expected(ann, seat, first) == shares
    assert len(asked) == 1
    act(ann, seat, first, quick([one["action"] for one in first["legal"]]))
    now = wait_for_turn(ann, seat)
    assert now["step"] > first["step"]
    expected(ann, seat, now)
    expected(
        ann, seat, {"step": first["step"] + 1}
    )  # a page that shows one position after the other
    assert len(asked) == 3
    assert ann.get(f"{seat}/expected?step=0").status_code == 409
    assert "isn't kept" in ann.get(f"{seat}/expected?step=0").json()["error"]


def test_spectators_are_told_nothing_and_who_watches_agents_is(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:greedy"])
    looking = ann.post(f"{seat}/spectators").json()["page"].replace("/seat/", "/api/seats/")
    assert payload(ann, looking)["can_expect"] is False
    assert ann.get(f"{looking}/expected").status_code == 404
    watching = begin(ann, ["agent:greedy", "agent:greedy"])
    state = payload(ann, watching)
    assert state["can_expect"]
    assert ann.get(f"{watching}/expected").status_code == 200


def test_without_the_agent_it_is_not_offered() -> None:
    agents = Catalogue([CatalogueEntry("greedy", GreedyAgent())])
    with client_of(application(Storage(MEMORY), agents, ["localhost"])) as client:
        seat = begin(client, ["me", "agent:greedy"])
        assert payload(client, seat)["can_expect"] is False
        assert client.get(f"{seat}/expected").status_code == 404


def test_who_asks_at_once_is_told_of_one_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the first of them goes; when all have gone it ends, and is begun again for the next
    one.
    """
    asked = []

    def counted(*values: Any) -> list[float]:
        asked.append(values)
        return expect(*values)

    async def ask() -> None:
        agents, workers = Catalogue([TRAINED]), Workers()
        server: Any = SimpleNamespace(
            catalogue=agents, preparation=Preparation(agents, None), workers=workers
        )
        told, game = Expectations(server), midway(2, 40)
        gone, *others = [asyncio.create_task(told.shares(game, 0)) for _ in range(5)]
        await asyncio.sleep(0)
        gone.cancel()
        assert len({tuple(shares) for shares in await asyncio.gather(*others)}) == len(asked) == 1
        alone = asyncio.create_task(told.shares(midway(2, 41), 0))
        await asyncio.sleep(0)
        alone.cancel()
        await asyncio.wait([alone])
        assert sum(await told.shares(midway(2, 41), 0)) == pytest.approx(1)
        assert len(asyncio.all_tasks()) == 1
        await workers.close()

    monkeypatch.setattr(expectations, "expect", counted)
    asyncio.run(ask())


def test_what_failed_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*values: Any) -> list[float]:
        raise AgentError("not now")

    async def ask() -> None:
        agents, workers = Catalogue([TRAINED]), Workers()
        server: Any = SimpleNamespace(
            catalogue=agents, preparation=Preparation(agents, None), workers=workers
        )
        told, game = Expectations(server), midway(2, 40)
        with monkeypatch.context() as context:
            context.setattr(expectations, "expect", fails)
            with pytest.raises(AgentError, match="not now"):
                await told.shares(game, 0)
        assert sum(await told.shares(game, 0)) == pytest.approx(1)
        await workers.close()

    asyncio.run(ask())
