"""Workers on all machines that Ray connects; for ``pip install skyenv[ray]``.

A unit is a task of Ray that takes one CPU, so as many are under way as there are CPUs, also of
machines that come later. What is sent is pickled here and unpickled there after a look at what is
installed there: another machine's skyenv must be of the same sources, or its games would be others.
Ray's own repetition of tasks is switched off: :func:`skyenv.arena.units.run_units` does units
again, and knows whether a worker died over a unit, or the machine under it.

Nothing is sent to Ray's makers (``RAY_USAGE_STATS_ENABLED``), and what Ray's own processes have to
say stays in its logs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest.mock import patch

import numpy as np

import skyenv
from skyenv.arena.workers import (
    ONE_THREAD,
    MachineLostError,
    Result,
    Unit,
    WorkerDiedError,
    Workers,
    sendable,
)
from skyenv.engine.thread_pool import cores
from skyenv.errors import OptionError, SkyenvError, cause, install_hint

AUTO: Final = "auto"
LOCAL: Final = "local"
LOOPBACK: Final = "127.0.0.1"

QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
"""Variables of Ray: it tells nobody that it is used, and doesn't warn of what it will do
differently one day.
"""

NICENESS: Final = "RAY_worker_niceness"
"""A variable of Ray: how far its workers step back behind what began it; 15 if nothing is said,
which is far.
"""

SECONDS_TO_ANSWER: Final = 10.0
"""So long an address may take to answer."""
SECONDS_BETWEEN_LOOKS: Final = 1.0
"""At how many CPUs there are."""

PACKAGES: Final = ("skyenv", "skyenv_agents", "experiments")
"""Whose sources have to be the same everywhere, as far as they are used here."""

DECIDING: Final = ("*.py", "*.npz", "*.json")
"""Files of theirs that decide games: code, networks, ladders."""

EVERYWHERE: Final = "install the same everywhere"


# ---- connecting ----


def keep_quiet() -> None:
    """Set :data:`QUIET`, where the environment says nothing else; to be called before a Ray is
    begun in some other way.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)


def connect(address: str, workers: int = 0) -> ModuleType:
    """The package ray, connected; what this process is connected with already stays.

    Args:
        address: ``"local"``: a Ray of this process's own, that only this machine reaches;
            ``"auto"``: the one that runs here; ``HOST:PORT``: the one whose head is there.
        workers: CPUs of a local one; 0: as many as there are cores.

    Raises:
        OptionError: Ray isn't installed, or there is none at that address, or one of another
            version.
    """
    keep_quiet()
    try:
        import ray
    except ImportError as error:
        raise OptionError(
            f"ray needs a package that isn't installed ({error}); {install_hint('ray')}"
        ) from error
    if not ray.is_initialized():
        _connect(ray, address, workers)
    connected: ModuleType = ray
    return connected


def _connect(ray: ModuleType, address: str, workers: int) -> None:
    import ray._private.worker as driver

    driver._worker_logs_enabled = (
        False  # it would print to stdout, in the middle of results, how a worker or a machine ended
    )
    where: dict[str, Any] = {"address": address}
    if address == LOCAL:
        os.environ.setdefault(NICENESS, "0")
        where |= {"num_cpus": workers or cores(), "_node_ip_address": LOOPBACK}
    elif address != AUTO:
        _check_answers(address)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with _loopback_stays() if address == LOCAL else contextlib.nullcontext():
            ray.init(**where, log_to_driver=False, logging_level="ERROR")
    # ConnectionError, RuntimeError, ValueError; and for a node that doesn't start, Exception itself
    except Exception as error:
        there = (
            " here; begin one with `ray start --head`, or use local"
            if address == AUTO
            else f" at {address}"
        )
        raise OptionError(f"ray: there is none to work with{there} ({cause(error)})") from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # whose it is is the program's matter


