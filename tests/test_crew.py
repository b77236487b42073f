"""Tests of the threads that share the work of calls."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import pytest

from skyenv import Games
from skyenv.engine.thread_pool import Crew, _Call


@pytest.fixture
def crew() -> Iterator[Crew]:
    made = Crew(2)
    yield made
    made.dismiss()


def soon(true: Callable[[], bool]) -> bool:
    """Whether something comes true within seconds."""
    for _ in range(2000):
        if true():
            return True
        time.sleep(0.005)
    return False


def play_together(crew: Crew) -> None:
    """A call in which every part begins, in a thread of its own, and all are done when it
    returns.
    """
    begun, ended = {}, set()
    all_here = threading.Barrier(3, timeout=60)

    def play(part: int) -> None:
        if part in ended:  # for the second time
            return
        begun[part] = threading.get_ident()
        all_here.wait()
        if part:
            time.sleep(0.002)
        ended.add(part)

    crew.run(play, 3)
    assert ended == {0, 1, 2}
    assert begun[0] == threading.get_ident()
    assert len(set(begun.values())) == 3


def test_others_play_parts_and_are_waited_for(crew: Crew) -> None:
    for _ in range(30):
        play_together(crew)


def test_who_comes_late_is_not_waited_for(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """And does nothing for a call that is over."""
    parts: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(crew, "_wake", lambda number: None)
        crew.run(parts.append, 3)
    assert parts == [0]
    call = _Call(parts.append)
    call.run(1)
    call.close()
    call.run(2)
    assert parts == [0, 1]


def test_fewer_parts_wake_fewer_threads(crew: Crew) -> None:
    parts: set[int] = set()
    for _ in range(20):
        crew.run(parts.add, 2)
        time.sleep(0.001)
    assert parts <= {0, 1}


def test_what_another_thread_raises_is_raised(crew: Crew) -> None:
    """The crew plays on after it."""
    here = threading.Event()

    def play(part: int) -> None:
        if part == 0:
            assert here.wait(60)
        elif part == 1:
            here.set()
            raise ValueError("in another thread")

    with pytest.raises(ValueError, match="in another thread"):
        crew.run(play, 2)
    play_together(crew)


def test_what_this_thread_raises_waits_for_the_others(crew: Crew) -> None:
    here, ended = threading.Event(), []

    def play(part: int) -> None:
        if part:
            here.set()
            time.sleep(0.05)
            ended.append(part)
        else:
            assert here.wait(60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crew.run(play, 2)
    assert ended == [1]


def test_however_often_ctrl_c_is_pressed_the_others_are_waited_for(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before it has been said that the call is over. The crew plays on after it."""
    here, over, ended, presses = threading.Event(), threading.Event(), [], [1, 2, 3]
    close = _Call.close

    def press_and_close(call: _Call) -> None:
        if presses:
            raise KeyboardInterrupt(presses.pop())
        over.set()
        close(call)

    def play(part: int) -> None:
        if part:
            here.set()
            assert over.wait(60)
            time.sleep(0.05)
            ended.append(part)
        else:
            assert here.wait(60)

    with monkeypatch.context() as patch:
        patch.setattr(_Call, "close", press_and_close)
        with pytest.raises(KeyboardInterrupt):
            crew.run(play, 2)
    assert (presses, ended) == ([], [1])
    play_together(crew)


def test_threads_end_with_their_batch() -> None:
    """They don't keep it alive, and don't outlive it."""
    before = set(threading.enumerate())
    games = Games(64, seed=1, threads=3, observe=False)
    games.play_random(100)
    threads = set(threading.enumerate()) - before
    assert len(threads) == 2
    gone = weakref.ref(games)
    del games
    gc.collect()
    assert soon(lambda: gone() is None)
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
