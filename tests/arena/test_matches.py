"""Matches: games independent of batches, and secrets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tournaments import settings

from skyenv import Game, GameOptions, Games
from skyenv.agents import Agent, Decisions, RandomAgent, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.matches import SALT, Onlooker, Played, play_game, play_games, play_on, rotations
from skyenv.errors import OptionError
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
