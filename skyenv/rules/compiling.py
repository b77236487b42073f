"""Compilation with Numba.

There are two kinds of functions. A *rule* is compiled into every compiled function that calls it,
and has no code of its own. An *entry point* is compiled once and cached on disk; Python and other
entry points call it.

:mod:`skyenv.rules.dispatchers` compiles them by internals of Numba, in half of the time that
`numba.njit` takes, and keeps the code on disk. Where a release of Numba has changed these
internals, or with ``SKYENV_PUBLIC_NUMBA=1``, `numba.njit` compiles the same functions in memory.
"""

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba

from skyenv.runtime import print_line

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED: Final = not bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
"""Whether Numba compiles; False with ``NUMBA_DISABLE_JIT=1``."""

dispatchers: Any = None  # the module, unless Numba's public interface compiles
try:
    if "SKYENV_PUBLIC_NUMBA" not in os.environ:
        from skyenv.rules import dispatchers
except (ImportError, AttributeError) as error:
    print_line(f"Numba {numba.__version__} is unknown ({error}): compiling in memory")

PUBLIC_OPTIONS: Final = {"error_model": "numpy", "nogil": True}


def rule(function: Function, *, inline: bool = True) -> Function:
    """Mark a function of the rules or of an agent that is compiled into its callers.

    Such functions must also compile as CUDA device code: no allocation, no exceptions, no Python
    objects.
    """
    if not COMPILED:
        return function
    if dispatchers is None:
        return cast(Function, numba.njit(function, **PUBLIC_OPTIONS))
    return cast(Function, dispatchers.new_rule(function, inline=inline))


def called_rule(function: Function) -> Function:
    """Mark a rule that the compiler may call instead of inlining.

    Use it for long functions with many callers, and for agents, which are no faster when inlined.
    """
    return rule(function, inline=False)


def entry_point(about: str) -> Callable[[Function], Function]:
    """Mark a function that is compiled once and cached on disk, for calls from Python and compiled
    code.

    The cache is valid until a source file of the rules, the engine or the function's package
    changes. Compilation prints progress on stderr, unless the environment variable SKYENV_QUIET is
    set.

    Args:
        about: description for the progress line "skyenv: compiling 3 of 7: …".
    """

    def mark(function: Function) -> Function:
        if not COMPILED or dispatchers is None:
            return rule(function)
        return cast(Function, dispatchers.new_entry_point(function, about))

    return mark
