"""Several trainings in one picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.training import curves
from experiments.training.curves import kinds_to_draw, read_curve
from skyenv.errors import CheckpointError, OptionError


def curve(**shares: float) -> list[dict[str, Any]]:
    """Three points, of which the first has no shares yet."""
    points = [{"seconds": 60.0 * i, "entropy": 2.0 - i / 2, "shares": {}} for i in range(3)]
    points[1]["shares"] = dict.fromkeys(shares, 0.5)
    points[2]["shares"] = shares
    return points


def written(folder: Path, points: list[dict[str, Any]]) -> Path:
    """A run's folder with a curve in it."""
    folder.mkdir()
    (folder / "curve.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
    return folder


def test_picture_of_several_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = written(tmp_path / "first", curve(random=0.9, greedy=0.2, past=0.5))
    second = written(tmp_path / "second", curve(random=0.8, greedy=0.3))
    assert curves.main([str(first), str(second), "-o", str(tmp_path / "picture.png")]) == 0
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "nested").mkdir()
    namesake = written(tmp_path / "nested" / "first", curve(greedy=0.1))
    assert (
        curves.main(
            [str(first), str(namesake), "--against", "greedy", "-o", str(tmp_path / "other.png")]
        )
        == 0
    )
    assert (tmp_path / "other.png").read_bytes() != (tmp_path / "picture.png").read_bytes()
    assert curves.main([str(first), str(first), "-o", str(tmp_path / "other.png")]) == 2
    assert "named twice" in capsys.readouterr().err


def test_at_most_six_lines_of_the_hardest_opponents() -> None:
    many = curve(a=0.9, b=0.1, c=0.5, d=0.4, e=0.3, f=0.2, past=0.0)
    assert kinds_to_draw({"run": many}) == ["b", "c", "d", "e", "f", "past"]
    assert kinds_to_draw({"one": many, "two": many}) == ["b", "e", "f"]
    assert kinds_to_draw(
        {"one": curve(a=0.0, b=0.4), "two": curve(b=0.2), "three": curve(c=0.5)}
    ) == ["a", "b"]
    assert kinds_to_draw({"one": many, "two": many}, ["past", "a"]) == ["past", "a"]
    assert kinds_to_draw({str(i): many for i in range(6)}) == ["b"]
    with pytest.raises(OptionError, match="7 lines are too many"):
        kinds_to_draw({str(i): many for i in range(7)})
    with pytest.raises(OptionError, match="8 lines are too many"):
        kinds_to_draw({"one": many, "two": many}, ["a", "b", "c", "d"])
    with pytest.raises(OptionError, match="no run has a share against 'nobody'; there are a, b"):
        kinds_to_draw({"run": curve(a=0.1, b=0.2)}, ["nobody"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no curve of a training in"),
        ("", "is empty"),
        ('{"seconds": 1, "entropy": 1, "shares": {}}\nnonsense\n', "line 2: no point of a curve"),
        ('{"seconds": 1, "entropy": 1}\n', "line 1: no point of a curve"),
        ('{"seconds": -1, "entropy": 1, "shares": {}}\n', "line 1: no point of a curve"),
        ('{"seconds": 1, "entropy": null, "shares": {}}\n', "line 1: no point of a curve"),
        ("[]\n", "line 1: no point of a curve"),
    ],
)
def test_what_is_no_curve_is_refused(
    content: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "curve.jsonl").write_text(content)
    with pytest.raises(CheckpointError, match=message):
        read_curve(tmp_path)
    assert curves.main([str(tmp_path), "-o", str(tmp_path / "picture.png")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "picture.png").exists()
