"""The benchmark of clicks clicks, and measures what it says; how much that is no test can know."""

from __future__ import annotations

import pytest

from experiments.benchmarks import page_click


@pytest.mark.long
def test_clicks_are_painted_and_little_is_sent_for_them() -> None:
    measured = page_click.clicks(3)
    assert len(measured) == 3
    for spent, sent in measured:
        assert spent > 0
        assert 300 < sent <= 6_000  # of a drawing of 100 kB only the parts that change
