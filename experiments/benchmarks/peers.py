"""Speed of random play in skyenv and in other libraries, which ``make peers`` installs."""

import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any, Final

import numpy as np

from experiments.benchmarks.engine import legal_choice
from experiments.figures import Figure, Scale
from skyenv import Games, fifth_avenue_v0
from skyenv.envs.registration import ENV_ID

LIST: Final = "list"
MASK: Final = "mask"
ALL: Final = "mask and observation"
INSIDE: Final = "mask, inside"
# Decisions per game in a call of a library that samples actions itself.
INSIDE_STEPS: Final = 256


# Running games of a library: a function that samples actions for the current masks or lists, the
# driver's part, not timed; and one that plays actions and returns the number of decisions, the
# library's part, timed.
Play = tuple[Callable[[], Any], Callable[[Any], int]]
# Starts games, by the outputs of a step and the number of games.
Begin = Callable[[str, int], Play]


def games(output: str, number: int) -> Play:
    """Start games in skyenv's batch engine."""
    batch = Games(number, seed=1, threads=1, observation=output == ALL)
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        if output != INSIDE:
            batch.step(actions)
            return number
        batch.play_random(INSIDE_STEPS)
        return number * INSIDE_STEPS

    return (lambda: legal_choice(batch.mask, generator)), step


def petting_zoo(make: Callable[[], Any], _output: str, _number: int) -> Play:
    """Start a game in PettingZoo's AEC loop."""
    env = make()
    env.reset(seed=1)
    latest: dict[str, Any] = env.last()[0]
    generator = np.random.default_rng(1)

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

    return (lambda: int(generator.choice(np.flatnonzero(latest["action_mask"])))), step


def gymnasium_vector(_output: str, number: int) -> Play:
    """Start games in Gymnasium's vector environment, against `random`."""
    library = import_module("gymnasium")
    options = {"autoreset_mode": "SameStep", "opponents": "random"}
    envs = library.make_vec(ENV_ID, num_envs=number, **options)
    masks = envs.reset(seed=1)[1]["action_mask"]
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        nonlocal masks
        masks = envs.step(actions)[-1]["action_mask"]
        return number

    return (lambda: legal_choice(masks, generator)), step


def holdem() -> Any:
    """Return PettingZoo's no-limit Texas hold'em, a wrapper of RLCard's."""
    module = import_module("pettingzoo.classic.texas_holdem_no_limit_v6")
    return module.env(num_players=2)


def open_spiel(name: str, output: str, _number: int) -> Play:
    """Start a game in OpenSpiel; chance steps are sampled by the driver, timed, and not counted."""
    game = import_module("pyspiel").load_game(name)
    state = game.new_initial_state()
    generator = random.Random(1)
    chance, options = False, [0]

    def refresh() -> None:
        nonlocal state, chance, options
        if state.is_terminal():
            state = game.new_initial_state()
        chance = state.is_chance_node()
        options = state.chance_outcomes() if chance else state.legal_actions()
        if output == ALL and not chance:
            state.legal_actions_mask()
            state.observation_tensor()

    def choose() -> int:
        if not chance:
            return generator.choice(options)
        outcomes, chances = zip(*options, strict=True)
        return int(generator.choices(outcomes, chances)[0])

    def step(action: int) -> int:
        decided = not chance
        state.apply_action(action)
        refresh()
        return decided

    refresh()
    return choose, step


def fifth_avenue(output: str, number: int) -> Play:
    """Start skyenv's game in OpenSpiel."""
    import_module("skyenv.envs.open_spiel")  # registers it
    return open_spiel("fifth_avenue", output, number)


def rlcard_bridge(_output: str, _number: int) -> Play:
    """Start a game of RLCard's bridge."""
    env = import_module("rlcard").make("bridge", {"seed": 1})
    state, generator = env.reset()[0], random.Random(1)

    def step(action: int) -> int:
        nonlocal state
        state = env.step(action)[0]
        if env.is_over():
            state = env.reset()[0]
        return 1

    return (lambda: generator.choice(list(state["legal_actions"]))), step


