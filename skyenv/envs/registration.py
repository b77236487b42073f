"""Registration of the environments with Gymnasium and PettingZoo.

``import skyenv`` imports this module; ``gymnasium.make(ENV_ID)`` and ``pettingzoo.make("aec",
AEC_ID)`` then work. They fail in a process that has not imported it, such as a worker that received
the id alone. The libraries are not imported: each gets the environments at once if it is there
already, or else when the program imports it, so a broken one can't break the core.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

from skyenv.engine.information import most_decisions
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.rules.components import MAX_PLAYERS

ENV_ID = "skyenv/FifthAvenue-v0"
"""Gymnasium's id, for ``gymnasium.make`` and ``gymnasium.make_vec``; ``"skyenv:" + ENV_ID`` imports
skyenv first.
"""
UNMASKED_ID = "skyenv/FifthAvenueUnmasked-v0"
"""The id with ``illegal="random"``, for programs without masks that take nothing but an id."""
MAX_EPISODE_STEPS: Final = most_decisions(MAX_PLAYERS, DEFAULT_MAX_TURNS)
"""Upper bound of an episode's steps with the default `max_turns`; libraries size buffers by it."""
# PettingZoo's id, for `pettingzoo.make("aec", AEC_ID)`, and with `"parallel"`.
AEC_ID = "skyenv/fifth_avenue_v0"


def _register_with_gymnasium(gymnasium: Any) -> None:
    for name, illegal in ((ENV_ID, "end"), (UNMASKED_ID, "random")):
        gymnasium.register(
            id=name,
            entry_point="skyenv.envs.single:FifthAvenueEnv",
            vector_entry_point="skyenv.envs.vector:FifthAvenueVectorEnv",
            max_episode_steps=MAX_EPISODE_STEPS,
            kwargs={"illegal": illegal},
        )


def _register_with_pettingzoo(pettingzoo: Any) -> None:
    if hasattr(pettingzoo, "register"):  # since PettingZoo 1.27
        pettingzoo.register("aec", AEC_ID, entry_point="skyenv.envs.aec:env")
        pettingzoo.register("parallel", AEC_ID, entry_point="skyenv.envs.aec:parallel_env")


_LIBRARIES: Final[dict[str, Callable[[Any], None]]] = {
    "gymnasium": _register_with_gymnasium,
    "pettingzoo": _register_with_pettingzoo,
}


class _Registering(MetaPathFinder):
    """A finder of the libraries, whose import ends with the registration."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        register = _LIBRARIES.get(fullname)
        spec = PathFinder.find_spec(fullname, path) if register else None
        if register is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            register(module)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


for _name, _register in _LIBRARIES.items():
    if sys.modules.get(_name) is not None:
        _register(sys.modules[_name])
sys.meta_path.insert(0, _Registering())
