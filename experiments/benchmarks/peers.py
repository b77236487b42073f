"""How fast beside other libraries? ``python -m experiments.benchmarks.peers`` measures skyenv and
those that are installed.

Method: the same loop for all, on one core: a uniformly random legal action is chosen, which isn't
timed, and handed to the library, which is timed until what is seen (the legal actions, and the
observation where said) lies before the loop again. Beginning new games and chance belong to it;
compilation (Numba's, JAX's) is over before. Libraries take turns, a repeat each. Where a loop can
be compiled, random play is also measured *inside*: the library chooses by itself, and only the last
positions are handed out. A library that can't play many games at once plays them one after another,
as fast as one. `make peers` installs them in an environment of their own (peers.txt) and publishes
the figures; those that aren't there are left out, and named.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.benchmarks.figures import Figure, figure, report
from experiments.benchmarks.publishing import published_part
from experiments.benchmarks.speed import legal_choice
from skyenv import Games, fifth_avenue_v0, tables
from skyenv.arena.plots import save
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.render.colours import GRID, REFERENCE, SERIES

PUBLISHED: Final = Path(__file__).resolve().parents[2] / "docs" / "peers.json"
METHOD: Final = (
    "uniformly random legal play on one core; decisions a second without choosing and compilation; "
    "median of repeats in which the"
    " libraries take turns"
)
BATCHES: Final = (1, 64, 1024)
"""Numbers of games side by side, where a library can play many."""
INSIDE_STEPS: Final = 256
"""Decisions of each game in a call, where the library chooses by itself."""
LIST: Final = "list"
MASK: Final = "mask"
LIST_AND_OBSERVATION: Final = "list and observation"
MASK_AND_OBSERVATION: Final = "mask and observation"
OBSERVATION: Final = "observation, no mask"
INSIDE_MASK: Final = "mask, inside"
INSIDE_ALL: Final = "mask and observation, inside"
ALONE: Final = "the loop alone"
"""The figure of the same loop around nothing: as fast as anything could look."""


@dataclass(frozen=True)
class Play:
    """Games of a library under way.

    Args:
        choose: the driver's part, not timed: the actions, of what was seen last.
        step: the library's part, timed: takes the actions, plays, looks; returns how many decisions
            were played.
        entries: of an observation.
    """

    choose: Callable[[], Any]
    step: Callable[[Any], int]
    entries: int = 0


@dataclass(frozen=True)
class Peer:
    """A game of a library.

    Args:
        name: of the library, and of its interface where it has several. game: that is played.
        one_step: what is counted as a decision, and what else is done in it.
        needs: packages; the first one's version is told.
        begin: begins to play, given what is to be seen and the number of games.
        seen: what can be seen, of the words above. batches: numbers of games side by side.
    """

    name: str
    game: str
    one_step: str
    needs: tuple[str, ...]
    begin: Callable[[str, int], Play]
    seen: tuple[str, ...]
    batches: tuple[int, ...] = (1,)

    def installed(self) -> bool:
        """Whether all that it needs is there."""
        return all(package_version(package) for package in self.needs)

    def runs(self) -> Iterator[tuple[str, int]]:
        """What is measured: what is seen, and the number of games."""
        return ((seen, number) for number in self.batches for seen in self.seen)


def package_version(package: str) -> str | None:
    """The version that is installed, if any."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# ---- the libraries ----


def games(seen: str, number: int) -> Play:
    """The batch engine of skyenv."""
    batch = Games(
        number,
        seed=1,
        threads=1,
        observation="scaled" if seen in (MASK_AND_OBSERVATION, INSIDE_ALL) else None,
    )
    batch.play_random(300)  # into all parts of the games
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        if actions is None:
            batch.play_random(INSIDE_STEPS)
            return number * INSIDE_STEPS
        batch.step(actions)
        return number

    inside = seen in (INSIDE_MASK, INSIDE_ALL)
    return Play(
        lambda: None if inside else legal_choice(batch.mask, generator), step, OBSERVATION_SIZE
    )


