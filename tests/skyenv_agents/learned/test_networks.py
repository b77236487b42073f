"""Players from network files."""

from __future__ import annotations

import io
import json
import pickle
import tracemalloc
import zipfile
from collections.abc import Callable
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
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import CheckpointError, OptionError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.win_probability import win_probabilities_seen
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.layout import (
    COMMON_CODES,
    COMMON_TOLD,
    GROUPS,
    OUTCOME_PARTS,
    POSITION_PARTS,
    PRIOR_PARTS,
)
from skyenv_agents.learned.networks import (
    FORMAT,
    PLAIN_FORMAT,
    WORST_PRIOR,
    Network,
    NetworkAgent,
    PlainNetwork,
    Prior,
    ThingsNetwork,
    heuristic_of,
    prior_scores,
)

ABOUT = {"prior": "", "prior_version": "", "description": "for tests", "version": "7"}
WITH_PRIOR = {**ABOUT, "prior": "greedy", "prior_version": GreedyAgent.version}


SIZES = Sizes(12, 2, 5)
KINDS = ["things", "plain"]
"""Networks of today, and those of version 0.1."""


def network(with_prior: bool = False, **about: Any) -> ThingsNetwork:
    """A network with decided preferences."""
    rng = np.random.default_rng(4)
    weights = {}
    for name, shape in SIZES.shapes().items():
        scale = (
            1.0
            if name.endswith("identity")
            else 1.5 / np.sqrt(shape[-1])
            if name.endswith("weight") and shape
            else 0.1
        )
        weights[name] = rng.normal(scale=scale, size=shape).astype(np.float32)
    weights["prior_weight"] = np.array(2.0 if with_prior else 0.0, np.float32)
    weights["prior_floor"] = np.array(-1.0, np.float32)
    weights["outlook.weight"] *= 0.3
    return ThingsNetwork(weights, {**(WITH_PRIOR if with_prior else ABOUT), **about})


def plain(with_prior: bool = False, **about: Any) -> PlainNetwork:
    """One of version 0.1."""
    rng = np.random.default_rng(5)
    inputs = OBSERVATION_SIZE + (NUM_ACTIONS if with_prior else 0)
    shapes = {
        "trunk": (12, inputs),
        "policy": (6, 12),
        "value": (6, 12),
        "policy_head": (NUM_ACTIONS, 6),
        "value_head": (1, 6),
    }
    weights = {"prior_weight": np.array(2.0 if with_prior else 0.0, np.float32)}
    for name, shape in shapes.items():
        weights[f"{name}.weight"] = rng.normal(scale=1 / np.sqrt(shape[1]), size=shape).astype(
            np.float32
        )
        weights[f"{name}.bias"] = rng.normal(scale=0.1, size=shape[:1]).astype(np.float32)
    return PlainNetwork(weights, {**(WITH_PRIOR if with_prior else ABOUT), **about})


def of_kind(kind: str, with_prior: bool = False, **about: Any) -> Network:
    return (network if kind == "things" else plain)(with_prior, **about)


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


# ---- what it plays ----


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_are_those_of_the_logits_of_legal_actions(
    kind: str, with_prior: bool, games: Games
) -> None:
    player = NetworkAgent(of_kind(kind, with_prior, reward="outcome", shaping=0.0))
    decisions = decisions_in(games, player)
    weights, outcome = player.evaluate(decisions)
    prior = Prior.of(GreedyAgent(), decisions) if with_prior else None
    logits, expected = player.network(games.observation, prior)
    assert weights.shape == logits.shape == (80, NUM_ACTIONS)
    for row, legal in enumerate(games.mask != 0):
        wanted = np.exp(logits[row, legal]) / np.exp(logits[row, legal]).sum()
        assert np.allclose(weights[row, legal], wanted)
    assert (weights[games.mask == 0] == 0).all()
    assert weights.max(axis=1).std() > 0.05  # there was something to compare
    assert outcome is not None
    assert expected is not None
    assert np.array_equal(outcome, expected)
    assert np.abs(outcome).max() <= 1
    assert np.ptp(outcome) > 0.1


