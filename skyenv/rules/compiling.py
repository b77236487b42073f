"""How functions are compiled, and how compiled code is kept on disk.

There are two kinds. A *rule* is compiled into every compiled function that calls it, and has no
code of its own. An *entry point* is compiled by itself, once, and kept on disk; Python calls it,
and so do other entry points. Both take whole numbers of any size as int64, lest they be compiled
once for every type of a record's fields.

Of Numba's inside this module uses, tested with the releases that pyproject.toml allows:

- `numba.core.registry.CPUDispatcher` with `compile`, `get_call_template`, `_compile_for_args`,
  `_cache` and the attributes `targetoptions`, `targetdescr`, `targetctx`, `typingctx`;
- `numba.core.compiler`: `Flags`, `compile_extra`, `CompileResult._reduce` and `._rebuild`;
- `numba.core.codegen.JITCodeLibrary` with `_optimize_final_module`, `_finalize_final_module`,
  `_finalize_dynamic_globals`, `_finalized`, `has_dynamic_globals`; `magic_tuple` of its codegen;
- `numba.core.typing.make_concrete_template`, `sigutils.normalize_signature`,
  `compiler_lock.global_compiler_lock`, `serialize.dumps`, `config.CACHE_DIR`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
from filelock import FileLock
from numba.core import compiler, sigutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.typing import make_concrete_template

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED: Final = not bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
"""False if Numba was told to leave everything to plain Python (``NUMBA_DISABLE_JIT=1``)."""
QUIET: Final = "SKYENV_QUIET"
"""Environment variable that silences the lines on stderr."""
OPTIONS: Final[dict[str, Any]] = {
    "nopython": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


# ---- functions ----


def _as_int64(arguments: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(types.int64 if isinstance(one, types.Integer) else one for one in arguments)


class _RuleLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only linked into other code: it is neither optimised nor translated to machine
    code for itself.

    Numba would do both for every function, with all that it calls inside it.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Called(CPUDispatcher):  # type: ignore[misc]
    """A function as other compiled functions see it."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What Numba asks for a call with arguments of these types; whole numbers become int64."""
        _, python_signature, args, kws = super().get_call_template(_as_int64(args), kws)
        # This signature alone, lest Numba look for others that might do as well.
        template = make_concrete_template(
            self.__name__, self.__name__, [self.overloads[tuple(args)].signature]
        )
        return template, python_signature, args, kws


class Rule(_Called):
    """A function that is compiled into others."""

    def compile(self, sig: Any) -> Any:
        """Compile for a signature; what comes back stands for the function where Numba looks for
        it.
        """
        with global_compiler_lock:
            args, return_type = sigutils.normalize_signature(sig)
            if args not in self.overloads:
                flags = compiler.Flags()
                self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
                flags.no_compile = True
                library = _RuleLibrary(self.targetctx.codegen(), self.py_func.__qualname__)
                made = compiler.compile_extra(
                    self.typingctx,
                    self.targetctx,
                    self.py_func,
                    args,
                    return_type,
                    flags,
                    {},
                    library,
                )
                result = made._replace(entry_point=object())
                self.targetctx.insert_user_function(
                    result.entry_point, result.fndesc, [result.library]
                )
                self.overloads[args] = result
            return self.overloads[args].entry_point

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        raise TypeError(f"{self.__name__} is compiled into other functions; Python can't call it")


