"""Speed beside other libraries: what is installed is played and measured, what isn't is named, the
figures are shown.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.benchmarks import peers
from skyenv.errors import CheckpointError

pytestmark = pytest.mark.programs

ROOT = Path(__file__).resolve().parents[3]
HERE = [peer for peer in peers.PEERS if peer.installed()]
RUNS = [(peer, *run) for peer in HERE for run in peer.runs()]


@pytest.mark.parametrize(
    ("peer", "seen", "number"), RUNS, ids=lambda value: getattr(value, "name", str(value))
)
def test_what_is_installed_plays_on_and_on(peer: peers.Peer, seen: str, number: int) -> None:
    number = min(number, 3)
    play = peer.begin(seen, number)
    done = 0
    for _ in range(300):
        done += play.step(play.choose())
    assert done > 0
    assert done % number == 0
    assert (play.entries > 0) == any(
        "observation" in one for one in peer.seen
    ) or "OpenSpiel" in peer.name


def test_the_own_interfaces_can_always_be_measured() -> None:
    assert {"skyenv, Games", "skyenv, OpenSpiel", "skyenv, PettingZoo env", "OpenSpiel"} <= {
        peer.name for peer in HERE
    }


def test_names_are_apart() -> None:
    names = [peers.name_of(peer, *run) for peer in peers.PEERS for run in peer.runs()]
    assert len(set(names)) == len(names)


def test_only_the_librarys_part_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def spend(seconds: float) -> None:
        nonlocal now
        now += seconds

    def step(_: Any) -> int:
        spend(0.25)
        return 5

    monkeypatch.setattr("time.perf_counter", lambda: now)
    assert peers.pace(peers.Play(lambda: spend(0.75), step), 4.0) == 5 / 0.25


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="only here can a process choose its cores"
)
def test_measuring_runs_on_one_core_and_gives_the_others_back() -> None:
    before = os.sched_getaffinity(0)
    with peers.one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def toy(name: str, needs: tuple[str, ...], seen: tuple[str, ...]) -> peers.Peer:
    """A library in which a step is three decisions."""
    return peers.Peer(
        name, "a game", "a step", needs, lambda *_: peers.Play(lambda: None, lambda _: 3, 7), seen
    )


def test_what_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    there = toy("there", ("skyenv",), (peers.LIST,))
    gone = toy("gone", ("skyenv", "no-such-package"), (peers.LIST,))
    monkeypatch.setattr(peers, "PEERS", (there, gone))
    figures = peers.all_figures(quick=True)
    assert [figure.name for figure in figures] == ["there: list, 1 game", peers.ALONE]
    assert all(figure.lowest <= figure.median <= figure.highest for figure in figures)
    assert peers.left_out({figure.name: figure for figure in figures}) == ["gone"]


def test_the_length_of_an_observation_is_a_figure_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        peers, "PEERS", (toy("it", ("skyenv",), (peers.MASK, peers.MASK_AND_OBSERVATION)),)
    )
    figures = peers.all_figures(quick=True)
    (entries,) = [figure for figure in figures if figure.unit == "entries"]
    assert (entries.name, entries.median) == ("it: an observation", 7)


@pytest.fixture
def measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    """A folder with peers.json and peers.png of skyenv's engine, and nothing else installed."""
    ours = replace(peers.PEERS[0], batches=(1,), seen=(peers.MASK, peers.MASK_AND_OBSERVATION))
    others = [replace(peer, needs=("no-such-package",)) for peer in peers.PEERS[1:]]
    monkeypatch.setattr(peers, "PEERS", (ours, *others))
    monkeypatch.setattr(peers, "PUBLISHED", tmp_path / "peers.json")
    arguments = [
        "--quick",
        "--json",
        str(peers.PUBLISHED),
        "--picture",
        str(tmp_path / "peers.png"),
    ]
    assert peers.main(arguments) == 0
    assert "Left out, not installed: Pgx, PufferLib, " in capsys.readouterr().err
    return tmp_path


def test_figures_are_written_drawn_and_shown(measured: Path) -> None:
    assert (measured / "peers.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads(peers.PUBLISHED.read_text(encoding="utf-8"))
    text = peers.published()
    for figure in content["figures"][:2]:
        assert (
            f"| {figure['median']:,.0f} | {figure['lowest']:,.0f} … {figure['highest']:,.0f} |"
            in text
        )
    assert content["date"] in text
    assert "Not installed in this run: Pgx, PufferLib, " in text
    assert f"| skyenv, Games | {content['machine']['skyenv']} | Fifth Avenue, 2 players |" in text


def test_nothing_published_and_a_damaged_file_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "PUBLISHED", tmp_path / "peers.json")
    assert "make peers" in peers.published()
    peers.PUBLISHED.write_text('{"figures": []}', encoding="utf-8")
    with pytest.raises(CheckpointError, match="damaged"):
        peers.published()


def test_requirements_are_pinned_and_cover_what_is_measured() -> None:
    lines = (
        (ROOT / "experiments" / "benchmarks" / "peers.txt").read_text(encoding="utf-8").splitlines()
    )
    pins = {line.partition("==")[0] for line in lines if line[0] not in "#-"}
    assert all("==" in line or line[0] in "#-" for line in lines)
    needed = {package for peer in peers.PEERS for package in peer.needs}
    assert needed - pins == {"skyenv", "pufferlib"}
