"""Games of tournaments, played again."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path

import pytest
from folders import make_tournament

from skyenv import Game
from skyenv.page.again import MOST_OF_ONE_CLIENT, Again, play_again
from skyenv.page.errors import PageError
from skyenv.page.game_files import TOURNAMENT, Place, Played, played_in, read_games
from skyenv.page.workers import Workers
from skyenv.records import verify
from skyenv.work import Processes


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Played]:
    """All games of a tournament."""
    folder = make_tournament(tmp_path_factory.mktemp("t") / "t", paired_seeds=1)
    path = Path(folder / "games.jsonl")
    content = path.read_bytes()
    found = read_games(path, TOURNAMENT, Place(), 1000).games
    return [played_in(folder, content[game.start : game.start + game.length]) for game in found]


@pytest.mark.long
def test_it_is_the_very_game(games: list[Played]) -> None:
    for played in games:
        record = play_again(played, print)
        game = Game.from_record(record)
        assert tuple(game.scores) == played.scores
        assert game.header([agent.name for agent in played.agents])["agents"] == [
            agent.name for agent in played.agents
        ]
        assert verify(io.StringIO(record)).games == 1
    assert len({played.scores for played in games}) > 1


def test_what_is_not_as_it_was_is_told(games: list[Played]) -> None:
    played = games[0]
    changed = replace(played, agents=(replace(played.agents[0], version="old"), played.agents[1]))
    with pytest.raises(PageError, match="has changed"):
        play_again(changed, print)
    with pytest.raises(PageError, match="came out otherwise"):
        play_again(replace(played, scores=tuple(score + 1 for score in played.scores)), print)


@pytest.mark.long
def test_a_worker_plays(games: list[Played]) -> None:
    async def both() -> None:
        workers = Workers(Processes(1))
        again = Again(workers, [])
        try:
            assert await again.record(games[0], 0.0, "ann") is None
            while (record := await again.record(games[0], 1.0, "ann")) is None:
                pass
            assert record == play_again(games[0], print)
            assert await again.record(games[0], 0.0, "bob") == record
        finally:
            await again.close()
            await workers.close()

    asyncio.run(both())


def test_who_wants_many_games_leaves_room_for_others(games: list[Played]) -> None:
    async def ask() -> None:
        again = Again(Workers(Processes(0)), [])  # none is ever played
        others = [replace(games[0], seed=number) for number in range(MOST_OF_ONE_CLIENT + 1)]
        for played in others[:-1]:
            assert await again.record(played, 0.0, "eve") is None
        with pytest.raises(PageError, match="too many games"):
            await again.record(others[-1], 0.0, "eve")
        assert await again.record(others[0], 0.0, "eve") is None
        assert await again.record(others[-1], 0.0, "ann") is None
        await again.close()

    asyncio.run(ask())


@pytest.mark.parametrize(
    "spec", ["os:getcwd", "/etc/model.npz", "../model.npz", "skyenv.agents:RandomAgent"]
)
def test_a_folder_can_name_no_module_and_no_file(spec: str, games: list[Played]) -> None:
    async def ask(played: Played) -> None:
        await Again(Workers(), ["greedy"]).record(played, 1.0, "ann")

    played = replace(games[0], agents=(replace(games[0].agents[0], spec=spec), games[0].agents[1]))
    with pytest.raises(PageError, match="isn't offered here"):
        asyncio.run(ask(played))
