"""The colours of drawings, of the page's seats and of the lines in plots, by theme."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple

from skyenv.checks import check_choice


class Theme(NamedTuple):
    """The colours of a theme, by use.

    Attributes:
        table: the background.
        board: the board, and `street` and `lane` on it.
        block: a district's ground; `block_edge` its kerb; `stopped` the ground of a stopped
            district.
        panel: panels beside the board; `panel_edge` their edge.
        ink: text and outlines; `faint` less important text; `paper` text on ink.
        plots: green, violet, brown, orange, gray, and the sixth plot; `suits` the same colours
            where they are small, and black.
        suit_ink: outlines of cards and plots.
        card: the front of a card.
        seats: of the four seats and Alea; `badge` behind their signs in their own panels;
            `on_seats` text on them; `seat_lines` where they are thin lines or text on a panel.
        window: windows of skyscrapers.
        tile: a business.
        water, grass, tree: of the park.
        gold: auctions, winners and VP; `on_gold` text on it.
        legal: the glow of legal choices.
        skyline: silhouettes behind the title.
    """

    name: str
    table: str
    board: str
    street: str
    lane: str
    block: str
    block_edge: str
    stopped: str
    panel: str
    panel_edge: str
    ink: str
    faint: str
    paper: str
    plots: tuple[str, ...]
    suits: tuple[str, ...]
    suit_ink: str
    card: str
    seats: tuple[str, ...]
    badge: str
    on_seats: tuple[str, ...]
    seat_lines: tuple[str, ...]
    window: str
    tile: str
    water: str
    grass: str
    tree: str
    gold: str
    on_gold: str
    legal: str
    skyline: str


def _themes() -> dict[str, Theme]:
    read: dict[str, dict[str, Any]] = tomllib.loads(
        files("skyenv.render").joinpath("themes.toml").read_text(encoding="utf-8")
    )
    for colours in read.values():
        colours |= {use: tuple(one) for use, one in colours.items() if isinstance(one, list)}
    return {name: Theme(name, **colours) for name, colours in read.items()}


THEMES: Final = _themes()


def _variable(name: str, value: Sequence[str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_variable(f"{name}-{i}", colour) for i, colour in enumerate(value))
    return f"var(--table-{name})".replace("_", "-")


# A theme of CSS variables, for pages whose style sheet has :func:`variables`.
VARIABLES: Final = Theme("any", *map(_variable, Theme._fields[1:], THEMES["light"][1:]))


def variables(theme: Theme) -> str:
    """Return the values of the CSS variables of VARIABLES, as declarations."""
    pairs = zip(_flat(VARIABLES), _flat(theme), strict=True)
    return ";".join(f"{variable[4:-1]}:{colour}" for variable, colour in pairs)


def _flat(theme: Theme) -> list[str]:
    values = (value if isinstance(value, tuple) else (value,) for value in theme[1:])
    return [colour for value in values for colour in value]


# Lines and marks of plots: Okabe and Ito's colour-blind-safe palette.
SERIES: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")
# Reference lines of plots, and annotations.
REFERENCE: Final = "#666666"
GRID: Final = "#DDDDDD"


def theme_named(name: str) -> Theme:
    """Return a theme by name; raise OptionError if there is none."""
    return THEMES[check_choice("theme", name, tuple(THEMES))]
