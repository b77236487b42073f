"""What libraries ask of the single environments behind a batch, answered from the batch."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

from skyenv.envs.learner import LearnerGames
from skyenv.envs.masks import Mask, MaskPlace
from skyenv.envs.pictures import Renderer
from skyenv.errors import OptionError, shown

ATTRIBUTES: Final = ("action_masks", "opponents", "render_mode", "seat", "seed")
METHODS: Final = ("action_masks", "render", "set_opponents")


class Rows:
    """The rows of a batch, asked as if each were an environment of its own.

    Args:
        core: the batch.
        renderer: draws it.
        masks: how masks are shown.
    """

    def __init__(self, core: LearnerGames, renderer: Renderer, masks: MaskPlace) -> None:
        self._core, self._renderer, self._masks = core, renderer, masks

    def attribute(self, name: str, row: int) -> Any:
        """A row's ``action_masks`` (a function), ``opponents`` (names by seat), ``render_mode``,
        ``seat``, ``seed``.

        Raises:
            AttributeError: for any other name.
        """
        core = self._core
        if name == "action_masks":
            return partial(self._mask, row)
        if name == "opponents":
            return core.opponents(row)
        if name == "render_mode":
            return self._renderer.mode
        if name == "seat":
            return int(core.learner[row])
        if name == "seed":
            return int(core.games.seeds[row])
        raise AttributeError(
            f"the environments have no attribute {shown(name)}; they have {', '.join(ATTRIBUTES)}"
        )

    def call(self, name: str, rows: list[int], *args: Any, **kwargs: Any) -> list[Any]:
        """What a method returns in each of `rows`.

        Args:
            name: ``action_masks``: int8 (103,); ``render``: what the environment's own gives of the
                row; ``set_opponents``, of all rows alone:
                :meth:`skyenv.envs.learner.LearnerGames.set_opponents`.
            rows: which rows.
            args, kwargs: the method's arguments.

        Raises:
            AttributeError: there is no such method.
            OptionError: opponents are to be set in some rows alone, or `set_opponents` refuses
                them.
        """
        core = self._core
        if name == "action_masks":
            return [self._mask(row) for row in rows]
        if name == "render":
            if self._renderer.mode == "human":
                self._renderer.render_rows(core.games, core.learner.tolist())
                return [None] * len(rows)
            return [self._renderer.render(core.games, row, int(core.learner[row])) for row in rows]
        if name == "set_opponents":
            if sorted(rows) != core.all_rows.tolist():
                raise OptionError("opponents can only be set for all rows together")
            core.set_opponents(*args, **kwargs)
            return [None] * len(rows)
        raise AttributeError(
            f"the environments have no method {shown(name)}; they have {', '.join(METHODS)}"
        )

    def refuse(self, name: str) -> None:
        """Raise AttributeError: no attribute can be set."""
        raise AttributeError(
            f"attribute {shown(name)} can't be set: the rows are one batch; set_opponents() "
            "changes who plays"
        )

    def _mask(self, row: int) -> Mask:
        return self._masks.shown(self._core.mask(np.array([row]))[0])
