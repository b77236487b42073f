"""A few inputs of every kind of the farm (tests/fuzz.py), and those that it has found."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import fuzz

FEW = {"games": 3, "kills": 1, "networks": 6, "solutions": 10, "variants": 1, "variant-texts": 2}
CASES = sorted(fuzz.FOUND.glob("*"))


@pytest.fixture(scope="module", autouse=True)
def held() -> Iterator[None]:
    """The page runs as long as these tests."""
    with fuzz.HELD:
        yield


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=pytest.mark.long if k == "kills" else ()) for k in fuzz.KINDS]
)
def test_some_inputs_of_each_kind(name: str) -> None:
    for seed in range(FEW.get(name, 40)):
        fuzz.attempt(name, fuzz.KINDS[name].make(random.Random(f"{name} {seed}")))


@pytest.mark.compiled
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_inputs_that_once_failed(path: Path) -> None:
    fuzz.attempt(path.name.partition(".")[0], path.read_bytes())


def test_the_farm_counts_and_keeps_what_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def check(content: bytes, folder: Path) -> str:
        assert content[0] % 2, "even"
        return "odd"

    monkeypatch.setattr(fuzz, "FOUND", tmp_path / "found")
    monkeypatch.setitem(fuzz.KINDS, "bytes", fuzz.Kind(lambda rng: rng.randbytes(1), check))
    assert fuzz.main(["0.05", "bytes"]) == 1
    kept = [path.read_bytes()[0] % 2 for path in (tmp_path / "found").iterdir()]
    assert kept == [0] * fuzz.MOST_FAULTS
    told = capsys.readouterr().out
    assert re.search(
        r"^bytes: \d+ \{'FAILED': 10, 'odd': \d+\}\n\d+ decisions judged, 10 faults$",
        told,
        re.MULTILINE,
    )
    assert "AssertionError: even" in told
