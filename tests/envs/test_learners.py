"""Single-learner environments: Gymnasium, its vector API, Stable-Baselines3, and their core."""

import contextlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3 import DQN
from stable_baselines3.common.evaluation import evaluate_policy as evaluate_without_masks
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor

from skyenv.agents import Decisions, decide, make_agent
from skyenv.engine.games import Games
from skyenv.engine.information import most_decisions
from skyenv.engine.openings import TASKS, openings
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.envs.episodes import (
    END_REASONS,
    EpisodeSeeds,
    InfoRecord,
    each_info,
    row_seeds,
)
from skyenv.envs.learner import LearnerGames
from skyenv.envs.registration import ENV_ID, MOST_CARDS, UNMASKED_ID
from skyenv.envs.sb3 import WINDOW, SkyenvVecEnv, WinShares
from skyenv.envs.single import FifthAvenueEnv
from skyenv.envs.vector import FifthAvenueVectorEnv
from skyenv.errors import AgentError, GameOverError, IllegalActionError, OptionError
from skyenv.rules.actions import PASS
from skyenv.seeds import HIGHEST_SEED, TRAINING

NUM_ENVS = 4
RESULT = [*InfoRecord.fields, "opponents"]
INTERFACES: dict[str, Callable[..., Any]] = {
    "core": lambda number, **options: LearnerGames(number, **options),
    "single": lambda number, **options: FifthAvenueEnv(**options),
    "vector": lambda number, **options: FifthAvenueVectorEnv(number, **options),
    "sb3": lambda number, **options: SkyenvVecEnv(number, **options),
}
each_interface = pytest.mark.parametrize("interface", INTERFACES)
each_mode = pytest.mark.parametrize("mode", list(AutoresetMode))


def lowest_legal(decisions: Decisions) -> npt.NDArray[np.intp]:
    """Return the lowest legal actions."""
    first: npt.NDArray[np.intp] = np.argmax(decisions.mask, axis=1)
    return first


def choose(masks: Any, rng: np.random.Generator, illegal: float = 0.0) -> npt.NDArray[Any]:
    """Return random legal actions, a few illegal ones, and any for rows without legal ones."""
    actions = [
        rng.choice(np.flatnonzero(mask)) if mask.any() else rng.integers(103) for mask in masks
    ]
    return np.where(rng.random(len(masks)) < illegal, rng.integers(103, size=len(masks)), actions)


def native(mode: AutoresetMode = AutoresetMode.NEXT_STEP, **options: Any) -> Any:
    """The vector environment, made as users make it."""
    env: Any = gymnasium.make_vec(ENV_ID, num_envs=NUM_ENVS, autoreset_mode=mode, **options)
    assert env.metadata["autoreset_mode"] is mode
    return env


# ---- conformance ----


@pytest.mark.parametrize("mask", ["observation", "info", "rllib"])
@pytest.mark.filterwarnings("ignore:.*:UserWarning")
def test_gymnasiums_environment_checker_passes(mask: str) -> None:
    env = gymnasium.make(ENV_ID, num_players=3, side="back", mask=mask, max_turns=6)
    check_env(env.unwrapped, skip_render_check=mask != "info")


SETTINGS: list[dict[str, Any]] = [
    {"num_players": 2, "reward": "margin", "mask": "observation", "max_turns": 4},
    {
        "num_players": 3,
        "side": "back",
        "seat": "rotate",
        "opponents": ["crowd", "random"],
        "illegal": "random",
        "illegal_reward": -0.25,
        "max_turns": 4,
    },
    {
        "num_players": 4,
        "seat": 3,
        "opponents": "hoard",
        "reward": "points",
        "mask": "rllib",
        "noop": True,
        "max_turns": 5,
    },
]


