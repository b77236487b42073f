"""The lowest versions that pyproject.toml allows, as constraints for pip: for ``make test-lowest``.

PyTorch's is the one of constraints.txt, as another would pull gigabytes for CUDA onto a machine
without a GPU. The file is run by the Python that makes the environment, and needs nothing but the
standard library.
"""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent.parent
KEPT: Final = "torch"


def lowest(project: dict[str, Any], pinned: str) -> list[str]:
    """Lines ``name==version`` for pip.

    Args:
        project: the table ``[project]`` of pyproject.toml.
        pinned: constraints.txt, for the version of KEPT.

    Raises:
        ValueError: a requirement has no lower bound, or two that differ.
    """
    required = chain(project["dependencies"], *project["optional-dependencies"].values())
    versions: dict[str, str] = {}
    for requirement in required:
        parts = re.fullmatch(r"([\w.-]+)(\[.*\])?(>=([\w.]+))?", requirement)
        if parts is not None and parts[1] == project["name"]:
            continue  # one extra brings another
        if parts is None or parts[4] is None or versions.setdefault(parts[1], parts[4]) != parts[4]:
            raise ValueError(
                f"{requirement}: every package needs one lower bound, and nothing else"
            )
    kept = [line for line in pinned.splitlines() if line.startswith(f"{KEPT}==")]
    return [f"{name}=={version}" for name, version in versions.items() if name != KEPT] + kept


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print("\n".join(lowest(project, (ROOT / "constraints.txt").read_text(encoding="utf-8"))))
