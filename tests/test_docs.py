"""The README and the docs: runnable code, current generated parts, valid links, lengths."""

import code
import doctest
import importlib
import json
import pkgutil
import re
import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from docs.build.document import files
from experiments.published import PARTS
from processes import ROOT
from skyenv import load_board

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
for notebook in sorted((ROOT / "docs").rglob("*.ipynb")):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    TEXTS[notebook] = "\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )
WHOLE = "\n".join(TEXTS.values())
BLOCKS = re.findall(r"```python\n(.*?)```", WHOLE, re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PROGRAM = r"^\$ (?:for .* do )?(python -m (?:skyenv|experiments)\b.*?)(?:;.*| +#.*)?$"
TOLD = re.findall(PROGRAM, WHOLE.replace("$side", "back").replace("$players", "3"), re.MULTILINE)
MEASURING = [f"python -m {command}" for part in PARTS for command in part.commands]
COMMANDS = list(dict.fromkeys([*TOLD, *MEASURING]))
# What is replaced so that a command of the docs takes seconds.
SHORT = {
    r"--paired-seeds \d+": "--paired-seeds 2",
    r"--games \d+": "--games 3 --max-turns 10",
    r"--minutes \d+": "--minutes 0.01 --games 32 --steps 32 --hidden 32 --paired-seeds 2",
    "appraiser trained": "random",
}


class Prompt(code.InteractiveConsole):
    """Python's prompt, which ends a block at an empty line; errors are raised."""

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        raise

    def showtraceback(self) -> None:
        raise


def run(words: str) -> int:
    """Run the program of a command in this process; return its exit code."""
    _, _, module, *arguments = shlex.split(words)
    name = {"skyenv": "skyenv.cli", "experiments.benchmarks": "experiments.benchmarks.__main__"}
    try:
        return int(importlib.import_module(name.get(module, module)).main(arguments))
    except SystemExit as ended:
        return int(ended.code or 0)


@pytest.mark.programs
@pytest.mark.usefixtures("in_this_process", "here")
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().splitlines()[0][:40])
def test_code_blocks_run_at_the_prompt(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    prompt = Prompt({"__name__": "readme"})
    wants_more = False
    for line in [*block.splitlines(), ""]:
        wants_more = prompt.push(line)
    assert not wants_more
    capsys.readouterr()


@pytest.mark.parametrize("module", ["skyenv.engine.game", "skyenv.console.options"])
def test_examples_of_docstrings_run(module: str) -> None:
    names = {"dataclass": dataclass}
    assert doctest.testmod(importlib.import_module(module), extraglobs=names).failed == 0


def test_the_example_of_a_board_file_loads(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    (board,) = re.findall(r"```toml\n(\[rings\].*?)```", WHOLE, re.DOTALL)
    path.write_text(board, encoding="utf-8")
    assert load_board(path, "front").rings[3] == ("green", "brown", "violet", "orange", "gray")


@pytest.mark.programs
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[10:50])
def test_options_of_commands_exist(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the docs and of published figures: with one unknown option added, only that is refused."""
    assert run(f"{command} --no-such-option") == 2
    (refused,) = re.findall(
        r"unrecognized arguments: (.*?)(?: \(see --help\))?\n", capsys.readouterr().err
    )
    assert refused == "--no-such-option"


@pytest.mark.programs
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("page", ["README.md", "docs/environments.md", "docs/dataset.md"])
def test_commands_of_a_page_run_in_order(
    page: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in re.findall(
        r"^\$ (python -m (?:skyenv|exp).*)$", TEXTS[ROOT / page], re.MULTILINE
    ):
        if "clon" in command:  # a baseline, which tests/test_programs.py runs
            continue
        for pattern, instead in SHORT.items():
            command = re.sub(pattern, instead, command)
        assert run(command) == 0, f"{command}\n{capsys.readouterr().err}"
        for written in re.findall(r" (?:-o|--out|--run|--svg|--png) (\S+)", command):
            assert (here / written).exists(), f"{command} writes no {written}"


@pytest.mark.programs
@pytest.mark.usefixtures("in_this_process")
def test_the_template_agent_gets_a_rating(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in the docs, but against a ladder of fast agents."""
    (template,) = (block for block in BLOCKS if "class MyAgent" in block)
    (add,) = (command for command in COMMANDS if "--add my_module:MyAgent" in command)
    monkeypatch.syspath_prepend(here)
    (here / "my_module.py").write_text(template, encoding="utf-8")
    few = "--paired-seeds 4 --workers 1"
    ladder = f"tournament random crowd {few} --out games"
    assert run(f"python -m skyenv {ladder}") == 0
    capsys.readouterr()
    few = "--minutes 0.01 --workers 1 --ladder games/ladder.json"
    assert run(add.replace("--minutes 2", few)) == 0
    rating = r"mine: rating -?\d+ \[-?\d+, -?\d+\] \(95 %\), place [123] of 3;"
    assert re.match(rating, capsys.readouterr().out)


def test_generated_files_are_current() -> None:
    """Tables, drawings and the page of the rules, byte for byte."""
    changed = [
        str(path)
        for path, text in files().items()
        if (ROOT / path).read_text(encoding="utf-8") != text
    ]
    assert changed == [], "run `make docs`"


# ---- length and repetition ----

# Words of running text that a page of docs/ may have.
BUDGETS = {
    "agents.md": 900,
    "benchmark.md": 1400,
    "change_the_game.md": 500,
    "dataset.md": 700,
    "design.md": 1600,
    "environments.md": 1600,
    "game.md": 1200,
    "install.md": 600,
    "knowledge.md": 900,
    "libraries.md": 1200,
    "page.md": 800,
    "start.md": 600,
    "training.md": 1000,
    "your_agent.md": 1100,
}


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_pages_keep_to_their_budget_of_words(path: Path) -> None:
    """Words of running text, without code blocks, tables and comments."""
    lines = FENCED.sub("", TEXTS[path]).splitlines()
    text = [line for line in lines if not line.lstrip().startswith(("|", "<!--"))]
    assert sum(len(line.split()) for line in text) <= BUDGETS[path.name]


def test_the_readme_is_short() -> None:
    assert len(TEXTS[ROOT / "README.md"].splitlines()) <= 130


def test_no_code_block_is_repeated() -> None:
    blocks = FENCED.findall("\n".join(TEXTS[path] for path in PAGES))
    assert [block for block in set(blocks) if blocks.count(block) > 1] == []


# ---- what the pages point to ----

# Files of the reader's own.
YOURS = {"my_module.py"}
FILES = {
    f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}"
    for folder in ("skyenv", "agents", "experiments", "tests", "docs", "examples", ".ci")
    for path in [ROOT / folder, *(ROOT / folder).rglob("*")]
} | {f"/{path.name}" for path in ROOT.iterdir()}


def headings(text: str) -> set[str]:
    """Return the anchors of a page, as GitHub makes them of its headings."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def dead_links(path: Path, text: str) -> list[str]:
    """Return the links of a page to files or headings that don't exist."""
    dead = []
    for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        there = target.exists() and (
            not anchor or anchor in headings(text if target == path else target.read_text("utf-8"))
        )
        dead += [] if there else [link]
    return dead


def unknown_names(text: str) -> list[str]:
    """Return the files, modules and things in modules that a page names in code and that don't
    exist.
    """
    spans = re.findall(r"`([^`\n]+)`", FENCED.sub("", text))
    trees = re.findall(r"^```\n(skyenv/ .*?)^```", text, re.DOTALL | re.MULTILINE)
    named = [name for span in [*spans, *trees] for name in span.split()]
    unknown = []
    for name in [*named, *re.findall(r"(?<=python -m )[\w.]+", text)]:
        is_path = re.fullmatch(r"[\w.-]+(/[\w.-]+)*(/|\.(py|md|toml|ipynb|html|js|css))", name)
        if is_path and not any(file.endswith(f"/{name}") for file in FILES):
            unknown.append(name)
        elif re.fullmatch(r"(?:skyenv|skyenv_agents|experiments|docs)(?:\.\w+)+", name):
            unknown += [] if is_path or resolves(name) else [name]
    return [name for name in unknown if name not in YOURS and not name.startswith("runs/")]


def resolves(name: str) -> bool:
    """Return whether a dotted name is a module, or a thing in one; a module may need a library that
    isn't installed.
    """
    try:
        if find_spec(name):
            return True
    except ModuleNotFoundError:  # a thing's module is no package
        pass
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_and_names_in_pages_exist(path: Path) -> None:
    assert dead_links(path, TEXTS[path]) == []
    assert unknown_names(TEXTS[path]) == []
