"""What a training is asked for, and what is made of that."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from trainings import begun, tiny

from experiments.training import recipe
from experiments.training.network import PolicyNetwork
from experiments.training.recipe import SEEDS_APART, Config
from experiments.training.train import Training
from skyenv.errors import CheckpointError, OptionError
from skyenv.options import parse
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import WORST_PRIOR

# ---- options ----


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("run", [""]),
        ("players", ["", "5", "2,2", "2;3", "two"]),
        ("side", ["", "top", "front,front"]),
        ("minutes", [-1.0, float("nan"), float("inf")]),
        ("decisions", [-1]),
        ("seed", [-1, 2**32]),
        ("max_turns", [0]),
        ("checkpoint_seconds", [-1.0, float("nan")]),
        ("milestone_minutes", [-1.0, float("nan")]),
        ("paired_seeds", [-1]),
        ("against", ["", "nobody", "random,", "nowhere:Agent"]),
        ("threads", [0, 1025]),
        ("ray", ["auto"]),  # with a single process
        ("reward", ["fame"]),
        ("games", [0]),
        ("steps", [0]),
        ("batch", [0]),
        ("sure_share", [0.0, 1.1, float("nan")]),
        ("epochs", [0]),
        ("learning_rate", [0.0, 2.0, float("nan")]),
        ("final_rate", [-0.1, 1.1]),
        ("gamma", [0.0, 1.5]),
        ("gae_lambda", [-0.1, 1.5]),
        ("clip", [0.0, 1.5]),
        ("max_change", [0.0, float("nan")]),
        ("entropy", [-0.1]),
        ("final_entropy", [-0.1, 1.1]),
        ("value_weight", [-0.1]),
        ("max_gradient", [0.0, float("inf")]),
        ("averaging", [-0.1, 1.1]),
        ("margin_weight", [-0.1, float("nan")]),
        ("hidden", [0]),
        ("blocks", [-1]),
        ("thing", [0]),
        ("prior", ["random"]),
        ("prior_weight", [-0.1, float("inf")]),
        ("prior_floor", [-0.1, WORST_PRIOR + 0.1]),
        ("final_prior", [-0.1, 1.1]),
        ("value_updates", [-1]),
        ("warm_up", [-1]),
        ("opponent_share", [-0.1, 1.1]),
        ("mixed_share", [-0.1, 1.1]),
        ("fixed_opponents", ["nobody", "random,", "random,random", ",", "nowhere:Agent"]),
        ("fixed_share", [-0.1, 1.1]),
        ("sampling", ["best"]),
        ("past_policies", [-1]),
        ("snapshot", [0]),
        ("device", ["tpu", ""]),
        ("precision", ["float16", ""]),
        ("processes", [0, 1025]),
    ],
)
def test_bad_values_are_named(name: str, values: list[Any]) -> None:
    tiny().check()
    for value in values:
        with pytest.raises(OptionError, match=name) as caught:
            tiny(**{"paired_seeds": 1, name: value}).check()
        assert "\n" not in str(caught.value)


def test_the_list_of_bad_values_is_complete() -> None:
    """Every option has a line in the test above."""
    marks: list[Any] = test_bad_values_are_named.pytestmark
    assert {name for name, _ in marks[0].args[1]} == {field.name for field in fields(Config)} - {
        "start",
        "beside",
        "resume",
    }


def test_options_that_do_not_fit_together(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="games must be at least 4"):
        tiny(players="2,3", side="front,back", games=3).check()
    with pytest.raises(
        OptionError,
        match="games must be at least 12, one for each kind of table in each process that plays",
    ):
        tiny(players="2,3", side="front,back", games=11, processes=4).check()
    tiny(players="2,3", side="front,back", games=12, processes=4).check()
    with pytest.raises(
        OptionError, match="games must be at least 8, "
    ):  # of two processes both play
        tiny(players="2,3", side="front,back", games=7, processes=2).check()
    tiny(players="2,3", side="front,back", games=8, processes=2).check()
    with pytest.raises(
        OptionError, match="opponent_share above 0 needs fixed_opponents or past_policies"
    ):
        tiny(fixed_opponents="", past_policies=0).check()
    path = tmp_path / "past-3" / "model.npz"
    path.parent.mkdir()
    path.write_bytes(PolicyNetwork(Sizes(4, 1, 2), 0.0).frozen({}).to_bytes())
    with pytest.raises(OptionError, match="fixed_opponents must not be called past-"):
        tiny(fixed_opponents=f"random,{path}").check()
    with pytest.raises(CheckpointError, match="there is no network file"):
        tiny(fixed_opponents=str(tmp_path / "model.npz")).check()
    Config().check()


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(OptionError, match="device cuda is not available"):
        tiny(device="cuda").check()
    training = Training(tiny(device="auto"))
    training._prepare()
    assert training.device == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    tiny(device="cuda").check()
    for name, kind in (("cuda", "cuda"), ("auto", "cuda"), ("cpu", "cpu")):
        training = Training(tiny(device=name))
        training._prepare()
        assert training.device.type == kind


RECIPES = sorted((Path(recipe.__file__).parent / "recipes").glob("*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=[path.stem for path in RECIPES])
def test_recipes_are_of_an_hour_at_most_and_can_be_followed(path: Path) -> None:
    config = parse(Config, "train", "Train.", ["--config", str(path)])
    config.check()
    assert 0 < config.minutes <= 60
    assert not {"bidder", "builder"} & set(
        config.fixed_opponents
    )  # the ladder's scale is held by them


# ---- who plays ----


def test_games_are_shared_out_among_processes() -> None:
    config = tiny(players="2,3", side="front,back", games=43, processes=4)
    assert config.parts == 3
    collectors = [config.make_collector(part) for part in range(3)]
    sizes = [[tables.games.num_games for tables in collector.tables] for collector in collectors]
    assert sizes == [[4, 4, 4, 4], [4, 4, 4, 3], [3, 3, 3, 3]]
    assert [config.games_of(part) for part in range(3)] == [16, 15, 12]
    kinds = [(tables.games.num_players, tables.games.side) for tables in collectors[0].tables]
    assert kinds == [(2, "front"), (2, "back"), (3, "front"), (3, "back")]
    assert [tiny(processes=processes).parts for processes in (1, 2, 3, 4)] == [1, 2, 2, 3]
    assert tiny(games=7).games_of(0) == 7


@pytest.mark.parametrize("processes", range(1, 6))
def test_no_game_is_lost_when_they_are_shared_out(processes: int) -> None:
    """And each process that plays has one of every kind, however few they are."""
    config = tiny(players="2,3", processes=processes)
    for number in range(config.parts, 60):
        shares = config.split(number)
        assert (len(shares), sum(shares)) == (config.parts, number)
        assert min(shares) > 0
        assert processes == 2 or max(shares) - min(shares) <= 1


def test_with_one_other_process_the_learner_plays_a_small_part_of_every_kind() -> None:
    config = tiny(players="2,3", games=4 * Config.LEARNERS_PART + 2, processes=2)
    sizes = [
        [tables.games.num_games for tables in config.make_collector(part).tables]
        for part in range(2)
    ]
    assert sizes == [[2 * Config.LEARNERS_PART - 1] * 2, [2] * 2]
    assert [config.games_of(part) for part in range(2)] == [4 * Config.LEARNERS_PART - 2, 4]


@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("seed", [0, 3, 2**32 - 1])
def test_no_two_tables_play_the_same_games(seed: int, processes: int) -> None:
    """Of whatever kind, process and neighbouring seed; also for the highest one."""
    first: list[int] = []
    for each in {seed, max(seed - 1, 0)}:
        config = tiny(seed=each, players="2,3,4", side="front,back", processes=processes, games=18)
        for part in range(config.parts):
            first += [
                int(tables.games.seeds[0]) // SEEDS_APART
                for tables in config.make_collector(part).tables
            ]
    assert len(set(first)) == len(first)


def test_parts_draw_on_their_own() -> None:
    config = tiny(processes=3, games=200, opponent_share=0.5)
    one, other = (config.make_collector(part) for part in range(2))
    assert one.tables[0].seats.tolist() != other.tables[0].seats.tolist()
    assert (
        torch.rand(3, generator=one.generator).tolist()
        != torch.rand(3, generator=other.generator).tolist()
    )


# ---- the network ----


def test_a_network_begins_by_its_seed_alone() -> None:
    """And PyTorch's own generator is left as it was."""
    torch.manual_seed(9)
    wanted = torch.rand(3)
    made = []
    for seed in (1, 1, 2):
        torch.manual_seed(9)
        network = tiny(seed=seed, hidden=10, blocks=2, thing=3).make_network()
        assert torch.equal(torch.rand(3), wanted)
        assert network.sizes == Sizes(10, 2, 3)
        made.append([parameter.detach().numpy().tobytes() for parameter in network.parameters()])
    assert made[0] == made[1] != made[2]


