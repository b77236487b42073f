"""The drawings of docs/game.md and of the lobby: rendered positions of greedy agents' games."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from skyenv import Game
from skyenv.agents import decide_game
from skyenv.render import svg
from skyenv_agents import GreedyAgent

FOLDER: Final = Path("docs") / "drawings"
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
BOARD: Final = "18 78 870 605"
"""The part of a drawing that shows the board alone, as a viewBox."""


def drawings() -> dict[Path, str]:
    """Every drawing, an SVG, by its path in the repository: those of the docs, as seat 0 sees the
    table and what it may choose; and the board alone, for the lobby.
    """
    drawn: dict[Path, str] = {}
    for name, (phase, turns) in MOMENTS.items():
        game, _ = greedy_game(3, 7, phase, turns)
        whole = svg(game.state, seat=0, events=game.events, legal=game.mask)
        drawn[FOLDER / f"{name}.svg"] = f"{whole}\n"
    game, _ = greedy_game(4, 12, "option", 26, seat=2)
    for theme in ("light", "dark"):
        drawn[LOBBY / f"lobby-{theme}.svg"] = cropped(svg(game.public_view(), theme=theme), BOARD)
    return drawn


def greedy_game(
    players: int, seed: int, phase: str, turns: int, seat: int = 0
) -> tuple[Game, list[int]]:
    """Let greedy players play until a seat is to act in a phase after so many turns, or to the end;
    return the game and its actions.
    """
    game, agent = Game(players, seed=seed), GreedyAgent()
    actions: list[int] = []
    while not (game.is_over or (game.seat == seat and game.phase == phase and game.turn >= turns)):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
    return game, actions


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
