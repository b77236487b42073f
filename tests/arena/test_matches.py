"""Matches: games independent of batches, and secrets; evaluations: figures, pooled opponents, seeds
and workers.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tournaments import settings

from skyenv import Game, GameOptions, Games
from skyenv.agents import Agent, Decisions, RandomAgent, make_agent
from skyenv.arena.evaluate import evaluate, summary, table
from skyenv.arena.matches import SALT, Onlooker, Played, play_game, play_games, play_on, rotations
from skyenv.errors import OptionError
from skyenv.statistics import Estimate
from skyenv_agents import GreedyAgent


def same(one: Played, other: Played) -> bool:
    """Return whether two matches have equal results."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("shares", "scores", "decisions", "turns")
    )


def test_results_do_not_depend_on_rows() -> None:
    agents: list[Agent] = [GreedyAgent(), RandomAgent()]
    seeds = np.repeat([5, 2**62, 9], 3)
    wide = play_games(agents, rotations(3, 3), seeds, "back")
    assert wide.finished.all()
    assert same(wide, play_games(agents, rotations(3, 3), seeds, "back", rows=2))
    short = play_games(agents, rotations(3, 3), seeds, "back", max_turns=2)
    assert short.truncated.all()
    assert (short.turns == 2).all()
    assert np.allclose(short.shares.sum(axis=1), 1)


def test_games_under_a_secret_cannot_be_guessed() -> None:
    """Neither the deal nor the random numbers of small seeds match."""
    handed: list[tuple[bytes, float]] = []

    def watch(decisions: Any) -> npt.NDArray[np.int64]:
        handed.append((decisions.view["game"]["row"][0].tobytes(), float(decisions.uniform[0])))
        return np.asarray(np.argmax(decisions.mask, axis=1), np.int64)

    watching = make_agent(watch)
    watching.uses_view = True
    guesses = [Game(2, seed=seed) for seed in range(200)]
    rows = [game.state["row"].tobytes() for game in guesses]
    for secret, guessed in ((None, [7]), (1, []), (2, [])):
        handed.clear()
        game = play_game([watching, watching], 7, max_turns=1, secret=secret)
        assert [seed for seed in range(200) if rows[seed] == handed[0][0]] == guessed
        assert len({row for row, _ in handed}) <= 2
        numbers = [
            float(Games(1, seed=game.seed).uniforms(salt=SALT)[0]),
            float(guesses[7].batch.uniforms(salt=SALT)[0]),
        ]
        assert (handed[0][1] in numbers) == (secret is None)


def test_an_agent_decides_for_all_its_seats_in_one_batch() -> None:
    """With the random numbers of each seat."""
    sizes: list[int] = []

    def watch(decisions: Decisions) -> npt.NDArray[np.int64]:
        sizes.append(len(decisions))
        alone = [
            [games.uniforms([row], SALT + games.seat[row])[0] for row in range(50)]
            for games in [Games(50, 3, seed=np.arange(50))]
        ]
        if len(sizes) == 1:
            assert decisions.uniform.tolist() == alone[0]
        return np.asarray(np.argmax(decisions.mask, axis=1), np.int64)

    play_games([make_agent(watch)], np.zeros((50, 3), int), np.arange(50), max_turns=3)
    assert sizes[0] == 50
    assert np.mean(sizes[:20]) > 45


def test_games_played_on_are_those_of_a_match() -> None:
    agents: list[Agent] = [GreedyAgent(), RandomAgent(), GreedyAgent()]
    seeds = np.arange(4)
    played = play_games(agents, [[0, 1, 2]] * 4, seeds, max_turns=4)
    games = Games(4, 3, seed=seeds, max_turns=4, autoreset=False)
    play_on(games, agents)
    assert games.done.all()
    assert games.state["score"][:, :3].tolist() == played.scores.tolist()


def test_games_played_on_stop_where_they_are_told() -> None:
    """Row i after i decisions; the others go on."""
    games = Games(4, 2, seed=1, autoreset=False)
    play_on(games, TWO, lambda rows: games.state["decisions"][rows] >= rows)
    assert games.state["decisions"].tolist() == [0, 1, 2, 3]
    assert not games.done.any()


TWO = (RandomAgent(), RandomAgent())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: play_games(TWO, [0, 1], [1, 2]), "one row of seats"),
        (lambda: play_games(TWO, [[0, 2]], [1]), "seating names agents 0 to 2; there are 2"),
        (lambda: play_games(TWO, [[0, 1]], [1, 2]), "one number for each of the 1 rows, not 2"),
        (lambda: play_games(TWO, [[0, 1]], [-1]), "seed must be"),
        (lambda: play_games(TWO, [[0] * 5], [1]), "num_players must be"),
        (lambda: play_games(TWO, [[0, 1]], [1], options=GameOptions(3)), "are for 3 players, the"),
        (lambda: play_game(TWO, 1, options=GameOptions(), max_turns=9), "pass no others with it"),
        (lambda: play_game(TWO, 1, "back", options=GameOptions()), "pass no others with it"),
        (lambda: evaluate("random", ["random"], paired_seeds=0), "paired_seeds must be"),
        (lambda: evaluate("random", ["random"], 5), "num_players must be"),
        (lambda: evaluate("random", ["random"], side="top"), "side must be"),
        (lambda: evaluate("random", ["random"], seed=-1), "seed must be"),
        (lambda: evaluate("random", ["random"], max_turns=0), "max_turns must be"),
        (lambda: evaluate(TWO[0], ["random"], workers=1), "workers need agents as names"),
        (lambda: settings("random", "crowd", players=5), "players must be"),
        (lambda: settings("random", "crowd", players=3), "needs at least 3 agents, not 2"),
        (lambda: settings("random", "crowd", side="top"), "side must be"),
        (lambda: settings("random", "crowd", seed=-1), "seed must be"),
    ],
)
def test_invalid_matches_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call()