def test_version_01_is_played_as_it_was(games: Games) -> None:
    """A layer that both share, one layer each, linear outputs; and the prior's scores, times their
    weight.
    """
    old = plain(True)
    decisions = decisions_in(games, NetworkAgent(old))
    prior = Prior.of(GreedyAgent(), decisions)

    def layer(name: str, inputs: Any) -> Any:
        return (
            inputs @ old.weights[f"{name}.weight"].T.astype(np.float64)
            + old.weights[f"{name}.bias"]
        )

    hidden = np.maximum(
        layer("trunk", np.concatenate([games.observation, prior.scores], axis=1)), 0
    )
    wanted = layer("policy_head", np.maximum(layer("policy", hidden), 0)) + 2.0 * prior.scores
    assert np.allclose(old(games.observation, prior)[0], wanted)
    outcome = PlainNetwork(old.weights, {**old.about, "reward": "outcome", "shaping": 0.0})(
        games.observation, prior
    )[1]
    assert outcome is not None
    assert np.allclose(
        outcome, np.clip(layer("value_head", np.maximum(layer("value", hidden), 0))[:, 0], -1, 1)
    )


def test_expects_an_outcome_only_if_it_has_learned_one(games: Games) -> None:
    for with_prior in (False, True):
        for about, tells in (
            ({}, False),
            ({"reward": "points"}, False),
            ({"reward": "outcome"}, True),
        ):
            player = NetworkAgent(network(with_prior, **about))
            assert (player.evaluate(decisions_in(games, player))[1] is not None) is tells


def test_version_01_tells_an_outcome_less_what_its_potential_has_paid(games: Games) -> None:
    """With a potential the return lacks what the potential has paid so far, which is put back as
    far as the seat sees it.
    """

    def expected(with_prior: bool, **about: Any) -> tuple[Any, Any]:
        player = NetworkAgent(plain(with_prior, **about))
        decisions = decisions_in(games, player)
        return player.evaluate(decisions)[1], decisions

    assert expected(True)[0] is None, "older files don't tell what they have learned from"
    assert expected(True, reward="points", shaping=0.0)[0] is None
    assert expected(False, reward="outcome", shaping=0.0)[0] is not None
    assert expected(False, reward="outcome", shaping=1.0)[0] is None, (
        "without a view there is nothing to go by"
    )
    value, _ = expected(True, reward="outcome", shaping=0.0)
    outcome, decisions = expected(True, reward="outcome", shaping=0.5)
    chance = win_probabilities_seen(decisions.view)[np.arange(len(value)), decisions.seat]
    assert chance.std() > 0.01
    assert np.abs(value).max() < 1  # nothing was cut off
    players = games.num_players
    assert np.allclose(
        outcome, np.clip(value + 0.5 * (chance - 1 / players) * players / (players - 1), -1, 1)
    )


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_comes_back_from_its_file(
    kind: str, with_prior: bool, tmp_path: Path, games: Games
) -> None:
    before = of_kind(
        kind, with_prior, players="2,3", seed=9, decisions=10**7, reward="outcome", shaping=0.0
    )
    path = tmp_path / "model.npz"
    path.write_bytes(before.to_bytes())
    after = Network.load(path)
    assert type(after) is type(before)
    assert after.about == before.about
    assert sorted(after.weights) == sorted(before.weights)
    for name, array in before.weights.items():
        assert after.weights[name].dtype == np.float32
        assert np.array_equal(after.weights[name], array)
    assert after.to_bytes() == before.to_bytes()
    there, here = NetworkAgent(path), NetworkAgent(before)
    decisions = decisions_in(games, here)
    for loaded, wanted in zip(there.evaluate(decisions), here.evaluate(decisions), strict=True):
        assert loaded is not None
        assert wanted is not None
        assert np.array_equal(loaded, wanted)


