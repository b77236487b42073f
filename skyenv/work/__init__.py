"""One pool of workers for tournaments, evaluations, datasets, trainings and the page.

A task is a function that can be pickled, with its arguments. :func:`open_pool` gives processes of
this machine or CPUs of a Ray cluster; :class:`Pool` is what both offer::

    with Interrupt() as interrupt, open_pool(workers, ray) as pool:
        for task, result in pool.results(work, tasks, goes_on=interrupt.goes_on):
            keep(task, result)  # in the order in which results come

    future = pool.submit(work, *arguments)  # a concurrent.futures.Future
    pool.kill(future)

* A task whose worker dies is tried again, by a new worker, up to :data:`ATTEMPTS` times in all.
* What a task raises comes back with the worker's traceback as a note.
* Workers ignore SIGINT, end with the parent process, and give each library one thread.
* A worker keeps what its tasks leave in memory (``functools.lru_cache``).
"""

from __future__ import annotations

from skyenv.checks import check_integer
from skyenv.engine.thread_pool import cores
from skyenv.options import MOST_WORKERS
from skyenv.work.pool import (
    ATTEMPTS,
    ONE_THREAD,
    Interrupt,
    Pool,
    Processes,
    Report,
    Task,
    WorkerDiedError,
)

__all__ = [
    "ATTEMPTS",
    "ONE_THREAD",
    "Interrupt",
    "Pool",
    "Processes",
    "Report",
    "Task",
    "WorkerDiedError",
    "open_pool",
]


def open_pool(workers: int = 0, ray: str | None = None) -> Pool:
    """Return a new pool; whose tasks don't depend on which.

    Args:
        workers: how many at most; 0: one for each core, of this machine or of the cluster.
        ray: address of a Ray (:func:`skyenv.work.on_ray.connect`); None: processes of this machine.

    Raises:
        OptionError: there is no such Ray, or no such number of workers.
    """
    check_integer("workers", workers, 0, MOST_WORKERS)
    if ray is None:
        return Processes(workers or cores())
    from skyenv.work.on_ray import OnRay  # needs a package of its own

    return OnRay(ray, workers)