@contextlib.contextmanager
def _loopback_stays() -> Iterator[None]:
    """Ray begins with the address that it is told; it would put the network's in the place of the
    loopback's.

    Whoever reaches the ports of a Ray has his code run there, and nobody is asked who he is.
    """
    from ray._private import services

    with patch.object(services, "resolve_ip_for_localhost", lambda host: host):
        yield


def _check_answers(address: str) -> None:
    """Raise OptionError unless somebody answers at HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise OptionError(
            f"ray must be auto, local or HOST:PORT of a cluster's head, not {address!r}"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        raise OptionError(f"ray: nobody answers at {address} ({cause(error)})") from error


def cpus(ray: ModuleType) -> int:
    """How many CPUs all machines have now."""
    return int(ray.cluster_resources().get("CPU", 0))


# ---- what is the same everywhere ----


@dataclass(frozen=True)
class Home:
    """What workers elsewhere have to know of the process that sends them work.

    Attributes:
        folder: that relative paths begin with. path: where it looks for modules.
        sources: of the packages that it uses, see :func:`sources`.
        program: the module that it runs, if that is one of ours: what is sent calls it
            ``__main__``.
        version: of skyenv.
    """

    folder: str
    path: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    program: str = ""
    version: str = skyenv.__version__

    @classmethod
    def here(cls) -> Home:
        """This process."""
        path = tuple(os.path.abspath(entry) for entry in sys.path)
        spec = getattr(sys.modules["__main__"], "__spec__", None)
        program = spec.name if spec is not None and spec.name.startswith("experiments.") else ""
        return cls(
            str(Path.cwd()),
            path,
            tuple((name, sources(name)) for name in PACKAGES if name in sys.modules),
            program,
        )

    def move_in(self) -> None:
        """Look for files where it does, and be deaf to Ctrl-C, which is its own."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if Path(self.folder).is_dir():
            os.chdir(self.folder)
        if self.program:
            sys.modules["__main__"] = import_module(self.program)

    def check(self) -> None:
        """Raise SkyenvError if other sources are installed here."""
        for name, wanted in self.sources:
            if (found := sources(name)) != wanted:
                what = (
                    f"a {name} of other sources (version {skyenv.__version__})"
                    if found
                    else f"no {name}"
                )
                wanted = f"those of version {self.version} that sent it work"
                raise SkyenvError(
                    f"ray: {socket.gethostname()} has {what}, and not {wanted}; {EVERYWHERE}"
                )


