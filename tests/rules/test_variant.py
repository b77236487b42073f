"""Variants of the rules: any values in their ranges make a sound game, wrong ones are one error,
and nothing that bears one variant's label is mixed with what bears another one's.
"""

import json
import random
import re
from pathlib import Path
from typing import Any

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


# ---- games ----

PLAY = """
import io, sys
from skyenv import Game, make_agent, records
from skyenv.agents import decide_game
from skyenv.engine.observation import HIGH, LOW
from skyenv.engine.validation import as_games, check_positions

for players, side in ((2, "back"), (4, "front")):
    game = Game(players, side, seed=1, max_turns=10)
    agents = [make_agent(name) for name in ("random", "crowd", "random", "hoard")]
    while game.seat is not None:
        for seat in range(players):
            observation = game.observation(seat)
            assert (observation >= LOW).all() and (observation <= HIGH).all()
        check_positions(as_games(game.batch.arrays.state))
        game.play(decide_game(game, agents[game.seat]))
    assert records.verify(io.StringIO(game.to_record())).games == 1
    print(sum(game.events[0]["hands"][0].values(), []))
"""


def values(rng: random.Random, extreme: int | None) -> dict[str, Any]:
    """Values of all constants: the lowest (0), the highest (1) or any that go together."""
    drawn: dict[str, Any] = {}
    for name, (printed, *bounds) in CHANGEABLE.items():
        many = len(printed) if isinstance(printed, tuple) else 1
        numbers = [
            rng.randint(*bounds) if extreme is None else bounds[extreme] for _ in range(many)
        ]
        drawn[name] = numbers if isinstance(printed, tuple) else numbers[0]
    together = [
        {"coloured_cards": [1, 1, 3], "black_cards": [1, 1, 1], "starting_black_cards": 0},
        {"coloured_cards": [1, 1, 10], "black_cards": [20, 20, 10], "starting_supply": 3},
        {"coloured_cards": [4, 1, 5], "black_cards": [9, 20, 12], "starting_supply": 2},
    ]
    return drawn | together[2 if extreme is None else extreme]


@pytest.mark.parametrize(
    "extreme",
    [pytest.param(0, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.long), None],
)
def test_variants_within_their_ranges_are_playable(extreme: int | None) -> None:
    """Positions, observations and records are in the bounds that hold for the printed rules."""
    constants = values(random.Random(1), extreme)
    table = ", ".join(f"{name} = {value}" for name, value in constants.items())
    hands = under(f'name = "any"\nconstants = {{ {table} }}\n', PLAY)
    black = 5 + constants["starting_black_cards"]
    assert [len(json.loads(hand)) for hand in hands.splitlines()] == [black, black]


def test_the_docs_list_all_constants() -> None:
    for name, (printed, low, high) in CHANGEABLE.items():
        assert f"| `{name}` | {str(printed).strip('()')} | {low}–{high} |" in PAGE


# ---- wrong ones ----

WRONG = {
    "/nowhere/variant.toml": "No such file",
    "name = 1\n": "name must be of a–z, 0–9 and hyphens, not 1",
    'name = "a b"\n': "name must be",
    'name = "a"\nmore = 1\n': "a name and constants, and nothing else",
    'name = "a"\nconstants = 3\n': "a name and constants, and nothing else",
    'name = "a"\nconstants = {\n': "line 3|Invalid|Unclosed|[Ee]xpected",
    'name = "a"\nconstants.rings = 3\n': "no constant rings to change; there are coloured_cards, ",
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