@pytest.mark.parametrize("sizes", [Sizes(1, 0, 1), Sizes(3, 4, 2)])
def test_files_tell_the_sizes(sizes: Sizes, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(
        ThingsNetwork(
            {name: np.zeros(shape, np.float32) for name, shape in sizes.shapes().items()}, ABOUT
        ).to_bytes()
    )
    loaded = Network.load(path)
    assert isinstance(loaded, ThingsNetwork)
    assert loaded.sizes == sizes
    with np.load(path) as arrays:
        assert json.loads(str(arrays["about"]))["format"] == FORMAT == "skyenv-network-2"
        assert set(arrays.files) == {"about", *sizes.shapes()}


def test_older_files_play_as_they_did(tmp_path: Path, games: Games) -> None:
    """Their networks know no floor, and have no weights for what is told of the position: it says
    nothing to them.
    """
    made, path = network(True, reward="outcome"), tmp_path / "model.npz"
    path.write_bytes(made.to_bytes())
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files if name != "prior_floor"}
    for group in GROUPS:
        arrays[f"{group.name}.weight"] = arrays[f"{group.name}.weight"][
            :, : group.features - group.told
        ]
    common = len(COMMON_CODES)
    arrays["trunk.weight"] = np.delete(
        arrays["trunk.weight"], np.arange(common - COMMON_TOLD, common), axis=1
    )
    np.savez(path, **arrays)
    loaded = Network.load(path)
    assert loaded.weights["prior_floor"] == -WORST_PRIOR
    assert (
        sum(
            array.size - arrays.get(name, np.zeros(())).size
            for name, array in loaded.weights.items()
        )
        > 1000
    )
    prior = Prior.of(GreedyAgent(), decisions_in(games, NetworkAgent(made)))
    deaf = replace(prior, position=np.zeros_like(prior.position))
    untold = ThingsNetwork(
        {**made.weights, "prior_floor": np.array(-WORST_PRIOR, np.float32)}, made.about
    )
    for told in (deaf, prior):
        for a, b in zip(
            loaded(games.observation, told), untold(games.observation, deaf), strict=True
        ):
            assert np.array_equal(a, b)  # type: ignore[arg-type]


def test_files_of_version_01_have_names_of_their_own(tmp_path: Path) -> None:
    """Whatever the code calls them: those of everybody's files."""
    theirs = {"policy_head": "action", "value_head": "outlook"}
    old = plain(True)
    arrays: dict[str, Any] = {"trust": old.weights["prior_weight"]}
    for name, array in old.weights.items():
        layer, dot, part = name.partition(".")
        if dot:
            arrays[f"{theirs.get(layer, layer)}.{part}"] = array
    told = {
        "format": PLAIN_FORMAT,
        "advisor": "greedy",
        "advisor_version": GreedyAgent.version,
        "version": "3",
    }
    path = tmp_path / "model.npz"
    np.savez(path, about=np.array(json.dumps(told)), **arrays)
    loaded = Network.load(path)
    assert PLAIN_FORMAT == "skyenv-network-1"
    assert loaded.about == {"prior": "greedy", "prior_version": GreedyAgent.version, "version": "3"}
    assert loaded.weights.keys() == old.weights.keys()
    assert all(np.array_equal(loaded.weights[name], array) for name, array in old.weights.items())
    assert NetworkAgent(path).version == f"3+{loaded.digest()}"


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_decides_alone_as_in_a_batch(kind: str, with_prior: bool, games: Games) -> None:
    player = NetworkAgent(of_kind(kind, with_prior, reward="outcome", shaping=0.0))
    together = decide(games, player)
    assert together.tolist() == [decide(games, player, [row])[0] for row in range(games.num_games)]
    backwards = np.arange(games.num_games)[::-1]
    assert decide(games, player, backwards).tolist() == together[::-1].tolist()
    weights, value = player.evaluate(decisions_in(games, player))
    alone, value_alone = player.evaluate(decisions_in(games, player, [5]))
    assert value is not None
    assert value_alone is not None
    assert np.allclose(alone[0], weights[5], atol=1e-12)
    assert value_alone[0] == pytest.approx(value[5], abs=1e-12)


