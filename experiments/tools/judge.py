"""Who notices a mutant of the rules: one process that has collected the tests, and a fork of it for
every mutant.

Three things are tried: the tests of the rules and of their chance; the golden records, replayed and
made again; and new games, of which the referee checks every line. First all run on the rules as
they are, which tells how long each takes and which functions of the rules it calls. A fork then
takes over one mutant and runs what calls the function in question until one fails: the golden
records first, then the tests that have noticed most mutants for their time, then the shortest.

All of it plays without the compiler, which gives the same games bit for bit
(``tests/test_uncompiled.py``); compiling each mutant would take most of the time.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final, cast

import pytest

from experiments.tools.mutation import ROOT, RULES, Mutant, source_of
from skyenv.errors import SkyenvError

TESTS: Final = (
    "tests/rules",
    "tests/records/test_replay.py",
    "tests/test_referee_fuzz.py",
)
UNFIT: Final = (
    "test_compiling.py",
    "test_cuda.py",
    "test_the_few_games_take_the_special_branches",
    "-crowd]",
    "-hoard]",
)
"""Tests in there that judge something else than rules, and those of the longest new games."""
FEWER: Final = {"QUICK_GAMES": 1}
"""New games at each table; the referee's tests play more elsewhere."""
SECONDS: Final = 5.0
"""Of processor time that every test has on top of ten times what it took before; then the mutant
runs for ever.
"""


@dataclass(frozen=True)
class Check:
    """A test, the processor time that it takes, and the functions of the rules that it calls, as
    file:function.
    """

    test: str
    seconds: float
    functions: frozenset[str]


class RulesFailError(SkyenvError):
    """The rules as they are don't pass."""


def verdicts(
    mutants: Sequence[Mutant], workers: int = 1, tests: Sequence[str] = TESTS
) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with the test that fails, "Python" if its process dies, "the clock" if it never
    ends, else "".

    They come in the order in which they are ready, from a process of its own, which ends with the
    generator.

    Args:
        mutants: what to judge.
        workers: how many at a time.
        tests: files of tests, or single ones.

    Raises:
        RulesFailError: a test fails without any mutant.
    """
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "SKYENV_QUIET": "1"}
    command = [sys.executable, "-m", "experiments.tools.judge"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        print(
            json.dumps([tests, workers, [asdict(mutant) for mutant in mutants]]),
            file=process.stdin,
            flush=True,
        )
        yielded = 0
        for line in process.stdout:
            number, objection = json.loads(line)
            if number is None:
                raise RulesFailError(f"the rules as they are don't pass: {objection}")
            yield mutants[number], objection
            yielded += 1
        if yielded < len(mutants):
            raise RuntimeError("the judge ended too soon")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


class Judge:
    """A pytest plugin that runs the collected tests as often as it takes."""

    def __init__(
        self, mutants: Sequence[Mutant], workers: int, tell: Callable[[int | None, str], None]
    ) -> None:
        self.mutants = mutants
        self.workers = workers
        self.tell = tell
        self.outcome = ""
        self.noticed: Counter[str] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what doesn't fit, and what plays too much; of the records' tests all but those
        of the golden ones.
        """
        items[:] = [
            item
            for item in items
            if not any(name in item.nodeid for name in UNFIT)
            and (
                "golden" in item.nodeid
                if "records" in item.nodeid
                else not item.get_closest_marker("compiled")
            )
        ]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all mutants."""
        if "test_referee_fuzz" in sys.modules:
            vars(sys.modules["test_referee_fuzz"]).update(FEWER)
        items = {item.nodeid: item for item in session.items}
        ((_, explored),) = forked([lambda: self.explored(session.items)], 1)
        if isinstance(explored, str):
            self.tell(None, explored)
            return True
        checks = [Check(*each) for each in explored]
        works = [
            lambda mutant=mutant: self.objection(mutant, checks, items) for mutant in self.mutants
        ]
        for number, objection in forked(works, self.workers):
            self.noticed[objection] += 1
            self.tell(number, objection)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test went."""
        if report.outcome != "passed":
            self.outcome = report.outcome

    def run(self, item: pytest.Item) -> str:
        """How it goes."""
        self.outcome = "passed"
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return self.outcome

    def explored(
        self, items: Iterable[pytest.Item]
    ) -> list[tuple[str, float, frozenset[str]]] | str:
        """What makes a :class:`Check` of every test; of a test that fails the name."""
        checks = []
        for item in items:
            reached: set[CodeType] = set()

            def note(
                frame: FrameType, event: str, argument: object, reached: set[CodeType] = reached
            ) -> None:
                reached.add(frame.f_code)

            began = time.process_time()
            threading.settrace(note)
            sys.settrace(note)
            outcome = self.run(item)
            sys.settrace(None)
            if outcome == "failed":
                return item.nodeid
            files = {code: Path(code.co_filename) for code in reached}
            functions = {
                f"{files[code].name}:{code.co_name}"
                for code in reached
                if files[code].parent == ROOT / RULES
            }
            if outcome == "passed":
                checks.append((item.nodeid, time.process_time() - began, frozenset(functions)))
        return checks

    def turn(self, check: Check) -> tuple[bool, float, float]:
        """When a test's turn comes."""
        return (
            "made_again" not in check.test,
            -self.noticed[check.test] / check.seconds,
            check.seconds,
        )

    def objection(
        self, mutant: Mutant, checks: Sequence[Check], items: dict[str, pytest.Item]
    ) -> str:
        """The first test to fail."""
        everywhere = install(mutant)
        for check in sorted(checks, key=self.turn):
            if everywhere or f"{mutant.file}:{mutant.function}" in check.functions:
                signal.setitimer(signal.ITIMER_PROF, SECONDS + 10 * check.seconds)
                if self.run(items[check.test]) == "failed":
                    return check.test
        return ""


