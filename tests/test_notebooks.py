"""The notebooks in docs/ run, as a reader would run them, and print what is stored in them."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.programs

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
VARIES = "varies"
"""The tag of a cell whose figures depend on the machine, as a network's do that learns in single
precision.
"""

TUTORIALS = ["datasets", "first_agent", "rating", "search", "self_play"]
"""Those that start.md leads to, each for five minutes: 8 to 15 cells."""


def run(path: Path) -> Any:
    """The notebook after a run in its own folder, in which nothing is said of compiling the rules:
    that happens once.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(env={**os.environ, "SKYENV_QUIET": "1"})
    return notebook


def printed(notebook: Any) -> list[list[tuple[str, str]]]:
    """What each cell has printed, and where.

    A stream may come in any number of pieces: those that follow one another are joined. Of a cell
    that varies the figures are left out.
    """
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        texts: list[tuple[str, str]] = []
        for output in cell["outputs"]:
            kind, text = str(output.get("name", output["output_type"])), str(output.get("text", ""))
            if texts and texts[-1][0] == kind:
                text = texts.pop()[1] + text
            texts.append((kind, text))
        if VARIES in cell.get("metadata", {}).get("tags", ()):
            texts = [
                (kind, " ".join(re.sub(r"-?\d+(?:[.,]\d+)*", "0", text).split()))
                for kind, text in texts
            ]
        cells.append(texts)
    return cells


def write(path: Path) -> None:
    """Run a notebook and store what it prints: ``python -c "import test_notebooks as t; [t.write(p)
    for p in t.NOTEBOOKS]"``.
    """
    started = time.perf_counter()
    notebook = run(path)
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)  # times
    nbformat.write(notebook, path)
    print(f"{path.name}: {time.perf_counter() - started:.1f} s")


def test_there_are_notebooks() -> None:
    assert [path.relative_to(DOCS).as_posix() for path in NOTEBOOKS] == [
        "open_spiel.ipynb",
        *(f"tutorials/{name}.ipynb" for name in TUTORIALS),
    ]
    for path in NOTEBOOKS[1:]:
        assert 8 <= len(nbformat.read(path, as_version=4)["cells"]) <= 15


def test_pieces_of_a_stream_are_one_text() -> None:
    pieces = [
        {"output_type": "stream", "name": name, "text": text}
        for name, text in [("stdout", "a"), ("stdout", "b\n"), ("stderr", "c")]
    ]
    cells = [
        {"cell_type": "code", "outputs": pieces},
        {"cell_type": "markdown"},
        {"cell_type": "code", "outputs": []},
    ]
    assert printed({"cells": cells}) == [[("stdout", "ab\n"), ("stderr", "c")], []]


def test_figures_that_vary_are_left_out() -> None:
    cells = [
        {
            "cell_type": "code",
            "metadata": {"tags": tags},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": text}],
        }
        for tags, text in [([VARIES], "wins  51.3 [-4, 1,024]\nmine"), ([], "wins 51.3")]
    ]
    assert printed({"cells": cells}) == [
        [("stdout", "wins 0 [0, 0] mine")],
        [("stdout", "wins 51.3")],
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
@pytest.mark.filterwarnings("default")  # of the libraries that start the kernel
def test_notebooks_print_what_is_stored(path: Path) -> None:
    stored = printed(nbformat.read(path, as_version=4))
    assert all(kind == "stdout" and text for outputs in stored for kind, text in outputs)
    assert sum(map(len, stored)) >= 4
    assert printed(run(path)) == stored