def in_petting_zoo(make: Callable[[], Any]) -> Callable[[str, int], Play]:
    """A game in PettingZoo's loop of agents that take turns; finished agents step out, as its loop
    has it.
    """

    def begin(_seen: str, _number: int) -> Play:
        env = make()
        env.reset(seed=1)
        latest: dict[str, Any] = env.last()[0]
        generator = np.random.default_rng(1)

        def choose() -> int:
            legal = np.flatnonzero(latest["action_mask"])
            return int(legal[generator.integers(len(legal))])

        def step(action: int) -> int:
            nonlocal latest
            env.step(action)
            latest, _, terminated, truncated, _ = env.last()
            while terminated or truncated:
                env.step(None)
                if not env.agents:
                    env.reset()
                latest, _, terminated, truncated, _ = env.last()
            return 1

        return Play(choose, step, latest["observation"].size)

    return begin


def holdem(raw: bool) -> Any:
    """PettingZoo's no-limit Texas hold'em, which brings RLCard's."""
    from pettingzoo.classic import texas_holdem_no_limit_v6 as module

    return (module.raw_env if raw else module.env)(num_players=2)


def in_open_spiel(name: str, package: str | None = None) -> Callable[[str, int], Play]:
    """A game of OpenSpiel; chance nodes are steps that don't count, their outcomes are drawn by the
    driver.

    Args:
        name: that OpenSpiel loads it by. package: the module that registers it.
    """

    def begin(seen: str, _number: int) -> Play:
        import importlib

        import pyspiel

        if package is not None:
            importlib.import_module(package)
        game = pyspiel.load_game(name)
        state = game.new_initial_state()
        chance = False
        options: list[Any] = []
        generator = random.Random(1)

        def look() -> None:
            nonlocal state, chance, options
            if state.is_terminal():
                state = game.new_initial_state()
            chance = state.is_chance_node()
            if chance:
                options = state.chance_outcomes()
            else:
                options = state.legal_actions() if seen == LIST else state.legal_actions_mask()
                if seen == MASK_AND_OBSERVATION:
                    state.observation_tensor()

        def choose() -> int:
            if chance:
                outcomes, chances = zip(*options, strict=True)
                return int(generator.choices(outcomes, chances)[0])
            return int(
                generator.choice(options if seen == LIST else np.flatnonzero(options).tolist())
            )

        def step(action: int) -> int:
            decided = not chance
            state.apply_action(action)
            look()
            return decided

        look()
        return Play(choose, step, prod(game.observation_tensor_shape()))

    return begin


def rlcard_bridge(_seen: str, _number: int) -> Play:
    """RLCard's bridge: bids and cards."""
    import rlcard

    env = rlcard.make("bridge", {"seed": 1})
    state = env.reset()[0]
    generator = random.Random(1)

    def step(action: int) -> int:
        nonlocal state
        state = env.step(action)[0]
        if env.is_over():
            state = env.reset()[0]
        return 1

    return Play(lambda: generator.choice(list(state["legal_actions"])), step, state["obs"].size)


def sparrow_mahjong(seen: str, number: int) -> Play:
    """Pgx's sparrow mahjong; actions and masks are NumPy's outside, as they are with the other
    libraries.
    """
    import jax
    import pgx
    from jax import lax
    from jax import numpy as jnp
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make("sparrow_mahjong")
    turn = auto_reset(env.step, env.init)
    observed = seen in (MASK_AND_OBSERVATION, INSIDE_ALL)

    def one(state: Any, action: Any, key: Any) -> Any:
        after = turn(state, action, key)
        # XLA leaves out what nobody asks for.
        return after if observed else after.replace(observation=state.observation)

    def play(state: Any, actions: Any, key: Any) -> tuple[Any, Any]:
        keys = jax.random.split(key, number + 1)
        return jax.vmap(one)(state, actions, keys[1:]), keys[0]

    def random_turn(carried: tuple[Any, Any], _: Any) -> tuple[Any, None]:
        state, key = carried
        key, mine = jax.random.split(key)
        return play(state, act_randomly(mine, state.legal_action_mask), key), None

    from_outside = jax.jit(play)
    inside = jax.jit(lambda state, key: lax.scan(random_turn, (state, key), None, INSIDE_STEPS)[0])
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), number))
    key = jax.random.PRNGKey(2)
    mask = np.asarray(state.legal_action_mask)
    generator = np.random.default_rng(1)
    chosen_inside = seen in (INSIDE_MASK, INSIDE_ALL)

    def step(actions: Any) -> int:
        nonlocal state, key, mask
        if chosen_inside:
            state, key = jax.block_until_ready(inside(state, key))
            return number * INSIDE_STEPS
        state, key = jax.block_until_ready(from_outside(state, jnp.asarray(actions), key))
        mask = np.asarray(state.legal_action_mask)
        if observed:
            np.asarray(state.observation)
        return number

    return Play(
        lambda: None if chosen_inside else legal_choice(mask, generator),
        step,
        prod(env.observation_shape),
    )


