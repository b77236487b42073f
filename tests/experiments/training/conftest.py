"""A run that is over, for all tests that read one."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainings import begun, tiny


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over."""
    folder = tmp_path_factory.mktemp("finished")
    training = begun(tiny(folder))
    assert training.run()
    return folder
