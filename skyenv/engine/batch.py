"""The common part of batches on the CPU and on a GPU."""

from typing import Any

import numpy as np

from skyenv.array_types import ArrayLike, Int64
from skyenv.checks import check_flag, check_integer, check_rows
from skyenv.engine.copying import Copyable
from skyenv.engine.kernels import NEXT_SEED
from skyenv.engine.options import GameOptions
from skyenv.errors import OptionError
from skyenv.rules.state import NONE
from skyenv.seeds import HIGHEST_SEED, Seeds, seeds_of


class GameBatch(Copyable):
    """The common part of batches on the CPU and on a GPU: checked options."""

    def _take_options(
        self,
        num_games: int,
        most_games: int,
        options: GameOptions,
        autoreset: bool,
        observation: bool,
        agent_seed: int | None,
    ) -> None:
        """Check and store the options common to all batches."""
        self.num_games = check_integer("num_games", num_games, 1, most_games)
        self.options, self.board = options, options.board
        self.num_players, self.side = options.num_players, options.side
        self.max_turns, self.autoreset = options.max_turns, check_flag("autoreset", autoreset)
        self._observed = check_flag("observation", observation)
        self.agent_seed = agent_seed
        self._all_rows: Any = np.arange(self.num_games)
        self._step_id = 0

    @property
    def agent_seed(self) -> int | None:
        """The secret in agents' random numbers; None: none. It may be assigned."""
        return None if self._secret == NONE else self._secret

    @agent_seed.setter
    def agent_seed(self, secret: int | None) -> None:
        valid = NONE if secret is None else check_integer("agent_seed", secret, 0, HIGHEST_SEED)
        self._secret = valid

    def _check_reset(self, seed: Seeds | None, rows: ArrayLike | None) -> tuple[Int64, Int64]:
        """Return the rows to reset, and their seeds."""
        chosen = check_rows(np.arange(self.num_games) if rows is None else rows, self.num_games)
        if len(np.unique(chosen)) != len(chosen):
            raise OptionError("rows must name each row at most once")
        if seed is None:
            return chosen, np.full(len(chosen), NEXT_SEED, np.int64)
        return chosen, seeds_of(seed, len(chosen))
