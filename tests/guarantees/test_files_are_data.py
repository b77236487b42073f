"""Files are data: what a file names is neither imported nor unpickled, unless the command line
names it, too.
"""

import base64
import json
import pickle
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.training import best_response, train
from processes import main_of
from skyenv.arena import ladder
from skyenv.arena.tournament import FORMAT, line_of
from skyenv.engine.game import Game
from skyenv_agents.learned.networks import TRAINED

# It is there once code of the file's author has run.
MARK = Path("mark")


class Hostile:
    """An object that creates the mark when unpickled."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (MARK,))


def ladder_of(spec: str) -> None:
    """Write a ladder with an agent of the given specification."""
    content = ladder.read(ladder.path_of(2, "front"))
    content["agents"][0]["spec"] = spec
    Path("theirs/ladder.json").write_text(ladder.as_json(content))


def run_with(option: str) -> Callable[[str], None]:
    """Return a writer of a training folder, one of whose options names an agent."""

    def write(spec: str) -> None:
        config = {"decisions": 1, "paired_seeds": 1, "processes": 1, option: ["random", spec]}
        Path("theirs/config.json").write_text(json.dumps(config))

    return write


OUTLETS = {
    "ladder": (
        ladder_of,
        main_of,
        "tournament --add crowd --ladder theirs/ladder.json --paired-seeds 1",
        " {spec}",
    ),
    "opponents of a training": (
        run_with("fixed_opponents"),
        lambda words: train.main(shlex.split(words)),
        "--run theirs --resume",
        " --fixed-opponents {spec}",
    ),
    "its evaluation": (
        run_with("against"),
        lambda words: train.main(shlex.split(words)),
        "--run theirs --resume",
        " --against {spec}",
    ),
    "target of a best response": (
        run_with("target"),
        lambda words: best_response.main(shlex.split(words)),
        "--run theirs --resume",
        " --target {spec}",
    ),
}
SPECS = [
    "hostile:Agent",
    "theirs/model.zip",
    "theirs/inside/model.zip",
    "outside.npz",
    "random-,hostile:Agent",
]


@pytest.fixture
def theirs(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A foreign folder in the working directory, with a pickle in a checkpoint; beside it a module
    and a network, which a file may name only if it is in its own folder.
    """
    monkeypatch.syspath_prepend(here)
    monkeypatch.delitem(sys.modules, "hostile", raising=False)
    Path("theirs/inside").mkdir(parents=True)
    Path("hostile.py").write_text("import pathlib; pathlib.Path('mark').touch()\n")
    shutil.copy(TRAINED / "2-players.npz", "outside.npz")
    hidden = base64.b64encode(pickle.dumps(Hostile())).decode()
    for folder in ("theirs", "theirs/inside"):
        with zipfile.ZipFile(f"{folder}/model.zip", "w") as file:
            file.writestr("data", json.dumps({"policy": {":serialized:": hidden}}))


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize("outlet", OUTLETS)
@pytest.mark.parametrize("spec", SPECS)
def test_code_named_in_a_file_runs_only_if_the_command_names_it(
    outlet: str, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write, run, words, naming = OUTLETS[outlet]
    write(spec)
    assert run(words) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert spec.rpartition(",")[2] in line
    assert re.search("only if the command names|has no variants", line)
    assert not MARK.exists()
    if spec == SPECS[0]:  # so that this can fail
        run(words + naming.format(spec=spec))
        assert MARK.exists()


@pytest.mark.usefixtures("theirs")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("verify theirs/games.jsonl", 0),
        ("show theirs/games.jsonl --svg out.svg", 0),
        ("export theirs/games.jsonl -o out.html", 0),
        ("dataset --records theirs/games.jsonl -o out", 0),
        ("dataset --records theirs -o out", 1),
        ("tournament random crowd --out theirs", 1),
    ],
)
def test_agents_named_in_records_are_not_imported(words: str, code: int) -> None:
    game = Game(2, seed=1, max_turns=1)
    while game.seat is not None:
        game.play(game.legal_actions[0])
    Path("theirs/games.jsonl").write_text(game.to_record(["hostile:Agent", "theirs/model.zip"]))
    config = {"format": FORMAT, "secret": 1, "agents": [{"spec": "hostile:Agent"}]}
    Path("theirs/config.json").write_bytes(line_of(config))
    assert main_of(words) == code
    assert not MARK.exists()
