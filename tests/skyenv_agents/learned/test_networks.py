"""Players from network files."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from positions import deal_anew, positions
from skyenv.agents import Decisions, decide, decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.engine.kernels import outcome_of
from skyenv.engine.knowledge import view
from skyenv.errors import CheckpointError, OptionError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.win_probability import win_probabilities_seen
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.layout import OUTCOME_PARTS, POSITION_PARTS, PRIOR_PARTS
from skyenv_agents.learned.networks import (
    FORMAT,
    WORST_PRIOR,
    Network,
    NetworkAgent,
    Prior,
    heuristic_of,
    prior_scores,
)

ABOUT = {"prior": "", "prior_version": "", "description": "for tests", "version": "7"}
WITH_PRIOR = {**ABOUT, "prior": "greedy", "prior_version": GreedyAgent.version}
SIZES = Sizes(12, 2, 5)
with_or_without = pytest.mark.parametrize("with_prior", [False, True])


def network(with_prior: bool = False, **about: Any) -> Network:
    """A network with decided preferences."""
    rng = np.random.default_rng(4)
    weights = {}
    for name, shape in SIZES.shapes().items():
        scale = 1.5 / np.sqrt(shape[-1]) if name.endswith("weight") and shape else 0.1
        scale = 1.0 if name.endswith("identity") else scale
        weights[name] = rng.normal(scale=scale, size=shape).astype(np.float32)
    weights["prior_weight"] = np.array(2.0 if with_prior else 0.0, np.float32)
    weights["prior_floor"] = np.array(-1.0, np.float32)
    weights["outlook.weight"] *= 0.3
    return Network(weights, {**(WITH_PRIOR if with_prior else ABOUT), **about})


@pytest.fixture(scope="module")
def games() -> Games:
    """Games at all stages."""
    return positions(3, "back", 80)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A network file."""
    (tmp_path / "first").mkdir()
    path = tmp_path / "first" / "model.npz"
    path.write_bytes(network().to_bytes())
    return path


# ---- decisions ----


@with_or_without
def test_probabilities_are_those_of_the_logits_of_legal_actions(
    with_prior: bool, games: Games
) -> None:
    player = NetworkAgent(network(with_prior, reward="outcome"))
    decisions = decisions_in(games, player)
    weights, outcome = player.evaluate(decisions)
    prior = Prior.of(GreedyAgent(), decisions) if with_prior else None
    logits, expected = player.network(games.observation, prior)
    exponentials = np.where(games.mask != 0, np.exp(logits), 0.0)
    assert np.allclose(weights, exponentials / exponentials.sum(axis=1, keepdims=True))
    assert (weights[games.mask == 0] == 0).all()
    assert weights.max(axis=1).std() > 0.05  # there was something to compare
    assert np.array_equal(outcome, expected)  # type: ignore[arg-type]
    assert np.abs(outcome).max() <= 1  # type: ignore[arg-type]
    assert np.ptp(outcome) > 0.1  # type: ignore[arg-type]
    for about in ({}, {"reward": "points"}):
        other = NetworkAgent(network(with_prior, **about))
        assert other.evaluate(decisions_in(games, other))[1] is None


@with_or_without
def test_comes_back_from_its_file(with_prior: bool, tmp_path: Path, games: Games) -> None:
    before = network(with_prior, players="2,3", seed=9, decisions=10**7, reward="outcome")
    path = tmp_path / "model.npz"
    path.write_bytes(before.to_bytes())
    after = Network.load(path)
    assert (after.about, after.sizes) == (before.about, SIZES)
    assert after.to_bytes() == before.to_bytes()
    assert after.digest() == before.digest() == pickle.loads(pickle.dumps(before)).digest()
    there, here = NetworkAgent(path), NetworkAgent(before)
    decisions = decisions_in(games, here)
    for loaded, wanted in zip(there.evaluate(decisions), here.evaluate(decisions), strict=True):
        assert np.array_equal(loaded, wanted)  # type: ignore[arg-type]


def test_a_rounded_network_takes_half_of_the_room(tmp_path: Path) -> None:
    rounded = network().rounded()
    path = tmp_path / "model.npz"
    path.write_bytes(rounded.to_bytes(np.float16))
    loaded = Network.load(path)
    for name, array in network().weights.items():
        wanted = array.astype(np.float16).astype(np.float32)
        assert np.array_equal(rounded.weights[name], wanted)
        assert np.array_equal(loaded.weights[name], wanted)
    large = {**network().weights, "prior_weight": np.array(7e4, np.float32)}
    with pytest.raises(CheckpointError, match="weight of 70000"):
        Network(large, ABOUT).rounded()


@with_or_without
def test_decides_alone_as_in_a_batch(with_prior: bool, games: Games) -> None:
    player = NetworkAgent(network(with_prior, reward="outcome"))
    together = decide(games, player)
    assert together.tolist() == [decide(games, player, [row])[0] for row in range(games.num_games)]
    whole = player.evaluate(decisions_in(games, player))
    alone = player.evaluate(decisions_in(games, player, [5]))
    for one, of_all in zip(alone, whole, strict=True):
        assert one is not None
        assert of_all is not None
        assert np.array_equal(one[0], of_all[5])