def test_draws_by_its_probabilities_or_takes_the_most_probable(games: Games) -> None:
    drawing, sure = NetworkAgent(network()), NetworkAgent(network(), deterministic=True)
    weights, _ = drawing.evaluate(decisions_in(games, drawing))
    assert decide(games, sure).tolist() == weights.argmax(axis=1).tolist()
    drawn = np.array([decide(games, drawing, salt=salt) for salt in range(400)])
    often = np.array([(drawn == action).mean(axis=0) for action in range(NUM_ACTIONS)]).T
    assert np.abs(often - weights).max() < 0.12
    assert np.array_equal(decide(games, drawing, salt=3), drawn[3])


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (4, "back")])
def test_does_not_see_what_its_seat_cannot_know(
    with_prior: bool, num_players: int, side: str
) -> None:
    games = positions(num_players, side, 60)
    player = NetworkAgent(network(with_prior, reward="outcome"))
    decisions = decisions_in(games, player)
    weights, value = player.evaluate(decisions)
    assert value is not None
    rng = np.random.default_rng(5)
    rows = np.arange(games.num_games)
    for _ in range(3):
        state = games.state.copy()
        for row in rows.tolist():
            deal_anew(state[row], int(games.seat[row]), rng)
        assert (state["hand"] != games.state["hand"]).any()
        other = Decisions(
            decisions.mask,
            decisions.seat,
            num_players,
            decisions.uniform,
            games.observe(games.seat, rows, state),
            view(state, games.seat) if player.uses_view else None,
        )
        outputs = player.evaluate(other)
        assert np.array_equal(outputs[0], weights)
        assert outputs[1] is not None
        assert np.array_equal(outputs[1], value)


# ---- the heuristic prior ----


def test_scores_are_what_the_greedy_agent_acts_by(games: Games) -> None:
    greedy = GreedyAgent()
    decisions = decisions_in(games, greedy)
    scores = np.where(decisions.mask != 0, greedy.scores(decisions), -np.inf)
    rows = np.arange(len(decisions))
    assert scores.shape == (80, NUM_ACTIONS)
    assert np.array_equal(scores[rows, greedy.act(decisions)], scores.max(axis=1))
    assert np.isfinite(scores[decisions.mask != 0]).all()
    assert len(np.unique(scores[decisions.mask != 0])) > 100
    alone = greedy.scores(decisions_in(games, greedy, [7]))
    assert np.array_equal(alone[0][decisions.mask[7] != 0], scores[7][decisions.mask[7] != 0])


def test_a_prior_is_what_actions_fall_behind_the_best(games: Games) -> None:
    greedy = GreedyAgent()
    decisions = decisions_in(games, greedy)
    scores, prior = greedy.scores(decisions), prior_scores(greedy, decisions)
    assert prior.dtype == np.float32
    assert (prior[decisions.mask == 0] == 0).all()
    for row in range(len(decisions)):
        legal = np.flatnonzero(decisions.mask[row])
        best = scores[row, legal].max()
        assert prior[row, legal] == pytest.approx(
            np.maximum(scores[row, legal] - best, -WORST_PRIOR)
        )
        assert prior[row, greedy.act(decisions)[row]] == 0
    assert prior.min() == -WORST_PRIOR
    assert (prior <= 0).all()


def test_a_prior_tells_the_outcome_to_expect_by_what_seats_have(games: Games) -> None:
    decisions = decisions_in(games, GreedyAgent())
    prior = Prior.of(GreedyAgent(), decisions)
    chance = win_probabilities_seen(np.asarray(decisions.view))[
        np.arange(len(decisions)), decisions.seat
    ]
    assert np.array_equal(prior.scores, prior_scores(GreedyAgent(), decisions))
    assert np.array_equal(prior.outcome, outcome_of(chance, 3))
    assert prior.outcome.min() < 0 < prior.outcome.max()
    with pytest.raises(OptionError):  # what others hand over is looked at first
        Prior.of(GreedyAgent(), replace(decisions, trusted=False, seat=decisions.seat + 9))