def test_the_prior_weighs_what_the_option_says() -> None:
    assert tiny(prior="greedy", prior_weight=4.5).make_network().rest["prior_weight"].item() == 4.5
    assert tiny(prior_weight=4.5).make_network().rest["prior_weight"].item() == 0


def test_the_prior_excludes_no_more_than_the_option_says() -> None:
    assert tiny(prior="greedy", prior_floor=0.75).make_network().rest["prior_floor"].item() == -0.75
    assert tiny(prior="greedy").make_network().rest["prior_floor"].item() == -WORST_PRIOR


def test_a_prior_that_is_started_from_counts_as_it_did_unless_the_options_say_otherwise(
    tmp_path: Path,
) -> None:
    training = begun(tiny(prior="greedy", prior_weight=7.5, prior_floor=0.75))
    path = tmp_path / "model.npz"
    path.write_bytes(training.model())
    cases: tuple[tuple[dict[str, Any], tuple[float, float]], ...] = (
        ({}, (7.5, -0.75)),
        ({"prior_weight": 2.0}, (2.0, -0.75)),
        ({"prior_floor": 0.25}, (7.5, -0.25)),
    )
    for changes, wanted in cases:
        network = tiny(prior="greedy", start=str(path), **changes).make_network()
        assert (network.rest["prior_weight"].item(), network.rest["prior_floor"].item()) == wanted


