"""The environments' ids, known as soon as skyenv is imported."""

from __future__ import annotations

import pettingzoo
import pytest

from processes import printed


def run(program: str) -> str:
    """Run a program in a fresh interpreter with warnings as errors and return what it prints."""
    return printed("-W", "error", "-c", program).strip()


in_any_order = pytest.mark.parametrize(
    "imports", ["import skyenv, gymnasium, pettingzoo", "import pettingzoo, gymnasium, skyenv"]
)


@in_any_order
def test_gymnasium_knows_the_id_in_whatever_order_the_imports_stand(imports: str) -> None:
    result = run(
        "import importlib.util\n"
        "importlib.util.find_spec('gymnasium')\n"
        f"{imports}\n"
        "print(gymnasium.spec('skyenv/FifthAvenue-v0').id)"
    )
    assert result == "skyenv/FifthAvenue-v0"


@pytest.mark.skipif(not hasattr(pettingzoo, "register"), reason="PettingZoo has ids since 1.27")
@in_any_order
def test_pettingzoo_knows_the_id_in_whatever_order_the_imports_stand(imports: str) -> None:
    assert (
        run(f"{imports}\nprint(pettingzoo.spec('aec', 'skyenv/fifth_avenue_v0').id)")
        == "skyenv/fifth_avenue-v0"
    )


@pytest.mark.parametrize("module", ["skyenv", "skyenv.envs"])
def test_gymnasium_can_import_the_module_itself(module: str) -> None:
    """As a worker process must that has been given an id and nothing else."""
    result = run(
        "import gymnasium\n"
        f"env = gymnasium.make('{module}:skyenv/FifthAvenue-v0', num_players=3)\n"
        "print(type(env.unwrapped).__name__, env.unwrapped.core.games.num_players)"
    )
    assert result == "FifthAvenueEnv 3"


def test_registering_twice_does_no_harm() -> None:
    run(
        "import skyenv, gymnasium, pettingzoo\n"
        "from skyenv.envs.registration import register, register_gymnasium, register_pettingzoo\n"
        "register(); register_gymnasium(); register_pettingzoo()"
    )
