"""Misuse that could crash or hang the process: garbage, threads, forks and Ctrl-C.

Each case runs in its own process.
"""

import os
from typing import Final

import pytest

from processes import printed

START: Final = """
import multiprocessing, os, signal, sys, threading, time, warnings
import numpy as np
from skyenv import Games, OptionError
from skyenv.engine.results import results
from skyenv.engine import thread_pool as batches
from skyenv.engine.knowledge import resample, view
batches.DECISIONS_PER_THREAD = 64  # threads are used, however little there is to do
from skyenv.rules.state import GAME_DTYPE, GameRecord
"""


# Seats, rows, types and shapes that there aren't.
WRONG_CALLS: Final = """
games = Games(8, seed=1)
state = games.state
seen = view(state, 0)
no_seats = [10**9, -1, 2, 2**62, 0.0, "0", None, [0, 1], [0] * 7 + [2], np.full(8, 9, np.int8)]
no_rows = [[8], [-1], 10**9, [0.5], "x", [[0]], [2**62], np.zeros(3, bool)]
no_games = [np.full(8, 127), np.zeros(8, GAME_DTYPE), "x", 5]
no_views = [np.full(8, 127), np.zeros(8, seen.dtype), seen[:3], "x", 5]
calls = [
    *(lambda seat=seat: view(state, seat) for seat in no_seats),
    *(lambda seat=seat: games.observe(seat) for seat in no_seats),
    *(lambda rows=rows: view(state, 0, rows) for rows in no_rows),
    *(lambda rows=rows: games.observe(0, rows) for rows in no_rows),
    *(lambda rows=rows: games.step([0] * 8, rows) for rows in no_rows),
    *(lambda rows=rows: games.reset(1, rows) for rows in [*no_rows, [0, 0]]),
    *(lambda rows=rows: games.uniforms(rows) for rows in no_rows),
    *(lambda other=other: games.observe(0, None, other) for other in [*no_games, state[:3]]),
    *(lambda other=other: results(other) for other in no_games),
    *(lambda other=other: resample(other, [1]) for other in no_views),
]
for number, call in enumerate(calls):
    try:
        call()
    except OptionError:
        continue
    raise AssertionError(number)
print(len(calls))
"""

# Actions, rows and seats that another thread spoils while compiled code, which holds no lock of
# Python's, is at work.
SPOILED_ARRAYS: Final = """
from skyenv.engine import kernels
games, same = (Games(64, 3, seed=1) for _ in range(2))
actions, rows, seats = same.mask.argmax(axis=1), np.arange(64), np.full(64, 2)
given = [actions.copy(), rows.copy(), seats.copy()]

def spoiling(function):
    def spoil_and_call(*arguments):
        for array in given:
            array[:] = 10**9
        return function(*arguments)
    return spoil_and_call

same.step(actions), same.reset(7, rows[::2])
seen, numbers = same.observe(seats, rows), same.uniforms(rows)
for name in ("play_rows", "reset_rows", "observe_rows", "uniforms"):
    setattr(kernels, name, spoiling(getattr(kernels, name)))
games.step(given[0], given[1])
given[1][:] = rows
games.reset(7, given[1][::2])
given[1][:], given[2][:] = rows, seats
print((games.observe(given[2], given[1]) == seen).all(), end=" ")
given[1][:] = rows
print((games.uniforms(given[1]) == numbers).all(), games.state.tobytes() == same.state.tobytes())
"""

# Records that are edited at random and pass the check are played on in, seen and resampled,
# whatever they are.
GARBAGE: Final = """
rng = np.random.default_rng(5)
accepted = refused = 0

def garble(record, field):
    _, shape, *bounds = GameRecord.fields[field]
    low, high = (np.full(shape, min(bound, 2**62)) for bound in bounds)
    new = rng.integers(low - (rng.random() < 0.02), high + 1)
    keep = rng.random(np.shape(new)) < rng.choice([0.0, 0.9])
    record[field] = np.where(keep, record[field], new).astype(GAME_DTYPE[field].base)

for number in range(40):
    players, side = int(rng.integers(2, 5)), ("front", "back")[number % 2]
    games = Games(4, players, side, seed=int(rng.integers(2**40)), autoreset=False, max_turns=60)
    games.play_random(int(rng.integers(1, 250)))
    good = games.state.copy()
    for _ in range(40):
        games.state[:] = good
        for field in rng.choice(list(GameRecord.fields), size=rng.integers(1, 5), replace=False):
            garble(games.state[1], field)
        bad = games.state[1].copy()
        try:
            games.refresh()
        except OptionError:
            refused += 1
            continue
        accepted += 1
        games.play_random(int(rng.integers(1, 150)))
        games.observe(players - 1), results(games.state)
        games.state[:] = good
        games.state[1] = bad
        games.refresh()
        try:
            resample(view(games.state, int(rng.integers(players)), [1]), [1, 2])
        except OptionError:
            pass
print(accepted, refused)
"""

