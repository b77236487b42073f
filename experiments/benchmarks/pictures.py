"""How fast are pictures drawn, and how large are they? ``python -m
experiments.benchmarks.pictures`` prints figures.

Method: every figure is the median of repeats over a game between greedy players, all hands open.
SVG is that of its positions one after the other, as in a film or a replay; no part of a drawing is
remembered when a repeat begins. "SVG, each anew" is that of ten positions that lie evenly between
beginning and end, with nothing remembered of the one before, which is what a single picture costs.
Pixels are those of ``render_mode="rgb_array"`` of these ten: drawing the SVG is a part of their
time. An export is the page of a whole game in both themes, made once. Everything runs in one
thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from experiments.benchmarks.figures import Figure, figure, measure, report, seconds
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.page.export import exported
from skyenv.page.replays import Replay
from skyenv.render import svg
from skyenv.render.parts import forget
from skyenv.render.raster import rgb

METHOD: Final = "median of repeats; positions of a game between greedy players, front side, SVG of all of them in their order; one thread"
POSITIONS: Final = 10
PHONE: Final = 400
"""Pixels: an upright picture."""


def whole_game(players: int, max_turns: int = 500) -> list[Game]:
    """Every position of a game."""
    game, greedy = Game(players, seed=1, max_turns=max_turns), make_agent("greedy")
    games = [game.copy()]
    while not game.is_over:
        game.play(decide_game(game, greedy))
        games.append(game.copy())
    return games


def games_on_the_way(players: int, number: int = POSITIONS, max_turns: int = 500) -> list[Game]:
    """Positions of a game, two or more: the first one is its beginning and the last one its end."""
    games = whole_game(players, max_turns)
    return [games[index] for index in np.linspace(0, len(games) - 1, number).round().astype(int)]


def pictures(
    players: int, repeats: int, number: int = POSITIONS, max_turns: int = 500
) -> list[Figure]:
    """Frames per second of drawings and of pixels, and the size of a drawing."""
    games, neighbours = games_on_the_way(players, number, max_turns), whole_game(players, max_turns)

    def drawn(game: Game, width: int) -> str:
        return svg(game.state, events=game.events, width=width)

    def anew(game: Game) -> str:
        forget()
        return drawn(game, 1200)

    def frames(name: str, draw: Callable[[Game], Any], of: Sequence[Game] = games) -> Figure:
        draw(of[0])

        def once() -> float:
            forget()
            return len(of) / seconds(lambda: [draw(game) for game in of])

        return measure(f"{name}, {players} players", "frames/s", repeats, once)

    size = float(np.mean([len(drawn(game, 1200).encode()) for game in games]))
    return [
        frames("SVG", lambda game: drawn(game, 1200), neighbours),
        frames("SVG, upright", lambda game: drawn(game, PHONE), neighbours),
        frames("SVG, each anew", anew),
        frames("rgb_array, 1200 pixels wide", lambda game: rgb(drawn(game, 1200), 1200)),
        frames("rgb_array, 600 pixels wide", lambda game: rgb(drawn(game, 1200), 600)),
        figure(f"size of an SVG, mean, {players} players", "bytes", [size]),
    ]


def export_of_a_game(players: int, max_turns: int = 500) -> list[Figure]:
    """Seconds that the page of a whole game takes, and its size."""
    game = games_on_the_way(players, 2, max_turns)[-1]
    replay = Replay.of(game.to_record(["greedy"] * players).encode(), 1)
    page: list[str] = []
    spent = seconds(lambda: page.append(exported(replay, "a game")))
    return [
        figure(f"exporting a game of {replay.steps} actions, {players} players", "s", [spent]),
        figure(f"size of that page, {players} players", "bytes", [len(page[0].encode())]),
    ]


def all_figures(quick: bool) -> list[Figure]:
    """Measure everything; `quick` takes a fraction of the work and of the precision."""
    repeats, counts = (3, (2,)) if quick else (7, (2, 4))
    figures = [one for players in counts for one in pictures(players, repeats)]
    return [*figures, *(one for players in counts for one in export_of_a_game(players))]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report(
        "pictures", "Measure how fast pictures are drawn.", METHOD, all_figures, arguments
    )


if __name__ == "__main__":
    sys.exit(main())
