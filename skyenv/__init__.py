"""skyenv: the auction board game Fifth Avenue as an environment for reinforcement learning.

The rules stand in ``skyenv/rules/RULES.md``, the numbers of the actions and the format of records
in ``skyenv/rules/INTERFACE.md``. The game is Wilko Manz's design; this project is not affiliated
with its publishers.
"""

from importlib.metadata import PackageNotFoundError, version

from skyenv.agents import Agent, Decisions, make_agent
from skyenv.engine.game import Game, Outcome
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.engine.options import GameOptions
from skyenv.envs import registration  # noqa: F401 (its import registers the environments)
from skyenv.errors import (
    AgentError,
    BoardError,
    ChanceError,
    CheckpointError,
    DatasetError,
    FolderInUseError,
    GameOverError,
    IllegalActionError,
    MissingExtraError,
    OptionError,
    RecordError,
    RenderError,
    SkyenvError,
    UnknownOptionError,
)
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.board import Board, load_board, make_board

try:
    __version__ = version("skyenv")
except PackageNotFoundError:  # a source tree without an installed package
    __version__ = "0+unknown"

__all__ = [
    "ACTION_NAMES",
    "NUM_ACTIONS",
    "OBSERVATION_SIZE",
    "Agent",
    "AgentError",
    "Board",
    "BoardError",
    "ChanceError",
    "CheckpointError",
    "DatasetError",
    "Decisions",
    "FolderInUseError",
    "Game",
    "GameOptions",
    "GameOverError",
    "Games",
    "IllegalActionError",
    "MissingExtraError",
    "OptionError",
    "Outcome",
    "RecordError",
    "RenderError",
    "SkyenvError",
    "UnknownOptionError",
    "load_board",
    "make_agent",
    "make_board",
]
