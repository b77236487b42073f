"""A pool on a Ray cluster; needs ``pip install skyenv[ray]``.

A job is a Ray task with one CPU. Ray retries it after the loss of a process or machine. All
machines must have the same sources, or games would differ; workers compare digests before they
unpickle anything.
"""

import contextlib
import os
import pickle
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import skyenv
from skyenv.errors import OptionError, SkyenvError, cause, needs_extra
from skyenv.files import digest_of
from skyenv.rules.variant import VARIANT
from skyenv.runtime import OF_PARENT
from skyenv.work.pool import (
    ATTEMPTS,
    ONE_THREAD,
    Job,
    Pool,
    WorkerDiedError,
    default_workers,
    portable,
)

AUTO: Final = "auto"
LOCAL: Final = "local"

# Environment of Ray: no usage statistics, no warning of future defaults.
QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
# Environment of a local Ray: it listens on the loopback address only, as access to its ports allows
# running code; workers have this process's priority.
OF_THIS_MACHINE: Final = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_worker_niceness": "0",
}
# Timeout for the connection to a head; Ray itself retries for minutes.
SECONDS_TO_ANSWER: Final = 10.0
# Packages whose sources must be equal on all machines if this process uses them, and the suffixes
# of the files that determine games: code, networks, ladders.
PACKAGES: Final = ("skyenv", "skyenv_agents", "experiments")
DECIDING: Final = (".py", ".npz", ".json", ".toml")


def connect(address: str, workers: int = 0) -> Any:
    """Connect this process to Ray unless it is connected, and return the package ray.

    Args:
        address: ``"local"``: a new Ray on this machine, which ends with this process; ``"auto"``:
            the running Ray of this machine; ``HOST:PORT``: the cluster with that head.
        workers: CPUs of a local Ray; 0: one per core.

    Raises:
        MissingExtraError: Ray isn't installed. OptionError: no cluster at that address.
    """
    is_local = address == LOCAL
    for name, value in (QUIET | (OF_THIS_MACHINE if is_local else {})).items():
        os.environ.setdefault(name, value)
    with needs_extra("ray"):
        import ray
    before = signal.getsignal(signal.SIGTERM)
    try:
        if not ray.is_initialized():
            if address not in (LOCAL, AUTO):
                host, _, port = address.rpartition(":")
                place = host.strip("[]"), int(port)
                socket.create_connection(place, SECONDS_TO_ANSWER).close()
            ray.init(
                address,
                num_cpus=(workers or default_workers()) if is_local else None,
                log_to_driver=False,
                logging_level="ERROR",
            )
    except Exception as error:  # Ray raises ConnectionError, RuntimeError, ValueError, Exception
        raise OptionError(
            f"ray: no cluster at {address!r} ({cause(error)}); use auto for one started here by "
            "`ray start --head`, local for a new one, HOST:PORT for a remote head"
        ) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # Ray replaces the handler
    return ray


class OnRay(Pool):
    """A pool on a Ray cluster, including machines that join later.

    Args:
        address: as for :func:`connect`.
        workers: most concurrent jobs; 0: one per CPU.
    """

    def __init__(self, address: str, workers: int = 0) -> None:
        self._ray = connect(address, workers)
        self._workers = workers
        self._references: dict[Job[Any], Any] = {}
        remote = self._ray.remote(
            num_cpus=1, max_retries=ATTEMPTS - 1, runtime_env={"env_vars": ONE_THREAD}
        )(do)
        sources = {name: digest_of_sources(name) for name in PACKAGES if name in sys.modules}
        self._remote = partial(
            remote.remote, os.getcwd(), list(map(os.path.abspath, sys.path)), sources
        )

    def _begin(self, job: Job[Any]) -> None:
        # Ray's pickle also supports definitions of a `python -m` main module.
        reference = self._remote(self._ray.cloudpickle.dumps((job.work, job.arguments)))
        self._references[job] = reference
        job.set_running_or_notify_cancel()
        reference.future().add_done_callback(partial(self._settle, job))

    def kill(self, job: Job[Any], warm_up: Callable[[], object] | None = None) -> None:
        """See :meth:`Pool.kill`."""
        if (reference := self._references.pop(job, None)) is not None:
            self._ray.cancel(reference, force=True)

    def size(self) -> int:
        """See :meth:`Pool.size`."""
        return self._workers or max(1, int(self._ray.cluster_resources().get("CPU", 0)))

    def close(self) -> None:
        """See :meth:`Pool.close`; Ray stays connected."""
        for job in list(self._references):
            self.kill(job)

    def _settle(self, job: Job[Any], done: Any) -> None:
        """Set the result of a job; runs in a thread of Ray."""
        self._references.pop(job, None)
        errors = self._ray.exceptions
        lost = (
            errors.WorkerCrashedError,
            errors.OutOfMemoryError,
            errors.NodeDiedError,
            errors.ObjectLostError,
        )
        try:
            is_done, answer = done.result()
        except lost as error:
            why = f"{ATTEMPTS} processes or machines were lost ({cause(error)})"
            is_done, answer = False, WorkerDiedError(why)
        except errors.RayError as raised:
            is_done, answer = False, SkyenvError(f"ray: {cause(raised)}; finished results are kept")
        if is_done:
            job.set_result(answer)
        else:
            job.set_exception(answer)


def do(
    folder: str, path: list[str], sources: Mapping[str, str], message: bytes
) -> tuple[bool, Any]:
    """Run a job in a worker; return whether it succeeded, and its result or error.

    Args:
        folder: working directory of the submitting process.
        path: module search path of the submitting process.
        sources: digests of the packages that it uses (:func:`digest_of_sources`).
        message: the pickled function and arguments.
    """
    try:
        for name, wanted in sources.items():
            if digest_of_sources(name) != wanted:
                raise SkyenvError(
                    f"ray: {socket.gethostname()} has other sources of {name} (skyenv "
                    f"{skyenv.__version__}) than the submitting process; install the same version "
                    "on all machines"
                )
        for number in OF_PARENT:
            signal.signal(number, signal.SIG_IGN)
        sys.path.extend(entry for entry in path if entry not in sys.path)
        with contextlib.suppress(FileNotFoundError):
            os.chdir(folder)
        work, arguments = pickle.loads(message)
        return True, work(*arguments)
    except Exception as error:  # not SystemExit, by which Ray ends a worker
        return False, portable(error)


@cache
def digest_of_sources(package: str) -> str:
    """Return a digest of a package's files that determine games, and of the rules' variant; "" if
    the package isn't installed.
    """
    found = find_spec(package)
    folders = (found and found.submodule_search_locations) or ()
    return " ".join([*(digest_of(Path(folder), DECIDING) for folder in folders), VARIANT])
