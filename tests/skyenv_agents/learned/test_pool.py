"""The pool of opponents: who is in it, and how often each is drawn."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyenv.agents import CallableAgent, CrowdAgent, RandomAgent
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import OptionError
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.pool import EASIEST, LATEST_SHARE, MEMORY, SAMPLINGS, OpponentPool


def named(name: str) -> CallableAgent:
    """An agent of that name."""
    agent = CallableAgent(first_legal)
    agent.name = name
    return agent


def first_legal(decisions: object) -> np.ndarray:
    """The legal action with the lowest number."""
    return np.asarray(decisions.mask.argmax(axis=1))  # type: ignore[attr-defined]


def filled(sampling: str, fixed: int = 2, past: int = 3, **options: float) -> OpponentPool:
    """A pool of fixed opponents a0, a1 … and past policies s0, s1 and so on."""
    pool = OpponentPool([named(f"a{i}") for i in range(fixed)], sampling=sampling, **options)  # type: ignore[arg-type]
    for i in range(past):
        pool.add(named(f"s{i}"))
    return pool


def names(pool: OpponentPool) -> list[str]:
    return [agent.name for agent in pool.agents]


# ---- how often each is drawn ----


def test_uniform_shares_evenly_among_fixed_and_among_past() -> None:
    pool = filled("uniform", fixed_share=0.4)
    assert names(pool) == ["a0", "a1", "s0", "s1", "s2"]
    assert pool.weights() == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.2])
    pool.note("a0", 0.0)  # counts for "hard" alone
    assert pool.weights() == pytest.approx([0.2] * 5)


def test_latest_prefers_the_newest_past_policy_and_no_fixed_opponent() -> None:
    pool = filled("latest", fixed_share=0.5)
    rest = (1 - LATEST_SHARE) / 2
    assert pool.weights() == pytest.approx([0.25, 0.25, 0.5 * rest, 0.5 * rest, 0.5 * LATEST_SHARE])
    assert filled("latest", past=1, fixed_share=0.5).weights() == pytest.approx([0.25, 0.25, 0.5])
    assert filled("latest", fixed=0, past=2).weights() == pytest.approx(
        [1 - LATEST_SHARE, LATEST_SHARE]
    )


def test_hard_goes_by_the_square_of_what_is_lost() -> None:
    pool = filled("hard", fixed_share=0.5)
    assert pool.weights() == pytest.approx(
        [0.25, 0.25, 1 / 6, 1 / 6, 1 / 6]
    )  # nobody has played yet: all alike
    for name, share in (("a0", 1.0), ("a1", 0.0), ("s0", 0.2), ("s1", 0.6)):
        pool.note(name, share)
    fixed = np.array([EASIEST, 1.0])
    past = np.array([0.64, 0.16, 0.25])  # s2 has not played: half
    wanted = np.concatenate([fixed / fixed.sum() / 2, past / past.sum() / 2])
    assert pool.weights() == pytest.approx(wanted)


def test_hard_reacts_to_results_and_forgets_old_ones() -> None:
    pool = filled("hard", fixed=2, past=0)
    for _ in range(100):
        pool.note("a0", 1.0)
        pool.note("a1", 0.5)
    assert pool.weights()[0] < 0.2
    for _ in range(3 * MEMORY):
        pool.note("a0", 0.0)
    share = pool.share("a0")
    assert share is not None
    assert 0 < share < 0.05
    assert pool.weights()[0] > 0.75


def test_share_is_the_mean_of_few_games() -> None:
    pool = filled("hard")
    assert pool.share("a0") is None
    for share in (1.0, 0.0, 0.5, 0.5, 1.0):
        pool.note("a0", share)
    assert pool.share("a0") == pytest.approx(0.6)
    assert pool.share("a1") is None
    pool.note("stranger", 1.0)
    assert pool.share("stranger") is None


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_without_past_or_fixed_the_others_get_all(sampling: str) -> None:
    assert filled(sampling, past=0, fixed_share=0.0).weights() == pytest.approx([0.5, 0.5])
    assert filled(sampling, fixed=0, fixed_share=1.0).weights().sum() == pytest.approx(1)
    assert filled(sampling, fixed_share=0.0).weights()[:2].tolist() == [0, 0]
    assert filled(sampling, fixed_share=1.0).weights()[2:].tolist() == [0, 0, 0]


@given(
    sampling=st.sampled_from(SAMPLINGS),
    fixed=st.integers(0, 3),
    share=st.floats(0, 1),
    capacity=st.integers(0, 4),
    events=st.lists(
        st.one_of(st.just("add"), st.tuples(st.integers(0, 12), st.floats(0, 1))), max_size=40
    ),
)
def test_weights_are_always_probabilities(
    sampling: str, fixed: int, share: float, capacity: int, events: list[str | tuple[int, float]]
) -> None:
    pool = filled(sampling, fixed, 0, fixed_share=share, capacity=capacity)
    added = 0
    for event in events:
        if isinstance(event, str):
            pool.add(named(f"s{added}"))
            added += 1
            assert pool.past[-1:] == [] if capacity == 0 else pool.past[-1].name == f"s{added - 1}"
        elif pool.agents:
            pool.note(pool.agents[event[0] % len(pool.agents)].name, event[1])
        assert len(pool.past) == min(added, capacity)
        assert len(set(names(pool))) == len(names(pool))
        ages = [int(agent.name[1:]) for agent in pool.past]
        assert ages == sorted(ages)
        if pool.agents:
            weights = pool.weights()
            assert weights.dtype == np.float64
            assert weights.shape == (len(pool.agents),)
            assert (weights >= 0).all()
            assert weights.sum() == pytest.approx(1)
            if fixed and pool.past:
                assert weights[:fixed].sum() == pytest.approx(share)
            for name in names(pool):
                share_of_wins = pool.share(name)
                assert share_of_wins is None or 0 <= share_of_wins <= 1


# ---- who is in it ----


def test_who_gives_way() -> None:
    pool = filled("uniform", fixed=1, past=0, capacity=3)
    kept = []
    for i in range(8):
        pool.add(named(f"s{i}"))
        kept.append([agent.name for agent in pool.past])
    assert kept[2:] == [
        ["s0", "s1", "s2"],
        ["s1", "s2", "s3"],  # the oldest
        ["s1", "s3", "s4"],  # the second oldest
        ["s3", "s4", "s5"],
        ["s3", "s5", "s6"],
        ["s5", "s6", "s7"],
    ]
    assert names(pool)[0] == "a0"


@pytest.mark.parametrize(("capacity", "left"), [(0, []), (1, ["s4"])])
def test_tiny_capacities(capacity: int, left: list[str]) -> None:
    pool = filled("latest", past=0, capacity=capacity)
    for i in range(5):
        pool.add(named(f"s{i}"))
    assert [agent.name for agent in pool.past] == left
    assert pool.weights().sum() == pytest.approx(1)


def test_who_is_gone_is_forgotten() -> None:
    pool = filled("hard", past=2, capacity=2)
    pool.note("s0", 1.0)
    pool.add(named("s2"))
    assert pool.share("s0") is None
    pool.note("s0", 1.0)
    assert pool.share("s0") is None
    pool.add(named("s0"))  # its name is free again
    assert pool.share("s0") is None


def test_agents_is_a_list_of_its_own() -> None:
    fixed = [RandomAgent()]
    pool = OpponentPool(fixed)
    pool.agents.clear()
    fixed.clear()
    assert names(pool) == ["random"]


def test_comes_through_pickle() -> None:
    pool = filled("hard")
    pool.note("a1", 0.0)
    pool.note("s1", 1.0)
    twin = pickle.loads(pickle.dumps(pool))
    assert names(twin) == names(pool)
    assert twin.weights().tolist() == pool.weights().tolist()


# ---- errors ----


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: OpponentPool([], fixed_share=1.1), "fixed_share must be a number from 0 to 1"),
        (
            lambda: OpponentPool([], fixed_share=float("nan")),
            "fixed_share must be a number from 0 to 1",
        ),
        (lambda: OpponentPool([], capacity=-1), "capacity must be a whole number"),
        (lambda: OpponentPool([], capacity=2.5), "capacity must be a whole number"),  # type: ignore[arg-type]
        (
            lambda: OpponentPool([], sampling="best"),
            "sampling must be one of uniform, latest, hard",
        ),
        (
            lambda: OpponentPool([RandomAgent(), RandomAgent()]),
            "fixed opponents must have different names",
        ),
        (lambda: OpponentPool([]).weights(), "the pool of opponents is empty"),
        (lambda: filled("hard").add(named("s1")), "an agent called 's1' already"),
        (lambda: filled("hard").add(named("a0")), "an agent called 'a0' already"),
        (lambda: filled("hard").note("a0", 1.5), "share must be a number from 0 to 1"),
        (lambda: filled("hard").note("a0", float("nan")), "share must be a number from 0 to 1"),
    ],
)
def test_wrong_options(action: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)


def test_a_refused_agent_changes_nothing() -> None:
    pool = filled("hard", capacity=3)
    with pytest.raises(OptionError):
        pool.add(named("s0"))
    assert names(pool) == ["a0", "a1", "s0", "s1", "s2"]


# ---- elsewhere than in our trainer ----


def test_serves_an_environment_for_sb3() -> None:
    pool = OpponentPool([RandomAgent(), CrowdAgent()], fixed_share=1.0)
    pool.add(named("past-1"))
    env = SkyenvVecEnv(16, 2, seed=3, max_turns=2)
    env.set_opponents(pool.agents, pool.weights().tolist())
    env.reset()
    met: list[str] = []
    for _ in range(60):
        env.step_async(env.action_masks().argmax(axis=1))
        for info in env.step_wait()[3]:
            if "episode" in info:
                met += [name for name in info["opponents"] if name is not None]
    assert set(met) == {"random", "crowd"}  # never the past policy, of weight 0
    pool = OpponentPool([GreedyAgent()], fixed_share=0.0)
    pool.add(named("past-2"))
    env.set_opponents(pool.agents, pool.weights().tolist())
    env.reset()
    assert {name for row in range(16) for name in env.core.opponents(row)} == {"past-2", None}
    env.close()
