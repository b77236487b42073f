"""How the rules are compiled, and how compiled code on disk is kept from going stale."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED: Final = not bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
"""False if Numba was told to leave everything to plain Python (``NUMBA_DISABLE_JIT=1``)."""

PACKAGE: Final = Path(__file__).resolve().parent.parent

COMPILED_SOURCES: Final = ("rules/*.py", "knowledge.py", "observation.py", "kernels.py")
"""The files whose code ends up inside compiled entry points."""


WITHOUT_WRAPPERS: Final[dict[str, Any]] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For functions that only compiled code calls: the wrappers that Python would need take a sixth of the time of compilation."""


def rule(function: Function) -> Function:
    """Mark a function of the rules: Numba compiles it into every entry point that calls it.

    Such functions keep to what Numba also compiles as CUDA device code: no allocation, no exceptions, no Python objects.
    """
    return cast(Function, numba.njit(error_model="numpy", forceinline=True, **WITHOUT_WRAPPERS)(function))


def fingerprint() -> str:
    """A digest of every source file that compiled entry points are made of, and of the versions that compile them."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for pattern in COMPILED_SOURCES:
        for path in sorted(PACKAGE.glob(pattern)):
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class EntryPoints:
    """The compiled functions that Python calls: compiled on first use, kept on disk, announced when it takes time.

    Numba's disk cache looks at the file of the cached function alone, so a change in an imported rule would go unnoticed.
    Every entry point is therefore made by a factory that takes the fingerprint of all sources as an argument and keeps it
    in a closure variable, which Numba does look at.
    """

    _announced = False

    def __init__(self) -> None:
        self._fingerprint = fingerprint()

    def make(self, factory: Callable[[str], Function]) -> Function:
        """Compile what `factory` returns; see the class's text."""
        function = factory(self._fingerprint)
        if not COMPILED:
            return function
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
        return cast(Function, self._announce_compilation(compiled))

    def _announce_compilation(self, compiled: Any) -> Any:
        """Say once on stderr that compilation is under way: Numba calls `compile` only where nothing fits yet."""
        compile_on_disk_miss = compiled._compiler.compile

        def compile_and_announce(*arguments: Any, **options: Any) -> Any:
            if not EntryPoints._announced and "SKYENV_QUIET" not in os.environ:
                EntryPoints._announced = True
                print("skyenv: compiling the rules, once, about half a minute …", file=sys.stderr, flush=True)
            return compile_on_disk_miss(*arguments, **options)

        compiled._compiler.compile = compile_and_announce
        return compiled