@pytest.mark.compiled
@each_mode
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_vector_environment_equals_a_vector_of_single_ones(
    mode: AutoresetMode, settings: dict[str, Any]
) -> None:
    """Illegal actions, masks after the end, and a row's last observation included."""
    env = native(mode, **settings)
    single: Any = SyncVectorEnv(
        [lambda: FifthAvenueEnv(**settings)] * NUM_ENVS, autoreset_mode=mode
    )
    assert env.observation_space == single.observation_space
    assert env.action_space == single.action_space
    mine, theirs = env.reset(seed=20), single.reset(seed=20)
    rng = np.random.default_rng(20)
    ended = 0
    for _ in range(70):
        assert data_equivalence(mine, theirs, exact=True)
        assert env.observation_space.contains(mine[0])
        games, masks = env.core.games, env.action_masks()
        assert np.array_equal(mine[-1]["scores"], games.state["score"][:, : games.num_players])
        assert "action_mask" not in mine[-1] or (mine[-1]["action_mask"] == masks).all()
        actions = choose(masks, rng, illegal=0.01)
        mine, theirs = env.step(actions), single.step(actions)
        over = mine[2] | mine[3]
        ended += int(over.sum())
        if not over.any() or mode is AutoresetMode.SAME_STEP:
            continue
        assert {END_REASONS[reason] for reason in mine[-1]["end_reason"][mine[3]]} <= {"truncated"}
        legal = env.action_masks()[over]
        assert legal.sum() == (over.sum() if settings.get("noop") else 0)
        if mode is AutoresetMode.DISABLED:
            with pytest.raises(GameOverError):
                env.step(actions)
            assert data_equivalence(mine, theirs, exact=True)
            mine, theirs = (one.reset(options={"reset_mask": over.copy()}) for one in (env, single))
            theirs[1].update(mine[1])  # Gymnasium's tells of these rows alone
    assert ended > NUM_ENVS


@pytest.mark.compiled
def test_sb3_plays_the_games_of_the_vector_environment_and_reports_episodes() -> None:
    options: dict[str, Any] = {"num_players": 3, "opponents": "crowd", "max_turns": 5}
    env = SkyenvVecEnv(NUM_ENVS, seed=5, reward="points", **options)
    twin = native(AutoresetMode.SAME_STEP, seat="rotate", reward="points", **options)
    assert (env.reset() == twin.reset(seed=5)[0]).all()
    rng, ended, so_far = np.random.default_rng(5), 0, np.zeros((NUM_ENVS, 2))
    for _ in range(70):
        actions = choose(get_action_masks(env), rng, illegal=0.002)
        told: Any = env.step(actions)
        observations, rewards, dones, infos = told
        expected = twin.step(actions)
        assert observations.dtype == rewards.dtype == np.float32
        assert (observations == expected[0]).all()
        assert (rewards == expected[1].astype(np.float32)).all()
        assert (dones == (expected[2] | expected[3])).all()
        so_far += np.stack([rewards, np.ones(NUM_ENVS)], axis=1)
        for row, info in enumerate(infos):
            assert info["TimeLimit.truncated"] == expected[3][row]
            if not dones[row]:
                assert all((info[name] == expected[4][name][row]).all() for name in RESULT)
                continue
            final = expected[4]["final_info"]
            assert all((info[name] == final[name][row]).all() for name in RESULT)
            assert (info["terminal_observation"] == expected[4]["final_obs"][row]).all()
            assert (info["episode"]["r"], info["episode"]["l"]) == tuple(so_far[row])
            ended += 1
        so_far[dones] = 0
    assert ended > NUM_ENVS


# ---- learning ----


@pytest.mark.compiled
def test_sb3_contrib_finds_the_masks() -> None:
    env = SkyenvVecEnv(4, 3, "back", opponents=("random", "crowd"), pool=True, seed=1, max_turns=3)
    model = MaskablePPO("MlpPolicy", env, n_steps=20, batch_size=40, device="cpu")
    _, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert len(lengths) == 4  # type: ignore[arg-type]
    single = gymnasium.make(ENV_ID)
    _, info = single.reset(seed=1)
    assert (get_action_masks(single) == info["action_mask"]).all()


