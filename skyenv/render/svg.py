"""The picture of a position: the whole table as an SVG text, or as named parts."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from skyenv.array_types import ArrayLike
from skyenv.checks import check_integer
from skyenv.engine.events import Event
from skyenv.errors import OptionError, shown
from skyenv.render import city, panels, shapes
from skyenv.render.colours import Theme, theme_named
from skyenv.render.marks import FONTS, at, element, number, rectangle, title
from skyenv.render.panels import GAP, Panel
from skyenv.render.parts import ROOT, Drawing, Part, Scene
from skyenv.render.table import plain, visible_table
from skyenv.render.words import situation
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import ALEA, NONE, PHASE_OVER

__all__ = ["drawing", "svg"]

WIDE: Final = 1200.0  # width of the picture in user units
UPRIGHT: Final = 640.0  # the same for narrow screens
NARROW: Final = 700  # narrower pictures are upright
_MARGIN: Final = 18.0
_LOG_HEIGHT: Final = 190.0
_MIN_LOG_HEIGHT: Final = 60.0  # with less height there is no log
_ENLARGED: Final = 1.2  # on narrow screens panels are drawn larger


def svg(
    position: np.void,
    seat: int | None = None,
    *,
    theme: str = "light",
    events: Sequence[Event] = (),
    agents: Sequence[str | None] | None = None,
    legal: ArrayLike | None = None,
    width: int = 1200,
) -> str:
    """Return the whole table as a stand-alone SVG 1.1 picture, which can be inlined into HTML (it
    uses no ids and no style sheet).

    Each element that actions refer to is a ``<g>`` with a ``<title>``, an attribute of its kind,
    and ``data-action``: the number of its action, legal or not; for a commissioner those of all
    its moves, separated by spaces. The kinds: ``data-district="D"`` (to be scored),
    ``data-plot="D:P"``, ``data-stack="C"`` (the black one has no action), ``data-place="K:L"`` (a
    move of commissioner K), ``data-commissioner="K"``, ``data-card="S:C:R"`` (seat, colour, rank;
    cards of an open hand), ``data-row-type="B"`` (in the current set). If `legal` is given, legal
    elements have the class ``legal``.

    Args:
        position: a game, GAME_DTYPE, or a seat's view of it, VIEW_DTYPE.
        seat: draw this seat's view (INF); None: all hands are open. A view is always drawn for its
            own seat.
        theme: ``"light"`` or ``"dark"``.
        events: the latest events, newest last, as in ``Game.events``.
        agents: the players' names, one per seat.
        legal: action mask, (103,): legal elements glow.
        width: width in pixels. Below 700 the picture is upright, for phones.

    Raises:
        OptionError: an argument has an invalid value.
    """
    return drawing(
        position,
        seat,
        theme=theme,
        events=events,
        agents=agents,
        legal=legal,
        width=width,
    ).text()


def drawing(
    position: np.void,
    seat: int | None = None,
    *,
    theme: str | Theme = "light",
    events: Sequence[Event] = (),
    agents: Sequence[str | None] | None = None,
    legal: ArrayLike | None = None,
    width: int = 1200,
    is_live: bool = False,
) -> Drawing:
    """Return the picture of :func:`svg` as parts.

    Recently drawn plots, hands and other parts come from caches.

    Args:
        position, seat, events, agents, legal, width: as for :func:`svg`.
        theme: ``"light"``, ``"dark"``, or a custom theme.
        is_live: for the page, which marks legal elements itself: every glow is drawn hidden.

    Raises:
        OptionError: an argument has an invalid value.
    """
    width = check_integer("width", width, 1, 20000)
    table = visible_table(position, seat)
    if agents is not None and len(agents) != table.players:
        raise OptionError(f"agents must name each of the {table.players} seats, not {len(agents)}")
    scene = Scene(
        table=table,
        game=plain(table.game),
        theme=theme if isinstance(theme, Theme) else theme_named(theme),
        legal=None if is_live else _legal_set(legal),
        agents=None if agents is None else tuple(agents),
        upright=width < NARROW,
        drawing=Drawing(),
    )
    draw = _upright if scene.upright else _wide
    placed, breadth, height = draw(scene, events)
    what = f"Fifth Avenue: {situation(table, scene.agents)}"
    whole = element(
        "svg",
        scene.drawing.add(Part("title", title(what))),
        rectangle(0, 0, breadth, height, fill=scene.theme.table),
        shapes.picture(scene.theme, "upright skyline" if scene.upright else "skyline"),
        *placed,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(breadth)} {number(height)}",
        width=str(width),
        height=str(round(width * height / breadth)),
        role="img",
        font_family=FONTS,
        data_theme=scene.theme.name,
    )
    scene.drawing.add(Part(ROOT, whole))
    return scene.drawing


def _legal_set(legal: ArrayLike | None) -> frozenset[int]:
    """Return the numbers of the legal actions of a mask; none without a mask."""
    if legal is None:
        return frozenset()
    mask = np.asarray(legal)
    if mask.shape != (NUM_ACTIONS,):
        raise OptionError(
            f"legal must be an action mask of shape ({NUM_ACTIONS},), not {shown(mask.shape)}"
        )
    return frozenset(np.flatnonzero(mask).tolist())


# The contents, width and height of a picture.
_Layout = tuple[list[str], float, float]


def _side(scene: Scene, width: float) -> list[Panel]:
    """Return the panels beside the board, without the log."""
    drawn = [panels.stacks(scene, width)]
    if scene.game.auction_place != NONE and scene.game.phase != PHASE_OVER:
        drawn.append(panels.auction(scene, width))
    if ALEA in scene.table.bidders:
        drawn.append(panels.alea(scene, width))
    return drawn


def _stacked(
    items: Sequence[Panel], x: float, y: float, scale: float = 1.0
) -> tuple[list[str], float]:
    """Stack panels vertically; return them and the y of the next one."""
    placed: list[str] = []
    for picture, height in items:
        placed.append(at(x, y, picture, scale=scale))
        y += scale * (height + GAP)
    return placed, y


def _wide(scene: Scene, events: Sequence[Event]) -> _Layout:
    """Lay out the board on the left, panels on its right, supply row and players below."""
    inner, (length, breadth) = WIDE - 2 * _MARGIN, city.SIZES[False]
    head, top = panels.headline(scene, inner)
    top, x = top + 14, _MARGIN + length + GAP
    side, y = _stacked(_side(scene, WIDE - _MARGIN - x), x, top)
    bottom = max(top + breadth, y - GAP)
    if events and bottom - y >= _MIN_LOG_HEIGHT:
        side.append(at(x, y, panels.events_log(scene, events, WIDE - _MARGIN - x, bottom - y)))
    rows = [panels.supply_row(scene, inner), panels.players(scene, inner)]
    below, y = _stacked(rows, _MARGIN, bottom + GAP)
    above = [at(_MARGIN, 10, head), at(_MARGIN, top, city.board(scene))]
    return [*above, *side, *below], WIDE, y + _MARGIN - GAP


def _upright(scene: Scene, events: Sequence[Event]) -> _Layout:
    """Lay out everything in one column, with enlarged panels."""
    inner, (breadth, length) = UPRIGHT - 2 * _MARGIN, city.SIZES[True]
    small = inner / _ENLARGED
    head, top = panels.headline(scene, small)
    stacks, *others = _side(scene, small)
    items = [*others, panels.players(scene, small), stacks, panels.supply_row(scene, small)]
    if events:
        items.append((panels.events_log(scene, events, small, _LOG_HEIGHT), _LOG_HEIGHT))
    start = 10 + _ENLARGED * (top + 12)
    below, y = _stacked(items, _MARGIN, start + length + GAP, _ENLARGED)
    board = at((UPRIGHT - breadth) / 2, start, city.board(scene))
    above = [at(_MARGIN, 10, head, scale=_ENLARGED), board]
    return [*above, *below], UPRIGHT, y - _ENLARGED * GAP + _MARGIN
