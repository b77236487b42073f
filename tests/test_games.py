"""The batch engine: rows, validation, seeds, rewards, threads and copies."""

import pickle
from typing import Any

import numpy as np
import pytest

from skyenv import (
    Game,
    GameOptions,
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
from skyenv.engine.knowledge import resample, view
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.results import results, write_results
from skyenv.engine.thread_pool import worthwhile_threads
from skyenv.rules.compiling import COMPILED
from skyenv.rules.components import PLOTS
from skyenv.seeds import HIGHEST_SEED

TABLES = [(2, "back"), (3, "front"), (4, "back")]
OUTPUTS = ("state", "finished", "mask", "seat", "observation", "reward", "done", "truncated")


def snapshot(games: Games, rows: Any = slice(None)) -> dict[str, bytes]:
    """Return everything observable of some rows."""
    return {name: getattr(games, name)[rows].tobytes() for name in (*OUTPUTS, "seeds")}


def play(games: Games, steps: int, agent: str = "crowd") -> None:
    """Play an agent in all rows."""
    for _ in range(steps):
        games.step(decide(games, make_agent(agent)))


# ---- a row is the game of its seed ----


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_rows_reset_themselves_to_the_games_of_their_next_seeds(players: int, side: str) -> None:
    """Byte for byte (seed + number of rows, mod 2⁶³); first games: tests/guarantees."""
    games = Games(3, players, side, seed=[5, 2**62 + 3, HIGHEST_SEED - 1], max_turns=6)
    resets = 0
    for _ in range(250):
        seeds = games.seeds.copy()
        play(games, 1)
        for row in np.flatnonzero(games.done).tolist():
            resets += 1
            assert games.finished[row]["seed"] == seeds[row]
            fresh = Games(1, players, side, (int(seeds[row]) + 3) % 2**63, max_turns=6)
            for name in ("state", "mask", "seat", "observation", "seeds"):
                assert getattr(games, name)[row].tobytes() == getattr(fresh, name)[0].tobytes()
    assert resets >= 6


@pytest.mark.compiled
def test_results_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """By steps and in random play; all threads are used."""
    monkeypatch.setattr("skyenv.engine.thread_pool.DECISIONS_PER_THREAD", 64)
    batches = [Games(300, 3, seed=8, threads=threads, max_turns=6) for threads in (1, 2, 4)]
    for _ in range(60):
        actions = decide(batches[0], make_agent("random"))
        for games in batches:
            games.step(actions)
    for games in batches:
        games.play_random(70, salt=3)
        assert games.finished["turns"].any()
        assert snapshot(games) == snapshot(batches[0])


@pytest.mark.compiled
def test_threads_beyond_those_of_the_constructor_are_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each thread has its own scratch memory, which is allocated with the batch."""
    parts: list[int] = []
    monkeypatch.setattr("skyenv.engine.thread_pool.run", lambda play, number: parts.append(number))
    games = Games(8192, seed=1, threads=2)
    games.threads = 8
    games.play_random(1)
    assert parts == [2]


def test_the_default_number_of_threads_follows_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most the number of processors, fewer for little work."""
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(3), raising=False)
    assert Games(2, seed=1, threads=None).threads == 3
    assert [worthwhile_threads(number, True) for number in (1, 1023, 1024, 1536)] == [1, 1, 2, 3]
    assert [worthwhile_threads(number, False) for number in (4095, 4096)] == [1, 2]


# ---- what is refused ----


def over_in_row_2() -> Games:
    """Four games without automatic reset, that of row 2 over."""
    games = Games(4, 3, seed=[6, 7, 8, 9], max_turns=3, autoreset=False)
    while not games.done[2]:
        games.step(decide(games, make_agent("random"), [2]), [2])
    return games