def test_win_shares_are_means_of_the_latest_games(tmp_path: Path) -> None:
    env = SkyenvVecEnv(8, task="duel-3", opponents=("random", "greedy"), pool=True, seed=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, seed=1, device="cpu")
    model.set_logger(configure(str(tmp_path), ["json"]))
    shares = WinShares()
    model.learn(4 * 512, callback=shares)
    model.logger.close()
    last = json.loads((tmp_path / "progress.json").read_text().splitlines()[-1])
    assert set(shares.shares) == {"random", "greedy"}
    for name, latest in shares.shares.items():
        assert len(latest) == WINDOW
        assert 0 < last[f"win share/{name}"] == np.mean(latest) < 1


@pytest.mark.compiled
def test_an_algorithm_without_masks_trains_in_it() -> None:
    env = SkyenvVecEnv(2, seed=1)
    model = DQN("MlpPolicy", env, learning_starts=20, buffer_size=500, seed=1, device="cpu")
    model.learn(60)
    assert evaluate_without_masks(model, env, n_eval_episodes=3)


# ---- episodes ----


@pytest.mark.compiled
@pytest.mark.parametrize(("reward", "seat"), [("outcome", 0), ("margin", 2), ("points", 2)])
def test_rewards_between_two_decisions_are_summed(reward: str, seat: int) -> None:
    env = FifthAvenueEnv(num_players=3, seat=seat, reward=reward)
    _, info = env.reset(seed=1)
    assert set(info) == {"action_mask", *RESULT}  # a seed decides every hidden card
    rewards, over, rng = list[float](), False, np.random.default_rng(1)
    while not over:
        action = int(choose(env.action_masks()[None], rng)[0])
        _, paid, terminated, truncated, info = env.step(action)
        rewards.append(paid)
        over = terminated or truncated
    state, names = env.core.games.state[0], ("seat", "own_vp", "decisions", "turns", "end_reason")
    scores = state["score"][:3].tolist()
    best = max(score for other, score in enumerate(scores) if other != seat)
    told = [info[name] for name in (*names, "best_other_vp")]
    assert told == [seat, scores[seat], state["decisions"], state["turns"], state["end"], best]
    assert END_REASONS[info["end_reason"]] in ("businesses", "stops")
    expected = {
        "points": scores[seat],
        "margin": (scores[seat] - best) / 50,
        "outcome": 1.5 * (info["win_share"] - 1 / 3),
    }
    assert sum(rewards) == pytest.approx(expected[reward], abs=1e-6)
    assert sum(reward != 0 for reward in rewards) > 2 or reward == "outcome"
    assert not env.action_masks().any()
    with pytest.raises(GameOverError):
        env.step(0)


@pytest.mark.compiled
def test_an_interrupted_step_keeps_the_rewards_so_far() -> None:
    calls = itertools.count()

    def unreliable(decisions: Decisions) -> npt.NDArray[np.intp]:
        if next(calls) % 5 == 4:
            raise KeyboardInterrupt
        return lowest_legal(decisions)

    games = LearnerGames(1, 3, seat=0, reward="points", opponents=unreliable)
    rng = np.random.default_rng(1)
    games.reset(1)
    while not games.done[0]:
        with contextlib.suppress(KeyboardInterrupt):
            games.step(choose(games.mask(), rng))
    assert games.total[0] == games.games.state["score"][0, 0]


# ---- seats and opponents ----


def tables(env: Any, episodes: int = 1) -> list[list[str | None]]:
    """Return the tables of new games."""
    core = getattr(env, "core", env)
    met = []
    for _ in range(episodes if core.all_rows.size > 1 else 40):
        env.reset()
        met += [core.opponents(row) for row in core.all_rows.tolist()]
    return met


