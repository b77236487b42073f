"""The drawings of docs/how_it_is_played.md and of the lobby: moments of greedy players' games, by
the project's own renderer.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from skyenv import Game
from skyenv.agents import decide_game
from skyenv.render import svg
from skyenv_agents import GreedyAgent

FOLDER: Final = Path("docs") / "drawings"
PLAYERS: Final = 3
SEED: Final = 7
MOMENTS: Final = {
    "start": ("start", 0),
    "turn": ("option", 6),
    "auction": ("bid", 12),
    "end": ("over", 0),
}
"""By the drawing's name the phase in which seat 0 is to act, or the game is over, and how many
turns are over at least.
"""

LOBBY: Final = Path("skyenv") / "page" / "static"
LOBBY_PLAYERS: Final = 4
LOBBY_SEED: Final = 12
LOBBY_TURN: Final = 26
BOARD: Final = "18 78 870 605"
"""The part of a drawing that shows the board alone, as a viewBox."""


def drawings() -> dict[Path, str]:
    """Every drawing, an SVG, by its path in the repository."""
    return _moments() | _board()


def _board() -> dict[Path, str]:
    """The board in the middle of a game, for the lobby: nothing in it can be chosen, and nobody
    looks at it in detail.
    """
    game, agent = Game(LOBBY_PLAYERS, seed=LOBBY_SEED), GreedyAgent()
    while game.turn < LOBBY_TURN or game.phase != "option":
        game.play(decide_game(game, agent))
    drawn: dict[Path, str] = {}
    for theme in ("light", "dark"):
        drawn[LOBBY / f"lobby-{theme}.svg"] = cropped(svg(game.public_view(), theme=theme), BOARD)
    return drawn


def cropped(drawing: str, box: str, size: str = "") -> str:
    """Crop a drawing, and leave out what pages in which nothing can be chosen don't read.

    Args:
        drawing: an SVG of the whole table.
        box: the part that is shown, as a viewBox.
        size: attributes that say how large it is; "": as large as its place.
    """
    shown = f' viewBox="{box}"{size}'
    part = re.sub(r' viewBox="[^"]*" width="[^"]*" height="[^"]*"', shown, drawing, count=1)
    return re.sub(r"<title>[^<]*</title>| data-(?!theme)[a-z-]+=\"[^\"]*\"", "", part) + "\n"


def _moments() -> dict[Path, str]:
    """The drawings of the docs, as seat 0 sees the table and what it may choose, by their paths."""
    game, agent = Game(PLAYERS, seed=SEED), GreedyAgent()
    drawn: dict[Path, str] = {}
    while True:
        for name, (phase, turns) in MOMENTS.items():
            path = FOLDER / f"{name}.svg"
            if (
                path not in drawn
                and game.phase == phase
                and game.turn >= turns
                and game.seat in (0, None)
            ):
                drawn[path] = svg(game.state, seat=0, events=game.events, legal=game.mask) + "\n"
        if game.is_over:
            return drawn
        game.play(decide_game(game, agent))
