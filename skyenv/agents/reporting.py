"""Errors of agents as one-line messages of commands.

The library itself does not convert them.
"""

import traceback
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents.interface import Agent, Decisions
from skyenv.errors import AgentError, CheckpointError, cause
from skyenv.runtime import shortage

_OURS: Final = Path(__file__).parents[1]


class ReportingAgent(Agent):
    """A wrapper that converts an agent's errors to :class:`AgentError`, except
    :class:`CheckpointError` and shortages of the machine.

    Args:
        inner: the wrapped agent.
    """

    def __init__(self, inner: Agent) -> None:
        self.inner = inner
        self.name, self.version, self.description = inner.name, inner.version, inner.description
        self.uses_observation, self.uses_view = inner.uses_observation, inner.uses_view
        self.searches_with = inner.searches_with

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`."""
        return self.inner.version_at(players, side)

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        try:
            return self.inner.act(decisions)
        except (AgentError, CheckpointError, KeyboardInterrupt):
            raise
        except BaseException as error:  # including SystemExit, which would end the command
            if shortage(error):
                raise
            raise AgentError(
                f"agent {self.name} failed at {_place(error)}: {cause(error)}"
            ) from error


def _place(error: BaseException) -> str:
    """Return file and line of an agent's failure: the last frame in the file of its first frame."""
    places = [
        (frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    theirs = [file for file, _ in places if not Path(file).is_relative_to(_OURS)]
    file, line = [place for place in places if not theirs or place[0] == theirs[0]][-1]
    return f"{file}:{line}"
