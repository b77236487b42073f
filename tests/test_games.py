"""The batch engine: what its rows are, what it refuses, what it rewards, and what its copies do."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from scenario import after_businesses, bare_game, supply_row
from skyenv import (
    Game,
    GameOverError,
    Games,
    IllegalActionError,
    OptionError,
    SkyenvError,
    make_agent,
    make_board,
)
from skyenv.agents import decide
from skyenv.engine import kernels
from skyenv.engine.games import results
from skyenv.engine.kernels import outcome_of, share_of
from skyenv.engine.knowledge import resample, view
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE
from skyenv.engine.thread_pool import sensible_threads
from skyenv.rules.actions import ACTION_NUMBERS, NUM_ACTIONS
from skyenv.rules.compiling import COMPILED
from skyenv.rules.state import GAME_DTYPE
from skyenv.seeds import HIGHEST_SEED

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
ARRAYS = (
    "state",
    "finished",
    "mask",
    "seat",
    "observation",
    "reward",
    "done",
    "truncated",
    "seeds",
)


def snapshot(games: Games, rows: Any = slice(None)) -> dict[str, bytes]:
    """All that a batch tells of some rows."""
    return {name: getattr(games, name)[rows].tobytes() for name in ARRAYS}


def play(games: Games, steps: int, agent: str = "crowd") -> None:
    """An agent plays in all rows."""
    player = make_agent(agent)
    for _ in range(steps):
        games.step(decide(games, player))


# ---- a row is the game of its seed ----


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", ["random", "crowd"])
def test_a_row_is_the_single_game_of_its_seed(players: int, side: str, agent: str) -> None:
    """Byte for byte at every step, through automatic resets, whose seed is the last one + the
    number of rows, mod 2⁶³.
    """
    games = Games(3, players, side, seed=[5, 2**62 + 3, HIGHEST_SEED - 1], max_turns=6)
    singles = [Game(players, side, int(seed), max_turns=6) for seed in games.seeds]
    player = make_agent(agent)
    resets = 0
    for _ in range(360):
        actions = decide(games, player)
        games.step(actions)
        for row, game in enumerate(singles):
            game.play(int(actions[row]))
            assert bool(games.done[row]) == game.is_over
            if game.outcome is not None:
                resets += 1
                assert bool(games.truncated[row]) == (game.outcome.reason == "truncated")
                assert games.finished[row].tobytes() == game.state.tobytes()
                assert game.seed is not None
                game = singles[row] = Game(players, side, (game.seed + 3) % 2**63, max_turns=6)
            assert games.seeds[row] == game.seed
            assert games.state[row].tobytes() == game.state.tobytes()
            assert games.mask[row].tobytes() == game.mask.tobytes()
            assert games.seat[row] == game.seat
            assert games.observation[row].tobytes() == game.observation().tobytes()
    assert resets >= 6


@pytest.mark.compiled
def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 = 2 = 3 = 4 threads, stepped from outside and inside the compiled loop; all are used."""
    monkeypatch.setattr("skyenv.engine.thread_pool.DECISIONS_PER_THREAD", 64)
    batches = [
        Games(300, 3, "back", seed=8, threads=threads, max_turns=6) for threads in (1, 2, 3, 4)
    ]
    player = make_agent("random")
    for _ in range(60):
        actions = decide(batches[0], player)
        for games in batches:
            games.step(actions)
    for games in batches:
        games.play_random(70, salt=3)
    assert batches[0].finished["turns"].any()
    for games in batches[1:]:
        assert snapshot(games) == snapshot(batches[0])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("num_games", "observed", "processors", "threads"),
    [
        (1, True, 8, 1),
        (1023, True, 8, 1),
        (1024, True, 8, 2),
        (1536, True, 8, 3),
        (9999, True, 3, 3),
        (10**7, True, 5000, 1024),
        (1024, False, 8, 1),
        (4095, False, 8, 1),
        (4096, False, 8, 2),
        (16384, False, 3, 3),
    ],
)
def test_threads_by_themselves(
    num_games: int, observed: bool, processors: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as there are processors, but only where a step has enough rows for each of them."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(processors), raising=False)
    assert sensible_threads(num_games, observed) == threads
    if num_games < 5000:
        assert (
            Games(
                num_games, seed=1, threads=None, observation="scaled" if observed else None
            ).threads
            == threads
        )


@pytest.mark.compiled
@pytest.mark.parametrize(
    "orders",
    [
        [[0], [1], [2], [3], [4]],
        [[4, 2], [0, 3, 1]],
        [np.array([True, False, True, False, False]), np.array([False, True, False, True, True])],
        [[], [3, 4, 0, 1, 2]],
        [np.array([0, 1], np.uint8), range(2, 5)],
    ],
)
def test_stepping_some_rows(orders: list[Any]) -> None:
    """Rows stepped in parts and in any order are as if stepped together; the arrays of the others
    stay as they are.
    """
    together, apart = (Games(5, 3, seed=6, max_turns=4) for _ in range(2))
    player = make_agent("random")
    for _ in range(120):
        actions = decide(together, player)
        together.step(actions)
        for order in orders:
            rows = np.arange(5)[np.asarray(order, dtype=None if len(order) else int)]
            others = np.setdiff1d(np.arange(5), rows)
            before = snapshot(apart, others)
            apart.step(actions[rows], order)
            assert snapshot(apart, others) == before
        assert snapshot(apart) == snapshot(together)


# ---- what is refused ----


def over_in_row_2() -> Games:
    """Four games without automatic reset, that of row 2 over."""
    games = Games(4, 3, seed=[6, 7, 8, 9], max_turns=3, autoreset=False)
    while not games.done[2]:
        games.step(decide(games, make_agent("random"), [2]), [2])
    return games


def legal_actions(games: Games) -> np.ndarray:
    """A legal action for every row; 0 where there is none."""
    first: np.ndarray = games.mask.argmax(axis=1).astype(np.int64)
    return first


REFUSED: dict[str, tuple[dict[int, int], Any, type[SkyenvError], int | None, str]] = {
    # changes to actions that are legal, rows, error, row, text
    "not legal": (
        {1: 0},
        [0, 1, 3],
        IllegalActionError,
        1,
        r"row 1: action 0 \(option A\) is not legal for seat 0 in",
    ),
    "two not legal": (
        {3: 102, 1: 97},
        [3, 1, 0],
        IllegalActionError,
        3,
        r"row 3: action 102 \(stop\) is not legal",
    ),
    "too high": (
        {3: NUM_ACTIONS},
        [0, 1, 3],
        IllegalActionError,
        3,
        "row 3: action 103 is not a number from 0 to 102",
    ),
    "far too high": (
        {0: 2**62},
        [0],
        IllegalActionError,
        0,
        f"row 0: action {2**62} is not a number from 0 to 102",
    ),
    "negative": (
        {0: -1},
        [3, 0],
        IllegalActionError,
        0,
        "row 0: action -1 is not a number from 0 to 102",
    ),
    "over": (
        {},
        [0, 1, 2, 3],
        GameOverError,
        2,
        "row 2: the game is over; reset it before the next action",
    ),
    "over, all rows": ({}, None, GameOverError, 2, "row 2: the game is over"),
    "over and no action": ({2: 200}, [2], GameOverError, 2, "row 2: the game is over"),
    "twice": ({}, [0, 1, 0], OptionError, None, "row 0: named more than once"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_actions(what: str) -> None:
    """The error names the row and says why; no row has changed, and everything goes on as if
    nothing had been asked for.
    """
    changes, rows, kind, row, message = REFUSED[what]
    games = over_in_row_2()
    untouched = games.copy()
    actions = legal_actions(games)
    for changed, action in changes.items():
        actions[changed] = action
    for _ in range(2):
        with pytest.raises(kind, match=message) as caught:
            games.step(actions if rows is None else actions[rows], rows)
        assert type(caught.value) is kind
        assert snapshot(games) == snapshot(untouched)
        if isinstance(caught.value, IllegalActionError):
            assert caught.value.row == row
            assert caught.value.action == (actions[row] if row is not None else None)
    for batch in (games, untouched):
        batch.step(legal_actions(batch)[[3, 1, 0]], [3, 1, 0])
    assert snapshot(games) == snapshot(untouched)


@pytest.mark.parametrize(
    ("actions", "rows"),
    [
        ([13, 14], None),
        ([13], [0, 1]),
        (13, None),
        ([[13], [14], [15], [16]], None),
        ([13.0] * 4, None),
        ([True] * 4, None),
        (["option A"] * 4, None),
        ([2**70] * 4, None),
        ([13, 14], [0, 4]),
        ([13, 14], [-1, 0]),
        ([13], [2**40]),
        ([13], [0.0]),
        ([[13]], [[0]]),
        ([13], ["0"]),
        ([13, 13], np.array([True, True])),
    ],
)
def test_wrong_arguments_of_step(actions: Any, rows: Any) -> None:
    """Shapes, kinds of numbers and rows that there aren't."""
    games = Games(4, seed=1)
    before = snapshot(games)
    with pytest.raises(OptionError) as caught:
        games.step(actions, rows)
    assert len(str(caught.value)) < 250
    assert snapshot(games) == before


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no games": ({"num_games": 0}, "num_games must be a whole number from 1 to"),
    "half a game": ({"num_games": 1.5}, "num_games must be a whole number"),
    "a yes": ({"num_games": True}, "num_games must be a whole number"),
    "one player": ({"num_players": 1}, "num_players must be a whole number from 2 to 4, not 1"),
    "five players": ({"num_players": 5}, "num_players must be a whole number from 2 to 4, not 5"),
    "players as text": (
        {"num_players": "3"},
        "num_players must be a whole number from 2 to 4, not '3'",
    ),
    "side": ({"side": "left"}, "side must be 'front' or 'back', not 'left'"),
    "no turns": ({"max_turns": 0}, "max_turns must be a whole number from 1 to"),
    "too many turns": ({"max_turns": 2**31}, "max_turns must be a whole number from 1 to"),
    "no thread": ({"threads": 0}, "threads must be a whole number from 1 to"),
    "reward": ({"reward": "score"}, "reward must be one of outcome, margin, points, not 'score'"),
    "other side's board": (
        {"board": make_board("back")},
        "the board given is the back side, but side is 'front'",
    ),
    "board of no kind": ({"board": 7}, "board must be a Board, the path of a board file, or None"),
    "negative seed": (
        {"seed": -1},
        "seed must be a whole number from 0 to 9223372036854775807, not -1",
    ),
    "seed too high": ({"seed": 2**63}, "seed must be a whole number from 0 to 9223372036854775807"),
    "seed of digits beyond counting": ({"seed": 10**5000}, "seed must be a whole number"),
    "half a seed": ({"seed": 1.5}, "seed"),
    "no seed at all": ({"seed": object()}, "seed"),
    "a seed in an array of no dimension": ({"seed": np.array(4)}, "seed"),
    "text for a seed": ({"seed": "ab"}, "seed"),
    "too few seeds": ({"seed": [1]}, "seed must have one number for each of the 2 rows, not 1"),
    "too many seeds": (
        {"seed": [1, 2, 3]},
        "seed must have one number for each of the 2 rows, not 3",
    ),
    "a wrong seed among them": ({"seed": [1, -5]}, "seed must be a whole number .*, not -5"),
    "a fraction among them": ({"seed": [1, 0.5]}, "seed must be a whole number"),
}


@pytest.mark.parametrize("what", OPTIONS)
def test_wrong_options(what: str) -> None:
    """Each is named, with what it may be."""
    options, message = OPTIONS[what]
    with pytest.raises(OptionError, match=message):
        Games(**{"num_games": 2, **options})


@pytest.mark.parametrize(
    ("seed", "rows"),
    [
        (-1, None),
        ([1, 2], None),
        (1, [0, 3]),
        (1, [-1]),
        ([1, 2], [0]),
        (1.5, None),
        (1, [0.5]),
        ([1, 2, 2**63], None),
    ],
)
def test_wrong_resets_change_nothing(seed: Any, rows: Any) -> None:
    games = Games(3, seed=1)
    play(games, 20)
    before = snapshot(games)
    with pytest.raises(OptionError):
        games.reset(seed, rows)
    assert snapshot(games) == before


# ---- seeds and resets ----


def test_a_number_seeds_rows_one_after_the_other() -> None:
    assert Games(4, seed=7).seeds.tolist() == [7, 8, 9, 10]
    assert Games(3, seed=HIGHEST_SEED - 1).seeds.tolist() == [HIGHEST_SEED - 1, HIGHEST_SEED, 0]


@pytest.mark.parametrize(
    "seeds", [[3, 0, HIGHEST_SEED], (3, 0, HIGHEST_SEED), np.array([3, 0, HIGHEST_SEED])]
)
def test_a_sequence_seeds_each_row(seeds: Any) -> None:
    games = Games(3, seed=seeds)
    assert games.seeds.tolist() == [3, 0, HIGHEST_SEED]
    assert games.state[1].tobytes() == Game(seed=0).state.tobytes()


def test_without_a_seed_batches_differ() -> None:
    """The system gives one number, and the rows follow it."""
    one, other = Games(2), Games(2)
    assert one.seeds[0] != other.seeds[0]
    assert int(one.seeds[1]) == (int(one.seeds[0]) + 1) % 2**63
    assert (one.seeds >= 0).all()


def test_resets() -> None:
    """A number counts the rows as they are named; a sequence has one for each; None gives each row
    its next seed.
    """
    games = Games(4, seed=10)
    play(games, 10)
    games.reset()
    assert games.seeds.tolist() == [14, 15, 16, 17]
    games.reset(rows=[2])
    assert games.seeds.tolist() == [14, 15, 20, 17]
    games.reset(50, rows=[3, 0])
    assert games.seeds.tolist() == [51, 15, 20, 50]
    games.reset([1, 2], rows=np.array([False, True, True, False]))
    assert games.seeds.tolist() == [51, 1, 2, 50]
    games.reset(HIGHEST_SEED, rows=[0])
    games.reset(rows=[0])
    assert games.seeds[0] == 3
    games.reset(7)
    assert snapshot(games) == snapshot(Games(4, seed=7))


def test_a_reset_of_some_rows_leaves_the_others() -> None:
    games = Games(3, seed=1, max_turns=2, autoreset=False)
    for row in range(3):
        while games.seat[row] >= 0:
            games.step(decide(games, make_agent("random"), [row]), [row])
    before = snapshot(games, [0, 2])
    games.reset(rows=[1])
    assert snapshot(games, [0, 2]) == before
    assert games.done.tolist() == [True, False, True]
    assert games.truncated.tolist() == [True, False, True]
    assert games.seat[1] == 0


@pytest.mark.compiled
def test_rows_set_up_without_a_seed_go_on_from_the_one_they_had() -> None:
    """Each with another game, by reset and by itself, in copies too; mod 2⁶³."""
    games = Games(4, seed=HIGHEST_SEED - 4, max_turns=2)
    seen = view(Games(1, seed=99).state, 0)

    def determinize() -> None:
        games.state[:] = resample(seen, range(4))
        games.state["max_turns"] = 2
        games.refresh()
        assert games.seeds.tolist() == [-1] * 4

    determinize()
    games.reset()
    assert games.seeds.tolist() == [HIGHEST_SEED, 0, 1, 2]
    determinize()
    games = pickle.loads(pickle.dumps(games.copy()))
    while (games.seeds < 0).any():
        play(games, 1)
    assert (games.finished["seed"] == -1).any()
    assert sorted((games.seeds - 3) % 4) == [0, 1, 2, 3]
    assert (games.seeds < 100).all()
    determinize()
    games.reset(rows=[2])
    assert games.seeds[2] >= 9


# ---- the end of games ----


def test_without_automatic_reset_a_row_stays_over() -> None:
    """No action is legal, nobody is to act, the observation is seat 0's; `finished` holds the same
    position.
    """
    games = over_in_row_2()
    assert games.done.tolist() == games.truncated.tolist() == [False, False, True, False]
    assert games.seat[2] == -1
    assert not games.mask[2].any()
    assert games.state[2].tobytes() == games.finished[2].tobytes()
    assert games.observation[2].tobytes() == games.observe(0, [2])[0].tobytes()
    before = snapshot(games, 2)
    games.play_random(5)
    assert snapshot(games, 2) == before
    games.reset(rows=[2])
    assert not games.done[2]
    assert games.mask[2].any()
    assert games.seeds[2] == 12


def test_with_automatic_reset_the_arrays_tell_of_both_games() -> None:
    """Reward, done and truncated of the one that is over, mask, seat and observation of the one
    that has begun.
    """
    games = Games(2, 3, seed=1, max_turns=1, reward="points")
    while not games.done[0]:
        play(games, 1)
    fresh = Game(3, seed=3, max_turns=1)
    assert games.state[0].tobytes() == fresh.state.tobytes()
    assert games.mask[0].tobytes() == fresh.mask.tobytes()
    assert games.seat[0] == 0
    assert games.observation[0].tobytes() == fresh.observation().tobytes()
    assert games.truncated[0]
    assert games.finished["seed"][0] == 1
    assert games.finished["phase"][0] == 7
    play(games, 1)
    assert not games.done[0]
    assert not games.truncated[0]
    assert games.finished["seed"][0] == 1


def test_arrays_are_written_in_place() -> None:
    """Whoever holds them sees every step and reset."""
    games = Games(3, 4, seed=1, max_turns=2)
    held = {name: getattr(games, name) for name in ARRAYS if name != "seeds"}
    play(games, 60)
    games.reset()
    assert all(getattr(games, name) is array for name, array in held.items())
    assert {name: (array.dtype, array.shape) for name, array in held.items()} == {
        "state": (np.dtype((np.record, GAME_DTYPE)), (3,)),
        "finished": (np.dtype((np.record, GAME_DTYPE)), (3,)),
        "mask": (np.dtype(np.int8), (3, 103)),
        "seat": (np.dtype(np.int64), (3,)),
        "observation": (np.dtype(np.float32), (3, OBSERVATION_SIZE)),
        "reward": (np.dtype(np.float32), (3, 4)),
        "done": (np.dtype(np.bool_), (3,)),
        "truncated": (np.dtype(np.bool_), (3,)),
    }


def test_without_observations() -> None:
    """The array has no columns; everything else is the same, and `observe` still works."""
    blind, seeing = (Games(2, seed=1, observation=form) for form in (None, "scaled"))
    for games in (blind, seeing):
        games.play_random(100)
    assert blind.observation.shape == (2, 0)
    assert snapshot(blind, 0) == {**snapshot(seeing, 0), "observation": b""}
    assert blind.observe(blind.seat).tobytes() == seeing.observation.tobytes()


# ---- observing any seat ----


def test_observing() -> None:
    """Any seat of any row, also of games that are over; each time a new array."""
    games = Games(3, 3, seed=2, max_turns=3)
    play(games, 40)
    assert games.observe(games.seat).tobytes() == games.observation.tobytes()
    assert not np.shares_memory(games.observe(0), games.observation)
    observed = games.observe([2, 0, 1], [1, 1, 0])
    assert observed.dtype == np.float32
    assert observed[0].tobytes() == games.observe(2)[1].tobytes()
    assert observed[1].tobytes() == games.observe(0)[1].tobytes()
    assert observed[2].tobytes() == games.observe(1)[0].tobytes()
    ended = games.finished["phase"] == 7
    assert ended.any()
    assert (games.observe(0, state=games.finished)[ended] != games.observe(0)[ended]).any()
    assert games.observe(0, []).shape == (0, OBSERVATION_SIZE)


def test_refreshing_after_an_edit() -> None:
    """Whatever follows from the position is brought up to date: values, legal actions, seat,
    observation.
    """
    games = Games(2, seed=1)
    play(games, 10)
    twin = games.copy()
    games.state["tiles"][0] = 0
    games.state["tiles"][0, 0, 0] = [1, 1, 0, 0]
    games.state["phase"][0], games.state["seat"][0] = 1, 1
    games.state["turn_seat"][0] = 1
    games.refresh()
    assert games.state["value"][0, 0].tolist() == [1, 3, 1, 1, 3]
    assert games.seat[0] == 1
    assert games.mask[0, ACTION_NUMBERS["option C"]] == 1
    assert games.mask[0, 13:].sum() == 0
    assert games.observation[0].tobytes() == games.observe(1)[0].tobytes()
    assert snapshot(games, 1) == snapshot(twin, 1)


# ---- copies ----

COPIES: dict[str, Callable[[Games], Games]] = {
    "copy": lambda games: games.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda games: pickle.loads(pickle.dumps(games)),
}


@pytest.mark.parametrize("how", COPIES)
def test_views_of_a_copy_are_views(how: str) -> None:
    """Its `state` shows its own games, edits reach them, and its seeds follow."""
    games = Games(2, seed=3)
    twin = COPIES[how](games)
    assert isinstance(twin.state, np.recarray)
    twin.state["score"][1, 0] = 44
    twin.refresh()
    twin.step(legal_actions(twin))
    assert twin.state["score"][1, 0] == 44
    assert twin.state["decisions"].tolist() == [1, 1]
    assert twin.copy().state["score"][1, 0] == 44
    assert (games.state["score"] == 0).all()
    twin.reset(9)
    assert twin.seeds.tolist() == twin.state["seed"].tolist() == [9, 10]
    assert not np.shares_memory(twin.state, games.state)


# ---- playing inside the compiled loop ----


def cheap_number(seed: int, decisions: int, salt: int) -> int:
    """What random play makes a choice of, 32 bits, in plain Python."""

    def mix(x: int) -> int:
        x = (x ^ x >> 16) * 0x7FEB352D % 2**32
        x = (x ^ x >> 15) * 0x846CA68B % 2**32
        return x ^ x >> 16

    number = mix((decisions + salt * 0x9E3779B9) % 2**32 ^ 0x5EED1E55)
    low = mix((seed + number) % 2**32)
    return mix(((seed >> 32) + mix(low ^ number)) % 2**32) ^ low


@pytest.mark.compiled
@pytest.mark.parametrize("salt", [0, 1, 2**32 + 7])
def test_random_play_can_be_had_again_from_outside(salt: int) -> None:
    """Seed, decision and salt make the choice among the legal actions; another salt makes
    others.
    """
    inside, outside, other = (
        Games(20, 4, "back", [6, 2**40, *range(18)], max_turns=4) for _ in range(3)
    )
    for _ in range(15):
        inside.play_random(7, salt)
        other.play_random(7, salt + 1)
        for _ in range(7):
            legal = [np.flatnonzero(mask) for mask in outside.mask]
            numbers = [
                cheap_number(int(game.seed), int(game.decisions), salt) for game in outside.state
            ]
            outside.step(
                [row[len(row) * number >> 32] for row, number in zip(legal, numbers, strict=True)]
            )
        assert snapshot(inside) == snapshot(outside)
    assert inside.finished["turns"].any()
    assert snapshot(inside) != snapshot(other)


def test_random_play_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many decisions are played before Ctrl-C is heard; also where rows stop because their
    games are over.
    """
    whole, parts = (
        Games(7, 3, seed=6, max_turns=4, autoreset=False, reward="points") for _ in range(2)
    )
    whole.play_random(90, salt=3)
    monkeypatch.setattr("skyenv.engine.games.DECISIONS_AT_A_TIME", 20)
    parts.play_random(90, salt=3)
    assert whole.done.any()
    assert snapshot(whole) == snapshot(parts)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_arrays_of_any_layout_compile_nothing_anew() -> None:
    """Read-only, strided, not aligned, of other types and byte orders: actions, rows, seats and
    games.
    """
    games, same = Games(6, 3, seed=1), Games(6, 3, seed=1)
    frozen = np.arange(6)
    frozen.flags.writeable = False
    odd = np.zeros(6 * 8 + 1, np.uint8)[1:].view(np.int64)
    odd[:] = np.arange(6)
    layouts = (
        frozen,
        np.arange(12)[::2] // 2,
        np.arange(6)[::-1][::-1],
        odd,
        np.arange(6, dtype=">i8"),
        np.arange(6, dtype=np.int8),
    )

    def use(games: Games, rows: Any) -> None:
        actions = games.mask.argmax(axis=1)
        there = np.empty(12, np.int64)[::2]
        there[:] = actions
        there.flags.writeable = False
        games.step(there, rows)
        (
            games.observe(np.zeros_like(rows), rows),
            games.uniforms(rows),
            view(games.state, np.zeros_like(rows), rows),
        )
        games.reset(5, rows[:2])
        results(games.state[::2])

    use(games, np.arange(6))
    use(same, np.arange(6))
    functions: tuple[Any, ...] = (
        kernels.play_rows,
        kernels.reset_rows,
        kernels.first_refused,
        kernels.observe_rows,
        kernels.uniforms,
        kernels.results,
    )
    known = [len(function.signatures) for function in functions]
    for rows in layouts:
        use(games, rows)
        use(same, np.arange(6))
        assert snapshot(games) == snapshot(same)
    assert [len(function.signatures) for function in functions] == known


@pytest.mark.parametrize("name", ["new_arrays", "autoreset"])
@pytest.mark.parametrize("value", [np.zeros(3), 1, "yes", None])
def test_flags_are_true_or_false(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=f"{name} must be True or False, not"):
        Games(1, **{name: value})
    options: dict[str, Any] = {name: np.True_}
    assert Games(1, seed=1, **options).num_games == 1


def test_random_play_stops_where_a_game_is_over() -> None:
    """Without automatic reset; the arrays keep telling of the last step."""
    games = Games(5, seed=6, max_turns=4, autoreset=False, reward="points")
    games.play_random(10_000)
    assert games.done.all()
    assert games.truncated.all()
    assert (games.seat == -1).all()
    before = snapshot(games)
    games.play_random(3)
    assert snapshot(games) == before


# ---- rewards ----


def rewards_until_done(
    kind: str, players: int, games_wanted: int = 40, max_turns: int = 500
) -> tuple[Games, np.ndarray]:
    """Games that are all over, and every seat's sum of rewards in each."""
    games = Games(games_wanted, players, seed=11, reward=kind, autoreset=False, max_turns=max_turns)
    total = np.zeros((games_wanted, players))
    player = make_agent("crowd")
    while (games.seat >= 0).any():
        going = np.flatnonzero(games.seat >= 0)
        games.step(decide(games, player, going), going)
        total[going] += games.reward[going]
        if kind == "outcome":
            assert not games.reward[~games.done].any()
    return games, total


@pytest.mark.compiled
@pytest.mark.rule("END-4")
@pytest.mark.parametrize(("players", "won", "lost"), [(2, 1, -1), (3, 1, -1 / 2), (4, 1, -1 / 3)])
def test_reward_outcome(players: int, won: float, lost: float) -> None:
    """Only at the end: +1 for the winner, −1/(N−1) for the others."""
    games, total = rewards_until_done("outcome", players)
    shares, _ = results(games.finished)
    single = shares.max(axis=1) == 1
    expected = np.where(shares[:, :players] == 1, won, lost)
    assert total[single] == pytest.approx(expected[single], abs=1e-6)
    assert single.sum() > 30
    assert total.sum(axis=1) == pytest.approx(np.zeros(len(total)), abs=1e-6)


@pytest.mark.rule("END-4", "END-5")
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([7, 7], [0, 0]),
        ([8, 7], [1, -1]),
        ([9, 9, 2], [0.25, 0.25, -0.5]),
        ([9, 9, 9], [0, 0, 0]),
        ([0, 9, 9, 0], [-1 / 3, 1 / 3, 1 / 3, -1 / 3]),
        ([9, 8, 9, 9], [1 / 9, -1 / 3, 1 / 9, 1 / 9]),
        ([1, 0, 0, 0], [1, -1 / 3, -1 / 3, -1 / 3]),
    ],
)
def test_reward_outcome_of_shared_wins(scores: list[int], expected: list[float]) -> None:
    """(share − 1/N) · N/(N−1), zero-sum; nothing if the same game is truncated instead."""
    players = len(scores)
    game = bare_game(players)
    supply_row(game, "boutique boutique boutique")
    after_businesses(game, 11)
    game.state["score"][:players] = scores
    games = Games(2, players, autoreset=False)
    games.state[0] = game.state
    games.state[1] = Game(players, seed=1, max_turns=1).state
    games.refresh()
    while not games.done[0]:
        games.step(legal_or(games, 0, "option B"), [0])
    assert games.reward[0] == pytest.approx(expected, abs=1e-6)
    assert games.reward[0].sum() == pytest.approx(0, abs=1e-6)
    shares = results(games.state)[0][0, :players]
    assert (
        games.reward[0].tolist() == outcome_of(shares, players).astype(np.float32).tolist()
    )  # compiled, and in Python
    assert share_of(outcome_of(shares, players), players) == pytest.approx(shares, abs=1e-15)
    assert [outcome_of(share, players) for share in shares.tolist()] == outcome_of(
        shares, players
    ).tolist()
    while not games.done[1]:
        games.step(decide(games, make_agent("random"), [1]), [1])
    assert games.truncated.tolist() == [False, True]
    assert not games.reward[1].any()


