"""A position as one picture of the whole table: an SVG text, or its parts by name, made by pure
functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.agents.interface import Evaluation
from skyenv.checks import check_integer
from skyenv.engine.events import Event
from skyenv.errors import OptionError
from skyenv.render import city, panels
from skyenv.render.colours import Theme, theme_named
from skyenv.render.marks import FONTS, at, element, number, path, rectangle
from skyenv.render.marks import title as title_of
from skyenv.render.panels import GAP, Panel
from skyenv.render.parts import ROOT, Drawing, Part, remembered, slot
from skyenv.render.scene import Scene, checked_evaluation, checked_names, legal_set
from skyenv.render.table import look
from skyenv.render.words import situation
from skyenv.rules.state import NONE, PHASE_OVER

__all__ = ["drawing", "svg"]

WIDE: Final = 1200.0
"""Width of the picture in its own units."""
UPRIGHT: Final = 640.0
"""The same for narrow screens."""
NARROW: Final = 700
"""Pictures narrower than this stand upright."""
_MARGIN: Final = 18.0
_LOG_HEIGHT: Final = 190.0
_LEAST_LOG: Final = 60.0
"""With less room than this there is no log."""
_ROOM: Final = 420.0
_ENLARGED: Final = 1.2
"""On narrow screens what lies beside the board is drawn larger."""


def svg(
    position: np.void,
    seat: int | None = None,
    *,
    theme: str = "light",
    events: Sequence[Event] = (),
    evaluation: Evaluation | None = None,
    agents: Sequence[str | None] | None = None,
    legal: npt.ArrayLike | None = None,
    title: str | None = None,
    width: int = 1200,
) -> str:
    """The whole table as a stand-alone SVG 1.1 picture, fit to be put into HTML as it is (it uses
    no ids and no style sheet).

    Everything that an action can mean is a ``<g>`` with a ``<title>``, an attribute that says what
    it is, and ``data-action``: the number of the action that choosing it means, legal or not; of a
    commissioner those of all its moves, with spaces between them. What it is: ``data-district="D"``
    (to be scored), ``data-plot="D:P"``, ``data-stack="C"`` (the black one has no action),
    ``data-place="K:L"`` (where commissioner K may go), ``data-commissioner="K"``,
    ``data-card="S:C:R"`` (seat, colour, rank; cards of an open hand), ``data-row-type="B"`` (in the
    current set). If `legal` is given, those that may be chosen have the class ``legal``.

    Args:
        position: a game, GAME_DTYPE, or a seat's view of it, VIEW_DTYPE.
        seat: draw what this seat may see (INF); None: all hands are open. A view is always drawn
            for its own seat.
        theme: ``"light"`` or ``"dark"``.
        events: the last events, newest last, as in ``Game.events``.
        evaluation: what an agent holds of the decision, drawn beside the board. It shows the cards
            of the seat to act, so it can't be drawn for another seat.
        agents: who sits where, one name per seat.
        legal: action mask, (103,): what may be chosen glows.
        title: instead of the game's name.
        width: in pixels. Below 700 the picture stands upright, for phones.

    Raises:
        OptionError: an argument has a wrong value.
    """
    picture = drawing(
        position,
        seat,
        theme=theme,
        events=events,
        evaluation=evaluation,
        agents=agents,
        legal=legal,
        title=title,
        width=width,
    )
    return picture.text()


def drawing(
    position: np.void,
    seat: int | None = None,
    *,
    theme: str | Theme = "light",
    events: Sequence[Event] = (),
    evaluation: Evaluation | None = None,
    agents: Sequence[str | None] | None = None,
    legal: npt.ArrayLike | None = None,
    title: str | None = None,
    width: int = 1200,
    is_live: bool = False,
) -> Drawing:
    """The parts of :func:`svg`, which draws the same.

    What equals a part that was drawn lately isn't drawn again.

    Args:
        position, seat, events, evaluation, agents, legal, title, width: as for :func:`svg`.
        theme: ``"light"``, ``"dark"``, or colours of one's own.
        is_live: for the page, which knows itself what may be chosen: all that may ever glow is
            drawn, but hidden.

    Raises:
        OptionError: an argument has a wrong value.
    """
    width = check_integer("width", width, 1, 20000)
    table = look(position, seat)
    if evaluation is not None and table.seat is not None and table.seat != table.game["seat"]:
        raise OptionError(
            f"seat {table.seat} isn't to act; an evaluation of another seat would tell it what it "
            "can't know"
        )
    scene = Scene(
        table=table,
        raw=table.game.tobytes(),
        theme=theme if isinstance(theme, Theme) else theme_named(theme),
        legal=None if is_live else legal_set(legal),
        agents=checked_names(agents, table.players),
        evaluation=checked_evaluation(evaluation),
        upright=width < NARROW,
        drawing=Drawing(),
    )
    draw = _upright if scene.upright else _wide
    places, breadth, height = draw(scene, position, events, title)
    what = f"{title or 'Fifth Avenue'}: {situation(table, scene.agents)}"
    scene.drawing.add(Part("title", title_of(what)))
    scene.drawing.add(_document(scene.theme, places, breadth, height, width))
    return scene.drawing


_Place = tuple[float, float, float, str]
"""Where something stands (x, y), how much it is enlarged, and what it is."""


@remembered(256)
def _document(
    theme: Theme, places: tuple[_Place, ...], breadth: float, height: float, width: int
) -> Part:
    """The picture's ground, and where its parts are."""
    text = element(
        "svg",
        slot("title"),
        rectangle(0, 0, breadth, height, fill=theme.table),
        _skyline(theme, breadth),
        *(at(x, y, what, scale=scale) for x, y, scale, what in places),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(breadth)} {number(height)}",
        width=str(width),
        height=str(round(width * height / breadth)),
        role="img",
        font_family=FONTS,
        data_theme=theme.name,
    )
    return Part(ROOT, text)