def test_what_has_learned_nothing_plays_its_prior(games: Games) -> None:
    """Probabilities by the scores, times their weight; and the outcome as the prior tells it."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in SIZES.shapes().items()}
    about = {**WITH_PRIOR, "reward": "outcome"}
    of_prior = {
        "prior_weight": np.array(1.5, np.float32),
        "prior_floor": np.array(-WORST_PRIOR, np.float32),
    }
    player = NetworkAgent(ThingsNetwork({**weights, **of_prior}, about))
    decisions = decisions_in(games, player)
    legal = decisions.mask != 0
    prior = Prior.of(GreedyAgent(), decisions)
    wanted = np.where(legal, np.exp(1.5 * prior.scores.astype(np.float64)), 0.0)
    given, outcome = player.evaluate(decisions)
    assert np.allclose(given, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-3)
    assert outcome is not None
    assert np.abs(outcome - prior.outcome).max() <= 0.5 / OUTCOME_PARTS + 1e-12


def test_a_prior_is_seen_in_parts(games: Games) -> None:
    """As in training: what is nearer than half a part makes no difference, the next part does."""
    player = network(True, reward="outcome")
    exact = Prior.of(GreedyAgent(), decisions_in(games, NetworkAgent(player)))
    told = Prior(
        (np.rint(exact.scores.astype(np.float64) * PRIOR_PARTS) / PRIOR_PARTS).astype(np.float32),
        np.rint(exact.outcome * OUTCOME_PARTS) / OUTCOME_PARTS,
        (np.rint(exact.position * POSITION_PARTS) / POSITION_PARTS).astype(np.float32),
    )
    assert (told.position != exact.position).any()
    assert (told.scores != exact.scores).any()
    assert (told.outcome != exact.outcome).any()
    for a, b in zip(player(games.observation, exact), player(games.observation, told), strict=True):
        assert np.array_equal(a, b)  # type: ignore[arg-type]
    more = replace(told, outcome=told.outcome + 1 / OUTCOME_PARTS)
    assert not np.array_equal(
        player(games.observation, more)[1],  # type: ignore[arg-type]
        player(games.observation, told)[1],  # type: ignore[arg-type]
    )
    lower = replace(told, scores=told.scores - np.float32(1 / PRIOR_PARTS))
    further = replace(told, position=told.position + np.float32(1 / POSITION_PARTS))
    for other in (lower, further):
        assert not np.array_equal(
            player(games.observation, other)[0], player(games.observation, told)[0]
        )


def test_heuristics_by_name() -> None:
    assert heuristic_of("") is None
    assert isinstance(heuristic_of("greedy"), GreedyAgent)
    with pytest.raises(
        OptionError, match="prior must be one of greedy, appraiser, or nothing, not 'oracle'"
    ):
        heuristic_of("oracle")


# ---- names ----


def test_networks_that_say_the_same_of_themselves_have_other_versions() -> None:
    """Whatever they differ in; the same network has the same one, in another process as well."""
    one = network()
    weights = {name: array.copy() for name, array in one.weights.items()}
    first = next(iter(weights))
    weights[first].flat[0] += 1
    others = [
        type(one)(weights, one.about),
        type(one)(one.weights, {**one.about, "reward": "other"}),
    ]
    versions = [NetworkAgent(each).version for each in (one, *others)]
    assert len(set(versions)) == 3
    assert NetworkAgent(pickle.loads(pickle.dumps(one))).version == versions[0]


def test_names_and_flags(file: Path) -> None:
    for spec in (str(file), file):
        player = make_agent(spec)
        assert isinstance(player, NetworkAgent)
        version = f"7+{player.network.digest()}"
        assert (player.name, player.version, player.description) == ("first", version, "for tests")
        assert (player.uses_observation, player.uses_view, player.deterministic) == (
            True,
            False,
            False,
        )
    sure = make_agent(file, deterministic=True)
    assert isinstance(sure, NetworkAgent)
    assert sure.deterministic
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


def written(path: Path, kind: str = "things", **arrays: Any) -> Path:
    """A file with these arrays instead of a network's own; None leaves one out."""
    with np.load(io.BytesIO(of_kind(kind).to_bytes())) as own:
        content: dict[str, Any] = dict(own)
    content |= {name.replace("__", "."): array for name, array in arrays.items()}
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in content.items() if array is not None})
    path.write_bytes(file.getvalue())
    return path


