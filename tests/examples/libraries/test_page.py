"""The code of docs/libraries.md; `make test-libraries` installs all its libraries."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from processes import ROOT, main_of
from skyenv.statistics import interval

# Not every library's environment has Gymnasium.
LearnerGames: Any = pytest.importorskip("skyenv.envs.learner").LearnerGames

HERE = Path(__file__).parent
PAGE = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)

# What "always the first legal action" earns in `duel-4` against `random`, VP; `random` earns 0.
FIRST_LEGAL = 0.67


@pytest.fixture(scope="module")
def strong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small dataset, runs/strong."""
    pytest.importorskip("minari")
    folder = tmp_path_factory.mktemp("libraries")
    games = "random hoard --games 2 --max-turns 6 --workers 1"
    assert main_of(f"dataset {games} -o {folder / 'runs' / 'strong'}") == 0
    return folder


@pytest.fixture
def payoffs(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The learner's payoffs in the games that end, in their order, penalties included."""
    found: list[float] = []
    reset = LearnerGames.reset

    def noting(core: Any, seed: Any = None, rows: Any = None) -> None:
        ending = core.all_rows if rows is None else rows
        found.extend(core.total[ending[core.done[ending]]].tolist())
        reset(core, seed, rows)

    monkeypatch.setattr(LearnerGames, "reset", noting)
    return found


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split()[1])
def test_each_code_block_runs(
    block: str,
    request: pytest.FixtureRequest,
    payoffs: list[float],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Blocks that train in `duel-4` earn more than "always the first legal action"."""
    for module in re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE):
        pytest.importorskip(module)
    monkeypatch.chdir(request.getfixturevalue("strong" if "minari" in block else "tmp_path"))
    monkeypatch.setenv("MINARI_DATASETS_PATH", "runs/strong/minari")
    (content,) = re.findall(r"echo '(.*)' > zoo.yml", PAGE)
    Path("zoo.yml").write_text(content, encoding="utf-8")
    (words,) = re.findall(r"python (zoo.py .*)", PAGE)
    words += " --n-timesteps 600 --eval-freq 1000 --eval-episodes 1"
    monkeypatch.setattr("sys.argv", words.split())
    learns = "skyenv/Duel4" in block or "SkyenvVecEnv" in block
    code = block if learns else re.sub(r"\b\d+_000\b", "500", block)
    main = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)  # where pickle looks up its classes
    exec(compile(code, "libraries.md", "exec"), vars(main))
    if learns:
        last = np.array(payoffs[-len(payoffs) // 10 :])
        mean, error = last.mean(), 1.96 * last.std(ddof=1) / len(last) ** 0.5
        paid = {"mean": mean, "low": mean - error, "high": mean + error}
        with capsys.disabled():
            print(f"\n{len(payoffs)} games; the last tenth paid {interval(paid, 2)} VP")
        assert paid["low"] > FIRST_LEGAL
    if "rl_zoo3" in block:
        lengths = re.findall(r"Episode length: ([\d.]+)", capsys.readouterr().out)
        assert min(map(float, lengths)) > 20  # without masks it is 1


READERS: dict[str, Callable[[Any, str], Any]] = {
    "datasets": lambda datasets, path: sum(
        row["action"]
        for row in datasets.load_dataset(
            "parquet", data_dir=path, split="train", cache_dir=f"{path}-cache"
        )
        if row["last"]
    ),
    "duckdb": lambda duckdb, path: duckdb.sql(
        f"select sum(action) from '{path}/*.parquet' where last"
    ).fetchall()[0][0],
    "pandas": lambda pandas, path: pandas.read_parquet(path).query("last")["action"].sum(),
    "polars": lambda polars, path: (
        polars.read_parquet(f"{path}/*.parquet").filter("last")["action"].sum()
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_libraries_read_the_parquet_tables(name: str, request: pytest.FixtureRequest) -> None:
    library, parquet = pytest.importorskip(name), pytest.importorskip("pyarrow.parquet")
    path = request.getfixturevalue("strong") / "runs" / "strong" / "parquet"
    rows = parquet.read_table(next(path.glob("*.parquet"))).to_pylist()
    expected = sum(row["action"] for row in rows if row["last"])
    assert READERS[name](library, str(path)) == expected > 0


def test_versions_are_those_of_the_requirements() -> None:
    rows = re.sub("[-_]", "", PAGE.lower())
    for file in HERE.glob("*.txt"):
        tried = file.read_text(encoding="utf-8").partition("\n\n")[0]
        for name, version in re.findall(r"^([\w-]+)==([\d.]+)", tried, re.MULTILINE):
            plain = re.sub("[-_]", "", name.lower())
            assert re.search(rf"^\|.*{plain}\b.* {version}\b", rows, re.MULTILINE), name