def legal_or(games: Games, row: int, wanted: str) -> np.ndarray:
    """The first legal action of a row whose name begins so, or else the first one."""
    legal = np.flatnonzero(games.mask[row])
    chosen = [
        number
        for name, number in ACTION_NUMBERS.items()
        if name.startswith(wanted) and number in legal
    ]
    return np.array([chosen[0] if chosen else legal[0]])


@pytest.mark.compiled
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("max_turns", [500, 10])
def test_reward_points(players: int, max_turns: int) -> None:
    """VP as they are scored: their sum is the final score, also of a truncated game."""
    games, total = rewards_until_done("points", players, 12, max_turns)
    assert (total == games.finished["score"][:, :players]).all()
    assert total.any()
    assert games.truncated.all() == (max_turns == 10)


@pytest.mark.compiled
def test_reward_margin_is_exact() -> None:
    """Each step's change of the margin / 50, rounded once; nothing at all where no VP are
    scored.
    """
    games = Games(4, 3, seed=11, reward="margin", autoreset=False, max_turns=60)
    before = margins(games)
    while (games.seat >= 0).any():
        going = np.flatnonzero(games.seat >= 0)
        games.step(decide(games, make_agent("crowd"), going), going)
        after = margins(games)
        assert (
            games.reward[going].tolist()
            == ((after - before) / 50).astype(np.float32)[going].tolist()
        )
        before = after
    assert before.any()