def _skyline(theme: Theme, breadth: float) -> str:
    """A row of houses behind the headline."""
    steps = (34, 52, 40, 62, 48, 30, 58, 44, 66, 38, 54, 32, 60, 46, 36, 56)
    x, d = 0, "M0 92"
    for i in range(60):
        if x > breadth:
            break
        d += f"V{92 - steps[i % len(steps)]}H{x + 14 + steps[(i * 7 + 3) % len(steps)] // 3}"
        x += 14 + steps[(i * 7 + 3) % len(steps)] // 3
    return path(f"{d}V92Z", fill=theme.skyline)


def _side(scene: Scene, position: np.void, width: float, room: float) -> list[Panel]:
    """The panels beside the board, the log apart; an agent's evaluation gets what is left of the
    room.
    """
    drawings = [panels.stacks(scene, width)]
    if scene.number("auction_place") != NONE and scene.number("phase") != PHASE_OVER:
        drawings.append(panels.auction(scene, width))
    if scene.players == 2:
        drawings.append(panels.alea(scene, width))
    if scene.evaluation is not None:
        room -= sum(height + GAP for _, height in drawings)
        drawings.append(panels.evaluation(scene, position, scene.evaluation, width, room))
    return drawings


def _stacked(
    items: Sequence[Panel], x: float, y: float, scale: float = 1.0
) -> tuple[list[_Place], float]:
    """Panels one below the other, and where the next one begins."""
    placed: list[_Place] = []
    for picture, height in items:
        placed.append((x, y, scale, picture))
        y += scale * (height + GAP)
    return placed, y


_Layout = tuple[tuple[_Place, ...], float, float]
"""What stands where, the breadth and the height."""


def _wide(scene: Scene, position: np.void, events: Sequence[Event], name: str | None) -> _Layout:
    """The board on the left, panels on its right, the supply row and the players below."""
    inner = WIDE - 2 * _MARGIN
    length, breadth = city.size(False)
    head, top = panels.headline(scene, inner, name)
    top += 14
    x = _MARGIN + length + GAP
    side, y = _stacked(_side(scene, position, WIDE - _MARGIN - x, breadth), x, top)
    bottom = max(top + breadth, y - GAP)
    if events and bottom - y >= _LEAST_LOG:
        side.append((x, y, 1.0, panels.events_log(scene, events, WIDE - _MARGIN - x, bottom - y)))
    below, y = _stacked(
        [panels.supply_row(scene, inner), panels.players(scene, inner)], _MARGIN, bottom + GAP
    )
    above: list[_Place] = [(_MARGIN, 10, 1.0, head), (_MARGIN, top, 1.0, city.board(scene))]
    return (*above, *side, *below), WIDE, y + _MARGIN - GAP


def _upright(scene: Scene, position: np.void, events: Sequence[Event], name: str | None) -> _Layout:
    """Everything one below the other, what is beside the board enlarged."""
    inner = UPRIGHT - 2 * _MARGIN
    breadth, length = city.size(True)
    small = inner / _ENLARGED
    head, top = panels.headline(scene, small, name)
    side = _side(scene, position, small, _ROOM)
    stacks, others = side[:1], side[1:]
    items = [*others, panels.players(scene, small), *stacks, panels.supply_row(scene, small)]
    if events:
        items.append((panels.events_log(scene, events, small, _LOG_HEIGHT), _LOG_HEIGHT))
    start = 10 + _ENLARGED * (top + 12)
    below, y = _stacked(items, _MARGIN, start + length + GAP, _ENLARGED)
    board: _Place = ((UPRIGHT - breadth) / 2, start, 1.0, city.board(scene))
    return ((_MARGIN, 10, _ENLARGED, head), board, *below), UPRIGHT, y - _ENLARGED * GAP + _MARGIN
