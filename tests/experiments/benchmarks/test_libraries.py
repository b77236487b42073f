"""The examples with other libraries: each has its requirements, its test and its row; the benchmark
reads what they print.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from experiments.benchmarks import libraries
from skyenv.errors import OptionError

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = libraries.examples()


def test_there_are_examples_and_nothing_beside_them() -> None:
    """In a folder of their own, and RLlib's where its name says what it does."""
    names = {
        path for path in (libraries.EXAMPLES / "libraries").glob("*.*") if path.suffix != ".txt"
    }
    assert names | {libraries.EXAMPLES / "rllib_self_play.py"} == set(EXAMPLES)
    assert all(path.is_file() for path in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_complete(example: Path) -> None:
    assert (ROOT / "tests" / example.parent.relative_to(ROOT) / f"test_{example.stem}.py").exists()
    text = example.read_text(encoding="utf-8")
    assert text.count(libraries.BRIDGE) == text.count(libraries.USE) == 1
    assert libraries.lines_of_glue(example) > 0
    library, what = libraries.what_works(example)
    page = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    assert f"| {library} | {libraries.version(example.with_suffix('.txt'))} | {what} |" in page


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_requirements_are_pinned(example: Path) -> None:
    for line in example.with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        assert (
            line.startswith("#") or "==" in line or line == "--constraint ../../constraints.txt"
        ), line


def test_lines_of_code_are_counted() -> None:
    source = '"""Text."""\n\nimport a  # why\n\n\ndef f(x):\n    """Text\n\n    of it."""\n    # why\n    return x\n\n\ny = "#"\n'
    assert libraries.lines_of_code(source) == 4
    assert libraries.lines_of_code('class A:\n    """Only text."""\n') == 2


def test_a_program_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "with_it" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setattr(libraries, "ENVIRONMENTS", tmp_path)
    monkeypatch.setattr(libraries, "EXAMPLES", tmp_path)
    monkeypatch.setattr(libraries, "BUILT_IN", ())
    example = tmp_path / "with_it.py"
    example.with_suffix(".txt").touch()
    example.write_text("print('3 games ended')\nprint('12,345 steps/s')\n", encoding="utf-8")
    assert libraries.all_figures(quick=True) == []  # its environment isn't ready
    (tmp_path / "with_it" / ".ready").touch()
    (figure,) = libraries.all_figures(quick=True)
    assert (figure.name, figure.median) == ("with_it", 12345)
    example.write_text("print('12,345 steps/s')\nraise SystemExit('broken')\n", encoding="utf-8")
    with pytest.raises(OptionError, match="broken"):
        libraries.all_figures(quick=True)


@pytest.mark.parametrize("one", libraries.BUILT_IN, ids=lambda one: one.library)
def test_what_is_built_in_plays_on_and_on(one: libraries.BuiltIn) -> None:
    """Whole games; OpenSpiel's chance nodes are no decisions."""
    play = one.begin()
    done = [play.step(play.choose()) for _ in range(400)]
    assert set(done) <= {0, 1, libraries.GAMES}
    assert sum(done) > 100


def test_what_is_built_in_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "examples", list)
    monkeypatch.setattr(libraries, "BUILT_IN", libraries.BUILT_IN[:1])
    (figure,) = libraries.all_figures(quick=True)
    assert (figure.name, figure.repeats) == ("Gymnasium", 1)
    assert figure.median > 0


def test_a_version_must_be_pinned(tmp_path: Path) -> None:
    (tmp_path / "with_it.txt").write_text("# why\nit>=3\n", encoding="utf-8")
    with pytest.raises(OptionError, match="pins no version"):
        libraries.version(tmp_path / "with_it.txt")


def test_what_is_built_in_stands_in_the_table_as_it_is_pinned() -> None:
    table = libraries.table().splitlines()
    assert len(table) == 2 + len(libraries.BUILT_IN) + len(EXAMPLES)
    pinned = libraries.CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    for one in libraries.BUILT_IN:
        (row,) = (row for row in table if row.startswith(f"| {one.library} |"))
        _, _, version, said, *_, before, glue, _, _ = (cell.strip() for cell in row.split("|"))
        assert f"{one.package}=={version}" in pinned
        assert (said, before, glue) == (one.what, "0", "0")
        assert (ROOT / "docs" / one.where).exists()
    assert {row.split("|")[1].strip() for row in table} >= libraries.BEFORE.keys()