REFUSED: dict[str, tuple[dict[int, int], Any, type[SkyenvError], int | None, str]] = {
    # changes to actions that are legal, rows, error, row, text
    "not legal": ({1: 0}, [0, 1, 3], IllegalActionError, 1, r"action 0 \(option A\) is not legal"),
    "two": ({3: 102, 1: 97}, [3, 1], IllegalActionError, 3, r"action 102 \(stop\) is not legal"),
    "too high": ({3: 103}, [0, 1, 3], IllegalActionError, 3, "action 103 is not a number from 0"),
    "far too high": ({0: 2**62}, [0], IllegalActionError, 0, f"action {2**62} is not a number"),
    "negative": ({0: -1}, [3, 0], IllegalActionError, 0, "action -1 is not a number from 0 to 102"),
    "over": ({}, None, GameOverError, 2, "the game is over; reset it before the next action"),
    "over and no action": ({2: 200}, [2], GameOverError, 2, "the game is over"),
    "twice": ({}, [0, 1, 0], OptionError, 0, "named more than once"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_actions_change_no_row(what: str) -> None:
    """The error names the row and the reason."""
    changes, rows, kind, row, message = REFUSED[what]
    games = over_in_row_2()
    untouched, legal = games.copy(), games.mask.argmax(axis=1)
    actions = legal.copy()
    for changed, action in changes.items():
        actions[changed] = action
    for _ in range(2):
        with pytest.raises(kind, match=f"row {row}: {message}") as caught:
            games.step(actions if rows is None else actions[rows], rows)
        assert type(caught.value) is kind
        assert snapshot(games) == snapshot(untouched)
        if isinstance(caught.value, IllegalActionError):
            assert (caught.value.row, caught.value.action) == (row, actions[row])
    for batch in (games, untouched):
        batch.step(legal[[3, 1, 0]], [3, 1, 0])
    assert snapshot(games) == snapshot(untouched)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        *(("step", (actions,)) for actions in ([13, 14], 13, [[13]] * 4, [13.0] * 4, [True] * 4)),
        *(("step", (actions,)) for actions in (["option A"] * 4, [2**70] * 4)),
        *(("step", ([13, 14], rows)) for rows in ([0, 4], [-1, 0], [0.0, 1.0], [0], ["0", "1"])),
        *(("step", ([13], rows)) for rows in ([2**40], np.array([True]), [[0]])),
        *(("reset", (seed,)) for seed in (-1, [1, 2], 1.5, [1, 2, 3, 2**63])),
        *(("reset", (1, rows)) for rows in ([0, 4], [-1], [0.5])),
        ("reset", ([1, 2], [0])),
        ("play_random", (0,)),
        ("play_random", (1, -1)),
        ("uniforms", (None, -1)),
        ("uniforms", (None, [1, 2])),
        ("uniforms", (None, 0.5)),
    ],
)
def test_invalid_arguments_are_refused_and_change_nothing(
    method: str, arguments: tuple[Any, ...]
) -> None:
    """Shapes, types, seeds and missing rows."""
    games = Games(4, seed=1)
    before = snapshot(games)
    with pytest.raises(OptionError) as caught:
        getattr(games, method)(*arguments)
    assert len(str(caught.value)) < 250
    assert snapshot(games) == before


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *(("num_games", value, "num_games must be a whole number from 1") for value in (0, 1.5)),
        ("num_games", True, "num_games must be a whole number"),
        ("threads", 0, "threads must be a whole number from 1 to"),
        ("observation", "int8", "observation must be True or False, not 'int8'"),
        *(("autoreset", value, "autoreset must be True or False") for value in (1, "yes", None)),
        ("seed", -1, "seed must be a whole number from 0 to 9223372036854775807, not -1"),
        *(("seed", value, "seed must be a whole number") for value in (2**63, [1, 0.5], [1, -5])),
        *(("seed", [1] * n, f"one number for each of the 2 rows, not {n}") for n in (1, 3)),
        *(("seed", value, "seed") for value in (1.5, object(), np.array(4.0), "ab")),
    ],
)
def test_invalid_options_are_named(name: str, value: Any, message: str) -> None:
    """Each with its valid values."""
    with pytest.raises(OptionError, match=message):
        Games(**{"num_games": 2, name: value})


# ---- seeds and resets ----


def test_seeds_are_given_by_a_number_or_per_row() -> None:
    """A number seeds consecutive rows; without a seed batches differ."""
    assert Games(3, seed=HIGHEST_SEED - 1).seeds.tolist() == [HIGHEST_SEED - 1, HIGHEST_SEED, 0]
    for seeds in ([3, 0, HIGHEST_SEED], (3, 0, HIGHEST_SEED), np.array([3, 0, HIGHEST_SEED])):
        games = Games(3, seed=seeds)
        assert games.seeds.tolist() == [3, 0, HIGHEST_SEED]
        assert games.state[1].tobytes() == Game(seed=0).state.tobytes()
    assert Games(2, seed=np.array(4)).seeds.tolist() == [4, 5]
    one, other = Games(2, autoreset=np.True_), Games(2)  # type: ignore[arg-type]
    assert one.seeds[0] != other.seeds[0]
    assert int(one.seeds[1]) == (int(one.seeds[0]) + 1) % 2**63


