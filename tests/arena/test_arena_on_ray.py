"""Tournaments and evaluations on a Ray of two nodes: the games of one machine."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tournaments import lines, play, settings

from clusters import Nodes, cluster_of
from processes import ROOT, children, command, printed, python, running, there, wait_until
from skyenv.arena.evaluate import evaluate


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A cluster of two nodes with a CPU each; this process is connected with it."""
    with cluster_of(2) as cluster:
        yield cluster


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


def test_an_evaluation_is_that_of_this_machine(nodes: Nodes) -> None:
    """Some tasks, on two machines."""
    here, there = (
        evaluate("crowd", ["random", "hoard"], 3, paired_seeds=12, ray=ray)
        for ray in (None, nodes.address)
    )
    assert there == here


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