def test_samples_by_its_probabilities_or_takes_the_most_probable(games: Games) -> None:
    drawing, sure = NetworkAgent(network()), NetworkAgent(network(), deterministic=True)
    weights, _ = drawing.evaluate(decisions_in(games, drawing))
    assert decide(games, sure).tolist() == weights.argmax(axis=1).tolist()
    drawn = np.array([decide(games, drawing, salt=salt) for salt in range(400)])
    often = np.array([(drawn == action).mean(axis=0) for action in range(NUM_ACTIONS)]).T
    assert np.abs(often - weights).max() < 0.12


@with_or_without
def test_does_not_see_what_its_seat_cannot_know(with_prior: bool) -> None:
    games = positions(4, "back", 60)
    player = NetworkAgent(network(with_prior, reward="outcome"))
    decisions = decisions_in(games, player)
    rng, state = np.random.default_rng(5), games.state.copy()
    for row, seat in enumerate(games.seat.tolist()):
        deal_anew(state[row], seat, rng)
    assert (state["hand"] != games.state["hand"]).any()
    other = Decisions(
        decisions.mask,
        decisions.seat,
        4,
        decisions.uniform,
        games.observe(games.seat, np.arange(60), state),
        view(state, games.seat) if player.uses_view else None,
    )
    for mine, wanted in zip(player.evaluate(other), player.evaluate(decisions), strict=True):
        assert np.array_equal(mine, wanted)  # type: ignore[arg-type]


# ---- the heuristic prior ----


def test_a_prior_is_what_its_heuristic_holds(games: Games) -> None:
    greedy = GreedyAgent()
    decisions = decisions_in(games, greedy)
    prior, legal, rows = Prior.of(greedy, decisions), decisions.mask != 0, np.arange(80)
    behind = (
        greedy.scores(decisions) - greedy.scores(decisions)[rows, greedy.act(decisions)][:, None]
    )
    assert np.allclose(prior.scores, np.where(legal, np.maximum(behind, -WORST_PRIOR), 0.0))
    assert np.array_equal(prior.scores, prior_scores(greedy, decisions))
    assert prior.scores.min() == -WORST_PRIOR
    chance = win_probabilities_seen(np.asarray(decisions.view))[rows, decisions.seat]
    assert np.array_equal(prior.outcome, outcome_of(chance, 3))
    assert prior.outcome.min() < 0 < prior.outcome.max()
    assert np.array_equal(prior.position, greedy.inputs(decisions))


def test_what_has_learned_nothing_plays_its_prior(games: Games) -> None:
    """Probabilities by the scores, times their weight; and the outcome as the prior tells it."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in SIZES.shapes().items()}
    weights["prior_weight"] += np.float32(1.5)
    weights["prior_floor"] -= np.float32(WORST_PRIOR)
    player = NetworkAgent(Network(weights, {**WITH_PRIOR, "reward": "outcome"}))
    decisions = decisions_in(games, player)
    prior = Prior.of(GreedyAgent(), decisions)
    wanted = np.where(decisions.mask != 0, np.exp(1.5 * prior.scores.astype(np.float64)), 0.0)
    given, outcome = player.evaluate(decisions)
    assert np.allclose(given, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-3)
    assert np.abs(outcome - prior.outcome).max() <= 0.5 / OUTCOME_PARTS + 1e-12  # type: ignore[operator]


def test_a_prior_is_seen_in_parts(games: Games) -> None:
    """As in training: what is nearer than half a part makes no difference, the next part does."""
    player = network(True, reward="outcome")
    parts = {"scores": PRIOR_PARTS, "outcome": OUTCOME_PARTS, "position": POSITION_PARTS}
    exact = Prior.of(GreedyAgent(), decisions_in(games, NetworkAgent(player)))

    def moved(name: str, number: float) -> Prior:
        values = getattr(exact, name)
        changed = (np.rint(values.astype(np.float64) * parts[name]) + number) / parts[name]
        return replace(exact, **{name: changed.astype(values.dtype)})

    logits, outcome = player(games.observation, exact)
    for name in parts:
        for number, same in ((0.4, True), (1.0, False)):
            others = player(games.observation, moved(name, number))
            both = np.array_equal(others[0], logits) and np.array_equal(others[1], outcome)  # type: ignore[arg-type]
            assert both == same, name


# ---- names ----


def test_networks_that_say_the_same_of_themselves_have_other_versions() -> None:
    one = network()
    weights = {name: array.copy() for name, array in one.weights.items()}
    next(iter(weights.values())).flat[0] += 1
    others = [Network(weights, one.about), Network(one.weights, {**one.about, "reward": "other"})]
    assert len({NetworkAgent(each).version for each in (one, *others)}) == 3


def test_names_and_flags(file: Path) -> None:
    for deterministic in (False, True):
        player = make_agent(str(file), deterministic=deterministic)
        assert isinstance(player, NetworkAgent)
        version = f"7+{network().digest()}"
        assert (player.name, player.version, player.description) == ("first", version, "for tests")
        assert (player.uses_observation, player.uses_view) == (True, False)
        assert player.deterministic == deterministic
    assert make_agent(file.rename(file.with_name("best.npz"))).name == "best"
    assert NetworkAgent(network()).name == "network"
    assert NetworkAgent(network(True), name="self-3").name == "self-3"
    assert NetworkAgent(network(True)).uses_view


# ---- files that can't be used ----


def refused(path: Path) -> str:
    """The one line that says why a file can't be used; it names the file."""
    with pytest.raises(CheckpointError) as caught:
        make_agent(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert len(message) < 400
    return message


def written(path: Path, **arrays: Any) -> Path:
    """A file with these arrays instead of a network's own; None leaves one out."""
    with np.load(io.BytesIO(network().to_bytes())) as own:
        content: dict[str, Any] = dict(own)
    content |= {name.replace("__", "."): array for name, array in arrays.items()}
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in content.items() if array is not None})
    path.write_bytes(file.getvalue())
    return path