def margins(games: Games) -> np.ndarray:
    """How many VP each seat has more than the best other one."""
    scores = games.state["score"][:, : games.num_players]
    best_other = [np.delete(scores, seat, axis=1).max(axis=1) for seat in range(games.num_players)]
    margin: np.ndarray = scores - np.stack(best_other, axis=1)
    return margin


# ---- results of games ----


@pytest.mark.rule("END-4")
def test_results() -> None:
    """Most VP; then most cards, of all colours; then the win is shared.

    Empty seats have no share.
    """
    games = Games(4, 3, seed=1)
    games.state["hand"] = 0
    games.state["score"][:, :3] = [[5, 9, 9], [5, 9, 9], [5, 9, 9], [0, 0, 0]]
    games.state["hand"][0, 1, 5, 2] = 3
    games.state["hand"][0, 2, :4, 0] = 1
    games.state["hand"][1, 1:3, 4, 1] = 2
    games.state["hand"][2, 0, 5, :] = 4
    shares, cards = results(games.state)
    assert shares.tolist() == [
        [0, 0, 1, 0],
        [0, 0.5, 0.5, 0],
        [0, 0.5, 0.5, 0],
        pytest.approx([1 / 3, 1 / 3, 1 / 3, 0]),
    ]
    assert cards[:3].tolist() == [[0, 3, 4, 0], [0, 2, 2, 0], [12, 0, 0, 0]]


# ---- other libraries ----


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 2])
def test_observations_as_codes_are_the_scaled_ones_without_the_scale(threads: int) -> None:
    """After resets, steps, random play, in copies and for agents; other forms are refused."""
    scaled = Games(130, 3, seed=4, threads=threads)
    codes = Games(130, 3, seed=4, threads=threads, observation="codes")
    assert codes.observation.dtype == np.int16
    for _ in range(3):
        for games in (scaled, codes):
            games.step(games.mask.argmax(axis=1))
            games.play_random(20)
            games.reset(seed=[9], rows=[5])
        assert (codes.observation * SCALE == scaled.observation).all()
        assert (codes.observe(0) == scaled.observe(0)).all()
        codes = codes.copy()
    assert Games(2, seed=1, observation=None).observation.shape == (2, 0)
    with pytest.raises(OptionError, match="observation must be one of scaled, codes, not 'int8'"):
        Games(1, observation="int8")
