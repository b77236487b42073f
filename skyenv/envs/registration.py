"""Registration of the environments with Gymnasium and PettingZoo.

``import skyenv`` imports this module; ``gymnasium.make(ENV_ID)`` and ``pettingzoo.make("aec",
AEC_ID)`` then work. They fail in a process that has not imported it, such as a worker that received
the id alone. Each bidding task has ids of its own: ``skyenv/Alea4-v0``,
``skyenv/Alea4Unmasked-v0``, and PettingZoo's ``skyenv/alea_4_v0``. The libraries are not imported:
each gets the environments at once if it is there already, or else when the program imports it, so a
broken one can't break the core.
"""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import product
from types import ModuleType
from typing import Any, Final

from skyenv.engine.information import most_decisions
from skyenv.engine.openings import TASKS, task_of
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.rules.components import MAX_PLAYERS

ENV_ID = "skyenv/FifthAvenue-v0"
"""Gymnasium's id, for ``gymnasium.make`` and ``gymnasium.make_vec``; ``"skyenv:" + ENV_ID`` imports
skyenv first.
"""
UNMASKED_ID = "skyenv/FifthAvenueUnmasked-v0"
"""The id with ``illegal="random"``, for programs without masks that take nothing but an id."""
# PettingZoo's id, for `pettingzoo.make("aec", AEC_ID)`, and with `"parallel"`.
AEC_ID = "skyenv/fifth_avenue_v0"
TASK_ILLEGAL_REWARD: Final = -0.5
"""Reward of an illegal action with the ids ``skyenv/…Unmasked-v0`` of tasks."""
# Most cards of one colour and black in a hand of a task of several auctions.
MOST_CARDS: Final = 12


def step_limit(task: str | None = None) -> int:
    """Return a number of steps that no episode reaches; libraries size buffers by it.

    In an auction a seat lays down a card that it can bid with at most once, completes at most as
    many bids, and passes or builds once.

    Args:
        task: name of a task or of its openings; None: the whole game, of at most DEFAULT_MAX_TURNS.
    """
    if task is None:
        return most_decisions(MAX_PLAYERS, DEFAULT_MAX_TURNS)
    kind = task_of(task)
    if not kind.auctions:
        return most_decisions(kind.num_players, 3 * kind.turns)
    return 2 + 2 * kind.cards + (kind.auctions - 1) * (1 + 2 * MOST_CARDS)


def _options_of(task: str | None) -> dict[str, Any]:
    """Return the options of a task's ids; those of the whole game also take GameOptions."""
    return {} if task is None else {"task": task}


def _register_with_gymnasium(gymnasium: Any) -> None:
    for task, kind in product((None, *TASKS), ("", "Unmasked")):
        name = "FifthAvenue" if task is None else task.title().replace("-", "")
        gymnasium.register(
            id=f"skyenv/{name}{kind}-v0",
            entry_point="skyenv.envs.single:FifthAvenueEnv",
            vector_entry_point="skyenv.envs.vector:FifthAvenueVectorEnv",
            max_episode_steps=step_limit(task),
            kwargs={
                **_options_of(task),
                "illegal": "random" if kind else "end",
                "illegal_reward": TASK_ILLEGAL_REWARD if task and kind else None,
            },
        )


def _register_with_pettingzoo(pettingzoo: Any) -> None:
    if not hasattr(pettingzoo, "register"):  # before PettingZoo 1.27
        return
    for task in (None, *TASKS):
        name = AEC_ID if task is None else f"skyenv/{task.replace('-', '_')}_v0"
        for kind, maker in (("aec", "env"), ("parallel", "parallel_env")):
            pettingzoo.register(
                kind, name, entry_point=f"skyenv.envs.aec:{maker}", kwargs=_options_of(task)
            )


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
