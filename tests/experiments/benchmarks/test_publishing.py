"""What the docs show of published measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.benchmarks.publishing import published_part
from skyenv.errors import CheckpointError


def test_a_measurement_has_its_text_and_its_picture(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    assert published_part(path, str, "![a](b.png)", "nothing yet") == "nothing yet"
    path.write_text(json.dumps({"wins": 3}))
    assert (
        published_part(
            path, lambda content: f"{content['wins']} wins", "![a](b.png)", "nothing yet"
        )
        == "3 wins\n\n![a](b.png)"
    )


@pytest.mark.parametrize("content", ["{", "{}", "[]"])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "measured.json"
    path.write_text(content)
    with pytest.raises(CheckpointError, match=r"measured.json is damaged"):
        published_part(path, lambda read: str(read["wins"]), "", "nothing yet")