def about(**changes: Any) -> np.ndarray:
    return np.array(json.dumps({"format": FORMAT, "prior": "", "prior_version": "", **changes}))


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


def test_missing_files(tmp_path: Path) -> None:
    assert "there is no network file" in refused(tmp_path / "model.npz")
    (tmp_path / "folder.npz").mkdir()
    assert "has no model.npz" in refused(tmp_path / "folder.npz")


def test_a_file_that_unpacks_to_more_than_a_network_is_refused_unread(tmp_path: Path) -> None:
    """Two gigabytes of zeros fit in two megabytes."""
    path = tmp_path / "model.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("trunk.weight.npy", "w") as member,
    ):
        member.write(npy(np.zeros((1, 1), np.float32))[:-4])
        for _ in range(300):
            member.write(bytes(1 << 20))
    assert path.stat().st_size < 500_000
    tracemalloc.start()
    assert "holds 315 MB; no network has more than 134 MB" in refused(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert "holds 1074 MB" in refused(path)


SHAPES = SIZES.shapes()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"about": None}, "damaged or no network file"),
        ({"about": np.array("{")}, "damaged or no network file"),
        ({"about": np.array("[]")}, "damaged or no network file"),
        ({"about": np.array('"x"')}, "damaged or no network file"),
        ({"about": np.array("{}")}, "damaged or no network file"),
        (
            {"about": about(format="skyenv-network-3")},
            "has the format 'skyenv-network-3'; this version reads skyenv-network-2 and "
            "skyenv-network-1",
        ),
        ({"about": about(format=["skyenv-network-2"])}, "has the format"),
        ({"about": about(format=PLAIN_FORMAT)}, "the network was trained for inputs of length "),
        ({"trunk__bias": None}, "lacks or has misshapen weights"),
        ({"district__bias": None}, "lacks or has misshapen weights"),
        ({"district__bias": np.array(0, np.float32)}, "lacks or has misshapen weights"),
        ({"trunk__weight": None}, "trunk.weight has shape None, not (12, "),
        (
            {"trunk__weight": np.zeros((12, 2, 2), np.float32)},
            "trunk.weight has shape (12, 2, 2), not (12, ",
        ),
        (
            {"trunk__weight": np.zeros((12, 10), np.float32)},
            "trunk.weight has shape (12, 10), not (12, ",
        ),
        ({"trunk__bias": np.zeros(13, np.float32)}, "shape (12, "),
        ({"block0__in__bias": None}, "weights that no network has: ['block1."),
        ({"block1__in__weight": None}, "block1.in.weight has shape None, not (12, 12)"),
        (
            {"district__weight": np.zeros((5, 6), np.float32)},
            f"district.weight has shape (5, 6), not {SHAPES['district.weight']}",
        ),
        (
            {"colour__identity": np.zeros((4, 5), np.float32)},
            "colour.identity has shape (4, 5), not (5, 5)",
        ),
        (
            {"outlook__bias": np.zeros((1, 1), np.float32)},
            "outlook.bias has shape (1, 1), not (2,)",
        ),
        ({"prior_weight": None}, "prior_weight has shape None, not ()"),
        ({"actions__bias": np.full(20, np.nan, np.float32)}, "not finite"),
        ({"prior_weight": np.array(np.inf, np.float32)}, "not finite"),
        ({"prior_weight": np.array("much")}, "prior_weight has type <U4, not float32"),
        ({"prior_weight": np.array(1j)}, "prior_weight has type complex128, not float32"),
        ({"prior_weight": np.array([None], object)}, "damaged or no network file"),
        (
            {"extra__weight": np.zeros((2, 2), np.float32)},
            "weights that no network has: ['extra.weight']",
        ),
    ],
)
def test_files_with_something_else(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message in refused(written(tmp_path / "model.npz", **arrays))


WIDE = OBSERVATION_SIZE + NUM_ACTIONS


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"about": about()}, "lacks or has misshapen weights"),
        ({"trunk__weight": None}, "lacks or has misshapen weights"),
        ({"policy__bias": None}, "lacks or has misshapen weights"),
        ({"value__bias": np.array(0, np.float32)}, "lacks or has misshapen weights"),
        ({"trunk__weight": np.zeros((12, 2, 2), np.float32)}, "lacks or has misshapen weights"),
        (
            {"trunk__weight": np.zeros((12, 10), np.float32)},
            f"trained for inputs of length 10; they have {OBSERVATION_SIZE} now",
        ),
        (
            {"about": about(format=PLAIN_FORMAT, prior="greedy", prior_version="1")},
            f"inputs of length {OBSERVATION_SIZE}; they have {WIDE} now",
        ),
        ({"trunk__bias": np.zeros(13, np.float32)}, r"trunk.bias has shape (13,), not (12,)"),
        (
            {"policy_head__weight": np.zeros((5, 6), np.float32)},
            r"policy_head.weight has shape (5, 6), not (103, 6)",
        ),
        ({"value_head__bias": np.full(1, np.nan, np.float32)}, "not finite"),
        (
            {"extra__weight": np.zeros((2, 2), np.float32)},
            "weights that no network has: ['extra.weight']",
        ),
    ],
)
def test_files_of_version_01_with_something_else(
    arrays: dict[str, Any], message: str, tmp_path: Path
) -> None:
    assert message in refused(written(tmp_path / "model.npz", "plain", **arrays))


