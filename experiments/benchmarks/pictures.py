"""Speed and size of rendered images."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.figures import Figure, Scale, figure, per_second
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.render import city, panels, svg
from skyenv.render.raster import rgb


def pictures(scale: Scale) -> Iterator[Figure]:
    """A game between greedy agents, front side, all hands open, one thread; medians of repeats,
    each with an empty cache at its start. "SVG" renders all positions in order; "SVG, alone" and
    pixels render ten positions from start to end, each with an empty cache. The time of pixels
    includes the SVG.
    """
    for players in (2, 4) if scale.share >= 1 else (2,):
        yield from of_a_game(scale, players, whole_game(players, scale.of(500)))


def of_a_game(scale: Scale, players: int, games: Sequence[Game]) -> Iterator[Figure]:
    """Yield the figures of rendering a game, given as all its positions."""
    some = [games[i] for i in np.linspace(0, len(games) - 1, 10).round().astype(int)]

    def draw(game: Game, width: int = 1200) -> str:
        return svg(game.state, events=game.events, width=width)

    def alone(game: Game) -> str:
        clear_caches()
        return draw(game)

    draws: dict[str, tuple[Sequence[Game], Callable[[Game], Any]]] = {
        "SVG": (games, draw),
        "SVG, upright": (games, lambda game: draw(game, 400)),
        "SVG, alone": (some, alone),
        "rgb_array, 1200 pixels wide": (some, lambda game: rgb(draw(game), 1200)),
        "rgb_array, 600 pixels wide": (some, lambda game: rgb(draw(game), 600)),
    }
    for name, (positions, render) in draws.items():
        once = partial(frames_per_second, positions, render)
        yield scale.measure(f"{name}, {players} players", "frames/s", once)
    sizes = [len(draw(game).encode()) for game in some]
    yield figure(f"size of an SVG, {players} players", "bytes", sizes)


def clear_caches() -> None:
    """Clear the renderer's caches."""
    for value in (*vars(city).values(), *vars(panels).values()):
        getattr(value, "cache_clear", int)()


def frames_per_second(games: Sequence[Game], draw: Callable[[Game], Any]) -> float:
    """Return the images per second, with an empty cache at the start."""
    clear_caches()
    return per_second(len(games), lambda: [draw(game) for game in games])


def whole_game(players: int, max_turns: int) -> list[Game]:
    """Return every position of a game between greedy agents."""
    game, greedy = Game(players, seed=1, max_turns=max_turns), make_agent("greedy")
    games = [game.copy()]
    while not game.is_over:
        game.play(decide_game(game, greedy))
        games.append(game.copy())
    return games
