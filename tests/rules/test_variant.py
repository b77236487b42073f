"""Variants of the rules: wrong ones are one error, and nothing that bears one variant's label is
mixed with what bears another one's. Games of variants are judged in tests/test_referee_fuzz.py.
"""

import json
import re
from pathlib import Path

import pytest

from processes import ROOT, python
from skyenv import Games
from skyenv.rules.variant import CHANGEABLE

PAGE = (ROOT / "docs" / "change_the_game.md").read_text(encoding="utf-8")
(RICH,) = re.findall(r"```toml\n(name = .*?)```", PAGE, re.DOTALL)


def under(variant: str | Path, code: str, *words: str, cwd: Path = ROOT, jit: bool = False) -> str:
    """What a program prints that runs under a variant, in plain Python unless it is compiled."""
    environment = {"SKYENV_VARIANT": str(variant), "PYTHONPATH": f"{ROOT}:{ROOT / 'agents'}"}
    if not jit:
        environment["NUMBA_DISABLE_JIT"] = "1"
    done = python("-c", code, *words, environment=environment, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_docs_list_all_constants() -> None:
    for name, (printed, low, high) in CHANGEABLE.items():
        assert f"| `{name}` | {str(printed).strip('()')} | {low}–{high} |" in PAGE


# ---- wrong ones ----

WRONG = {
    "/nowhere/variant.toml": "No such file",
    "/dev/zero": "more than 10000 characters",
    "name = 1\n": "name must be of a–z, 0–9 and hyphens, not 1",
    'name = "a b"\n': "name must be",
    'name = "a"\nmore = 1\n': "a name and constants, and nothing else",
    'name = "a"\nconstants = 3\n': "a name and constants, and nothing else",
    'name = "a"\nconstants = {\n': "line 3|Invalid|Unclosed|[Ee]xpected",
    'name = "a"\nconstants.rings = 3\n': "no constant 'rings' to change; there are colour",
    'name = "a"\nconstants.max_stops = 3\n': "max_stops must be a number from 1 to 2, not 3",
    'name = "a"\nconstants.max_stops = true\n': "max_stops must be a number",
    'name = "a"\nconstants.bonus_vp = [1, 2]\n': "bonus_vp must be 3 numbers, each from 0 to 20",
    'name = "a"\nconstants.bonus_vp = 4\n': "bonus_vp must be 3 numbers",
    'name = "a"\nconstants.black_cards = [20, 20, 20]\n': "black_cards must be at most 50 cards",
    'name = "a"\nconstants.black_cards = [5, 5, 5]\n': "starting_black_cards must be among",
    'name = "a"\nconstants.coloured_cards = [1, 1, 1]\n': "coloured_cards must be 5 to 12 cards",
    'name = "a"\nconstants.starting_supply = 4\n': "must be at most 15 together",
}
READ = """
import importlib, json, os, sys
for text in json.loads(sys.argv[1]):
    os.environ["SKYENV_VARIANT"] = text
    for name in ("variant", "components"):
        sys.modules.pop(f"skyenv.rules.{name}", None)
    try:
        importlib.import_module("skyenv.rules.components")
        print("no error")
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_an_invalid_variant_is_one_error() -> None:
    errors = under("", "import skyenv\n" + READ, json.dumps([*WRONG])).splitlines()
    for error, message in zip(errors, WRONG.values(), strict=True):
        assert re.match(f"OptionError SKYENV_VARIANT: .*({message})", error), error


def test_a_command_reports_an_invalid_variant_in_one_line() -> None:
    told = python("-m", "skyenv", "verify", "x.jsonl", environment={"SKYENV_VARIANT": "name = 1\n"})
    assert (told.returncode, told.stdout) == (1, "")
    assert re.fullmatch("skyenv: error: SKYENV_VARIANT: name must be .*\n", told.stderr)


# ---- nothing is mixed ----

RUN = """
import contextlib, importlib, io, json, sys
for words in json.loads(sys.argv[1]):
    module, *arguments = words.split()
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        code = importlib.import_module(module).main(arguments)
    print(json.dumps([code, told.getvalue().splitlines()[-1:]]))
"""
FEW = "--max-turns 3 --paired-seeds 1 --workers 1"
MADE_THEN_REFUSED = {
    "skyenv.cli record -o games.jsonl --max-turns 3": "skyenv.cli verify games.jsonl",
    f"skyenv.cli tournament random crowd --out folder {FEW}": (
        f"skyenv.cli tournament random crowd --out folder {FEW}"
    ),
    f"skyenv.cli tournament random crowd --out other {FEW}": (
        f"skyenv.cli tournament --add random --ladder other/ladder.json {FEW}"
    ),
    "skyenv.cli dataset random --games 1 --formats parquet --out data": (
        "skyenv.cli dataset random --games 1 --formats parquet --out data"
    ),
}
# What is of the printed rules alone.
PRINTED = (
    f"skyenv.cli evaluate trained --against random {FEW}",
    "skyenv.cli exploitability random --task duel-3",
    "skyenv.cli play",
)


@pytest.mark.parametrize(
    ("maker", "reader"), [("", RICH), pytest.param(RICH, "", marks=pytest.mark.long)]
)
def test_files_of_another_variant_are_refused(maker: str, reader: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra [dataset]")
    refused = [*MADE_THEN_REFUSED.values(), *(PRINTED if reader else ())]
    made = under(maker, RUN, json.dumps([*MADE_THEN_REFUSED]), cwd=tmp_path).splitlines()
    assert [json.loads(line)[0] for line in made] == [0] * len(MADE_THEN_REFUSED)
    told = under(reader, RUN, json.dumps(refused), cwd=tmp_path).splitlines()
    for command, line in zip(refused, told, strict=True):
        code, (error,) = json.loads(line)
        assert code in (1, 2), command
        assert "variant rich-" in error, command


def test_an_evaluation_names_its_variant(tmp_path: Path) -> None:
    evaluation = f"skyenv.cli evaluate random --against crowd --json figures.json {FEW}"
    under(RICH, RUN, json.dumps([evaluation]), cwd=tmp_path)
    (result,) = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert re.fullmatch("rich-[0-9a-f]{8}", result["variant"])


# ---- processes ----

WORKERS = """
import os, sys
from pathlib import Path
from skyenv.rules.board import as_board
from skyenv.rules.event_log import LOG_DTYPE
from skyenv.rules.setup import begin, blank_game
from skyenv.rules.record import new_records
from skyenv.rules.variant import of_variant
from skyenv.work import open_pool

if __name__ == "__main__":
    Path(sys.argv[1]).unlink()
    os.chdir("/")
    os.environ["SKYENV_VARIANT"] = "too late"
    with open_pool(1) as pool:
        print(pool.submit(of_variant, 1).result() == of_variant(1) != 1)
    game = blank_game(2, as_board(None, "front"), 500)
    begin(game[0], new_records(1, LOG_DTYPE)[0], 1)
    print(game["hand"].sum())
"""


@pytest.mark.compiled
@pytest.mark.long
def test_workers_and_compiled_code_use_the_same_variant(tmp_path: Path) -> None:
    """Whatever becomes of the file; and compiled code of other rules stays as it is."""
    path = tmp_path / "rich.toml"
    path.write_text(RICH, encoding="utf-8")
    assert under(path, WORKERS, str(path), jit=True).split() == ["True", "22"]
    assert Games(1, observation=False).state["hand"].sum() == 18
