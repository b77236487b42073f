"""The records: layouts that stay the same, and types that a type checker knows."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skyenv.engine.arrays import SlotRecord
from skyenv.engine.knowledge import ViewRecord
from skyenv.engine.observation import CodesRecord, ObservationRecord
from skyenv.rules.event_log import LogRecord
from skyenv.rules.record import Record
from skyenv.rules.state import GameRecord
from skyenv.solving.tree import FrameRecord
from skyenv_agents.heuristic.features import HeuristicRecord
from skyenv_agents.search.rollouts import SearchRecord
from skyenv_agents.search.tree import NodeRecord

ROOT = Path(__file__).parents[2]

USES = """
from skyenv.engine.knowledge import ViewRecord
from skyenv.rules.state import GameRecord
from skyenv_agents.search.tree import NodeRecord

def play(view: ViewRecord, game: GameRecord, node: NodeRecord) -> int:
    game.score[0] += 1
    game.scroe[0] += 1  # wrong
    game.score[0] += "x"  # wrong
    game.seat = "x"  # wrong
    game.no_such_field = 1  # wrong
    game.hand[0, 1, 2] -= game.known[0][1][2]
    game.hand[0, 1, 2, 3] = 0  # wrong
    game.hand[0, 1] = 0  # wrong
    node.total[game.seat] += node.prior / 2
    node.visits = node.prior / 2  # wrong
    view.game.seed = view.unseen[0]  # wrong
    view.game.turns = view.unseen[0, 1]
    return view.game.random  # wrong
"""


@pytest.mark.parametrize(
    ("record", "size", "digest"),
    [
        (GameRecord, 768, "7c13dffe5ba8ce36"),
        (SlotRecord, 160, "a3d4c06354b8affe"),
        (LogRecord, 2180, "c2ac27ce4034eb1b"),
        (ViewRecord, 824, "5eca2509511f15ea"),
        (CodesRecord, 1444, "cc1fe88cb3859d89"),
        (ObservationRecord, 2888, "e8573a5a1c016e87"),
        (HeuristicRecord, 2584, "1c4a2b866f2eb3ef"),
        (NodeRecord, 64, "22916e50f71c71df"),
        (SearchRecord, 56, "4228690bbdaa4ab6"),
        (FrameRecord, 608, "17690e59ca6a0251"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_layouts_stay_the_same(record: type[Record], size: int, digest: str) -> None:
    """Names, types, shapes and padding, in order: positions are stored as bytes."""
    found = hashlib.sha256(repr(record.dtype.descr).encode()).hexdigest()
    assert (record.dtype.itemsize, found[:16]) == (size, digest)


def test_type_checkers_find_misspelled_fields_and_wrong_values(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs the extra [test]")
    (tmp_path / "uses.py").write_text(USES)
    command = [sys.executable, "-m", "mypy", "--strict", str(tmp_path / "uses.py")]
    output = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    wrong = [i for i, line in enumerate(USES.splitlines(), 1) if line.endswith("# wrong")]
    assert re.findall(r"uses\.py:(\d+): error", output) == [str(i) for i in wrong], output