def test_resets_take_seeds_by_number_or_per_row() -> None:
    """A number counts rows in the given order; None gives each row its next seed."""
    games = Games(4, seed=10, reward="points")
    while not games.reward.any():
        play(games, 1)
    for arguments, seeds in (
        ((), [14, 15, 16, 17]),
        ((None, [2]), [14, 15, 20, 17]),
        ((50, [3, 0]), [51, 15, 20, 50]),
        (([1, 2], np.array([False, True, True, False])), [51, 1, 2, 50]),
        ((HIGHEST_SEED, [0]), [HIGHEST_SEED, 1, 2, 50]),
        ((None, [0]), [3, 1, 2, 50]),
    ):
        games.reset(*arguments)
        assert games.seeds.tolist() == seeds
        assert not games.reward.any()
    games.reset(7)
    assert snapshot(games) == snapshot(Games(4, seed=7, reward="points"))


@pytest.mark.compiled
def test_rows_without_a_seed_continue_from_their_last_seed() -> None:
    """By reset and automatically, in copies too; mod 2⁶³."""
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


def test_without_autoreset_finished_rows_stay_finished() -> None:
    """Without legal actions or a seat to act; `finished` holds the same position. Resetting the row
    leaves others unchanged.
    """
    games = over_in_row_2()
    assert games.done.tolist() == games.truncated.tolist() == [False, False, True, False]
    assert games.seat[2] == -1
    assert not games.mask[2].any()
    assert games.state[2].tobytes() == games.finished[2].tobytes()
    assert games.observation[2].tobytes() == games.observe(0, [2])[0].tobytes()
    before = snapshot(games, 2)
    games.play_random(10_000)
    assert games.done.all()
    assert snapshot(games, 2) == before
    before = snapshot(games, [0, 1, 3])
    games.reset(rows=[2])
    assert snapshot(games, [0, 1, 3]) == before
    assert games.done.tolist() == games.truncated.tolist() == [True, True, False, True]
    assert (games.seat[2], games.mask[2].any(), games.seeds[2]) == (0, True, 12)


# ---- observations, edits, copies ----


def test_observe_takes_any_seat_and_row() -> None:
    """Also of finished games; each time a new array."""
    games = Games(3, 3, seed=2, max_turns=3)
    play(games, 40)
    assert games.observe(games.seat).tobytes() == games.observation.tobytes()
    assert not np.shares_memory(games.observe(0), games.observation)
    observed = games.observe([2, 0, 1], [1, 1, 0])
    expected = np.stack([games.observe(2)[1], games.observe(0)[1], games.observe(1)[0]])
    assert observed.dtype == np.float32
    assert observed.tobytes() == expected.tobytes()
    ended = games.finished["phase"] == 7
    assert ended.any()
    assert (games.observe(0, state=games.finished)[ended] != games.observe(0)[ended]).any()
    assert games.observe(0, []).shape == (0, OBSERVATION_SIZE)


@pytest.mark.compiled
@pytest.mark.parametrize("threads", [1, 2])
def test_without_observations_all_else_is_equal(threads: int) -> None:
    """After resets, steps, random play and in copies."""
    games, blind = (
        Games(130, 3, seed=4, threads=threads, observation=flag) for flag in (True, False)
    )
    for _ in range(3):
        for one in (games, blind):
            one.step(one.mask.argmax(axis=1))
            one.play_random(20)
            one.reset(seed=[9], rows=[5])
        assert snapshot(blind) == {**snapshot(games), "observation": b""}
        assert (blind.observe(0) == games.observe(0)).all()
        blind = blind.copy()
    assert blind.observation.shape == (130, 0)


@pytest.mark.compiled
def test_compiled_code_writes_its_own_arrays() -> None:
    """Whatever becomes of the public ones: of other shapes, read-only, or replaced."""
    games, other, replaced = (Games(5, 3, seed=1) for _ in range(3))
    for name in ("mask", "seat", "observation", "reward", "done", "truncated"):
        array = getattr(games, name)
        array.flags.writeable = False
        array.shape = (array.size,)
        setattr(replaced, name, np.zeros(1))
    for one in (games, other, replaced):
        one.play_random(50)
    assert snapshot(games.copy()) == snapshot(games) == snapshot(other) == snapshot(replaced.copy())


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("options", "read"),
    [
        (GameOptions(3, reward="margin", max_turns=30), False),
        (
            GameOptions(2, "back", board=make_board("back", {"TSQ": PLOTS[::-1]}), max_turns=30),
            True,
        ),
        (GameOptions(task="alea-4"), False),
    ],
)
def test_a_batch_of_positions_plays_on_as_their_games_do(options: GameOptions, read: bool) -> None:
    """With options read from a position, too; later games are played on the same board."""
    games = Games(6, seed=3, options=options, autoreset=False)
    games.play_random(1)  # no game of a task is over so soon
    twin = Games.of(games.state, None if read else options, observation=True)
    assert twin.options == options
    for _ in range(3):
        for one in (games, twin):
            one.play_random(5)
        assert snapshot(twin) == snapshot(games)
    for one in (games, twin):
        one.reset(4)
    assert snapshot(twin) == snapshot(games)