def sparrow_mahjong(output: str, number: int) -> Play:
    """Start games of Pgx's sparrow mahjong; the driver's actions and masks are NumPy arrays."""
    import jax
    import pgx
    from pgx.experimental import act_randomly, auto_reset

    env = pgx.make("sparrow_mahjong")
    turn = auto_reset(env.step, env.init)

    def one(state: Any, action: Any, key: Any) -> Any:
        after = turn(state, action, key)  # XLA omits unused observations
        return after if output == ALL else after.replace(observation=state.observation)

    def play(state: Any, actions: Any, key: Any) -> tuple[Any, Any]:
        keys = jax.random.split(key, number + 1)
        return jax.vmap(one)(state, actions, keys[1:]), keys[0]

    def random_turn(carry: Any, _: Any) -> tuple[Any, None]:
        key, mine = jax.random.split(carry[1])
        return play(carry[0], act_randomly(mine, carry[0].legal_action_mask), key), None

    outside = jax.jit(play)
    inside = jax.jit(lambda carry: jax.lax.scan(random_turn, carry, None, INSIDE_STEPS)[0])
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), number))
    carry = (state, jax.random.PRNGKey(2))
    generator = np.random.default_rng(1)

    def step(actions: Any) -> int:
        nonlocal carry
        played = inside(carry) if output == INSIDE else outside(carry[0], actions, carry[1])
        carry = jax.block_until_ready(played)
        np.asarray(carry[0].observation if output == ALL else carry[0].legal_action_mask)
        return number * INSIDE_STEPS if output == INSIDE else number

    return (lambda: legal_choice(np.asarray(carry[0].legal_action_mask), generator)), step


def catan(_output: str, _number: int) -> Play:
    """Start Catanatron's game of four players."""
    library = import_module("catanatron")
    limit = import_module("catanatron.game").TURNS_LIMIT

    def new() -> Any:
        return library.Game([library.RandomPlayer(colour) for colour in library.Color])

    game, generator = new(), random.Random(1)

    def step(action: Any) -> int:
        nonlocal game
        game.execute(action)
        if game.winning_color() is not None or game.state.num_turns >= limit:
            game = new()
        return 1

    return (lambda: generator.choice(game.state.playable_actions)), step


MANY: Final = (1, 64, 1024)
BRIDGE: Final = "bridge(use_double_dummy_result=false)"
# Name, required module, function that starts games, outputs, numbers of concurrent games.
PEERS: Final[tuple[tuple[str, str, Begin, tuple[str, ...], tuple[int, ...]], ...]] = (
    ("skyenv, Games", "skyenv", games, (MASK, ALL, INSIDE), MANY),
    ("Pgx, sparrow mahjong", "pgx", sparrow_mahjong, (MASK, ALL, INSIDE), MANY),
    ("skyenv, OpenSpiel", "pyspiel", fifth_avenue, (LIST, ALL), (1,)),
    ("OpenSpiel, bridge", "pyspiel", partial(open_spiel, BRIDGE), (LIST, ALL), (1,)),
    ("skyenv, PettingZoo", "pettingzoo", partial(petting_zoo, fifth_avenue_v0.env), (ALL,), (1,)),
    ("skyenv, Gymnasium", "gymnasium", gymnasium_vector, (ALL,), (64,)),
    ("PettingZoo, no-limit hold'em", "rlcard", partial(petting_zoo, holdem), (ALL,), (1,)),
    ("RLCard, bridge", "rlcard", rlcard_bridge, (ALL,), (1,)),
    ("Catanatron, 4 players", "catanatron", catan, (LIST,), (1,)),
)


def peers(scale: Scale) -> Iterator[Figure]:
    """The same loop for all libraries, on one core. It samples a legal action uniformly, untimed,
    and passes it to the library, timed until the next legal actions (and, where stated, the
    observation) are available. New games and chance are included, compilation is not. "Inside": the
    library samples actions itself. A decision of skyenv is at most one card of a bid; of sparrow
    mahjong, a tile; of bridge, a call or a card; of Gymnasium, one of the learner and those of its
    opponent. The libraries are measured in turns; medians of repeats. Libraries that are not
    installed are left out.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    plays = {
        f"{name}, {number:,} at once: {output}": partial(pace, begin(output, number), scale.share)
        for name, module, begin, outputs, numbers in PEERS
        if find_spec(module) is not None
        for output, number in product(outputs, numbers)
    }
    plays["the loop alone: list"] = partial(pace, (lambda: None, lambda _: 1), scale.share)
    yield from scale.in_turns("decisions/s", plays)


def pace(play: Play, duration: float) -> float:
    """Return the decisions per second of the library's part of a loop of `duration` seconds."""
    choose, step = play
    step(choose())
    done, choosing = 0, 0.0
    started = now = time.perf_counter()
    while now - started < duration or not done:
        actions = choose()
        chosen = time.perf_counter()
        choosing += chosen - now
        done += step(actions)
        now = time.perf_counter()
    return done / (now - started - choosing)
