"""Drawings for docs/game.md and the lobby: rendered positions of greedy agents' games."""

import re
from pathlib import Path
from typing import Final

from skyenv import Game
from skyenv.agents import decide_game
from skyenv.render import svg
from skyenv_agents import GreedyAgent

FOLDER: Final = Path("docs") / "drawings"
# By the drawing's name: the phase in which seat 0 acts, or "over", and the least number of finished
# turns.
MOMENTS: Final = {
    "start": ("start", 0),
    "turn": ("option", 6),
    "auction": ("bid", 12),
    "end": ("over", 0),
}

LOBBY: Final = Path("skyenv") / "page" / "static"
# ViewBox of the board in a drawing of the whole table.
BOARD: Final = "18 78 870 605"


def drawings() -> dict[Path, str]:
    """Return all drawings, as SVG, by their paths in the repository.

    Those of the docs show seat 0's view with its legal actions, those of the lobby only the board.
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
    """Return a game between greedy agents and its actions.

    It stops where the seat acts in the phase after at least `turns` turns, or at the end.
    """
    game, agent = Game(players, seed=seed), GreedyAgent()
    actions: list[int] = []
    while not (game.is_over or (game.seat == seat and game.phase == phase and game.turn >= turns)):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
    return game, actions


def cropped(drawing: str, box: str, size: str = "") -> str:
    """Return a part of a drawing, without the titles and attributes for choosing actions.

    Args:
        drawing: an SVG of the whole table.
        box: viewBox of the visible part.
        size: width and height attributes; "": the size of its container.
    """
    shown = f' viewBox="{box}"{size}'
    part = re.sub(r' viewBox="[^"]*" width="[^"]*" height="[^"]*"', shown, drawing, count=1)
    return re.sub(r"<title>[^<]*</title>| data-(?!theme)[a-z-]+=\"[^\"]*\"", "", part) + "\n"