def test_positions_of_other_games_make_no_batch() -> None:
    """Nor do invalid ones, nor none."""
    two, three = (Games(1, players, seed=1).state for players in (2, 3))
    wrong = two.copy()
    wrong.ring[0, 0, 0] = 100
    cases: tuple[tuple[Any, GameOptions | None, str], ...] = (
        (two[:0], None, "number of states"),
        (np.concatenate([two, three]), None, "num_players"),
        (three, GameOptions(2), "num_players"),
        (wrong, None, "ring"),
        (np.zeros(3), None, "GAME_DTYPE"),
    )
    for states, options, message in cases:
        with pytest.raises(OptionError, match=message):
            Games.of(states, options)


# ---- playing inside the compiled loop ----


def mixed(x: int) -> int:
    """The mixer of 32 bits, in numbers without an end."""
    x = (x ^ x >> 16) * 0x7FEB352D % 2**32
    x = (x ^ x >> 15) * 0x846CA68B % 2**32
    return x ^ x >> 16


def cheap_number(seed: int, decisions: int, salt: int) -> int:
    """Return random play's choice from 32 bits, in plain Python."""
    number = mixed((decisions + salt * 0x9E3779B9) % 2**32 ^ 0x5EED1E55)
    low = mixed((seed + number) % 2**32)
    return mixed(((seed >> 32) + mixed(low ^ number)) % 2**32) ^ low


@pytest.mark.compiled
@pytest.mark.parametrize("salt", [0, 2**32 + 7])
def test_random_play_can_be_reproduced_step_by_step(salt: int) -> None:
    """Seed, decision and salt decide the action; other salts give others."""
    inside, outside, other = (
        Games(20, 4, "back", [6, 2**40, *range(18)], max_turns=4) for _ in range(3)
    )
    for _ in range(15):
        inside.play_random(7, salt)
        other.play_random(7, salt + 1)
        for _ in range(7):
            actions = []
            for game, mask in zip(outside.state, outside.mask, strict=True):
                legal = np.flatnonzero(mask)
                number = cheap_number(int(game.seed), int(game.decisions), salt)
                actions.append(legal[len(legal) * number >> 32])
            outside.step(actions)
        assert snapshot(inside) == snapshot(outside)
    assert inside.finished["turns"].any()
    assert snapshot(inside) != snapshot(other)


def test_random_play_in_parts_equals_random_play_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In any number of slices between checks for Ctrl-C, also where rows end."""
    whole, parts = (
        Games(7, 3, seed=6, max_turns=4, autoreset=False, reward="points") for _ in range(2)
    )
    whole.play_random(90, salt=3)
    monkeypatch.setattr("skyenv.engine.games.DECISIONS_AT_A_TIME", 20)
    parts.play_random(90, salt=3)
    assert whole.done.any()
    assert snapshot(whole) == snapshot(parts)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_arrays_of_any_layout_need_no_compilation() -> None:
    """Read-only, strided, unaligned, other types and byte orders."""
    games, same = Games(6, 3, seed=1), Games(6, 3, seed=1)
    odd = np.zeros(6 * 8 + 1, np.uint8)[1:].view(np.int64)
    odd[:] = np.arange(6)
    frozen = odd.copy()
    frozen.flags.writeable = False
    layouts = (
        frozen,
        odd,
        np.arange(12)[::2] // 2,
        np.arange(6, dtype=">i8"),
        np.arange(6, dtype=np.int8),
    )

    def use(games: Games, rows: Any) -> None:
        actions = np.repeat(games.mask.argmax(axis=1), 2)[::2]
        actions.flags.writeable = False
        games.step(actions, rows)
        games.observe(np.zeros_like(rows), rows)
        games.uniforms(rows)
        games.reset(5, rows[:2])
        results(games.state[::2])

    names = ("play_rows", "reset_rows", "first_refused", "observe_rows", "uniforms")
    functions: list[Any] = [write_results, *(getattr(kernels, name) for name in names)]
    known: list[int] = []
    for rows in (np.arange(6), *layouts):
        use(games, rows)
        use(same, np.arange(6))
        assert snapshot(games) == snapshot(same)
        known = known or [len(function.signatures) for function in functions]
        assert [len(function.signatures) for function in functions] == known
