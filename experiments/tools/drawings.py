"""The drawings of docs/how_it_is_played.md: moments of one game of greedy players, by the project's own renderer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from skyenv import Game
from skyenv.agents import decide_game
from skyenv.render import svg
from skyenv_agents import GreedyAgent

FOLDER: Final = Path("docs") / "drawings"
PLAYERS: Final = 3
SEED: Final = 7
MOMENTS: Final = {"start": ("start", 0), "turn": ("option", 6), "auction": ("bid", 12), "end": ("over", 0)}
"""By the drawing's name the phase in which seat 0 is to act, or the game is over, and how many turns are over at least."""


def drawings() -> dict[Path, str]:
    """Every drawing, an SVG as seat 0 sees the table and what it may choose, by its path in the repository."""
    game, agent = Game(PLAYERS, seed=SEED), GreedyAgent()
    drawn: dict[Path, str] = {}
    while True:
        for name, (phase, turns) in MOMENTS.items():
            path = FOLDER / f"{name}.svg"
            if path not in drawn and game.phase == phase and game.turn >= turns and game.seat in (0, None):
                drawn[path] = svg(game.state, seat=0, events=game.events, legal=game.mask) + "\n"
        if game.is_over:
            return drawn
        game.play(decide_game(game, agent))
