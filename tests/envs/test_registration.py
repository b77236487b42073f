"""The environments' ids, known as soon as skyenv is imported."""

from __future__ import annotations

import importlib
import sys

import pytest

from processes import printed

PROGRAM = """
import pettingzoo, gymnasium
for name in ("FifthAvenue-v0", "FifthAvenueUnmasked-v0"):
    env = gymnasium.make(f"skyenv.envs:skyenv/{name}", num_players=3)
    print(type(env.unwrapped).__name__, env.unwrapped.core.illegal)
"""


def test_an_environment_id_with_a_module_is_made_in_a_new_process() -> None:
    """Without a warning."""
    assert printed("-W", "error", "-c", PROGRAM).split() == [
        "FifthAvenueEnv",
        "end",
        "FifthAvenueEnv",
        "random",
    ]


@pytest.mark.parametrize(
    ("package", "module", "extra"),
    [
        ("pyspiel", "skyenv.envs.open_spiel", "openspiel"),
        ("pettingzoo", "skyenv.fifth_avenue_v0", "pettingzoo"),
        ("stable_baselines3.common.monitor", "skyenv.envs.sb3", "train"),
    ],
)
def test_a_missing_library_names_its_extra(
    package: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = set(sys.modules)
    monkeypatch.setitem(sys.modules, package, None)
    for name in (module, "skyenv.envs.aec"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    hint = rf"{package}.*pip install --editable '.\[{extra}\]'"
    with pytest.raises(ModuleNotFoundError, match=hint):
        importlib.import_module(module)
    library = package.partition(".")[0]
    for name in set(sys.modules) - loaded:  # what the failed import left half loaded
        if name.partition(".")[0] == library:
            del sys.modules[name]