def triple_triad(_seen: str, number: int) -> Play:
    """PufferLib's own Triple Triad."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        # Its import leaves a link in the folder that it happens in.
        from pufferlib.ocean.tripletriad.tripletriad import TripleTriad

        env = TripleTriad(num_envs=number)
    env.reset(seed=1)
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        env.step(actions)
        return number

    actions = env.single_action_space.n
    return Play(
        lambda: generator.integers(0, actions, number),
        step,
        prod(env.single_observation_space.shape),
    )


def catan(_seen: str, _number: int) -> Play:
    """Catanatron's game, four players."""
    from catanatron import Color, RandomPlayer
    from catanatron import Game as Catan
    from catanatron.game import TURNS_LIMIT

    def new() -> Any:
        return Catan([RandomPlayer(colour) for colour in Color])

    random.seed(1)  # Catanatron itself draws by Python's global generator
    game = new()
    generator = random.Random(1)

    def step(action: Any) -> int:
        nonlocal game
        game.execute(action)
        if game.winning_color() is not None or game.state.num_turns >= TURNS_LIMIT:
            game = new()
        return 1

    return Play(lambda: generator.choice(game.state.playable_actions), step)


OURS: Final = "Fifth Avenue, 2 players"
CARD: Final = "a decision: a bid is several, card by card"
PEERS: Final = (
    Peer(
        "skyenv, Games",
        OURS,
        CARD,
        ("skyenv",),
        games,
        (MASK, MASK_AND_OBSERVATION, INSIDE_MASK, INSIDE_ALL),
        BATCHES,
    ),
    Peer(
        "Pgx",
        "sparrow mahjong, 3 players",
        "a tile discarded; the draw belongs to it",
        ("pgx", "jax"),
        sparrow_mahjong,
        (MASK, MASK_AND_OBSERVATION, INSIDE_MASK, INSIDE_ALL),
        BATCHES,
    ),
    Peer(
        "PufferLib",
        "Triple Triad, against a script",
        "an action, legal or not; the answer belongs to it",
        ("pufferlib",),
        triple_triad,
        (OBSERVATION,),
        BATCHES,
    ),
    Peer(
        "skyenv, OpenSpiel",
        OURS,
        f"{CARD}; chance nodes take time, but don't count",
        ("skyenv", "open_spiel"),
        in_open_spiel("fifth_avenue", "skyenv.envs.open_spiel"),
        (LIST, MASK, MASK_AND_OBSERVATION),
    ),
    Peer(
        "OpenSpiel",
        "bridge, calls and cards",
        "a call, or a card; chance nodes (the deal) take time, but don't count",
        ("open_spiel",),
        in_open_spiel("bridge(use_double_dummy_result=false)"),
        (LIST, MASK, MASK_AND_OBSERVATION),
    ),
    Peer(
        "skyenv, PettingZoo raw_env",
        OURS,
        CARD,
        ("skyenv", "pettingzoo"),
        in_petting_zoo(fifth_avenue_v0.raw_env),
        (MASK_AND_OBSERVATION,),
    ),
    Peer(
        "PettingZoo classic, raw_env",
        "no-limit Texas hold'em, 2 players",
        "a bet",
        ("pettingzoo", "rlcard"),
        in_petting_zoo(lambda: holdem(raw=True)),
        (MASK_AND_OBSERVATION,),
    ),
    Peer(
        "skyenv, PettingZoo env",
        OURS,
        CARD,
        ("skyenv", "pettingzoo"),
        in_petting_zoo(fifth_avenue_v0.env),
        (MASK_AND_OBSERVATION,),
    ),
    Peer(
        "PettingZoo classic, env",
        "no-limit Texas hold'em, 2 players",
        "a bet",
        ("pettingzoo", "rlcard"),
        in_petting_zoo(lambda: holdem(raw=False)),
        (MASK_AND_OBSERVATION,),
    ),
    Peer(
        "RLCard",
        "bridge, calls and cards",
        "a call, or a card",
        ("rlcard",),
        rlcard_bridge,
        (LIST_AND_OBSERVATION,),
    ),
    Peer(
        "Catanatron",
        "Catan, 4 players",
        "a roll of the dice, a purchase, a trade, the end of a turn",
        ("catanatron",),
        catan,
        (LIST,),
    ),
)
"""skyenv, and of every library the game that is nearest: hidden cards or tiles, bids, several
players.
"""


