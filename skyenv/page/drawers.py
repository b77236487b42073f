"""Threads in which what browsers are shown is made or read: they take turns, so that none waits for
all that another wants.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from skyenv.page.errors import PageError

THREADS: Final = 2
"""Python does one thing at a time: more of them would only keep the event loop waiting."""
MOST_WAITING: Final = 64
"""Requests of one browser that wait at the same time."""
READERS: Final = 4
"""Threads that wait for a disk, which may be slow and somewhere else."""

_Values = ParamSpec("_Values")
_Answer = TypeVar("_Answer")
_Request = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class Drawers:
    """A few threads that serve browsers by turns. All methods are to be called in one event loop.

    Args:
        threads: how many.
        name: what they are called.
    """

    def __init__(self, threads: int = THREADS, name: str = "drawer") -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._waiting: OrderedDict[str, deque[_Request]] = OrderedDict()
        self._idle = threads

    async def ask(
        self,
        browser: str,
        work: Callable[_Values, _Answer],
        *values: _Values.args,
        **more: _Values.kwargs,
    ) -> _Answer:
        """What `work` gives, called in a thread when it is the browser's turn.

        Raises:
            PageError: the browser asks for too much at once.
        """
        requests = self._waiting.setdefault(browser, deque())
        if len(requests) >= MOST_WAITING:
            raise PageError("this browser asks for too much at once; ask again", 429)
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        request = partial(work, *values, **more), answer
        requests.append(request)
        self._begin()
        try:
            return await answer
        except asyncio.CancelledError:
            if request in requests:  # what it holds may be large
                requests.remove(request)
                if not requests:
                    del self._waiting[browser]
            raise

    def close(self) -> None:
        """End the threads, when what they do is done."""
        self._pool.shutdown(cancel_futures=True)

    def _begin(self) -> None:
        """Give waiting requests to idle threads."""
        while self._idle and self._waiting:
            browser, requests = self._waiting.popitem(last=False)
            work, answer = requests.popleft()
            if requests:
                self._waiting[browser] = requests  # behind all others
            if answer.cancelled():
                continue
            self._idle -= 1
            doing = asyncio.get_running_loop().run_in_executor(self._pool, work)
            doing.add_done_callback(partial(self._done, answer))

    def _done(self, answer: asyncio.Future[Any], doing: asyncio.Future[Any]) -> None:
        self._idle += 1
        if doing.cancelled():
            answer.cancel()
        elif (error := doing.exception()) is not None:
            if not answer.done():
                answer.set_exception(error)
        elif not answer.done():
            answer.set_result(doing.result())
        self._begin()