def test_the_file_written_by_hand_is_all_right_otherwise(tmp_path: Path) -> None:
    for kind in KINDS:
        assert make_agent(written(tmp_path / "model.npz", kind)).version.startswith("7+")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prior": "oracle"}, "prior must be one of greedy, appraiser, or nothing, not 'oracle'"),
        ({"prior": ["greedy"]}, "prior must be one of greedy"),
        (
            {"prior_version": "0"},
            f"trained with version 0 of greedy, which is {GreedyAgent.version} now",
        ),
        ({"prior_version": None}, "trained with version None of greedy"),
    ],
)
def test_heuristics_that_are_not_there(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(network(True, **changes).to_bytes())
    assert message in refused(path)
    with pytest.raises(CheckpointError, match="greedy"):
        NetworkAgent(network(True, **changes))


def test_truncated_anywhere(file: Path) -> None:
    whole = file.read_bytes()
    for length in sorted(
        {*range(0, len(whole), len(whole) // 60), len(whole) - 1, len(whole) - 2, len(whole) - 30}
    ):
        file.write_bytes(whole[:length])
        assert "damaged or no network file" in refused(file)


def test_damaged_anywhere(file: Path) -> None:
    """A flipped bit is noticed, or it changed nothing that is read (zip files hold much twice)."""
    whole = file.read_bytes()
    same = Network.load(file)
    rng = np.random.default_rng(1)
    noticed = 0
    for position in rng.integers(0, len(whole), 150).tolist():
        data = bytearray(whole)
        data[position] ^= 1 << int(rng.integers(8))
        file.write_bytes(bytes(data))
        try:
            loaded = Network.load(file)
        except CheckpointError:
            noticed += 1
        else:
            assert loaded.about == same.about
            assert all(
                np.array_equal(loaded.weights[name], array) for name, array in same.weights.items()
            )
    assert noticed > 120


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: b"\0" + data], ids=["shorter", "shifted"]
)
def test_nearly_whole(change: Callable[[bytes], bytes], file: Path) -> None:
    """What zip readers may forgive still plays the same network, or is refused."""
    whole, same = file.read_bytes(), Network.load(file)
    file.write_bytes(change(whole))
    try:
        loaded = Network.load(file)
    except CheckpointError:
        return
    assert all(np.array_equal(loaded.weights[name], array) for name, array in same.weights.items())


def test_half_precision_is_read(tmp_path: Path) -> None:
    halved: dict[str, Any] = {
        name.replace(".", "__"): array.astype(np.float16)
        for name, array in network().weights.items()
    }
    loaded = Network.load(written(tmp_path / "model.npz", **halved))
    for name, array in network().weights.items():
        assert np.array_equal(loaded.weights[name], array.astype(np.float16).astype(np.float32))