# ---- measuring ----


def pace(play: Play, span: float) -> float:
    """Decisions per second of the library's part of the loop, which runs for so many seconds,
    choosing included.
    """
    done, choosing = 0, 0.0
    started = now = time.perf_counter()
    while now - started < span:
        actions = play.choose()
        chosen = time.perf_counter()
        choosing += chosen - now
        done += play.step(actions)
        now = time.perf_counter()
    return done / (now - started - choosing)


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Have this thread, and those that it begins, run on one core, where the operating system lets
    it.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def name_of(peer: Peer, seen: str, number: int) -> str:
    """What the figure of a peer is called."""
    return f"{peer.name}: {seen}, {tables.counted(number, 'game')}"


def entries_of(peer: Peer) -> str:
    """What the figure with the length of a peer's observation is called."""
    return f"{peer.name}: an observation"


def all_figures(quick: bool) -> list[Figure]:
    """Measure those that are installed; `quick` takes a fraction of the time."""
    span, repeats = (0.05, 3) if quick else (1.0, 7)
    there = [peer for peer in PEERS if peer.installed()]
    with one_core():
        plays = {name_of(peer, *run): peer.begin(*run) for peer in there for run in peer.runs()}
        plays[ALONE] = Play(lambda: None, lambda _: 1)
        for play in plays.values():
            play.step(play.choose())  # compiles
            pace(play, span)
        paces: dict[str, list[float]] = {name: [] for name in plays}
        for _ in range(repeats):
            for name, play in plays.items():
                paces[name].append(pace(play, span))
    figures = [figure(name, "decisions/s", measured) for name, measured in paces.items()]
    for peer in there:
        entries = plays[name_of(peer, *next(peer.runs()))].entries
        if any("observation" in seen for seen in peer.seen):
            figures.append(Figure(entries_of(peer), entries, entries, entries, "entries", 1))
    return figures


# ---- what comes of it ----


def left_out(figures: Mapping[str, Any]) -> list[str]:
    """The libraries of which there is no figure."""
    return [
        peer.name
        for peer in PEERS
        if not any(name_of(peer, *run) in figures for run in peer.runs())
    ]


def markdown(content: Mapping[str, Any]) -> str:
    """What peers.json holds, for the docs: the libraries, the figures, when and where they were
    measured.
    """
    figures = {one["name"]: one for one in content["figures"]}
    where = content["machine"]
    libraries = [["library", "version", "game", "a step is", "observation"]]
    rows = [["library", "seen", "games at once", "decisions/s", "of repeats"]]
    missing = left_out(figures)
    for peer in PEERS:
        if peer.name in missing:
            continue
        entries = figures.get(entries_of(peer))
        told = "–" if entries is None else f"{entries['median']:,.0f}"
        libraries.append([peer.name, where[peer.needs[0]], peer.game, peer.one_step, told])
        for seen, number in peer.runs():
            one = figures[name_of(peer, seen, number)]
            spread = f"{one['lowest']:,.0f} … {one['highest']:,.0f}"
            rows.append([peer.name, seen, f"{number:,}", f"{one['median']:,.0f}", spread])
    without = f" Not installed in this run: {', '.join(missing)}." if missing else ""
    return (
        f"{tables.markdown(rows, 'llrrl')}\n\n"
        f"{content['date']}, {where['processor']}, Python {where['python']}, NumPy "
        f"{where['numpy']}, Numba {where['numba']}."
        f" Method: {content['method']}. The loop alone, around nothing, makes "
        f"{figures[ALONE]['median']:,.0f} steps a second."
        f"{without}\n\n"
        f"{tables.markdown(libraries, 'llllr')}"
    )


