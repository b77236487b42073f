"""Lines of several runs in one picture."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from matplotlib.figure import Figure

from experiments.training.lines import LABEL_HEIGHT, names_of, spread, tidy, write_labels
from skyenv.errors import OptionError


def test_runs_go_by_the_names_of_their_folders_if_these_differ() -> None:
    assert names_of(["runs/first", "runs/second/"]) == ["first", "second"]
    assert names_of(["a/first", "b/first"]) == ["a/first", "b/first"]
    with pytest.raises(OptionError, match="named twice"):
        names_of(["a/first", "a/first"])


def test_labels_keep_their_distance() -> None:
    def free(heights: list[float]) -> list[float]:
        return spread(heights, 6, -100, 200)

    assert free([]) == []
    assert free([10, 50]) == [10, 50]
    assert free([50, 50]) == [47, 53]
    assert free([10, 50, 52, 54]) == [10, 46, 52, 58]
    assert free([44, 50, 50, 50]) == pytest.approx([39.5, 45.5, 51.5, 57.5])


def test_labels_stay_beside_the_axes() -> None:
    assert spread([0, 1, 50], 6, 0, 100) == [0, 6, 50]
    assert spread([0, 8, 99, 100], 6, 0, 100) == [0, 8, 94, 100]
    assert spread([40, 50, 50, 50], 10, 45, 75) == [45, 55, 65, 75]


def test_every_line_has_its_name_at_its_end() -> None:
    axes = Figure().subplots()
    axes.set(xlim=(0, 10), ylim=(0, 50))
    write_labels(axes, [(10.0, 20.0, "second", "red"), (5.0, 19.0, "first", "blue")])
    tidy(axes)
    texts: list[Any] = list(axes.texts)
    assert [(text.get_text(), text.get_color(), text.xy) for text in texts] == [
        ("first", "blue", (5.0, 19.0)),
        ("second", "red", (10.0, 20.0)),
    ]
    heights = [text.xyann[1] for text in texts]
    assert all(upper - lower >= LABEL_HEIGHT * 50 - 1e-9 for lower, upper in pairwise(heights))
