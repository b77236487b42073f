"""Agents of the page's tests think in threads: they can't be pickled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from processes import Threads


@pytest.fixture(autouse=True, scope="session")
def in_threads() -> Iterator[None]:
    """Workers of the page are threads, unless a test makes others."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr("skyenv.page.workers.Processes", lambda _: Threads())
        yield
