"""Workers of Ray: on a cluster of two nodes on this machine, of which one is lost, and errors where
there is none.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from tournaments import SETTLED_AGENTS, lines, play, settings
from unit_work import UNSENDABLE, Pair, do, doubled, dying, environment, failing

from clusters import Nodes, cluster_of, ray_pickle
from experiments.tools.tune import Crew, Tuner, Tuning
from processes import (
    ROOT,
    children,
    command,
    descendants,
    listening,
    printed,
    python,
    running,
    there,
    wait_until,
)
from skyenv.arena.evaluate import evaluate
from skyenv.arena.on_ray import (
    Home,
    Host,
    _check_answers,
    _task,
    answered,
    connect,
    fetched,
    in_parts,
    opened,
    sent,
    sources,
)
from skyenv.arena.units import number_of_workers
from skyenv.arena.workers import ONE_THREAD, MachineLostError, WorkerDiedError
from skyenv.errors import AgentError, OptionError, SkyenvError

UNITS: list[Pair] = [(1, 2), (3, 4), (5,), (6,)]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A cluster of two nodes with a CPU each; this process is connected with it."""
    with cluster_of(2) as cluster:
        yield cluster


# ---- units ----


def test_every_unit_is_done_once_with_one_thread_in_libraries(nodes: Nodes) -> None:
    assert do(doubled, iter(UNITS), 0, ray=nodes.address) == {unit: doubled(unit) for unit in UNITS}
    assert do(environment, iter(UNITS[:1]), 0, ray=nodes.address) == {(1, 2): ONE_THREAD}
    assert number_of_workers(0, nodes.address) == 2


def test_a_worker_that_is_killed_loses_nothing(nodes: Nodes, tmp_path: Path) -> None:
    (tmp_path / "once").touch()
    results = do(partial(dying, str(tmp_path), signal.SIGKILL), iter(UNITS), 0, ray=nodes.address)
    assert results == {(1, 2): [2, 4], (3,): [6], (4,): [8], (5,): [10], (6,): [12]}


def test_a_unit_over_which_workers_keep_dying_is_told(nodes: Nodes, tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / str(number)).touch()
    with pytest.raises(AgentError, match=r"3 processes died while \(3,\) was done"):
        do(partial(dying, str(tmp_path), signal.SIGKILL), iter(UNITS), 0, ray=nodes.address)


def test_what_the_work_raises_ends_it(nodes: Nodes) -> None:
    with pytest.raises(ValueError, match="three"):
        do(failing, iter(UNITS), 0, ray=nodes.address)


@pytest.mark.parametrize(("work", "message"), UNSENDABLE)
def test_an_error_that_cannot_be_sent_is_told(
    nodes: Nodes, work: Callable[[Pair], Any], message: str
) -> None:
    with pytest.raises(AgentError, match=message):
        do(work, iter(UNITS[:1]), 0, ray=nodes.address)


def test_nothing_of_rays_is_printed(
    nodes: Nodes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "once").touch()
    do(partial(dying, str(tmp_path), signal.SIGSEGV), iter(UNITS), 0, ray=nodes.address)
    assert capfd.readouterr() == ("", "")


