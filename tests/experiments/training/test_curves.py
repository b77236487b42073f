"""Learning curves."""

from pathlib import Path
from typing import Any

import pytest

from experiments.training.curves import draw_curves, hardest, read_curve
from skyenv.errors import CheckpointError


def curve(**shares: float) -> list[dict[str, Any]]:
    """Three points, of which the first has no shares yet."""
    points = [{"seconds": 60.0 * i, "entropy": 2.0 - i / 2, "shares": {}} for i in range(3)]
    points[1]["shares"] = dict.fromkeys(shares, 0.5)
    points[2]["shares"] = shares
    return points


def test_at_most_six_hardest_opponents_are_drawn(tmp_path: Path) -> None:
    many = curve(a=0.9, b=0.1, c=0.5, d=0.4, e=0.3, f=0.2, past=0.0)
    assert hardest({"run": many}) == ["b", "c", "d", "e", "f", "past"]
    runs = {"one": many, "two": curve(a=0.0, g=0.4)}
    assert hardest(runs) == ["b", "f", "past"]
    draw_curves(runs, tmp_path / "picture.png")
    draw_curves(runs, tmp_path / "other.png", ["a"])
    pictures = [(tmp_path / name).read_bytes() for name in ("picture.png", "other.png")]
    assert pictures[0] != pictures[1]
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        '{"seconds": 1, "entropy": 1, "shares": {}}\nnonsense\n',
        '{"seconds": 1, "entropy": 1}\n',
        '{"seconds": -1, "entropy": 1, "shares": {}}\n',
        '{"seconds": 1, "entropy": null, "shares": {}}\n',
        "[]\n",
    ],
)
def test_invalid_curves_are_refused(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "curve.jsonl").write_text(content)
    with pytest.raises(CheckpointError, match=r"curve\.jsonl is not a training curve"):
        read_curve(tmp_path)
