"""Fixtures of all tests: headless, quiet, one thread per library, fixed seeds."""

import importlib
import itertools
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from processes import Threads
from skyenv.errors import OptionError

# What a test reads on stderr doesn't depend on what is compiled already.
os.environ.setdefault("SKYENV_QUIET", "1")
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # windows open nowhere
# Threads of small networks wait for one another longer than they work; read on import.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Shells leave SIGINT ignored for what runs in the background.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "skyenv",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("skyenv")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests a longer time limit."""
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(3600))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests in a browser where there is none; on CI they fail."""
    if "browsers" in getattr(item, "fixturenames", ()) and not os.environ.get("CI"):
        from chromium import find_chromium

        try:
            find_chromium()
        except OptionError as error:
            pytest.skip(str(error))


@pytest.fixture(autouse=True, scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run agents of the page in threads, as test agents can't be pickled. Stable-Baselines3 logs to
    pytest's folder, also in other processes.
    """
    with pytest.MonkeyPatch.context() as context:
        context.setenv("SB3_LOGDIR", str(tmp_path_factory.mktemp("sb3")))
        context.setattr("skyenv.page.workers.Processes", lambda _: Threads())
        yield


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """A function that limits the size of this process's files, in bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def app() -> Any:
    """The page's application with a database in memory."""
    from pages import make_app  # here, as other tests need no web server

    return make_app()


@pytest.fixture
def short_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Truncate the page's games after a few turns."""
    monkeypatch.setattr("skyenv.page.table.server.DEFAULT_MAX_TURNS", 8)


@pytest.fixture
def ann(app: Any) -> Iterator[Any]:
    """The page's first client; the application runs while it is open."""
    from pages import client_of

    with client_of(app) as client:
        yield client


@pytest.fixture(scope="session")
def browsers() -> Callable[..., Any]:
    """What opens a browser."""
    from chromium import browser

    return browser


@pytest.fixture(scope="session")
def chromium(browsers: Callable[..., Any]) -> Iterator[Any]:
    """A shared browser, as starting one takes seconds."""
    with browsers() as opened:
        yield opened


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """The browser without cookies or storage; failing scripts fail the test."""
    yield chromium
    errors = chromium.console_errors()
    chromium.reset()
    assert errors == []


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Any]:
    """The page on a real port."""
    from clicks import Site

    running = Site(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that advances a millisecond per reading; time budgets become deterministic."""
    ticks = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: next(ticks) / 1000)


@pytest.fixture
def odd_agents(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the module odd_agents of misbehaving agents importable, here and in new processes."""
    from tournaments import ODD_AGENTS

    folder = tmp_path_factory.mktemp("modules")
    (folder / "odd_agents.py").write_text(ODD_AGENTS, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "odd_agents", raising=False)


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished training run."""
    from trainings import begun, tiny

    folder = tmp_path_factory.mktemp("finished")
    assert begun(tiny(folder)).run()
    return folder


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest) -> ModuleType:
    """The example program that the test module is named after."""
    name = request.path.stem.removeprefix("test_")
    (path,) = (request.config.rootpath / "examples").rglob(f"{name}.py")
    sys.path.append(str(path.parent))
    return importlib.import_module(name)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A Ray cluster of two nodes with a CPU each, connected with this process."""
    from clusters import cluster_of

    with cluster_of(2) as cluster:
        yield cluster


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tournaments, evaluations and datasets a thread of this process as worker."""
    from skyenv.arena import evaluate, tournament
    from skyenv.arena.schedule import agent_of
    from skyenv.dataset import folder

    agent_of.cache_clear()
    for module in (tournament, evaluate, folder):
        monkeypatch.setattr(module, "open_pool", lambda *_: Threads())