def install(mutant: Mutant) -> bool:
    """Put a mutant in the place of the rules of this process; whether a constant is another one
    now.
    """
    module = sys.modules[f"skyenv.rules.{Path(mutant.file).stem}"]
    made: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(source_of(mutant), str(module.__file__), "exec"), made)
    changed = False
    for name, value in made.items():
        old = vars(module).get(name)
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            assert isinstance(old, FunctionType)
            old.__code__ = value.__code__
        elif not isinstance(value, type) and not name.startswith("__") and repr(value) != repr(old):
            changed = True
            for other in [one for one in sys.modules.values() if isinstance(one, ModuleType)]:
                for held in [held for held, one in vars(other).items() if one is old]:
                    setattr(other, held, value)
    return changed


def forked(works: Sequence[Callable[[], Any]], workers: int) -> Iterator[tuple[int, Any]]:
    """What each piece of work returns in a fork of this process, with its number; so many at a
    time.
    """

    def answer(work: Callable[[], Any], end: Connection) -> None:
        end.send(work())

    context = multiprocessing.get_context("fork")
    running: dict[Connection, tuple[int, Any]] = {}
    left = list(enumerate(works))[::-1]
    while left or running:
        while left and len(running) < workers:
            number, work = left.pop()
            mine, other = context.Pipe(duplex=False)
            process = context.Process(target=answer, args=(work, other))
            process.start()
            other.close()
            running[mine] = number, process
        for end in cast(list[Connection], wait(list(running))):
            number, process = running.pop(end)
            try:
                result = end.recv()
            except EOFError:
                result = None
            process.join()
            yield (
                number,
                ("the clock" if process.exitcode == -signal.SIGPROF else "Python")
                if result is None
                else result,
            )


def main() -> int:
    """Read what to judge from stdin, and write the verdicts to stdout."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # pytest's own words
    tests, workers, mutants = json.loads(sys.stdin.readline())

    def tell(number: int | None, objection: str) -> None:
        print(json.dumps([number, objection]), file=answers, flush=True)

    judge = Judge([Mutant(**mutant) for mutant in mutants], workers, tell)
    return int(
        pytest.main(
            ["-q", "--capture=no", "-p", "no:cacheprovider", "-m", "not long", *tests],
            plugins=[judge],
        )
    )


if __name__ == "__main__":
    sys.exit(main())
