"""Options of a training, and what derives from them."""

from pathlib import Path
from typing import Any

import pytest
import torch

from experiments.training import config, train
from experiments.training.config import SEEDS_APART, Config
from experiments.training.train import Training
from skyenv.console.options import Help, parse
from skyenv.errors import CheckpointError, OptionError
from skyenv.seeds import TRAINING
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.prior import WORST_PRIOR
from skyenv_agents.learned.torch_network import PolicyNetwork
from trainings import begun, part_of, tiny


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("run", [""]),
        ("players", ["", "5", "2,2", "two"]),
        ("side", ["", "top", "front,front"]),
        ("decisions", [-1]),
        ("seed", [2**32]),
        ("checkpoint_seconds", [float("nan")]),
        ("against", ["", "nobody", "nowhere:Agent"]),
        ("ray", ["auto"]),  # with a single process
        ("task", ["chess", "three-3"]),  # the latter has three seats
        ("games", [0]),
        ("certain_fraction", [0.0, 1.1]),
        ("gamma", [0.0, 1.5]),
        ("target_kl", [0.0]),
        ("max_grad_norm", [0.0, float("inf")]),
        ("entity_dim", [0]),
        ("prior", ["random"]),
        ("prior_floor", [-0.1, WORST_PRIOR + 0.1]),
        ("fixed_opponents", ["nobody", "random,random", ","]),
        ("precision", ["float16"]),
    ],
)
def test_invalid_values_are_named(name: str, values: list[Any]) -> None:
    tiny().check()
    for value in values:
        with pytest.raises(OptionError, match=name) as caught:
            tiny(**{"paired_seeds": 1, name: value}).check()
        assert "\n" not in str(caught.value)


def test_incompatible_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "past-3" / "model.npz"
    path.parent.mkdir()
    path.write_bytes(PolicyNetwork(Sizes(4, 1, 2), 0.0).frozen({}).to_bytes())
    start = tmp_path / "start.npz"
    start.write_bytes(tiny().make_network().frozen({"prior": ""}).to_bytes())
    several: dict[str, Any] = {"players": "2,3", "side": "front,back"}
    for name, changes in (
        ("games must be at least 4", {**several, "games": 3}),
        ("games must be at least 12", {**several, "games": 11, "processes": 4}),
        ("opponent_share", {"fixed_opponents": "", "past_policies": 0}),
        ("fixed_opponents", {"fixed_opponents": f"random,{path}"}),
        ("start", {"start": str(start), "hidden": 24}),
        ("start", {"start": str(start), "entity_dim": 5}),
        ("start", {"start": str(start), "prior": "greedy"}),
    ):
        with pytest.raises(OptionError, match=name):
            tiny(**changes).check()
    tiny(**several, games=12, processes=4).check()
    for option in ("fixed_opponents", "start"):
        with pytest.raises(CheckpointError, match="there is no network file"):
            tiny(**{option: str(tmp_path / "model.npz")}).check()
    Config().check()


RECIPES = sorted((Path(config.__file__).parent / "recipes").glob("*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=[path.stem for path in RECIPES])
def test_recipes_are_valid_and_take_at_most_an_hour(path: Path) -> None:
    options = parse(Config, "train", Help("Train."), ["--config", str(path)])
    options.check()
    assert 0 < options.minutes <= 60
    assert not {"bidder", "builder"} & set(options.fixed_opponents)  # they anchor the ladder


@pytest.mark.parametrize("processes", range(1, 6))
@pytest.mark.parametrize("seed", [0, 2**32 - 1])
def test_games_are_divided_among_processes(seed: int, processes: int) -> None:
    """Each part has tables of every kind, with disjoint seeds."""
    options = tiny(players="2,3", side="front,back", games=43, processes=processes, seed=seed)
    parts = [options.games_of(part) for part in range(options.parts)]
    sizes = [[number for number, *_ in part] for part in parts]
    assert [sum(kind) for kind in zip(*sizes, strict=True)] == [11, 11, 11, 10]
    assert min(map(min, sizes)) > 0
    assert len(parts) == max(processes - 1, 1)
    assert [(game.num_players, game.side) for _, game, _ in parts[0]] == options.tables
    firsts = {first for part in parts for *_, first in part}
    assert all(first in TRAINING for first in firsts)
    assert len({first // SEEDS_APART for first in firsts}) == 4 * len(parts)


def test_processes_have_independent_random_numbers() -> None:
    one, other = (part_of(part, processes=3, games=200, opponent_share=0.5) for part in range(2))
    assert one.tables[0].seats.tolist() != other.tables[0].seats.tolist()
    numbers = [torch.rand(3, generator=each.generator).tolist() for each in (one, other)]
    assert numbers[0] != numbers[1]


def test_initial_weights_depend_only_on_the_seed() -> None:
    made = [tiny(seed=seed).make_network().frozen({}).to_bytes() for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


def test_the_weight_of_a_prior_is_kept_unless_options_change_it(
    tmp_path: Path,
) -> None:
    network = tiny(prior="greedy", prior_weight=7.5, prior_floor=0.75).make_network()
    path = tmp_path / "model.npz"
    path.write_bytes(network.frozen({"prior": "greedy"}).to_bytes())
    cases: tuple[tuple[dict[str, Any], tuple[float, float]], ...] = (
        ({}, (7.5, -0.75)),
        ({"prior_weight": 2.0}, (2.0, -0.75)),
        ({"prior_floor": 0.25}, (7.5, -0.25)),
    )
    for changes, wanted in cases:
        network = tiny(prior="greedy", start=str(path), **changes).make_network()
        assert (network.rest["prior_weight"].item(), network.rest["prior_floor"].item()) == wanted


# ---- precision ----


def test_an_automatic_precision_is_kept_on_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "prefers_bfloat16", lambda: True)
    training = begun(tiny(tmp_path, precision="auto"))
    assert training.config.precision == "bfloat16"
    training.save()
    monkeypatch.setattr(train, "prefers_bfloat16", lambda: False)  # on another machine
    again = Training(tiny(tmp_path, precision="auto"))
    again.load()
    assert again.config.precision == "bfloat16"
    with pytest.raises(CheckpointError, match="precision"):
        Training(tiny(tmp_path, precision="float32")).load()
    assert begun(tiny(precision="auto")).config.precision == "float32"