PAIR = ["crowd", "hoard"]
MIXED = {(one, None, other) for one in PAIR for other in PAIR}


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("options", "met"),
    [
        ({}, {("hoard", None, "crowd")}),  # clockwise from the learner
        ({"pool": True}, MIXED),
        ({"opponent_weights": [1, 1]}, MIXED),
        ({"one_opponent": True}, {(one, None, one) for one in PAIR}),
        ({"opponent_weights": [0, 1]}, {("hoard", None, "hoard")}),
        ({"opponents": "random"}, {("random", None, "random")}),
    ],
)
def test_opponents_are_seated_as_the_options_say(options: dict[str, Any], met: set[Any]) -> None:
    games = LearnerGames(40, 3, seat=1, **{"opponents": PAIR, **options})
    assert {tuple(table) for table in tables(games)} == met
    numbers = games.infos()["opponents"]
    assert (numbers[:, 1] == -1).all()
    names = [[games.opponent_names[number] for number in row[[0, 2]]] for row in numbers]
    assert names == [games.opponents(row)[::2] for row in range(40)]


@pytest.mark.compiled
@each_interface
def test_set_opponents_applies_from_the_next_episode(interface: str) -> None:
    env = INTERFACES[interface](40, num_players=3, seat=0)
    env.reset()
    env.set_opponents(PAIR)
    assert getattr(env, "core", env).opponents(0) == [None, "random", "random"]
    assert {tuple(table) for table in tables(env)} == {(None, *PAIR)}
    env.set_opponents([*PAIR, "random"], [1, 0, 1])
    assert {table[1] for table in tables(env)} == {"crowd", "random"}
    env.set_opponents(PAIR, pool=True)
    assert {table[1] for table in tables(env)} == set(PAIR)


@pytest.mark.compiled
def test_opponents_are_asked_in_batches_for_their_own_seats() -> None:
    asked: list[list[int]] = []

    def watching(decisions: Decisions) -> npt.NDArray[np.intp]:
        asked.append(decisions.seat.tolist())
        return lowest_legal(decisions)

    env = native(num_players=3, opponents=watching, seat=1)
    env.reset(seed=1)
    assert asked == [[0] * NUM_ENVS, [2] * NUM_ENVS]  # SET-7
    env.step(env.action_masks().argmax(axis=1))
    assert {seat for seats in asked for seat in seats} == {0, 2}


@each_interface
def test_the_learners_seat_is_fixed_or_sampled_or_rotates(interface: str) -> None:
    """Sampled from the row's own stream in each episode, or rotated."""

    def seats(seat: Any, episodes: int) -> list[Any]:
        env = INTERFACES[interface](1, num_players=4, seat=seat)
        core = getattr(env, "core", env)
        core.reset(6)
        told = [int(core.learner[0])]
        for _ in range(episodes):
            env.reset()
            told.append(int(core.learner[0]))
        return told

    assert seats("rotate", 4) == [2, 3, 0, 1, 2]
    assert seats(3, 2) == [3, 3, 3]
    assert set(seats("random", 20)) == {0, 1, 2, 3}


# ---- seeds ----


def test_a_rows_later_seeds_derive_from_its_first() -> None:
    """The same in every interface; the seeds of rows are unrelated."""
    single, sb3, env = FifthAvenueEnv(), SkyenvVecEnv(NUM_ENVS, seed=5), native()
    told: list[list[int]] = []
    for episode in range(4):
        single.reset(seed=None if episode else 7)
        env.reset(seed=None if episode else 5)
        sb3.reset()
        told.append(env.core.games.seeds.tolist())
        assert told[-1] == sb3.core.games.seeds.tolist()
        assert told[-1][2] == single.core.games.seeds[0]
    assert told[0] == [5, 6, 7, 8]
    later = [seed for seeds in told[1:] for seed in seeds]
    assert len({*later}) == len(later)
    assert all(seed in TRAINING for seed in later)
    for seeds, expected in (([5, 6, None, 8], told[0]), (None, told[1])):
        env.reset(seed=seeds)
        assert np.delete(env.core.games.seeds - np.array(expected), 2).tolist() == [0] * 3


