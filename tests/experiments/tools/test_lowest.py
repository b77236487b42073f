"""The lowest versions that pyproject.toml allows."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from experiments.tools.lowest import KEPT, ROOT, lowest
from processes import printed

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
PINNED = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_every_package_of_the_project_has_its_lowest_version() -> None:
    lines = lowest(PROJECT, PINNED)
    assert [line for line in PROJECT["dependencies"] if line.replace(">=", "==") not in lines] == []
    for extra in PROJECT["optional-dependencies"].values():
        for requirement in extra:
            name, _, version = requirement.partition(">=")
            name = name.partition("[")[0]
            if name == "skyenv":
                assert not version
            elif name == KEPT:
                assert f"{name}=={version}" not in lines
            else:
                assert f"{name}=={version}" in lines
    assert [line for line in lines if line.startswith("torch==")] == [
        line for line in PINNED.splitlines() if "torch==" in line
    ]


def test_the_program_prints_them_without_this_project_or_its_packages() -> None:
    assert printed("-I", "-S", ROOT / "experiments" / "tools" / "lowest.py").splitlines() == lowest(
        PROJECT, PINNED
    )


@pytest.mark.parametrize(
    "wrong",
    ["numpy", "numpy>=1.25", "numpy>1.26", "numpy>=1.26,<3", "numpy==1.26", "numpy >= 1.26; x"],
)
def test_a_package_without_one_lower_bound_is_named(wrong: str) -> None:
    project = {
        "name": "skyenv",
        "dependencies": ["numpy>=1.26"],
        "optional-dependencies": {"more": ["skyenv[other]", wrong]},
    }
    with pytest.raises(ValueError, match="needs one lower bound"):
        lowest(project, PINNED)
