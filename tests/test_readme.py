"""The README and the docs tell the truth: their code runs, their commands run, their generated
parts are what the code says.
"""

from __future__ import annotations

import code
import importlib
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments.tools.document import PAGES, filled
from experiments.tools.drawings import FOLDER, MOMENTS, drawings
from skyenv import make_agent

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))

CODE = re.findall(r"```python\n(.*?)```", README + DOCS, re.DOTALL)
COMMANDS = list(dict.fromkeys(re.findall(r"^\$ (.*?)(?: +#.*)?$", README + DOCS, re.MULTILINE)))
ADD = "python -m skyenv tournament --add my_module:MyAgent --players 2 --minutes 2"
BOARD = re.findall(r"```toml\n(.*?)```", DOCS, re.DOTALL)

MEASUREMENTS = [
    command
    for command in re.findall(
        r"^\$ (.+)$", (ROOT / "docs" / "training.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if "expert" not in command and "league" not in command
]
"""Minutes long, to repeat published figures; other commands of the docs, or their own tests, run
these programs.
"""
LADDERS = [
    command for command in COMMANDS if command.startswith("for ") and " tournament " in command
]
RAY = [command for command in COMMANDS if " --ray " in command]
PUFFERLIB = [command for command in COMMANDS if "pufferlib" in command]
RLLIB = [command for command in COMMANDS if "rllib" in command]
RUN_ELSEWHERE = {
    **dict.fromkeys(
        LADDERS,
        "plays published ladders; test_the_commands_of_the_published_ladders runs small ones",
    ),
    **dict.fromkeys(MEASUREMENTS, "repeats published figures"),
    **dict.fromkeys(
        RAY,
        "spreads work with Ray; tests/arena/test_on_ray.py and the trainer's run it where Ray is "
        "installed",
    ),
    "make train": "its recipe is checked below; the long test in tests/experiments/training/test_train.py trains as it does",
    "make play": "its recipe is checked below; tests/page/test_commands.py starts the page",
    "python -m skyenv play --no-browser --public-host games.example.org": "serves until it is ended; tests/page tries the option",
    "python -m experiments.tools.screenshots --out runs/screenshots": "a long test in tests/page/test_browser.py runs it",
    "python -m experiments.benchmarks.gpu --json runs/gpu.json": "needs a GPU; tests/experiments/benchmarks/test_gpu.py says so",
    "make test": "is what runs this test",
    "make test-libraries": "installs other libraries; the light part of it is tests/experiments/benchmarks/test_libraries.py",
    "python -m experiments.benchmarks.libraries --json docs/libraries.json": "needs what that one installs",
    **dict.fromkeys(
        PUFFERLIB,
        "needs PufferLib's source; tests/examples/libraries/test_with_pufferlib.py runs where it "
        "is installed",
    ),
    **dict.fromkeys(
        RLLIB, "needs RLlib; tests/examples/test_rllib_self_play.py runs where it is installed"
    ),
    "make peers": "installs other libraries; tests/experiments/benchmarks/test_peers.py measures those that are here",
    ADD: "needs my_module.py and a ladder; test_the_template_agent_gets_a_rating runs it",
    "python examples/behaviour_cloning.py runs/strong --imitate trained": "is slow; tests/examples runs it on a small dataset",
    "python -m skyenv evaluate runs/clone --against greedy --deterministic": "needs what the example leaves",
    "python -m pip install --constraint constraints.txt --editable '.[test]'": "is how this environment was made",
    "python -m pip install --constraint constraints.txt '.[pettingzoo,page]'": "is like the one above",
}


class Prompt(code.InteractiveConsole):
    """Python's prompt, which ends a block at an empty line; whatever goes wrong is raised."""

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        raise

    def showtraceback(self) -> None:
        raise


@pytest.mark.programs
@pytest.mark.parametrize("block", CODE, ids=lambda block: block.strip().splitlines()[0][:40])
def test_code_runs_when_it_is_pasted_at_the_prompt(
    block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = Prompt({"__name__": "readme"})
    wants_more = False
    for line in [*block.splitlines(), ""]:
        wants_more = prompt.push(line)
    assert not wants_more
    capsys.readouterr()


def test_board_file_is_a_board(tmp_path: Path) -> None:
    from skyenv import load_board

    path = tmp_path / "board.toml"
    path.write_text(BOARD[0], encoding="utf-8")
    assert load_board(path, "front").rings[3] == ("green", "brown", "violet", "orange", "gray")


FILES = re.compile(r"(?<![\w.:/])(?:runs/\w[\w-]*|\w+\.(?:jsonl|npz))(?![\w:])")
"""What commands leave for one another: folders of runs, records."""


def chains(commands: list[str]) -> list[list[str]]:
    """Commands that need what others of them leave, together and in their order; those of different
    chains share nothing.
    """
    apart: list[tuple[set[str], list[str]]] = []
    for command in commands:
        if command in RUN_ELSEWHERE:
            continue
        files = set(FILES.findall(command))
        mine = [chain for chain in apart if chain[0] & files]
        apart = [chain for chain in apart if not chain[0] & files]
        apart.append(
            (
                files.union(*(chain[0] for chain in mine)),
                [*(one for chain in mine for one in chain[1]), command],
            )
        )
    return [sorted(chain, key=commands.index) for _, chain in apart]


CHAINS = chains(COMMANDS)
AS_A_READER = next(command for command in COMMANDS if command not in RUN_ELSEWHERE)
"""A command that runs in a process of its own, in which nothing was imported before."""
SHORTER = {
    "train": (r"--minutes \d+", "--minutes {minutes}"),
    "best_response": (r"--minutes \d+", "--minutes {minutes}"),
    "expert_iteration": (r"--minutes \d+", "--minutes {minutes}"),
    "tune": (r"--minutes \d+", "--generations 1 --population 4"),
    "strength": (r"--minutes \d+", "--paired-seeds 1 --budgets 4 1ms --against random"),
    "search": (r"$", " --quick"),
    "game_figures": (r"$", " --deals 8 --players 2"),
    "dataset": (r"--games \d+", "--games 3 --max-turns 10"),
}
"""By program, what is replaced so that a command of the docs takes seconds; `minutes` grow if a run
is resumed.
"""
AT_THE_END = {
    "record": " --max-turns 10",
    "train": " --paired-seeds 2 --games 32 --steps 32 --hidden 32",
    "best_response": " --paired-seeds 2 --games 32 --steps 32 --hidden 32",
    "expert_iteration": " --paired-seeds 2 --games 8 --steps 8 --hidden 32 --simulations 10",
}
"""By program, options that overrule those before them."""


LEAST_MINUTES = 0.01
"""One update takes longer; whoever resumes has four times as long, so that there is something left
to do.
"""


def minutes_of(command: str, earlier: list[str]) -> float:
    """How long a command trains, after others."""
    run = re.search(r"--run \S+ ", command)
    resumed = sum(run is not None and run[0] in one for one in earlier)
    return float(LEAST_MINUTES * 4**resumed)


def shorter(command: str, minutes: float) -> str:
    """A command of the docs as it is run here."""
    assert command.startswith("python -m ")
    module, *words = command.split()[2:]
    program = words[0] if module == "skyenv" else module.rpartition(".")[2]
    if program in SHORTER:
        pattern, instead = SHORTER[program]
        command = re.sub(pattern, instead.format(minutes=round(minutes, 4)), command)
    if program in AT_THE_END:
        return command + AT_THE_END[program]
    return re.sub(r"--paired-seeds \d+", "--paired-seeds 3", command)


@pytest.mark.programs
@pytest.mark.parametrize(
    "commands", CHAINS, ids=lambda commands: commands[0][len("python -m ") :][:40]
)
def test_commands_run_one_after_the_other(
    commands: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command as it stands there, with the minutes of training and the numbers of paired
    seeds cut down.

    All but one run in this process, which is faster.
    """
    monkeypatch.chdir(tmp_path)
    for number, command in enumerate(commands):
        short = shorter(command, minutes_of(command, commands[:number]))
        if command == AS_A_READER:
            bash(short, tmp_path)
        else:
            _, _, module, *arguments = shlex.split(short)
            code = importlib.import_module("skyenv.cli" if module == "skyenv" else module).main(
                arguments
            )
            printed = capsys.readouterr()
            assert code == 0, f"{command}\n{printed.out}\n{printed.err}"
        for written in re.findall(r" (?:-o|--out|--plot|--run|--json|--svg|--png) (\S+)", short):
            assert (tmp_path / written).exists(), f"{command} writes no {written}"


def test_all_commands_stand_in_chains_with_those_that_they_need() -> None:
    assert {one for chain in CHAINS for one in chain} == set(COMMANDS) - RUN_ELSEWHERE.keys()
    for chain in CHAINS:
        made: set[str] = set()
        for command in chain:
            wanted = set(FILES.findall(re.sub(r"(-o|--out|--run|--json) \S+", "", command)))
            assert wanted <= made, f"{command} needs what no command before it makes"
            made |= set(FILES.findall(command))
    (records,) = (chain for chain in CHAINS if any("skyenv record" in command for command in chain))
    assert [command.split()[3] for command in records] == [
        "record",
        "verify",
        "show",
        "show",
        "film",
        "export",
    ]


@pytest.mark.programs
def test_the_template_agent_gets_a_rating(tmp_path: Path) -> None:
    """As the docs say, but against a ladder made here, so that slow agents of the shipped one don't
    take part.
    """
    (template,) = (code for code in CODE if "class MyAgent" in code)
    (tmp_path / "my_module.py").write_text(template, encoding="utf-8")
    assert ADD in COMMANDS
    bash(
        "python -m skyenv tournament random crowd --paired-seeds 4 --workers 1 --out games "
        "--publish shipped",
        tmp_path,
    )
    output = bash(
        ADD.replace("--minutes 2", "--minutes 0.01 --workers 1 --ladder shipped/2-players.json"),
        tmp_path,
    )
    assert re.match(r"mine: rating -?\d+ \[-?\d+, -?\d+\] \(95 %\), place [123] of 3;", output)


PRINTED = sorted(set(re.findall(r"^`python -m (.+ --.+)`$", DOCS, re.MULTILINE)))
"""Commands below published tables, with everything that was asked for."""


def test_printed_commands_are_those_of_ladders_strength_and_learning_curves() -> None:
    kinds = {command.split(" ")[0] for command in PRINTED}
    assert kinds == {
        "skyenv",
        "experiments.benchmarks.strength",
        "experiments.benchmarks.learning_curves",
    }


@pytest.mark.parametrize("command", PRINTED, ids=lambda command: command[:60])
def test_the_command_below_a_table_can_be_given_as_it_is_printed(command: str) -> None:
    """Every option is known, and its value a possible one; playing takes hours."""
    from experiments.benchmarks.learning_curves import LearningCurvesOptions
    from experiments.benchmarks.strength import StrengthOptions
    from skyenv.arena.commands import TournamentOptions
    from skyenv.options import parse

    module, *arguments = shlex.split(command)
    agents: Sequence[str]
    if module == "skyenv":
        assert arguments.pop(0) == "tournament"
        agents = parse(TournamentOptions, "skyenv tournament", "", arguments).agents
    elif module == "experiments.benchmarks.learning_curves":
        agents = parse(LearningCurvesOptions, module, "", arguments).against
    else:
        strength = parse(StrengthOptions, module, "", arguments)
        agents = [*(f"{strength.agent}-{budget}" for budget in strength.budgets), *strength.against]
    assert [make_agent(agent).name for agent in agents] == list(agents)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("command", "players"), list(zip(LADDERS, [2, 3], strict=True)), ids=["2", "3"]
)
def test_the_commands_of_the_published_ladders(command: str, players: int, tmp_path: Path) -> None:
    """One ladder of each, small, published elsewhere."""
    agents = re.search(r"tournament (.*?) --players", command)
    assert agents is not None
    assert {"appraiser", "bidder", "builder"} < set(agents[1].split())
    short = command.replace(
        f"tournament {agents[1]}", "tournament crowd builder bidder rollout-2"
    ).replace("in 3 4;", "in 3;")
    short = short.replace("in front back", "in back").replace(
        "--publish", "--publish shipped --workers 1 --max-turns 20"
    )
    short = re.sub(
        r"--slow .* --slow-paired-seeds \d+", "--slow rollout-2 --slow-paired-seeds 1", short
    )
    bash(re.sub(r"--paired-seeds \d+ ", "--paired-seeds 2 ", short), tmp_path)
    assert (tmp_path / "shipped" / f"{players}-players-back.json").exists()
    assert (tmp_path / "runs" / f"ladders-{players}-back" / "ladder.txt").exists()


def bash(command: str, folder: Path) -> str:
    """Run a command as a reader of the README would, in an empty folder, with warnings as
    errors.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_make_train_is_what_the_long_test_trains(tmp_path: Path) -> None:
    recipe = bash(f"make --dry-run --always-make -C {ROOT} train", tmp_path)
    recipe = " ".join(recipe.replace("\\", "").split())
    for run, options in (
        ("from-nothing", "--players 2 --minutes 1 --paired-seeds 0"),
        (
            "first",
            "--players 2 --minutes 4 --prior greedy --fixed-opponents greedy,appraiser "
            "--opponent-share 0.9",
        ),
    ):
        wanted = (
            "--resume"
            if (ROOT / "runs" / run / "checkpoint.bin").exists()
            else f"{options} --processes"
        )
        assert f"-m experiments.training.train --run runs/{run} {wanted}" in recipe
    assert "-m skyenv play" in bash(f"make --dry-run --always-make -C {ROOT} play", tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_generated_parts_are_up_to_date(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert filled(text) == text, f"{page}: run `make docs`"


def test_drawings_are_up_to_date() -> None:
    """All that there are, byte for byte."""
    made = drawings()
    in_docs = [path for path in made if path.parent == FOLDER]
    assert sorted(path.relative_to(ROOT) for path in (ROOT / FOLDER).iterdir()) == sorted(in_docs)
    assert {path.stem for path in in_docs} == MOMENTS.keys()
    changed = [
        path
        for path, drawing in made.items()
        if (ROOT / path).read_text(encoding="utf-8") != drawing
    ]
    assert not changed, "run `make docs`"


# ---- what the pages point to ----

TEXTS = {
    path: path.read_text(encoding="utf-8")
    for path in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]
}
TEXTS |= {
    path: "\n".join(
        "".join(cell["source"])
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "markdown"
    )
    for path in sorted((ROOT / "docs").rglob("*.ipynb"))
}
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
YOURS = {"my_module.py"}
"""Files of the reader's own."""
OUR_MODULE = r"(?:skyenv|skyenv_agents|experiments)(?:\.\w+)+"


def headings(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def dead_links(path: Path, text: str) -> list[str]:
    """The links of a page to files, or to headings of pages, that there aren't."""
    dead = []
    for link in re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (
            anchor and anchor not in headings(text if target == path else target.read_text("utf-8"))
        ):
            dead.append(link)
    return dead


def repository() -> list[str]:
    """All files and folders (these with a slash at the end), from the root, with a slash before
    each.
    """
    kept = [
        ROOT / name
        for name in ("skyenv", "agents", "experiments", "tests", "docs", "examples", ".ci")
    ]
    paths = [path for folder in kept for path in (folder, *folder.rglob("*"))] + list(
        ROOT.glob("*")
    )
    return [f"/{path.relative_to(ROOT).as_posix()}{'/' if path.is_dir() else ''}" for path in paths]


def unknown_names(text: str, files: list[str]) -> list[str]:
    """Files, folders, modules and things in modules that a page names in code, and which there
    aren't.
    """
    named = [
        name for span in re.findall(r"`([^`\n]+)`", FENCED.sub("", text)) for name in span.split()
    ]
    named += re.findall(r"(?<=python -m )[\w.]+", text)
    named += [
        name
        for tree in re.findall(r"^```\n(skyenv/ .*?)^```", text, re.DOTALL | re.MULTILINE)
        for name in tree.split()
    ]
    unknown = []
    for name in named:
        if (
            re.fullmatch(r"[\w.-]+(/[\w.-]+)*(/|\.(py|md|toml|ipynb|html|js|css))", name)
            and name not in YOURS
        ):
            missing = not name.startswith("runs/") and not any(
                file.endswith(f"/{name}") for file in files
            )
        else:
            missing = re.fullmatch(OUR_MODULE, name) is not None and not resolves(name)
        if missing:
            unknown.append(name)
    return unknown


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or a thing in one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_pages_point_to_what_there_is(path: Path) -> None:
    assert dead_links(path, TEXTS[path]) == []
    assert unknown_names(TEXTS[path], repository()) == []


def test_dead_references_are_found(tmp_path: Path) -> None:
    """The checks themselves."""
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.touch()
    page.write_text("# A `title`, here\n```\n# none\n```\n", encoding="utf-8")
    (tmp_path / "a.png").touch()
    good = "[a](page.md) [b](page.md#a-title-here) ![c](a.png) [d](https://example.org) [e](#two)\n# Two"
    bad = "[a](pages.md) [b](page.md#title) [c](page.md#none) [d](#three)"
    assert dead_links(other, good) == []
    assert dead_links(other, f"{good}\n{bad}") == [
        "pages.md",
        "page.md#title",
        "page.md#none",
        "#three",
    ]
    good = "`game.py` `skyenv/engine/game.py` `docs/` `my_module.py` `runs/first/` `skyenv.engine.game.Game` `python -m skyenv`"
    good += "\n```\nskyenv/   words\n  game.py  one game\n```\n"
    bad = "`gaming.py` `skyenv/rules/game.py` `sky/` `skyenv.engine.game.Match`\n```console\n$ python -m experiments.none\n```\n"
    bad += "```\nskyenv/   words\n  none.py none/ nothing\n```\n"
    assert unknown_names(good, repository()) == []
    wrong = [
        "gaming.py",
        "skyenv/rules/game.py",
        "sky/",
        "skyenv.engine.game.Match",
        "experiments.none",
        "none.py",
        "none/",
    ]
    assert unknown_names(good + bad, repository()) == wrong