def test_an_observer_sees_every_decision_and_changes_none() -> None:
    agents: list[Agent] = [GreedyAgent(), RandomAgent()]
    seen = np.zeros((4, 2), np.int64)  # decisions, and the points scored, of each game

    class Counting(Onlooker):
        def decided(self, games: Games, rows: Any, matches: Any, actions: Any) -> None:
            assert games.mask[rows, actions].all()
            assert np.array_equal(games.observation[rows], games.observe(games.seat[rows], rows))
            seen[matches, 0] += 1

        def played(self, games: Games, rows: Any, matches: Any) -> None:
            seen[matches, 1] += games.reward[rows].sum(axis=1).astype(np.int64)

    alone = play_games(agents, rotations(2, 2), [7, 7, 8, 8])
    watched = play_games(
        agents, rotations(2, 2), [7, 7, 8, 8], rows=3, reward="points", onlooker=Counting()
    )
    assert same(alone, watched)
    assert seen[:, 0].tolist() == watched.decisions.tolist()
    assert seen[:, 1].tolist() == watched.scores.sum(axis=1).tolist()


# ---- evaluations ----


def test_a_summary_agrees_with_one_computed_by_hand() -> None:
    played = Played.none(np.array([4, 4, 5, 5, 6, 6]), rotations(2, 3))
    played.ends[:] = [1, 2, 1, 3, 1, 0]  # the third paired seed lacks a game
    played.shares[:] = np.array([[1, 0], [0, 1], [0.5, 0.5], [1, 0], [1, 0], [0, 0]])
    played.scores[:] = [[30, 20], [10, 50], [40, 40], [60, 30], [999, 0], [0, 0]]
    played.decisions[:] = [10, 20, 30, 40, 999, 0]
    result = summary("a", "b", played, "front", 4)
    assert (result.paired_seeds, result.games, result.par, result.interrupted) == (2, 4, 0.5, True)
    assert result.share.mean == (1 + 1 + 0.5 + 0) / 4
    assert result.own.mean == (30 + 50 + 40 + 30) / 4
    assert result.other.mean == (20 + 10 + 40 + 60) / 4
    assert result.margin.mean == result.own.mean - result.other.mean
    assert result.share.low < 0.25 < 0.9 < result.share.high
    assert (result.decisions, result.truncated) == (25, 0.25)
    assert table([result]).splitlines()[2].split()[:5] == ["a", "b", "2", "front", "2*"]
    assert table([result]).endswith(
        "\n* interrupted: paired seeds are missing, long games above all"
    )


def test_games_against_all_opponents_are_pooled() -> None:
    """Pooled by paired seeds, as many as against each opponent."""
    hoard, crowd, both = evaluate("random", ["hoard", "crowd"], 2, max_turns=9, pooled=True)
    assert (both.opponent, both.paired_seeds, both.games) == ("all of them", 500, 2000)
    assert both.share.mean == pytest.approx((hoard.share.mean + crowd.share.mean) / 2)
    assert both.share.low < both.share.mean < both.share.high


@pytest.mark.parametrize(("name", "num_players"), [("random", 3), ("greedy", 2)])
def test_an_agent_against_itself_is_at_par(name: str, num_players: int) -> None:
    (result,) = evaluate(name, [name], num_players, "back", 8, 11, max_turns=20)
    assert result.share.mean == pytest.approx(result.par, abs=1e-12)
    assert result.par == 1 / num_players
    assert num_players > 2 or result.margin == Estimate(0.0, 0.0, 0.0)


def test_seed_and_secret_decide_results_with_and_without_workers() -> None:
    """Also in other threads: only the main thread receives SIGINT."""
    games = ("random", ["hoard", "crowd"], 3, "back", 8, 5)
    here = evaluate(*games, secret=7, max_turns=9)
    assert [(result.opponent, result.secret) for result in here] == [("hoard", 7), ("crowd", 7)]
    assert evaluate(*games, secret=8, max_turns=9)[0].own != here[0].own
    assert evaluate(*games, max_turns=9)[0].own != here[0].own
    with ThreadPoolExecutor(1) as pool:
        again = pool.submit(evaluate, *games, secret=7, max_turns=9, workers=1)
        assert again.result() == here
