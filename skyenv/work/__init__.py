"""The pool of workers for tournaments, evaluations, datasets, trainings and the page.

A job is a function that can be pickled, with its arguments. :func:`open_pool` gives processes of
this machine or CPUs of a Ray cluster; :class:`Pool` is what both offer::

    with Interrupt() as interrupt, open_pool(workers, ray) as pool:
        for job, result in pool.results(work, jobs, goes_on=interrupt.goes_on):
            keep(job, result)  # in the order in which results come

    future = pool.submit(work, *arguments)  # a concurrent.futures.Future
    pool.kill(future)

* A job whose worker dies is tried again, by a new worker, up to :data:`ATTEMPTS` times in all.
* A job's exception is raised in the caller, with the worker's traceback as a note.
* Workers ignore signals to stop but SIGTERM, end with the parent process, and give each library
  one thread.
* Workers live on between jobs, so in-process caches (``functools.lru_cache``) stay warm.
"""

from skyenv.checks import check_integer
from skyenv.console.options import MAX_WORKERS
from skyenv.runtime import Interrupt
from skyenv.work.pool import (
    ATTEMPTS,
    ONE_THREAD,
    Job,
    Pool,
    Processes,
    Report,
    WorkerDiedError,
    default_workers,
)

__all__ = [
    "ATTEMPTS",
    "ONE_THREAD",
    "Interrupt",
    "Job",
    "Pool",
    "Processes",
    "Report",
    "WorkerDiedError",
    "default_workers",
    "open_pool",
]


def open_pool(workers: int = 0, ray: str | None = None) -> Pool:
    """Return a new pool; results do not depend on its kind.

    Args:
        workers: most workers; 0: one per core of this machine, as far as its limits allow
            (:func:`skyenv.runtime.at_once`), or of the cluster.
        ray: a cluster's address (:func:`skyenv.work.on_ray.connect`); None: local processes.

    Raises:
        OptionError: no cluster at that address, or an invalid number of workers.
    """
    check_integer("workers", workers, 0, MAX_WORKERS)
    if ray is None:
        return Processes(workers or default_workers())
    from skyenv.work.on_ray import OnRay  # needs the extra [ray]

    return OnRay(ray, workers)
