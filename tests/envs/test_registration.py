"""The environments' ids, known as soon as skyenv is imported."""

import importlib
import os
import sys
from pathlib import Path

import pettingzoo
import pytest

from processes import printed

ORDERS = {
    "after skyenv": ["skyenv", "skyenv.envs", "gymnasium", "pettingzoo"],
    "before skyenv": ["gymnasium", "pettingzoo", "skyenv", "skyenv.envs"],
    "ids with a module alone": [],
}
IN_ORDER = """
import importlib.util, sys
heavy = {"gymnasium", "pettingzoo", "torch", "stable_baselines3", "matplotlib", "pyspiel"}
heavy |= {"open_spiel", "skyenv_agents", "experiments"}
for name in sys.argv[1:]:
    importlib.util.find_spec(name)
    before = heavy & set(sys.modules)
    importlib.import_module(name)
    assert "skyenv" not in name or heavy & set(sys.modules) == before
import gymnasium, pettingzoo
module = "" if sys.argv[1:] else "skyenv.envs:"
for name in ("FifthAvenue-v0", "FifthAvenueUnmasked-v0"):
    env = gymnasium.make(f"{module}skyenv/{name}", num_players=3).unwrapped
    print(type(env).__name__, env.core.illegal)
if not hasattr(pettingzoo, "make"):  # before PettingZoo 1.27
    sys.exit()
env = pettingzoo.make("aec", "skyenv/fifth_avenue_v0", num_players=3)
print(env, *env.possible_agents)
print(*pettingzoo.make("parallel", "skyenv/fifth_avenue_v0").possible_agents)
print(pettingzoo.make("parallel", "skyenv/three_3_v0").unwrapped.games.options.task)
"""


@pytest.mark.parametrize("order", ORDERS)
def test_skyenv_imports_no_heavy_library_but_registers_with_two(order: str) -> None:
    told = printed("-W", "error", "-c", IN_ORDER, *ORDERS[order])
    made = "fifth_avenue_v0 seat_0 seat_1 seat_2\nseat_0 seat_1\nthree-3\n"
    envs = "FifthAvenueEnv end\nFifthAvenueEnv random\n"
    assert told == envs + (made if hasattr(pettingzoo, "make") else "")


PLAYS = """
import skyenv
game = skyenv.Game(num_players=2, seed=1)
game.play(game.legal_names[0])
for name in ("gymnasium", "pettingzoo"):
    try:
        __import__(name)
    except AttributeError as error:
        print(error)
"""


def test_broken_libraries_break_nothing_else(tmp_path: Path) -> None:
    for name in ("gymnasium", "pettingzoo"):
        (tmp_path / f"{name}.py").write_text(f"raise AttributeError('{name} is broken')")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    output = printed("-c", PLAYS, environment={"PYTHONPATH": path})
    assert output.splitlines() == ["gymnasium is broken", "pettingzoo is broken"]


@pytest.mark.parametrize(
    ("package", "module", "extra"),
    [
        ("pyspiel", "skyenv.envs.open_spiel", "openspiel"),
        ("pettingzoo", "skyenv.fifth_avenue_v0", "pettingzoo"),
        ("stable_baselines3.common.monitor", "skyenv.envs.sb3", "train"),
        ("gymnasium", "skyenv.envs.sb3", "train"),
        ("gymnasium", "skyenv.envs.vector", "gymnasium"),
    ],
)
def test_a_missing_library_names_its_extra(
    package: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = set(sys.modules)
    monkeypatch.setitem(sys.modules, package, None)
    for name in (module, "skyenv.envs.aec", "skyenv.envs.learner", "skyenv.envs.spaces"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    hint = rf"{package}.*pip install --editable '.\[{extra}\]'"
    with pytest.raises(ModuleNotFoundError, match=hint) as caught:
        importlib.import_module(module)
    assert caught.value.__suppress_context__
    library = package.partition(".")[0]
    for name in set(sys.modules) - loaded:  # what the failed import left half loaded
        if name.partition(".")[0] == library:
            del sys.modules[name]
