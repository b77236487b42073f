"""The notebooks in docs/, run as by a reader."""

import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from processes import ROOT

pytestmark = pytest.mark.programs

NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
# Notebooks that take longest.
LONG = {"datasets", "first_agent", "open_spiel", "rating", "self_play"}
# The tag of a cell whose figures depend on the machine.
VARIES = "varies"


def run(path: Path) -> Any:
    """Run a notebook in its own folder; return it with its new outputs."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources)
    client.execute(env={**os.environ, "SKYENV_QUIET": "1"})
    return notebook


def printed(notebook: Any) -> list[str]:
    """Return the streams of each cell with code and their texts, without figures that vary."""
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            texts = [f"{one.get('name', one['output_type'])}: " for one in cell["outputs"][:1]]
            texts += [str(output.get("text", "")) for output in cell["outputs"]]
            if VARIES in cell["metadata"].get("tags", ()):
                figures = re.sub(r"-?\d+(?:[.,]\d+)*", "0", "".join(texts))
                texts = [" ".join(figures.split())]
            cells.append("".join(texts))
    return cells


def write(path: Path) -> None:
    """Run a notebook and store what it prints: ``python -c "import test_notebooks as t; [t.write(p)
    for p in t.NOTEBOOKS]"``.
    """
    notebook = run(path)
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)  # times
    nbformat.write(notebook, path)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if path.stem in LONG else (), id=path.stem)
        for path in NOTEBOOKS
    ],
)
@pytest.mark.filterwarnings("default")  # of the libraries that start the kernel
def test_notebooks_reproduce_their_stored_output(path: Path) -> None:
    stored = printed(nbformat.read(path, as_version=4))
    assert sum(text.startswith("stdout: ") for text in stored) >= 4
    assert printed(run(path)) == stored
