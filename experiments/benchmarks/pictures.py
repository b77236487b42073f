"""Speed and size of rendered images."""

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from experiments.figures import Figure, Scale, figure, per_second
from skyenv.agents import make_agent
from skyenv.arena.matches import play_game
from skyenv.engine.game import Game
from skyenv.records import nth_game
from skyenv.render import city, glyphs, marks, panels, shapes, svg
from skyenv.render.raster import rgb


def pictures(scale: Scale) -> Iterator[Figure]:
    """A game between greedy agents, front side, all hands open, one thread; medians of repeats.
    "SVG" renders all positions in order, with empty caches at the start. "SVG, alone" and pixels
    render ten positions from start to end, each with empty caches. Fonts and the rasterizer stay
    loaded. The time of pixels includes the SVG.
    """
    for players in (2, 4) if scale.share >= 1 else (2,):
        games = greedy_game(players, scale.of(500))
        some = [games[i] for i in np.linspace(0, len(games) - 1, 10).round().astype(int)]
        draws: dict[str, tuple[Sequence[Game], Callable[[Game], object]]] = {
            "SVG": (games, draw),
            "SVG, alone": (some, alone),
            "rgb_array, 1200 pixels wide": (some, lambda game: rgb(alone(game), 1200)),
        }
        for name, (positions, render) in draws.items():
            once = partial(frames_per_second, positions, render)
            yield scale.measure(f"{name}, {players} players", "frames/s", once)
        sizes = [len(draw(game).encode()) for game in some]
        yield figure(f"size of an SVG, {players} players", "bytes", sizes)


def draw(game: Game) -> str:
    """Return a game's drawing, with its latest events."""
    return svg(game.state, events=game.events)


def alone(game: Game) -> str:
    """Return a game's drawing, made with empty caches."""
    clear_caches()
    return draw(game)


def clear_caches() -> None:
    """Clear the renderer's caches, but for fonts and the rasterizer."""
    for module in (city, glyphs, marks, panels, shapes):
        for value in vars(module).values():
            if value is not glyphs.face:
                getattr(value, "cache_clear", int)()


def frames_per_second(games: Sequence[Game], render: Callable[[Game], object]) -> float:
    """Return the images per second, with empty caches at the start."""
    clear_caches()
    return per_second(len(games), lambda: [render(game) for game in games])


def greedy_game(players: int, max_turns: int) -> list[Game]:
    """Return every position of a game between greedy agents."""
    game = play_game([make_agent("greedy")] * players, 1, max_turns=max_turns)
    lines = nth_game(io.StringIO(game.to_record()))
    return [position.copy() for position in Game.positions(lines)]