def test_neighbouring_seeds_give_unrelated_numbers() -> None:
    """They differ from the seeds of the same row."""
    streams, rows = EpisodeSeeds(1000), np.arange(1000)
    streams.begin(rows.tolist(), rows)
    drawn = [streams.begin([None] * 1000, rows) for _ in range(5)]
    numbers = np.concatenate([numbers.T for _, numbers in drawn])
    assert 0 <= numbers.min() < numbers.max() < 1
    correlations = np.array(np.corrcoef(numbers))[np.triu_indices(len(numbers), 1)]
    assert np.abs(correlations).max() < 0.2
    assert np.unique(np.concatenate([seeds for seeds, _ in drawn])).size == 5000


@pytest.mark.parametrize(
    ("seed", "rows", "expected"),
    [
        (10, [1, 2], [11, 12]),
        ([5, None, 6, 7], [0, 1], [5, None]),
        (None, [1, 2], [None, None]),
        (HIGHEST_SEED - 1, range(4), [HIGHEST_SEED - 1, HIGHEST_SEED, 0, 1]),
        *((seed, range(4), None) for seed in (-1, 1.0, "7", 2**63, [1, 2, 3], [0, -1, 2, 3])),
        *((seed, range(4), None) for seed in (np.uint64(2**63 + 1), 10**5000)),
    ],
    ids=range(12),
)
def test_seeds_of_single_rows_can_be_given(
    seed: Any, rows: Any, expected: list[int | None] | None
) -> None:
    if expected is None:
        with pytest.raises(OptionError, match="seed"):
            row_seeds(seed, np.array(rows), 4)
    else:
        assert row_seeds(seed, np.array(rows), 4) == expected


def test_a_reset_mask_resets_its_rows_alone() -> None:
    """What they show then, SyncVectorEnv decides above."""
    env, marked = native(), np.array([False, True, False, True])
    env.reset(seed=1)
    env.reset(seed=70, options={"reset_mask": marked})
    assert env.core.games.seeds.tolist() == [1, 71, 3, 73]
    env.reset(seed=1, options={"reset_mask": marked.tolist()})
    assert env.core.games.seeds.tolist() == [1, 2, 3, 4]
    state = env.core.games.state.copy()
    for mask in (np.zeros(4, bool), np.ones(3, bool), np.ones(4, int), [True], "all"):
        with pytest.raises(OptionError, match="reset_mask"):
            env.reset(seed=2, options={"reset_mask": mask})
        assert (env.core.games.state == state).all()


# ---- what libraries ask for ----


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "player"), [(2, "crowd"), (3, "random"), (4, "hoard")])
def test_no_game_reaches_the_step_limit(players: int, player: str) -> None:
    """Nor does any part of a game reach its bound, even in hoarders' games of 500 turns."""
    games, agent = Games(4, players, seed=1, autoreset=False, observation=False), make_agent(player)
    bounds = np.array([most_decisions(players, turns) for turns in range(DEFAULT_MAX_TURNS + 2)])
    while (going := np.flatnonzero(games.seat >= 0)).size:
        games.step(decide(games, agent, going), going)
        assert (games.state["decisions"] < bounds[games.state["turns"] + 1]).all()
    assert games.state["turns"].max() == DEFAULT_MAX_TURNS or player != "hoard"
    for name in (ENV_ID, UNMASKED_ID):
        assert gymnasium.spec(name).max_episode_steps == most_decisions(4, DEFAULT_MAX_TURNS)


