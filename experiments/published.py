"""All published figures and ladders: ``python -m experiments.published`` (``make figures``).

A part's commands run in a folder of runs/published, where interrupted ones go on with the same
code, commands and packages. Its files then replace the published ones, and the folder gets the time
as its name's ending, so a repeat measures again. docs/results/measured.json notes which commit was
measured, when, where and for how long. The parts are published.toml's and the ladders. Without
names, parts are measured whose code has changed since, but for those that need something besides;
``--list`` tells the state of all.

Exit codes: 0 success, 1 a command failed, 2 invalid command, 130 interrupted.
"""

import datetime
import hashlib
import json
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from experiments.figures import MEASURED, RESULTS, machine, measured
from skyenv.arena.ladder import path_of
from skyenv.console.options import Help, Options, option, program
from skyenv.console.tables import columns, counted
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import digest_of, write_atomically
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

ROOT: Final = RESULTS.parents[1]
WORK: Final = ROOT / "runs" / "published"
# The code that all parts measure, from the root, and that of the benchmarks.
ENGINE: Final = (
    *("skyenv/rules", "skyenv/engine", "skyenv/agents"),
    *("skyenv/seeds.py", "skyenv/statistics.py"),
)
BENCHMARKS: Final = (*ENGINE, "experiments/figures.py", "experiments/benchmarks/__main__.py")
# Endings of its files.
CODE: Final = (".py", ".npz", ".toml")
# Agents of the ladders: with two players all of them, with more those of similar strength.
LADDER: Final = "bidder builder greedy appraiser trained lookahead"
# With two players besides.
MORE: Final = (
    "random crowd greedy-4vp greedy-2.5vp greedy-1.5vp greedy-1vp rollout-16 ismcts-100 "
    "ismcts-trained-1000"
)


@dataclass(frozen=True)
class Part:
    """Commands and what they publish.

    Attributes:
        name: of the part.
        commands: of ``python -m``, in turn; OUT stands for their folder.
        hours: on two idle cores.
        sources: files and folders whose code it measures.
        files: the published files, by their names in the folder.
        needs: what a machine must have besides, or how `python` is made.
        python: the interpreter, from the root; empty: this one.
    """

    name: str
    commands: Sequence[str]
    hours: float
    sources: Sequence[str]
    files: dict[str, Path]
    needs: str = ""
    python: str = ""

    def digest(self) -> str:
        """Return a digest of the code that it measures."""
        found = [digest_of(ROOT / path, CODE) for path in self.sources]
        return hashlib.sha256(" ".join(found).encode()).hexdigest()[:16]

    def folder(self) -> Path:
        """Return the folder of its work, by its code, its commands and the pinned packages."""
        given = " ".join([self.digest(), *self.commands, digest_of(ROOT / "constraints.txt")])
        return WORK / f"{self.name}-{hashlib.sha256(given.encode()).hexdigest()[:16]}"

    def code(self) -> list[str]:
        """Return patterns of Git for the files of that code; ladders beside it are none."""
        folders = [path for path in self.sources if not Path(path).suffix]
        files = [path for path in self.sources if Path(path).suffix]
        return [*files, *(f"{folder}/*{ending}" for folder in folders for ending in CODE)]

    def words(self, command: str, folder: Path) -> list[str]:
        """Return one of the commands."""
        python = str(ROOT / self.python) if self.python else sys.executable
        return [python, "-m", *shlex.split(command.replace("OUT", str(folder)))]


def _figures(name: str, entry: dict[str, Any]) -> Part:
    """Return a part from its entry in published.toml."""
    files = {file: RESULTS / file for file in entry["files"]}
    return Part(name, **(entry | {"sources": [*BENCHMARKS, *entry["sources"]], "files": files}))


def _ladder(players: int, side: str) -> Part:
    name = f"ladder-{table_name(players, side)}"
    agents = f"{MORE} {LADDER}" if players == MIN_PLAYERS else LADDER
    command = (
        f"skyenv tournament {agents} --players {players} --side {side} --paired-seeds 40 "
        f"--secret 20261128 --out OUT"
    )
    sources = (*ENGINE, "agents", "skyenv/arena")
    return Part(name, (command,), 0.8, sources, {"ladder.json": path_of(players, side)})


