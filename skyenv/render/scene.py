"""What all parts of the picture share: the table as plain numbers, the theme, and which actions are
legal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents.interface import Evaluation
from skyenv.errors import OptionError, shown
from skyenv.render.colours import Theme
from skyenv.render.marks import element, group, title
from skyenv.render.parts import Drawing
from skyenv.render.table import Table
from skyenv.rules.actions import NUM_ACTIONS

Marks = tuple[int, ...] | None
"""Which of the actions that a thing can mean are legal; None: the page decides that, and every glow
is drawn, but hidden.
"""


@dataclass(frozen=True)
class Scene:
    """What is drawn, and how.

    Attributes:
        table: the position as the onlooker sees it.
        raw: its record as bytes.
        theme: the colours.
        legal: the actions that may be chosen; None: the page decides.
        agents: who sits where.
        evaluation: what an agent holds of the decision, or None.
        upright: whether the picture is for a narrow screen.
        drawing: its parts so far.
    """

    table: Table
    raw: bytes
    theme: Theme
    legal: frozenset[int] | None
    agents: tuple[str | None, ...] | None
    evaluation: Evaluation | None
    upright: bool
    drawing: Drawing

    @cached_property
    def players(self) -> int:
        """Number of seats."""
        return int(self.table.game["num_players"])

    def number(self, name: str) -> int:
        """A field that is one number."""
        return int(self.table.game[name])

    def marks(self, *actions: int) -> Marks:
        """Which of these actions may be chosen."""
        if not self.legal:
            return None if self.legal is None else ()
        return tuple(action for action in actions if action in self.legal)


def legal_set(legal: npt.ArrayLike | None) -> frozenset[int]:
    """The numbers of the legal actions of a mask; none without a mask.

    Raises:
        OptionError: it is no mask.
    """
    if legal is None:
        return frozenset()
    mask = np.asarray(legal)
    if mask.shape != (NUM_ACTIONS,):
        raise OptionError(
            f"legal must be an action mask of shape ({NUM_ACTIONS},), not of shape "
            f"{shown(mask.shape)}"
        )
    return frozenset(np.flatnonzero(mask).tolist())


def checked_evaluation(evaluation: Evaluation | None) -> Evaluation | None:
    """The evaluation; raises OptionError unless its numbers are probabilities and a value."""
    if evaluation is None:
        return None
    probabilities = np.asarray(evaluation.probabilities, np.float64)
    if (
        probabilities.shape != (NUM_ACTIONS,)
        or not np.isfinite(probabilities).all()
        or (probabilities < 0).any()
    ):
        raise OptionError(
            f"an evaluation has {NUM_ACTIONS} probabilities of at least 0, not "
            f"{shown(evaluation.probabilities)}"
        )
    if evaluation.value is not None and not np.isfinite(evaluation.value):
        raise OptionError(
            f"an evaluation's value must be finite, or None, not {shown(evaluation.value)}"
        )
    return Evaluation(probabilities, evaluation.value)


def checked_names(
    agents: Sequence[str | None] | None, players: int
) -> tuple[str | None, ...] | None:
    """The names, one for each seat; raises OptionError if there are more or fewer."""
    if agents is None:
        return None
    if len(agents) != players:
        raise OptionError(f"agents must name each of the {players} seats, not {len(agents)}")
    return tuple(agents)


def thing(actions: Iterable[int], marks: Marks, what: str, *body: str, **data: object) -> str:
    """Draw something that an action can mean: a group with its ``data-`` attributes.

    Args:
        actions: the numbers of the actions that choosing it can mean, legal or not.
        marks: which of them may be chosen.
        what: what it is, in words.
        body: its picture.
        data: attributes without ``data_``.
    """
    attributes: dict[str, object] = {"class": "legal"} if marks else {}
    attributes |= {f"data_{name}": str(value) for name, value in data.items()}
    attributes["data_action"] = " ".join(map(str, actions)) or None
    return element("g", title(what), *body, **attributes)


def piece(kind: str, count: int = 1) -> dict[str, Any]:
    """Attributes of something that the page may let move: its kind, and how many are there.

    A piece that is more often in one place and less often in another has gone from there to here.
    What stands behind a colon tells pieces of one kind in one part of the drawing apart.
    """
    return {"data_piece": kind, "data_count": count if count > 1 else None}


def glow(theme: Theme, marks: Marks, outline: str) -> str:
    """The outline of something that may be chosen, drawn as a glow."""
    if marks == ():
        return ""
    wide = group(outline, fill="none", stroke=theme.legal, stroke_width=7, stroke_opacity=0.3)
    shining = wide + group(outline, fill="none", stroke=theme.legal, stroke_width=2.4)
    return shining if marks else hidden(shining, "glow")


def hidden(picture: str, name: str) -> str:
    """What the page shows only where something may be chosen, by its class (page.css)."""
    return group(picture, **{"class": name}, visibility="hidden")