@pytest.mark.compiled
@pytest.mark.parametrize("task", TASKS)
def test_no_episode_of_a_task_reaches_the_limit_of_its_id(task: str) -> None:
    """Played by bidders that seldom pass."""
    name = task.title().replace("-", "")
    limit: Any = gymnasium.spec(f"skyenv/{name}-v0").max_episode_steps
    envs: Any = gymnasium.make_vec(f"skyenv/{name}Unmasked-v0", 300, autoreset_mode="SameStep")
    assert envs.core.games.options.task == task
    assert envs.core.illegal_reward == -0.5
    rng, longest = np.random.default_rng(1), 0
    _, infos = envs.reset(seed=1)
    for _ in range(40):
        scores = infos["action_mask"] * rng.random((300, 103))
        scores[:, PASS] *= 0.05
        lengths = envs.core.length + 1
        *_, terminated, truncated, infos = envs.step(scores.argmax(axis=1))
        longest = max(longest, lengths[terminated | truncated].max(initial=0))
    assert longest < limit
    assert limit < 6 * longest or task == "last-turns"
    if TASKS[task].auctions > 1:
        opening = openings(f"{task}/0-1279")
        cards = opening["known"].sum(axis=3) + opening["unknown"]
        assert (cards[:, :, :5].max(axis=2) + cards[:, :, 5]).max() <= MOST_CARDS


@pytest.mark.parametrize("mask", ["info", "observation"])
def test_the_repr_of_spaces_is_one_line(mask: str) -> None:
    for env in (FifthAvenueEnv(mask=mask), native(mask=mask)):
        text = repr(env.observation_space)
        assert "722,)" in text or "722)" in text
        assert len(text) < 120
        assert "\n" not in text


# ---- mistakes ----


@pytest.mark.parametrize("make", [FifthAvenueEnv, native])
def test_unknown_reset_options_are_named(make: Any) -> None:
    env = make()
    before = env.core.games.state.tobytes()
    with pytest.raises(OptionError, match="'opponent'"):
        env.reset(seed=9, options={"opponent": "greedy"})
    assert env.core.games.state.tobytes() == before


@each_interface
def test_invalid_calls_are_refused_and_change_nothing(interface: str) -> None:
    env = INTERFACES[interface](3, illegal="raise", reward="margin", max_turns=3, seat=0)
    core, one = getattr(env, "core", env), interface == "single"
    if interface != "vector":  # which resets its rows in their next step
        with pytest.raises(GameOverError):
            env.step(0 if one else np.zeros(3, int))
    core.reset(1)
    last, legal = core.all_rows[-1], core.mask().argmax(axis=1)
    wrong: list[Any] = [None, "option A", [[0, 1]]]
    for action in (core.mask()[-1].argmin(), 103, -1, 1.5):
        actions = np.where(core.all_rows == last, action, legal)
        wrong.append(actions[0] if one else actions)

    def snapshot() -> list[bytes]:
        arrays = [core.games.state, core.games.mask, core.observation(), core.reward, core.done]
        return [array.tobytes() for array in (*arrays, core.length, core.total, core.learner)]

    before = snapshot()
    for actions in wrong:
        with pytest.raises(IllegalActionError) as refused:
            env.step(actions)
        assert refused.value.row in (None, last)
        assert snapshot() == before


@each_interface
def test_an_illegal_action_ends_the_episode(interface: str) -> None:
    env = INTERFACES[interface](3, seat=0)
    core = getattr(env, "core", env)
    core.reset(1)
    actions = core.mask().argmax(axis=1)
    actions[-1] = core.mask()[-1].argmin()
    state = core.games.state[-1].tobytes()
    told = env.step(actions[0] if interface == "single" else actions)
    if interface == "sb3":  # which resets in the same step
        assert (told[1][-1], told[2].tolist()) == (-1, [False, False, True])
        info = told[3][-1]
    else:
        assert core.games.state[-1].tobytes() == state
        assert core.reward[-1] == -1
        assert not core.mask()[-1].any()
        (info,) = each_info(core.infos(core.all_rows[-1:]))
    assert (END_REASONS[info["end_reason"]], info["win_share"]) == ("illegal", 0)
    assert interface != "single" or told[1:4] == (-1.0, True, False)


# The actions that were played, as the interfaces tell them after a step.
TOLD_ACTION: dict[str, Callable[[Any], list[int]]] = {
    "single": lambda told: [told[4]["action"]],
    "vector": lambda told: told[4]["action"].tolist(),
    "sb3": lambda told: [info["action"] for info in told[3]],
}


