"""Agents of network files."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyenv.agents import make_agent
from skyenv.errors import CheckpointError
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import FORMAT, Network, NetworkAgent

ABOUT = {"prior": "", "prior_version": "", "description": "for tests", "version": "7"}
WITH_PRIOR = {**ABOUT, "prior": "greedy", "prior_version": GreedyAgent.version}
SIZES = Sizes(12, 2, 5)


def network(with_prior: bool = False, **about: Any) -> Network:
    """A network with random weights."""
    rng = np.random.default_rng(4)
    weights = {
        name: np.asarray(rng.normal(size=shape), np.float32)
        for name, shape in SIZES.shapes().items()
    }
    return Network(weights, {**(WITH_PRIOR if with_prior else ABOUT), **about})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A network file."""
    (tmp_path / "first").mkdir()
    path = tmp_path / "first" / "model.npz"
    path.write_bytes(network().to_bytes())
    return path


def test_networks_are_restored_from_files(tmp_path: Path) -> None:
    before = network(True, players="2,3", seed=9, decisions=10**7, reward="outcome")
    path = tmp_path / "model.npz"
    path.write_bytes(before.to_bytes())
    after = Network.load(path)
    assert (after.about, after.sizes, after.digest()) == (before.about, SIZES, before.digest())
    assert after.to_bytes() == before.to_bytes()
    rounded = before.rounded()
    path.write_bytes(rounded.to_bytes(np.float16))
    for name, array in Network.load(path).weights.items():
        wanted = before.weights[name].astype(np.float16).astype(np.float32)
        assert np.array_equal(array, wanted)
        assert np.array_equal(rounded.weights[name], wanted)
    large = {**before.weights, "prior_weight": np.array(7e4, np.float32)}
    with pytest.raises(CheckpointError, match="weight of 70000"):
        Network(large, ABOUT).rounded()


def test_network_agents_have_names_versions_and_flags(file: Path) -> None:
    """Networks with equal descriptions have different versions."""
    one = network()
    for deterministic in (False, True):
        player = make_agent(str(file), deterministic=deterministic)
        assert isinstance(player, NetworkAgent)
        version = f"7+{one.digest()}"
        assert (player.name, player.version, player.description) == ("first", version, "for tests")
        assert (player.uses_observation, player.uses_view) == (True, False)
        assert player.deterministic == deterministic
    assert make_agent(file.rename(file.with_name("best.npz"))).name == "best"
    assert NetworkAgent(one).name == "network"
    named = NetworkAgent(network(True), name="self-3")
    assert (named.name, named.uses_view) == ("self-3", True)
    weights = {**one.weights, "trunk.bias": one.weights["trunk.bias"] + 1}
    others = [Network(weights, one.about), network(reward="other")]
    assert len({NetworkAgent(each).version for each in (one, *others)}) == 3


def refused(path: Path) -> str:
    """The one line that says why a file can't be used; it names the file."""
    with pytest.raises(CheckpointError) as caught:
        make_agent(path)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    assert len(message) < 400
    return message


def saved(save: Any, *arrays: Any, **named: Any) -> bytes:
    """What NumPy writes."""
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def about(**changes: Any) -> np.ndarray:
    return np.array(json.dumps({"format": FORMAT, **ABOUT, **changes}))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no network",
        b"PK\x03\x04",
        b"PK\x05\x06" + bytes(18),
        saved(np.save, np.zeros(3)),
        saved(np.save, np.array([{}], object)),
    ],
    ids=["empty", "text", "zip's first bytes", "empty zip", "array", "pickle"],
)
def test_foreign_and_damaged_files_are_refused(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    assert "damaged or not a network file" in refused(file)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"about": None}, "damaged or not a network file"),
        *(
            ({"about": np.array(text)}, "damaged or not a network file")
            for text in ("{", "[]", '"x"', "{}")
        ),
        ({"about": about(format="skyenv-network-1")}, "has format 'skyenv-network-1'"),
        ({"about": about(format=["skyenv-network-2"])}, "has format"),
        ({"about": about(prior="oracle")}, "prior must be one of greedy, appraiser"),
        ({"about": about(prior=["greedy"])}, "prior must be one of greedy, appraiser"),
        ({"about": about(prior="greedy", prior_version="0")}, "version 0 of greedy"),
        ({"about": about(prior="greedy", prior_version=None)}, "version None of greedy"),
        ({"trunk.bias": None}, "misshapen"),
        ({"district.bias": np.array(0, np.float32)}, "misshapen"),
        ({"trunk.weight": None}, "'trunk.weight' has shape None"),
        ({"trunk.weight": np.zeros((12, 10), np.float32)}, "'trunk.weight' has shape (12, 10)"),
        ({"block0.in.bias": None}, "'block0.in.bias' has shape None"),
        ({"prior_weight": None}, "'prior_weight' has shape None"),
        ({"actions.bias": np.full(20, np.nan, np.float32)}, "not finite"),
        ({"prior_weight": np.array("much")}, "prior_weight has type <U4"),
        ({"prior_weight": np.array([None], object)}, "damaged or not a network file"),
        (
            {"extra.weight": np.zeros((2, 2), np.float32)},
            "'extra.weight' has shape (2, 2)",
        ),
    ],
)
def test_files_with_other_arrays_are_refused(
    changes: dict[str, Any], message: str, file: Path
) -> None:
    """Instead of a network's own arrays; None leaves one out."""
    with np.load(file) as own:
        content = {**own, **changes}
    kept = {name: array for name, array in content.items() if array is not None}
    file.write_bytes(saved(np.savez, **kept))
    assert message in refused(file)


def test_zip_bombs_are_refused_unread(file: Path) -> None:
    """A gigabyte of zeros fits in a megabyte."""
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("trunk.weight.npy", "w") as member,
    ):
        for _ in range(130):
            member.write(bytes(1 << 20))
    tracemalloc.start()
    assert "unpacks to 136 MB" in refused(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000