_ENTRIES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PARTS: Final = (
    *(_figures(name, entry) for name, entry in _ENTRIES.items()),
    *(_ladder(players, side) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1) for side in SIDES),
)


@dataclass(frozen=True)
class PublishedOptions(Options):
    """Options of the command line."""

    names: tuple[str, ...] = option(
        (),
        "parts to measure again (default: those whose code has changed)",
        tuple(part.name for part in PARTS),
        metavar="PART",
        positional=True,
    )
    list: bool = option(False, "tell the state of all parts, and measure nothing")


def _run(options: PublishedOptions) -> int:
    entries = measured()
    if options.list:
        print(table(entries))
        return 0
    named = [part for part in PARTS if part.name in options.names]
    stale = [part for part in PARTS if not (part.needs or is_current(part, entries))]
    failed = [part.name for part in named or stale if not measure(part, entries)]
    if failed:
        print(f"failed: {', '.join(failed)}; the same command tries again", file=sys.stderr)
    return 1 if failed else 0


def measure(part: Part, entries: dict[str, Any]) -> bool:
    """Measure a part and publish its files; return whether its commands succeeded.

    Args:
        entries: the content of measured.json, which gets the part's entry.

    Raises:
        OptionError: its code isn't committed.
    """
    if changed := git("status", "--porcelain", "--", *part.code()):
        raise OptionError(f"{part.name} would measure code that isn't committed:\n{changed}")
    commit, code, folder = git("rev-parse", "--short=12", "HEAD"), part.digest(), part.folder()
    folder.mkdir(parents=True, exist_ok=True)
    with _timed(folder / "hours") as spent:
        for words in [part.words(each, folder.relative_to(ROOT)) for each in part.commands]:
            print(f"{part.name}: {shlex.join(words)}", flush=True)
            if subprocess.run(words, cwd=ROOT, check=False).returncode:
                return False
    for name, path in part.files.items():
        write_atomically(path, (folder / name).read_bytes())
    where = machine()
    entries[part.name] = {
        "commands": [f"python -m {command}" for command in part.commands],
        "commit": commit,
        "sources": code,
        "files": {path.name: digest_of(path) for path in part.files.values()},
        "date": datetime.date.today().isoformat(),
        "hours": round(float(spent.read_text("utf-8")), 2),
        "machine": f"{where['processor']}, {where['cores']} cores",
    }
    write_atomically(MEASURED, json.dumps(entries, indent=1, sort_keys=True) + "\n")
    folder.rename(f"{folder}-{datetime.datetime.now():%Y%m%dT%H%M%S}")
    return True


@contextmanager
def _timed(spent: Path) -> Iterator[Path]:
    """Add the time of a block, however it ends, to the hours in a file."""
    before, began = float(spent.read_text("utf-8")) if spent.exists() else 0.0, time.monotonic()
    try:
        yield spent
    finally:
        write_atomically(spent, f"{before + (time.monotonic() - began) / 3600}\n")


def is_current(part: Part, entries: dict[str, Any]) -> bool:
    """Return whether the published files are those that today's code and commands made."""
    entry = entries.get(part.name)
    commands = [f"python -m {command}" for command in part.commands]
    return entry is not None and (entry["commands"], entry["sources"]) == (commands, part.digest())


def table(entries: dict[str, Any]) -> str:
    """Return the state of all parts: commits since the measurement, its date, hours and needs."""
    rows: list[Sequence[str]] = [("part", "code since", "measured", "hours", "needs")]
    for part in PARTS:
        entry = entries.get(part.name)
        since = "never" if entry is None else commits_since(part, entry["commit"])
        date, hours = (entry["date"], entry["hours"]) if entry else ("", part.hours)
        rows.append((part.name, since, date, f"{hours:g}", part.needs))
    return columns(rows, left=3)


def commits_since(part: Part, commit: str) -> str:
    """Return in words how many commits of a part's code have followed a commit."""
    number = int(git("rev-list", "--count", f"{commit}..HEAD", "--", *part.code()))
    return counted(number, "commit") if number else "unchanged"


def git(*words: str) -> str:
    """Return what a command of Git prints.

    Raises:
        CheckpointError: this isn't a clone with its history.
    """
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CheckpointError(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


main = program(
    PublishedOptions,
    "experiments.published",
    Help("measure what the docs publish", "speed", "docs/design.md#where-new-things-go"),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