# Four threads play on in one batch and look at it: all that they asked for is played, and nothing
# breaks.
THREADS: Final = """
games = Games(64, 3, seed=1, autoreset=False, max_turns=10**6, threads=2)

def play():
    for _ in range(20):
        games.play_random(5)
        games.observe(1), games.uniforms(), games.copy(), games.reset(7, [3])

threads = [threading.Thread(target=play) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
going = games.seat >= 0
decisions = np.delete(games.state["decisions"][going], 3 - np.flatnonzero(~going[:3]).size)
print((decisions == 400).all())
"""

# Threads stay behind in a fork: the child starts its own, by os.fork() as by multiprocessing, and
# plays the same game.
FORKED: Final = """
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
games = Games(512, 2, seed=1, threads=2)
first = games.mask.argmax(axis=1)
games.step(first)

def go_on():
    games.step(games.mask.argmax(axis=1))
    games.play_random(10)
    return games.state.tobytes()

reading, writing = os.pipe()
child = os.fork()
if child == 0:
    digest = hash(go_on())
    os.write(writing, str(digest).encode())
    os._exit(0)
os.waitpid(child, 0)
told = int(os.read(reading, 100))

def other(results):
    results.put(hash(go_on()))

context = multiprocessing.get_context("fork")
results = context.Queue()
process = context.Process(target=other, args=(results,))
process.start()
also = results.get()
process.join()
print(told == also == hash(go_on()))
"""

# A forked process doesn't wait for a thread that held the batch's lock and stayed behind.
LOCK_OF_A_FORK: Final = """
held = threading.Event()

def hold():
    with games.lock:
        held.set()
        time.sleep(0.2)

holding = threading.Thread(target=hold)
holding.start()
held.wait()
child = os.fork()
if child == 0:
    games.reset(17)
    print(games.seeds[0], flush=True)
    os._exit(0)
holding.join()
os.waitpid(child, 0)
"""

# Soon, and when it is raised nothing is written any more: every row is in a whole position.
CTRL_C: Final = """
def interrupted(threads):
    games = Games(300, 3, seed=1, threads=threads)

    def interrupt():
        "Ctrl-C once every row has gone on to its second game."
        while (games.seeds < 301).any():
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    try:
        threading.Thread(target=interrupt).start()
        games.play_random(10**11)
    except KeyboardInterrupt:
        before = games.state.tobytes()
        told = games.mask.tobytes(), games.seat.tobytes(), games.observation.tobytes()
        time.sleep(0.3)
        games.refresh()
        same = told == (games.mask.tobytes(), games.seat.tobytes(), games.observation.tobytes())
        print(before == games.state.tobytes(), same)

[interrupted(threads) for threads in (1, 2)]
"""


def run(*programs: str) -> list[str]:
    """What programs print in one process, which must end by itself, without an error."""
    return printed("-u", "-c", START + "".join(programs)).splitlines()


@pytest.mark.compiled
def test_misuse_never_crashes_the_process() -> None:
    calls, garbage, spoiled = run(WRONG_CALLS, GARBAGE, SPOILED_ARRAYS)
    assert int(calls) == 75
    accepted, refused = map(int, garbage.split())
    assert accepted > 1000
    assert refused > 100
    assert spoiled.split() == ["True"] * 3


@pytest.mark.compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_threads_take_turns_and_forked_processes_continue() -> None:
    assert run(THREADS, FORKED, LOCK_OF_A_FORK) == ["True", "True", "17"]


@pytest.mark.compiled
@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_random_play_can_be_interrupted() -> None:
    """On one thread and on two."""
    assert run(CTRL_C) == ["True True"] * 2