class EntryPoint(_Called):
    """A function that is compiled by itself and kept on disk.

    Attributes:
        about: what is compiled, for the line of progress.
    """

    about = ""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cache: Any = _Cache(self)

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load what is on disk.

        One process compiles at a time; the others then find its code. A function whose code is
        there waits for no process.
        """
        with global_compiler_lock, contextlib.ExitStack() as stack:
            if sig not in self.overloads and not any(map(os.path.isfile, self._cache.files(sig))):
                with contextlib.suppress(OSError, NotImplementedError):
                    stack.enter_context(_lock())
            return super().compile(sig)


def rule(function: Function, *, inline: bool = True) -> Function:
    """Mark a function of the rules, or of an agent: Numba compiles it into every place from which
    it is called.

    Such functions keep to what Numba also compiles as CUDA device code: no allocation, no
    exceptions, no Python objects.
    """
    if not COMPILED:
        return function
    # Without `_nrt` the arrays of a tuple aren't counted as references at every use.
    options = {**OPTIONS, "no_cpython_wrapper": True, "forceinline": inline, "_nrt": not inline}
    return cast(Function, Rule(function, targetoptions=options))


def called_rule(function: Function) -> Function:
    """As :func:`rule`, but the compiler decides where it copies the function and where it calls it.

    For long ones that are called from many places, and for players, which are no faster with
    copies.
    """
    return rule(function, inline=False)


def entry_point(about: str) -> Callable[[Function], Function]:
    """Mark a function that is compiled once, by itself, and kept on disk; Python and other compiled
    functions call it.

    Code on disk is used until a source file changes: of the rules and the engine, or of the package
    that declares the function. Compilation prints lines of progress on stderr, unless the
    environment variable SKYENV_QUIET is set.

    Args:
        about: what is compiled: "skyenv: compiling 3 of 7: …".
    """

    def mark(function: Function) -> Function:
        if not COMPILED:
            return function
        made = EntryPoint(function, targetoptions={**OPTIONS, "nogil": True})
        made.about = about
        return cast(Function, made)

    return mark


# ---- progress ----

Listener = Callable[[str, int, int], None]
"""Hears what is compiled now, as which of how many functions of this process."""


def _print_progress(about: str, number: int, total: int) -> None:
    if QUIET not in os.environ:
        print(f"skyenv: compiling {number} of {total}: {about}", file=sys.stderr, flush=True)


# All of these change under Numba's compiler lock alone.
_listeners: Final[list[Listener]] = [_print_progress]
_compiled: Final[list[EntryPoint]] = []
_expected: Final[set[EntryPoint]] = set()
_failures: Final[list[Exception]] = []


@contextlib.contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report compilation to a function instead of stderr while the block runs, in all threads."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _announce(one: EntryPoint) -> None:
    _compiled.append(one)
    _expected.update(other for other in _called_by(one) if not other.overloads)
    _listeners[-1](one.about, len(_compiled), max(len(_compiled), len(_expected)))


def _called_by(one: EntryPoint) -> list[EntryPoint]:
    """A function and the entry points that it calls by their names, directly or through rules."""
    seen: list[_Called] = [one]
    for function in seen:  # grows
        names = function.py_func.__globals__
        found = [names.get(name) for name in function.py_func.__code__.co_names]
        seen += [new for new in found if isinstance(new, _Called) and new not in seen]
    return [other for other in seen if isinstance(other, EntryPoint)]


def _complain(failure: Exception) -> None:
    """Print one line, once in a process, about a cache that fails."""
    if not _failures and QUIET not in os.environ:
        text = f"the cache of compiled code fails ({failure or type(failure).__name__})"
        print(f"skyenv: {text}; compiling in memory", file=sys.stderr, flush=True)
    _failures.append(failure)


# ---- on disk ----


class _Cache:
    """Compiled code of an entry point on disk, a file for each signature.

    Numba's own cache looks at the function's file alone, needs a place to write in, and raises what
    damaged files raise. Here a failure costs a compilation in memory, and a line.
    """

    def __init__(self, owner: EntryPoint) -> None:
        self._owner = owner
        self._source = Path(owner.py_func.__code__.co_filename)
        code = owner.py_func.__code__
        name = f"{self._source.stem}.{code.co_name}.{code.co_firstlineno}"
        self._stem = f"{name}.{sys.implementation.cache_tag}-"

    @cached_property
    def _digest(self) -> str:
        # Not before the first use: modules that are imported later may declare what it calls.
        return _digest_of_sources(self._owner.py_func)

    def files(self, sig: Any) -> list[Path]:
        """Where code for a signature may lie, the first choice first; nowhere for a function that
        is in no file, or is made anew with other variables of the function around it.
        """
        key = repr((sig, self._owner.targetctx.codegen().magic_tuple()))
        name = f"{self._stem}{self._digest}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc"
        is_kept = self._source.is_file() and not self._owner.py_func.__closure__
        return [folder / name for folder in _folders(self._source.parent)] if is_kept else []

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The result of compilation for a signature, or None if it must be compiled."""
        target_context.refresh()
        for file in filter(os.path.isfile, self.files(sig)):
            try:
                content = pickle.loads(file.read_bytes())
                return compiler.CompileResult._rebuild(target_context, *content)  # noqa: SLF001
            except Exception as failure:  # whatever a damaged file raises
                _complain(failure)
        _announce(self._owner)
        return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Write the result of compilation, in the first folder that takes it."""
        if result.library.has_dynamic_globals:
            return
        content, failures = dumps(result._reduce()), []  # noqa: SLF001
        for file in self.files(sig):
            try:
                self._write(file, content)
                return
            except OSError as failure:
                failures.append(failure)
        for each in failures:
            _complain(each)

    def _write(self, file: Path, content: bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{secrets.token_hex(4)}.part")
        try:
            part.write_bytes(content)
            os.replace(part, file)
        finally:
            part.unlink(missing_ok=True)
        for old in file.parent.glob(f"{self._stem}*.nbc"):  # of earlier sources
            if not old.name.startswith(f"{self._stem}{self._digest}-"):
                old.unlink(missing_ok=True)


@cache
def _folders(home: Path) -> list[Path]:
    """The folders in which code of the sources in a folder may lie: NUMBA_CACHE_DIR's, or beside
    them and, where nobody may write there, in the user's cache.
    """
    name = f"{home.name}_{hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]}"
    if numba.config.CACHE_DIR:  # type: ignore[attr-defined]
        return [Path(numba.config.CACHE_DIR, name)]  # type: ignore[attr-defined]
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return [home / "__pycache__", *([user / "skyenv" / name] if user.is_absolute() else [])]


@cache
def _lock() -> contextlib.AbstractContextManager[Any]:
    """What the process that compiles holds: a file in the first folder that takes it."""
    for folder in _folders(Path(__file__).parent):
        with contextlib.suppress(OSError, NotImplementedError):
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / "skyenv.lock")
            with lock:
                return lock
    return contextlib.nullcontext()


# ---- sources ----


def _digest_of_sources(function: Any) -> str:
    """What decides on the code that comes out: the sources that may be compiled in, and the
    versions of what compiles.
    """
    skyenv = Path(__file__).parents[1]
    files = {*skyenv.glob("*.py"), *skyenv.glob("rules/**/*.py"), *skyenv.glob("engine/**/*.py")}
    called = [one.py_func for one in function.__globals__.values() if isinstance(one, _Called)]
    for one in {function, *called}:
        files |= _sources(one.__module__ or __name__, one.__code__.co_filename)
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for file in sorted(files):
        digest.update(file.name.encode() + _digest_of(file))
    return digest.hexdigest()[:16]


@cache
def _sources(module: str, file: str) -> frozenset[Path]:
    """The files that a function of a module may be made of: those of its package, in skyenv of its
    room; of a program those beside it.
    """
    if module == "__main__":  # begun by `python -m` as a part of a package
        module = f"{sys.modules[module].__package__ or ''}."
    parts = module.split(".")
    top = ".".join(parts[:2]) if parts[0] == "skyenv" else parts[0]
    folders = getattr(sys.modules.get(top), "__path__", None)
    found = Path(next(iter(folders))).glob("**/*.py") if folders else Path(file).parent.glob("*.py")
    return frozenset(found)


@cache
def _digest_of(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()