@cache
def sources(package: str) -> str:
    """A digest of a package's files that decide games; "" if it isn't installed."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        return ""
    digest = hashlib.sha256()
    for folder in map(Path, found.submodule_search_locations):
        for path in sorted(path for kind in DECIDING for path in folder.rglob(kind)):
            digest.update(
                path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0"
            )
    return digest.hexdigest()


# ---- in a worker ----


def sent(what: Any) -> bytes:
    """What is sent to another machine, or back."""
    return pickle.dumps(what, pickle.HIGHEST_PROTOCOL)


def in_parts(what: Any) -> list[Any]:
    """What is sent, as :func:`sent` gives it, but for the arrays in it, which follow as they lie in
    memory.

    Ray copies these once, and whoever opens them finds them in the memory that Ray shares, where
    nothing can be written.
    """
    arrays: list[pickle.PickleBuffer] = []
    first = pickle.dumps(what, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    return [first, *(np.frombuffer(array.raw(), np.uint8) for array in arrays)]


_latest: tuple[bytes, Any] = b"", None
"""The work that this worker did last, so that agents are loaded once."""


def carry_out(home: Home, work: bytes, unit: bytes) -> bytes:
    """Do a unit in a worker: whether it was done, and what came of it, or the error."""
    global _latest
    try:
        home.check()
        home.move_in()
        if _latest[0] != work:
            _latest = work, pickle.loads(work)
        return sent((True, _latest[1](pickle.loads(unit))))
    except BaseException as error:
        return sent((False, told(error)))


def told(error: BaseException) -> Exception:
    """What is sent of an error that came in a worker, with where it came from.

    Raises:
        BaseException: the error itself, if it is Ray that ends the worker by it, or Ctrl-C.
    """
    if isinstance(error, KeyboardInterrupt) or hasattr(error, "ray_terminate_msg"):
        raise error
    error.add_note(traceback.format_exc())
    return sendable(error)


def _task() -> Callable[[bytes, bytes, bytes, tuple[str, ...]], bytes]:
    """What Ray calls.

    It is pickled as it stands here, since skyenv may be missing where it is called.
    """

    def unit_of_skyenv(home: bytes, work: bytes, unit: bytes, path: tuple[str, ...]) -> bytes:
        import os
        import pickle
        import socket
        import sys

        sys.path.extend(entry for entry in path if entry not in sys.path and os.path.exists(entry))
        try:
            from skyenv.arena.on_ray import carry_out

            origin = pickle.loads(home)
        except ImportError as error:
            return pickle.dumps(
                (None, f"{socket.gethostname()} has no skyenv of the same version ({error})")
            )
        return carry_out(origin, work, unit)

    return unit_of_skyenv


def _guest() -> type:
    """The class that Ray makes actors of; pickled as it stands here, as the task is."""

    class GuestOfSkyenv:
        def __init__(self, home: bytes, kind: bytes, path: tuple[str, ...]) -> None:
            self.home, self.kind, self.path, self.inner = home, kind, path, None

        def do(self, what: str, shared: bytes, rest: bytes) -> bytes | list[Any]:
            import os
            import pickle
            import socket
            import sys

            sys.path.extend(
                entry for entry in self.path if entry not in sys.path and os.path.exists(entry)
            )
            try:
                from skyenv.arena.on_ray import answered

                home = pickle.loads(self.home)
            except ImportError as error:
                return pickle.dumps(
                    (None, f"{socket.gethostname()} has no skyenv of the same version ({error})")
                )
            return answered(self, home, what, shared, rest)

    return GuestOfSkyenv


def answered(guest: Any, home: Home, what: str, shared: bytes, rest: bytes) -> list[Any]:
    """What an object in an actor answers: whether it did, and the answer or the error.

    It is made when it is first asked.
    """
    try:
        if guest.inner is None:
            home.check()
            home.move_in()
            kind, arguments = pickle.loads(guest.kind)
            guest.inner = kind(*arguments)
        return in_parts(
            (True, getattr(guest.inner, what)(pickle.loads(shared), *pickle.loads(rest)))
        )
    except BaseException as error:
        return in_parts((False, told(error)))


# ---- those who work ----


class Host:
    """An object that lives in a process of its own on some machine.

    Args:
        ray: the package. kind: the object's class. arguments: what it is made with; pickled.
        cpus: that the machine must have free; 0: it goes anywhere.
    """

    def __init__(self, ray: ModuleType, kind: type, *arguments: Any, cpus: int = 1) -> None:
        self._ray = ray
        home = Home.here()
        guest = ray.remote(
            num_cpus=cpus, max_restarts=0, max_task_retries=0, runtime_env={"env_vars": ONE_THREAD}
        )(_guest())
        self._actor = guest.remote(sent(home), sent((kind, arguments)), home.path)
        self._ready = self._actor.__ray_ready__.remote()

    def ask(self, what: str, shared: Any, *rest: Any) -> Any:
        """Let a method be called; a ticket for its answer.

        Args:
            what: its name. shared: its first argument, as :func:`sent` and put into Ray once for
                all. rest: the others.
        """
        return self._actor.do.remote(what, shared, sent(rest))

    def answer(self, ticket: Any) -> Any:
        """What a method gave.

        Raises:
            WorkerDiedError, MachineLostError: the object is gone. Exception: what the method
                raised.
        """
        return opened(fetched(self._ray, ticket))

    def answers_within(self, ticket: Any, seconds: float) -> bool:
        """Whether a method has been called, or never will be, after so long at the most."""
        return bool(self._ray.wait([ticket], timeout=seconds)[0])

    def begun(self) -> bool:
        """Whether there is a process; before that a machine must have a CPU that nobody uses."""
        return self.answers_within(self._ready, 0)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._ray.kill(self._actor)


def opened(answer: bytes | list[Any]) -> Any:
    """What a worker gave, or what it raised; arrays that came :func:`in_parts` can't be written
    to.
    """
    first, *arrays = answer if isinstance(answer, list) else [answer]
    done, result = pickle.loads(first, buffers=arrays)
    if done is None:
        raise SkyenvError(f"ray: {result}; {EVERYWHERE}")
    if not done:
        raise result
    return result


class OnRay(Workers[Unit, Result]):
    """CPUs of all machines that Ray connects.

    Args:
        work: does a unit, in a worker. It, units and results are pickled.
        number: how many units are under way at most; 0: as many as there are CPUs.
        address: as for :func:`connect`.

    Raises:
        OptionError: as for :func:`connect`.
    """

    def __init__(self, work: Callable[[Unit], Result], number: int, address: str) -> None:
        self._ray = connect(address, number)
        self._number = number
        self._seen = (
            -SECONDS_BETWEEN_LOOKS,
            0,
        )  # when the CPUs were counted, and how many there were
        home = Home.here()
        task = self._ray.remote(num_cpus=1, max_retries=0, runtime_env={"env_vars": ONE_THREAD})(
            _task()
        )
        self._begin = partial(task.remote, *map(self._ray.put, (sent(home), sent(work))))
        self._path = home.path
        self._busy: dict[Any, None] = {}

    def free(self) -> bool:
        """See :meth:`skyenv.arena.workers.Workers.free`."""
        return len(self._busy) < self._cpus()

    def begin(self, unit: Unit) -> Any:
        """See :meth:`skyenv.arena.workers.Workers.begin`."""
        ticket = self._begin(sent(unit), self._path)
        self._busy[ticket] = None
        return ticket

    def wait(self, seconds: float) -> list[Any]:
        """See :meth:`skyenv.arena.workers.Workers.wait`."""
        if not self._busy:
            time.sleep(seconds)
            return []
        done, _ = self._ray.wait(list(self._busy), timeout=seconds)
        if done and len(self._busy) > 1:
            done, _ = self._ray.wait(list(self._busy), num_returns=len(self._busy), timeout=0)
        return list(done)

    def result(self, ticket: Any) -> Result:
        """See :meth:`skyenv.arena.workers.Workers.result`."""
        del self._busy[ticket]
        result: Result = opened(fetched(self._ray, ticket))
        return result

    def end(self) -> None:
        """See :meth:`skyenv.arena.workers.Workers.end`."""
        for ticket in self._busy:
            self._ray.cancel(ticket, force=True)
        self._busy.clear()

    def _cpus(self) -> int:
        """How many units may be under way now."""
        if self._number:
            return self._number
        when, number = self._seen
        if time.monotonic() - when >= SECONDS_BETWEEN_LOOKS:
            number = cpus(self._ray)
            self._seen = time.monotonic(), number
        return number


def fetched(ray: ModuleType, ticket: Any) -> Any:
    """What a task or an actor gave.

    Raises:
        WorkerDiedError: its process died. MachineLostError: its machine, or what it gave was lost
            with a machine.
        SkyenvError: this machine's part of Ray has ended, or Ray has failed in some other way.
    """
    errors = ray.exceptions
    try:
        return ray.get(ticket)
    except errors.LocalRayletDiedError as error:
        raise SkyenvError(
            "ray: this machine's part of it has ended; what is finished is kept"
        ) from error
    except (errors.NodeDiedError, errors.ActorUnavailableError, errors.ObjectLostError):
        raise MachineLostError from None
    except errors.ActorDiedError as error:
        raise (MachineLostError if "its node has died" in str(error) else WorkerDiedError) from None
    except (errors.WorkerCrashedError, errors.OutOfMemoryError):
        raise WorkerDiedError from None
    except errors.RayError as error:
        raise SkyenvError(f"ray: {cause(error)}; what is finished is kept") from error