def about(**changes: Any) -> np.ndarray:
    return np.array(json.dumps({"format": FORMAT, **ABOUT, **changes}))


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no network",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        npy(np.zeros(3)),
        npy(np.array([{}], object)),
    ],
    ids=["empty", "text", "zip's first bytes", "empty zip", "array", "pickle"],
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    assert "damaged or no network file" in refused(path)
    assert "no network file" in refused(tmp_path / "none.npz")


def test_a_file_that_unpacks_to_more_than_a_network_is_refused_unread(tmp_path: Path) -> None:
    """Two gigabytes of zeros fit in two megabytes."""
    path = tmp_path / "model.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("trunk.weight.npy", "w") as member,
    ):
        for _ in range(300):
            member.write(bytes(1 << 20))
    tracemalloc.start()
    assert "holds 315 MB" in refused(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert "holds 1074 MB" in refused(path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"about": None}, "damaged or no network file"),
        *(
            ({"about": np.array(text)}, "damaged or no network file")
            for text in ("{", "[]", '"x"', "{}")
        ),
        ({"about": about(format="skyenv-network-1")}, "has the format 'skyenv-network-1'"),
        ({"about": about(format=["skyenv-network-2"])}, "has the format"),
        ({"about": about(prior="oracle")}, "prior must be one of greedy, appraiser"),
        ({"about": about(prior=["greedy"])}, "prior must be one of greedy, appraiser"),
        ({"about": about(prior="greedy", prior_version="0")}, "version 0 of greedy"),
        ({"about": about(prior="greedy", prior_version=None)}, "version None of greedy"),
        ({"trunk__bias": None}, "misshapen"),
        ({"district__bias": np.array(0, np.float32)}, "misshapen"),
        ({"trunk__weight": None}, "trunk.weight has shape None"),
        ({"trunk__weight": np.zeros((12, 10), np.float32)}, "trunk.weight has shape (12, 10)"),
        ({"block0__in__bias": None}, "['block1."),
        ({"prior_weight": None}, "prior_weight has shape None"),
        ({"actions__bias": np.full(20, np.nan, np.float32)}, "not finite"),
        ({"prior_weight": np.array("much")}, "prior_weight has type <U4"),
        ({"prior_weight": np.array([None], object)}, "damaged or no network file"),
        ({"extra__weight": np.zeros((2, 2), np.float32)}, "['extra.weight']"),
    ],
)
def test_files_with_something_else(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in refused(written(tmp_path / "model.npz", **arrays))
    assert make_agent(written(tmp_path / "model.npz")).version.startswith("7+")


def test_heuristics_by_name() -> None:
    assert heuristic_of("") is None
    assert isinstance(heuristic_of("greedy"), GreedyAgent)
    with pytest.raises(OptionError, match="prior"):
        heuristic_of("oracle")


def test_a_damaged_file_is_refused_or_plays_the_same(file: Path) -> None:
    """A cut or a flipped bit is noticed, or it changed nothing that is read: zip files hold much
    twice.
    """
    whole, same = file.read_bytes(), Network.load(file)
    rng = np.random.default_rng(1)
    damaged = [whole[:length] for length in range(0, len(whole), len(whole) // 40)]
    damaged += [whole[:-1], b"\0" + whole]
    for position in rng.integers(0, len(whole), 100).tolist():
        data = bytearray(whole)
        data[position] ^= 1 << int(rng.integers(8))
        damaged.append(bytes(data))
    noticed = 0
    for content in damaged:
        file.write_bytes(content)
        try:
            loaded = Network.load(file)
        except CheckpointError:
            noticed += 1
        else:
            assert loaded.digest() == same.digest()
    assert noticed > 120
