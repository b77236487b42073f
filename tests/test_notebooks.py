"""The notebooks in docs/ run, as a reader would run them, and print what is stored in them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.programs

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTEBOOKS = sorted(DOCS.glob("*.ipynb"))


def run(path: Path) -> Any:
    """The notebook after a run in its own folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    return notebook


def printed(notebook: Any) -> list[list[tuple[str, str]]]:
    """What each cell has printed, and where; but for what tells of compiling the rules, which happens once.

    A stream may come in any number of pieces: those that follow one another are joined.
    """
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        texts: list[tuple[str, str]] = []
        for output in cell["outputs"]:
            kind, text = str(output.get("name", output["output_type"])), str(output.get("text", ""))
            if "skyenv: compiling" in text:
                continue
            if texts and texts[-1][0] == kind:
                text = texts.pop()[1] + text
            texts.append((kind, text))
        cells.append(texts)
    return cells


def write(path: Path) -> None:
    """Run a notebook and store what it prints: ``python -c "import test_notebooks as t; [t.write(p) for p in t.NOTEBOOKS]"``."""
    os.environ["SKYENV_QUIET"] = "1"
    started = time.perf_counter()
    notebook = run(path)
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)  # times
    nbformat.write(notebook, path)
    print(f"{path.name}: {time.perf_counter() - started:.1f} s")


def test_there_are_notebooks() -> None:
    assert [path.name for path in NOTEBOOKS] == ["open_spiel.ipynb"]


def test_pieces_of_a_stream_are_one_text() -> None:
    pieces = [
        {"output_type": "stream", "name": name, "text": text}
        for name, text in [("stdout", "a"), ("stdout", "b\n"), ("stderr", "c")]
    ]
    cells = [{"cell_type": "code", "outputs": pieces}, {"cell_type": "markdown"}, {"cell_type": "code", "outputs": []}]
    assert printed({"cells": cells}) == [[("stdout", "ab\n"), ("stderr", "c")], []]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
@pytest.mark.filterwarnings("default")  # of the libraries that start the kernel
def test_notebooks_print_what_is_stored(path: Path) -> None:
    stored = printed(nbformat.read(path, as_version=4))
    assert all(kind == "stdout" and text for outputs in stored for kind, text in outputs)
    assert sum(map(len, stored)) > 4
    assert printed(run(path)) == stored