def published() -> str:
    """The part of the docs with the published measurement; a line that says so if there is none.

    Raises:
        CheckpointError: the file is damaged.
    """
    picture = "![decisions a second of random play, by library](peers.png)"
    return published_part(
        PUBLISHED, markdown, picture, "Nothing has been published yet: `make peers` measures it."
    )


def draw(content: Mapping[str, Any], path: Path) -> None:
    """Decisions a second of every library as bars on a logarithmic scale; one game above, many
    below, a panel for each number.

    Args:
        content: what peers.json holds.
        path: of a PNG file.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure as Picture

    figures = {one["name"]: one for one in content["figures"]}
    drawn = {
        number: [
            (
                f"{peer.name} ({peer.game.partition(',')[0]}) · {seen}",
                figures[name_of(peer, seen, number)],
                peer.name.startswith("skyenv"),
            )
            for peer in PEERS
            for seen, games_at_once in peer.runs()
            if games_at_once == number and name_of(peer, seen, number) in figures
        ]
        for number in BATCHES
    }
    drawn = {
        number: sorted(bars, key=lambda bar: -bar[1]["median"])
        for number, bars in drawn.items()
        if bars
    }
    lines = [len(bars) for bars in drawn.values()]
    picture = Picture(
        figsize=(11.5, 1.5 + 0.5 * len(lines) + 0.3 * sum(lines)), layout="constrained"
    )
    panels = picture.subplots(len(lines), 1, sharex=True, squeeze=False, height_ratios=lines)[:, 0]
    for axes, (number, bars) in zip(panels, drawn.items(), strict=True):
        _draw_bars(axes, bars)
        axes.set_title(f"{tables.counted(number, 'game')} at once", loc="left", fontsize=11)
    panels[0].set_xscale("log")
    low = min(one["lowest"] for bars in drawn.values() for _, one, _ in bars)
    high = max(one["highest"] for bars in drawn.values() for _, one, _ in bars)
    panels[0].set_xlim(low / 3, 6 * high)  # room for the figures
    panels[-1].set_xlabel(
        "decisions a second, on one core (lines: from the slowest to the fastest repeat)"
    )
    where = content["machine"]
    picture.suptitle(
        f"Random play, each library with a game of its own · {content['date']} · "
        f"{where['processor']}",
        fontsize=12,
    )
    save(picture, path)


def _draw_bars(axes: Any, bars: Sequence[tuple[str, Mapping[str, Any], bool]]) -> None:
    for row, (_, one, ours) in enumerate(bars):
        axes.barh(
            row,
            one["median"],
            color=SERIES[0] if ours else REFERENCE,
            alpha=1.0 if ours else 0.55,
            height=0.72,
        )
        axes.plot([one["lowest"], one["highest"]], [row, row], color="black", linewidth=1)
        axes.annotate(
            f"{one['median']:,.0f}",
            (one["highest"], row),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(bars)), [label for label, _, _ in bars], fontsize=9)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    missing = [peer.name for peer in PEERS if not peer.installed()]
    if missing:
        print(f"Left out, not installed: {', '.join(missing)}.", file=sys.stderr)
    packages = dict.fromkeys(
        package for peer in PEERS if peer.installed() for package in peer.needs
    )
    return report(
        "peers",
        "Measure random play beside other libraries.",
        METHOD,
        all_figures,
        arguments,
        list(packages),
        draw,
    )


if __name__ == "__main__":
    sys.exit(main())
