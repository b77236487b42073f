"""Programs with other libraries, run where the library is installed."""

import pytest

from processes import ROOT, printed

# By name: the module that it needs, and arguments that make it short.
PROGRAMS = {
    "with_jax": ("jax", "--games 8 --steps 40"),
    "with_tianshou": ("tianshou", "--games 4 --steps 32 --epochs 1"),
}


def test_every_program_is_tested() -> None:
    files = (ROOT / "examples" / "libraries").glob("*.py")
    assert {path.stem for path in files} == PROGRAMS.keys()


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_prints_its_speed(name: str) -> None:
    needs, arguments = PROGRAMS[name]
    pytest.importorskip(needs)
    program = ROOT / "examples" / "libraries" / f"{name}.py"
    assert printed("-W", "ignore", program, *arguments.split()).endswith(" steps/s\n")