def waiting(folder: str, unit: Pair) -> tuple[list[int], str]:
    """Tells where it runs, and waits until it may end."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    Path(folder, node).touch()
    wait_until(lambda: Path(folder, "go").exists())
    return doubled(unit), node


def test_a_node_that_is_lost_with_its_units_costs_time_alone(nodes: Nodes, tmp_path: Path) -> None:
    second, go = nodes.add(), tmp_path / "go"

    def lose() -> None:
        if (tmp_path / second).exists() and not go.exists():
            nodes.lose()
            go.touch()

    results = do(partial(waiting, str(tmp_path)), iter(UNITS), 0, ray=nodes.address, meanwhile=lose)
    assert {unit: result for unit, (result, _) in results.items()} == {
        unit: doubled(unit) for unit in UNITS
    }
    assert second not in {where for _, where in results.values()}


class Somewhere:
    """Tells where it is."""

    def place(self, shared: Any) -> tuple[str, int]:
        import ray

        return ray.get_runtime_context().get_node_id(), os.getpid()


def test_an_object_that_is_lost_with_its_machine_is_told_from_one_that_died(nodes: Nodes) -> None:
    ray = connect(nodes.address)
    last, nothing = nodes.add(), ray.put(sent(None))
    hosts = [Host(ray, Somewhere) for _ in range(3)]  # one on each CPU
    try:
        places = [host.answer(host.ask("place", nothing)) for host in hosts]
        lost = [node for node, _ in places].index(last)
        nodes.lose()
        wait_until(lambda: last not in [node["NodeID"] for node in ray.nodes() if node["Alive"]])
        died = (lost + 1) % 3
        os.kill(places[died][1], signal.SIGKILL)
        for host, error in ((hosts[lost], MachineLostError), (hosts[died], WorkerDiedError)):
            wait_until(partial(is_dead, host, nothing))
            with pytest.raises(error):
                host.answer(host.ask("place", nothing))
    finally:
        for host in hosts:
            host.end()


def is_dead(host: Host, shared: Any) -> bool:
    """Whether Ray knows by now that an object is gone for good."""
    import ray

    try:
        ray.get(host.ask("place", shared))
    except ray.exceptions.ActorDiedError:
        return True
    except ray.exceptions.ActorUnavailableError:
        pass
    return False


def test_what_a_cluster_writes_goes_with_it(nodes: Nodes) -> None:
    connect(nodes.address)
    assert [path.name for path in Path(nodes.folder).iterdir() if path.name.startswith("session_2")]


def test_nobody_is_told_that_ray_is_used(nodes: Nodes) -> None:
    servers = [
        child for child in children(os.getpid()) if re.search(rb"gcs_server|raylet", command(child))
    ]
    assert servers
    for server in servers:
        assert b"RAY_USAGE_STATS_ENABLED=0" in Path(f"/proc/{server}/environ").read_bytes().split(
            b"\0"
        )


# ---- tournaments ----


@pytest.mark.usefixtures("odd_agents")
def test_a_tournament_has_the_games_that_it_has_on_this_machine(
    nodes: Nodes, tmp_path: Path
) -> None:
    """Also where a worker dies; begun here and gone on with there, and the other way round."""
    wanted = settings("odd_agents:Mortal", "crowd", "random", secret=3)
    play(tmp_path / "there", wanted, 3, workers=0, ray=nodes.address)
    assert Path(sys.path[0], "died").exists()
    play(tmp_path / "here", wanted, 3)
    assert lines(tmp_path / "there") == lines(tmp_path / "here")
    for first, then in ((None, nodes.address), (nodes.address, None)):
        folder = tmp_path / f"{first}"
        play(folder, wanted, 1, ray=first)
        assert play(folder, wanted, 3, ray=then).played == 2 * 6
        assert lines(folder) == lines(tmp_path / "here")


@pytest.mark.usefixtures("odd_agents")
def test_a_tournament_that_loses_a_node_has_all_its_games_once(
    nodes: Nodes, tmp_path: Path
) -> None:
    """All workers are in the middle of a unit when one's machine is gone."""
    folder, last = Path(sys.path[0]), nodes.add()
    (folder / "settled_agents.py").write_text(SETTLED_AGENTS, encoding="utf-8")
    wanted = settings("settled_agents:Settled", "settled_agents:Anchored", "random", secret=3)

    def lose() -> None:
        wait_until(lambda: (folder / last).exists())
        nodes.lose()
        (folder / "go").touch()

    with ThreadPoolExecutor(1) as meanwhile:
        lost = meanwhile.submit(lose)
        play(tmp_path / "there", wanted, 3, workers=0, ray=nodes.address)
        lost.result()
    play(tmp_path / "here", wanted, 3)
    assert lines(tmp_path / "there") == lines(tmp_path / "here")


