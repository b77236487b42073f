"""Threads that play parts of a call, and wait for the next one."""

from __future__ import annotations

import threading
from collections.abc import Callable

Play = Callable[[int], None]


class _Call:
    """The parts of one call: once it is over none begins any more, and those under way are waited
    for.
    """

    def __init__(self, play: Play) -> None:
        self._play = play
        # Plain locks: what Condition and Event do in Python, Ctrl-C can cut in two.
        self._gate = threading.Lock()
        self._busy = threading.Lock()  # held as long as parts are under way
        self._running = 0
        self._open = True
        self.error: BaseException | None = None

    def run(self, part: int) -> None:
        """Play a part, unless the call is over; an error is kept for the one who called."""
        with self._gate:
            if not self._open:
                return
            if not self._running:
                self._busy.acquire()
            self._running += 1
        try:
            self._play(part)
        except BaseException as error:
            self.error = error
        finally:
            with self._gate:
                self._running -= 1
                if not self._running:
                    self._busy.release()

    def close(self) -> None:
        """Let no part begin any more, and wait for those that have begun.

        It may be called again.
        """
        with self._gate:
            self._open = False
        with self._busy:
            pass


class Crew:
    """Threads that share the work of calls, one call at a time, with the thread that calls.

    The work is divided among those who come: a thread that the operating system wakes late, or not
    at all, is not waited for.

    Args:
        number: of threads, at least 1. They wait in the operating system, and end with
            :meth:`dismiss` or the process.
    """

    def __init__(self, number: int) -> None:
        self._call: _Call | None = None
        self._dismissed = False
        self._asleep = [
            threading.Lock() for _ in range(number)
        ]  # each locked until its thread shall look for a call
        try:
            for part, asleep in enumerate(self._asleep, 1):
                asleep.acquire()
                threading.Thread(
                    target=self._serve, args=(part, asleep), name=f"skyenv-{part}", daemon=True
                ).start()
        except BaseException:
            self.dismiss()
            raise

    def _serve(self, part: int, asleep: threading.Lock) -> None:
        while True:
            asleep.acquire()
            if self._dismissed:
                return
            call = self._call
            if call is not None:
                call.run(part)
            del call  # and with it the batch, which would live as long as this waits

    def _wake(self, number: int) -> None:
        for asleep in self._asleep[:number]:
            if asleep.locked():
                asleep.release()

    def run(self, play: Play, parts: int) -> None:
        """Call `play` with 0 here and with 1 … parts − 1 in the threads that come in time, in some
        perhaps twice in a row.

        Whoever comes must do what the others have left, so that all is done when ``play(0)``
        returns and nobody plays any more.

        Raises:
            BaseException: what `play` raised, in whatever thread, or KeyboardInterrupt. Nobody
                plays any more then either.
        """
        call = _Call(play)
        try:
            self._call = call
            self._wake(parts - 1)
            play(0)
        finally:
            self._call = None
            interruption: BaseException | None = None
            while (
                True
            ):  # here and not in a function of its own: Ctrl-C may come before one has begun
                try:
                    call.close()
                    break
                except BaseException as error:
                    interruption = error
            if interruption is not None:
                raise interruption
        if call.error is not None:
            raise call.error

    def dismiss(self) -> None:
        """Let the threads end."""
        self._dismissed = True
        self._wake(len(self._asleep))