@each_interface
def test_an_illegal_action_is_replaced_by_a_legal_one(interface: str) -> None:
    """The game's stream selects it, equally in all interfaces; only the penalty changes rewards."""
    options: dict[str, Any] = {"num_players": 3, "seat": 0, "reward": "margin"}
    env = INTERFACES[interface](2, illegal="random", illegal_reward=-0.5, **options)
    core = getattr(env, "core", env)
    legal_twin = LearnerGames(core.all_rows.size, illegal="raise", **options)
    first_row = LearnerGames(1, illegal="random", **options)
    for games in (core, legal_twin, first_row):
        games.reset(5)
    rng, replaced = np.random.default_rng(5), 0
    for _ in range(30):
        wanted = rng.integers(103, size=2)[: core.all_rows.size]
        is_legal = core.mask()[core.all_rows, wanted] == 1
        told = env.step(wanted[0] if interface == "single" else wanted)
        legal_twin.step(core.action)
        first_row.step(wanted[:1])
        assert (core.action[is_legal] == wanted[is_legal]).all()
        assert core.games.state.tobytes() == legal_twin.games.state.tobytes()
        assert core.reward == pytest.approx(legal_twin.reward - 0.5 * ~is_legal)
        assert first_row.action[0] == core.action[0]
        assert interface == "core" or TOLD_ACTION[interface](told) == core.action.tolist()
        replaced += int((~is_legal).sum())
    assert replaced > 20


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        ("core", {"opponents": ["crowd"]}, "opponents .* pool=True"),
        ("core", {"opponents": ["crowd"] * 3}, "opponents"),
        ("core", {"opponents": []}, "opponents"),
        *(
            ("core", {"opponents": PAIR, "opponent_weights": weights}, "opponent_weights")
            for weights in ([1], ["a", "b"], [0, 0], [2, -1], [float("nan"), 1])
        ),
        ("core", {"opponents": PAIR, "pool": "yes"}, "pool must be"),
        ("core", {"one_opponent": 1}, "one_opponent must be"),
        ("core", {"opponents": "nobody"}, "nobody"),
        ("core", {"opponents": 7}, "7"),
        *(("core", {"seat": seat}, "seat") for seat in (3, "first", True)),
        ("core", {"illegal": "ignore"}, "illegal must be"),
        ("core", {"illegal_reward": "low"}, "illegal_reward must be"),
        ("core", {"observation": "pixels"}, "observation"),
        *((env, {"render_mode": "video"}, "render_mode") for env in ("single", "vector", "sb3")),
        *((env, {"mask": "infos"}, "mask must be") for env in ("single", "vector")),
        ("vector", {"noop": 2}, "noop must be"),
        ("vector", {"autoreset_mode": "never"}, "never"),
        ("vector", {"threads": 0}, "threads must be"),
        ("vector", {"max_episode_steps": 50}, "max_turns"),
        ("sb3", {"seed": -1}, "seed must be"),
    ],
)
def test_wrong_options_are_named(make: str, options: dict[str, Any], name: str) -> None:
    with pytest.raises((OptionError, AgentError, ValueError), match=name):
        INTERFACES[make](4, **{"num_players": 3, **options})


def test_sb3_vecenv_methods_accept_row_indices() -> None:
    env = SkyenvVecEnv(3, 3, opponents="crowd", seed=7)
    env.reset()
    masks = env.action_masks()
    assert (np.stack(env.env_method("action_masks", indices=[2, 1])) == masks[[2, 1]]).all()
    assert (env.get_attr("action_masks", 2)[0]() == masks[2]).all()
    assert env.env_is_wrapped(Monitor, indices=[0, 1]) == [True, True]
    assert (env.has_attr("action_masks"), env.has_attr("nonsense")) == (True, False)
    assert list(env.get_images()) == [None] * 3
    for ask in (env.get_attr, env.env_method, lambda name: env.set_attr(name, 1)):
        with pytest.raises(AttributeError, match="nonsense"):
            ask("nonsense")