def test_an_evaluation_and_a_tuning_are_those_of_this_machine(nodes: Nodes) -> None:
    """Some units each, on two machines."""
    here, there = (
        evaluate("crowd", ["random", "hoard"], 3, paired_seeds=12, ray=ray)
        for ray in (None, nodes.address)
    )
    assert there == here
    tuners = [
        Tuner(Tuning("greedy", ("random",), 2, paired_seeds=2, population=3, seed=4))
        for _ in range(2)
    ]
    assert tuners[0].advance()
    assert tuners[1].advance(crew=Crew(0, nodes.address))
    assert tuners[0].worths == tuners[1].worths


PAGE = (ROOT / "docs" / "many_machines.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (.* tournament .* --ray .*)$", PAGE, re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_with_a_ray_of_its_own(line: str, tmp_path: Path) -> None:
    """One that is killed takes Ray with it and is gone on with; it has the games that it has
    without Ray.
    """
    pytest.importorskip("ray", reason="needs the extra [ray]")
    _, _, *words = shlex.split(re.sub(r"--paired-seeds \d+", "--paired-seeds 40", line))
    words[words.index("--out") + 1] = str(tmp_path / "spread")
    games = tmp_path / "spread" / "games.jsonl"
    with running("-m", *words, "--secret", "7") as process:
        wait_until(lambda: games.exists() and len(games.read_text().splitlines()) > 3, process)
        raylets = [one for one in children(process.pid) if b"raylet" in command(one)]
        process.kill()
        process.wait()
    assert raylets
    wait_until(lambda: not any(map(there, raylets)))
    again = python("-m", *words, "--secret", "7")
    assert again.returncode == 0, again.stderr
    assert "raylet" not in again.stdout + again.stderr
    del words[words.index("--ray") : words.index("--ray") + 2]
    words[words.index("--out") + 1] = str(tmp_path / "here")
    printed("-m", *words, "--secret", "7")
    assert lines(tmp_path / "spread") == lines(tmp_path / "here")


A_LOCAL_RAY = """
import sys
from skyenv.arena.on_ray import LOCAL, connect
from unit_work import do, doubled
do(doubled, iter([(1,), (2,)]), 1, ray=LOCAL)
print("done", flush=True)
sys.stdin.read()
"""


@pytest.mark.long
def test_a_ray_of_ones_own_listens_to_this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reaches its ports runs code there."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "tests" / "arena")])
    with running(
        "-c", A_LOCAL_RAY, environment={"PYTHONPATH": path}, stdin=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        addresses = listening([process.pid, *descendants(process.pid)])
        process.communicate()
    assert len(addresses) > 4  # the node's, the head's, the worker's, the agents'
    assert {address.rpartition(":")[0] for address in addresses} <= {
        "0100007F",
        "0000000000000000FFFF00000100007F",
    }


# ---- those who aren't alike ----


def test_another_machine_with_other_sources_is_told(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = "a skyenv of other sources (version .+), and not those of version 0.1 that sent it work; install the same"
    monkeypatch.setattr(
        Home,
        "here",
        lambda: Home("", tuple(sys.path), (("skyenv", "another digest"),), version="0.1"),
    )
    with pytest.raises(SkyenvError, match=wanted.replace("(", r"\(").replace(")", r"\)")):
        do(doubled, iter(UNITS), 0, ray=nodes.address)
    with pytest.raises(SkyenvError, match="has no nowhere_to_be_found, and not"):
        Home("", (), (("nowhere_to_be_found", "a digest"),)).check()


def test_sources_change_with_any_line_and_any_network_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = set()
    for name, text, network in (
        ("one", "a = 1", "1"),
        ("two", "a = 2", "1"),
        ("three", "a = 1", "1"),
        ("four", "a = 1", "2"),
    ):
        package = tmp_path / name
        (package / "trained").mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "module.py").write_text(text)
        (package / "trained" / "network.npz").write_text(network)
        digests.add(sources(name))
    assert len(digests) == 3
    assert sources("five") == ""


def test_a_machine_without_skyenv_says_so(tmp_path: Path) -> None:
    """What Ray sends stands for itself, so that it can say it."""
    program = tmp_path / "there.py"
    task = ray_pickle().dumps(_task())
    program.write_text(
        f"import pickle\nprint(pickle.loads(pickle.loads({task!r})(b'', b'', b'', ())))"
    )
    site = Path(ray_pickle().__file__).parents[2]
    told = printed(
        "-I",
        "-c",
        "import sys; sys.modules['skyenv'] = None; "
        f"sys.path.append({str(site)!r})\n{program.read_text()}",
    )
    assert "has no skyenv of the same version" in told


# ---- where there is no Ray ----


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OptionError, match=r"install the extra \[ray\]"):
        connect("local")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("somewhere", "ray must be auto, local or HOST:PORT of a cluster's head, not 'somewhere'"),
        ("ray://here", r"not 'ray://here'"),
        ("ray://here:10001", r"nobody answers at ray://here:10001"),
        ("here:port", r"not 'here:port'"),
        ("127.0.0.1:99999", r"nobody answers at 127.0.0.1:99999"),
        ("no-such-host.invalid:6379", r"nobody answers at no-such-host.invalid:6379"),
    ],
)
def test_an_address_where_nobody_is(address: str, message: str) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]")
    with pytest.raises(OptionError, match=message):
        _check_answers(address)