def test_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tiny(precision="bfloat16").is_bfloat16("cpu")
    assert not tiny(precision="float32").is_bfloat16("cuda")
    abilities: list[dict[str, bool]] = [
        {},
        {"avx512_bf16": True},
        {"amx_bf16": True},
        {"avx512_bf16": False, "avx2": True},
    ]
    for able in abilities:
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda able=able: able)
        assert tiny(precision="auto").is_bfloat16("cpu") is any(
            able.get(name, False) for name in ("avx512_bf16", "amx_bf16")
        )
    for supported in (False, True):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda supported=supported: supported)
        assert tiny(precision="auto").is_bfloat16("cuda") is supported


# ---- starting from a network ----


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden": 24}, r"has Sizes\(trunk=8, .*; the options make it Sizes\(trunk=24, "),
        ({"blocks": 3}, "blocks=3"),
        ({"thing": 5}, "thing=5"),
        ({"prior": "greedy"}, "was trained with the prior '', not 'greedy'"),
    ],
)
def test_what_cannot_be_started_from(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(begun(tiny()).model())
    with pytest.raises(OptionError, match=message):
        begun(tiny(start=str(path), **changes))
    with pytest.raises(CheckpointError, match="there is no network file"):
        begun(tiny(start=str(tmp_path / "nothing.npz")))
