"""What workers do: turns and hints, the same in a process of their own as here."""

from __future__ import annotations

import asyncio
from functools import partial

from pages import played

from skyenv import Game
from skyenv.agents import decide_game, make_agent
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.hints import advise
from skyenv.page.jobs import move
from skyenv.page.workers import Workers
from skyenv.work import Processes

NAMES = ("random", "crowd", "greedy")


def test_a_worker_decides_as_the_agent_would_here() -> None:
    async def play() -> None:
        workers = Workers(Processes(1))
        try:
            for seed, name in enumerate(NAMES):
                here, there = (Game(2, seed=seed, agent_seed=7) for _ in range(2))
                agent, entry = make_agent(name), CatalogueEntry(name, name)
                while not here.is_over and int(here.state["decisions"]) < 60:
                    actions = await workers.ask(partial(move, entry, there))
                    for action in actions:
                        assert action == decide_game(here, agent)
                        here.play(action)
                        there.play(action)
                game = played(2, seed=seed, actions=20)
                hint = await workers.ask(partial(advise, entry, None, game))
                assert hint == advise(entry, None, game, print)
        finally:
            await workers.close()

    asyncio.run(play())


def test_a_bid_is_one_turn() -> None:
    """All its cards come at once, and the last action is the one that ends it."""
    bids = 0
    game, entry = Game(2, seed=4, agent_seed=1), CatalogueEntry("greedy", "greedy")
    while not game.is_over and bids < 3:
        bidding = game.phase == "bid"
        seat = game.seat
        actions = move(entry, game.copy(), print)
        for action in actions:
            assert game.seat == seat
            game.play(action)
        bids += bidding and len(actions) > 1
        assert len(actions) == 1 or bidding
    assert bids == 3