def test_a_port_where_nobody_listens() -> None:
    with socket.socket() as bound:  # nobody else gets it, and it listens to nobody
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(OptionError, match="nobody answers"):
            _check_answers(f"127.0.0.1:{bound.getsockname()[1]}")


def test_arrays_are_sent_as_they_lie_in_memory() -> None:
    array = np.arange(100_000)
    answer = in_parts((True, ("a name", array)))
    name, opened_array = opened(answer)
    assert name == "a name"
    assert len(answer[0]) < 1000
    assert np.shares_memory(opened_array, array)


class Maker:
    """Makes arrays, somewhere else."""

    def array(self, length: int) -> np.ndarray[Any, Any]:
        """Numbers."""
        return np.arange(length)


def test_an_object_elsewhere_gives_arrays_that_nobody_can_write_to(nodes: Nodes) -> None:
    host = Host(connect(nodes.address), Maker)
    try:
        found = host.answer(host.ask("array", sent(100_000)))
        assert host.begun()
        assert (found == np.arange(100_000)).all()
        assert not found.flags.writeable
    finally:
        host.end()


class Leaver:
    """Leaves when it is asked to, in some way."""

    def leave(self, how: BaseException) -> NoReturn:
        raise how


def test_an_object_elsewhere_that_leaves_is_told() -> None:
    """But for Ray's own way to end its process, and Ctrl-C."""
    home, guest, last = Home("", (), ()), SimpleNamespace(inner=Leaver()), SystemExit(1)
    with pytest.raises(AgentError, match=r"^an agent raised SystemExit: 3$"):
        opened(answered(guest, home, "leave", sent(SystemExit(3)), sent(())))
    vars(last)["ray_terminate_msg"] = "The process receives a SIGTERM."
    for how in (last, KeyboardInterrupt()):
        with pytest.raises(type(how)):
            answered(guest, home, "leave", sent(how), sent(()))


def test_whatever_else_ray_fails_with_is_told_in_one_line() -> None:
    exceptions = pytest.importorskip("ray.exceptions", reason="needs the extra [ray]")

    def get(_: object) -> NoReturn:
        raise exceptions.OutOfDiskError("The disk is full.\nMuch more")

    ray: Any = SimpleNamespace(exceptions=exceptions, get=get)
    with pytest.raises(SkyenvError, match=r"^ray: OutOfDiskError: .*; what is finished is kept$"):
        fetched(ray, None)


@pytest.mark.long
def test_workers_of_a_local_ray_are_as_nice_as_the_command() -> None:
    """Ray's own way would let every other process of a busy machine go first."""
    pytest.importorskip("ray", reason="needs the extra [ray]")
    program = """
import os
from skyenv.arena.units import run_units
os.nice(3)
run_units(os.nice, iter([0]), 1, ray="local", done=print, tick=lambda: True, parts=lambda unit: [unit], about=str)
"""
    assert printed("-c", program).split() == ["0", "3"]
