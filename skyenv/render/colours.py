"""The colours of drawings, of the page's seats and of the lines in plots, by theme."""

from collections.abc import Sequence
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


LIGHT: Final = Theme(
    name="light",
    table="#efe5d2",
    board="#d9c9aa",
    street="#f3ead8",
    lane="#c9a24a",
    block="#f8f1e2",
    block_edge="#b9a47c",
    stopped="#cfc3ad",
    panel="#fbf6ea",
    panel_edge="#d3c3a0",
    ink="#2b2521",
    faint="#6d6254",
    paper="#fffaf0",
    plots=("#a3cc91", "#c5aee0", "#c9a27b", "#f6b765", "#c3c7cc", "#efe2c2"),
    suits=("#2f7d32", "#7343a8", "#81502a", "#d9730d", "#6a727b", "#26221f"),
    suit_ink="#4b4237",
    card="#fffdf6",
    seats=("#cf3346", "#2767c4", "#f3c21f", "#0e9c8c", "#4a4d57"),
    badge="#fffaf0",
    on_seats=("#ffffff", "#ffffff", "#2b2521", "#ffffff", "#ffffff"),
    seat_lines=("#b3261e", "#1d5fa8", "#8a6100", "#0b7468"),
    window="#fff3c4",
    tile="#fffdf6",
    water="#9fcbe0",
    grass="#b5d39a",
    tree="#6f9f5b",
    gold="#c8961e",
    on_gold="#2b2521",
    legal="#e0007a",
    skyline="#e2d4b8",
)

DARK: Final = Theme(
    name="dark",
    table="#12172a",
    board="#1d2542",
    street="#2b3457",
    lane="#8b7a45",
    block="#262e4f",
    block_edge="#46507a",
    stopped="#1a2036",
    panel="#1a2140",
    panel_edge="#39436c",
    ink="#f1ead9",
    faint="#a9b0cb",
    paper="#12172a",
    plots=("#3f7d4b", "#70509f", "#7e5636", "#c17425", "#6f7787", "#8d8262"),
    suits=("#5fbf68", "#b28ae6", "#c98f5e", "#f29a3c", "#a3acba", "#e8e2d4"),
    suit_ink="#0e1326",
    card="#2c355a",
    seats=("#ef5766", "#5a97f0", "#f7cf3d", "#2cc3ae", "#b9becc"),
    badge="#1a2140",
    on_seats=("#1a0a0d", "#07142b", "#2b2521", "#04211d", "#1b1f2b"),
    seat_lines=("#ff8a80", "#8ab8f5", "#f7cf3d", "#2cc3ae"),
    window="#fff0b0",
    tile="#f4ecd9",
    water="#2d5f86",
    grass="#2b5540",
    tree="#4f8a5b",
    gold="#e8b93c",
    on_gold="#20180a",
    legal="#ff5fb0",
    skyline="#1b2340",
)

THEMES: Final = {theme.name: theme for theme in (LIGHT, DARK)}


def _variable(name: str, value: Sequence[str]) -> Any:
    if isinstance(value, tuple):
        return tuple(_variable(f"{name}-{i}", colour) for i, colour in enumerate(value))
    return f"var(--table-{name})".replace("_", "-")


# A theme of CSS variables, for pages whose style sheet has :func:`variables`.
VARIABLES: Final = Theme("any", *map(_variable, LIGHT._fields[1:], LIGHT[1:]))


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
