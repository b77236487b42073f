"""What all parts of the picture share: the table as plain numbers, the theme, and which actions are legal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents.interface import Evaluation
from skyenv.errors import OptionError, shown
from skyenv.render.colours import Theme
from skyenv.render.marks import element, title
from skyenv.render.table import Table
from skyenv.render.words import Names
from skyenv.rules.actions import NUM_ACTIONS


@dataclass(frozen=True)
class Scene:
    """What is drawn, and how.

    Attributes:
        table: the position as the onlooker sees it.
        game: its fields as plain numbers and lists, by name.
        theme: the colours.
        legal: the actions that may be chosen.
        agents: who sits where.
        evaluation: what an agent holds of the decision, or None.
        upright: whether the picture is for a narrow screen.
    """

    table: Table
    game: Any
    theme: Theme
    legal: frozenset[int]
    agents: Names
    evaluation: Evaluation | None
    upright: bool

    @property
    def players(self) -> int:
        """Number of seats."""
        return int(self.game.num_players)


def plain(game: Any) -> SimpleNamespace:
    """The fields of a record as plain numbers and lists."""
    return SimpleNamespace(**{name: game[name].tolist() for name in game.dtype.names})


def legal_set(legal: npt.ArrayLike | None) -> frozenset[int]:
    """The numbers of the legal actions of a mask; none without a mask.

    Raises:
        OptionError: it is no mask.
    """
    if legal is None:
        return frozenset()
    mask = np.asarray(legal)
    if mask.shape != (NUM_ACTIONS,):
        raise OptionError(f"legal must be an action mask of shape ({NUM_ACTIONS},), not of shape {shown(mask.shape)}")
    return frozenset(np.flatnonzero(mask).tolist())


def checked_evaluation(evaluation: Evaluation | None) -> Evaluation | None:
    """The evaluation; raises OptionError unless its numbers are probabilities and a value."""
    if evaluation is None:
        return None
    probabilities = np.asarray(evaluation.probabilities, np.float64)
    if probabilities.shape != (NUM_ACTIONS,) or not np.isfinite(probabilities).all() or (probabilities < 0).any():
        raise OptionError(f"an evaluation has {NUM_ACTIONS} probabilities of at least 0, not {shown(evaluation.probabilities)}")
    if evaluation.value is not None and not np.isfinite(evaluation.value):
        raise OptionError(f"an evaluation's value must be finite, or None, not {shown(evaluation.value)}")
    return Evaluation(probabilities, evaluation.value)


def checked_names(agents: Sequence[str | None] | None, players: int) -> Names:
    """The names, one for each seat; raises OptionError if there are more or fewer."""
    if agents is not None and len(agents) != players:
        raise OptionError(f"agents must name each of the {players} seats, not {len(agents)}")
    return agents


def thing(scene: Scene, actions: Sequence[int], what: str, *body: str, **data: object) -> str:
    """Something that an action can mean: a group with its ``data-`` attributes.

    Args:
        scene: tells which actions are legal.
        actions: all actions that it can mean.
        what: what it is, in words.
        body: its picture.
        data: attributes without ``data_``.
    """
    legal = [action for action in actions if action in scene.legal]
    attributes: dict[str, object] = {"class": "legal"} if legal else {}
    attributes |= {f"data_{name}": str(value) for name, value in data.items()}
    if len(legal) == 1:
        attributes["data_action"] = str(legal[0])
    return element("g", title(what), *body, **attributes)


def is_legal(scene: Scene, *actions: int) -> bool:
    """Whether any of these actions may be chosen."""
    return any(action in scene.legal for action in actions)
