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
        """Compile for a signature, or load what is on disk; of several processes one compiles and
        the others load.
        """
        with global_compiler_lock, self._cache.one_process(sig):
            return super().compile(sig)


def rule(function: Function) -> Function:
    """Mark a function of the rules, or of an agent: Numba compiles it into every place from which
    it is called.

    Such functions keep to what Numba also compiles as CUDA device code: no allocation, no
    exceptions, no Python objects.
    """
    return _rule(function, inline=True)


def called_rule(function: Function) -> Function:
    """As :func:`rule`, but the compiler decides where it copies the function and where it calls it.

    For long ones that are called from many places, and for players, which are no faster with
    copies.
    """
    return _rule(function, inline=False)


def _rule(function: Function, inline: bool) -> Function:
    if not COMPILED:
        return function
    # Without `_nrt` the arrays of a tuple aren't counted as references at every use.
    options = {**OPTIONS, "no_cpython_wrapper": True, "forceinline": inline, "_nrt": not inline}
    return cast(Function, Rule(function, targetoptions=options))


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


class _Progress:
    """Counts the entry points that this process compiles; used under Numba's compiler lock."""

    def __init__(self) -> None:
        self.listener: Listener = _print_progress
        self.number = self.total = 0
        self._expected: set[int] = set()
        self._has_complained = False

    def begin(self, one: EntryPoint) -> None:
        """Announce that an entry point is compiled now."""
        self._expected |= {id(other) for other in _calls(one) if not other.overloads}
        self._expected.add(id(one))
        self.number += 1
        self.total = max(self.number, len(self._expected))
        self.listener(one.about, self.number, self.total)

    def complain(self, error: Exception) -> None:
        """Print one line, once in a process, about a cache that doesn't work."""
        if not self._has_complained and QUIET not in os.environ:
            text = f"the cache of compiled code fails ({error or type(error).__name__})"
            print(f"skyenv: {text}; compiling in memory", file=sys.stderr, flush=True)
        self._has_complained = True


def _print_progress(about: str, number: int, total: int) -> None:
    if QUIET not in os.environ:
        print(f"skyenv: compiling {number} of {total}: {about}", file=sys.stderr, flush=True)


def _calls(one: _Called) -> list[EntryPoint]:
    """The entry points that a function calls by their names, directly or by way of others."""
    seen: list[_Called] = [one]
    for function in seen:  # grows
        names = function.py_func.__globals__
        found = [names.get(name) for name in function.py_func.__code__.co_names]
        seen += [new for new in found if isinstance(new, _Called) and new not in seen]
    return [other for other in seen[1:] if isinstance(other, EntryPoint)]


_progress: Final = _Progress()


@contextlib.contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report compilation to a function instead of stderr while the block runs, in all threads."""
    before, _progress.listener = _progress.listener, listener
    try:
        yield
    finally:
        _progress.listener = before


# ---- on disk ----


class _Cache:
    """Compiled code of an entry point on disk, a file for each signature.

    Numba's own cache looks at the function's file alone, needs a place to write in, and raises what
    damaged files raise. Here whatever goes wrong costs a compilation in memory, and a line.
    """

    _lock: FileLock | None = None

    def __init__(self, owner: EntryPoint) -> None:
        self._owner = owner
        self._function = owner.py_func
        self._source = Path(self._function.__code__.co_filename)

    @cached_property
    def folders(self) -> list[Path]:
        """Where code may lie, the first choice first; none for functions that are in no file."""
        if not self._source.is_file():
            return []
        home = self._source.resolve().parent
        name = f"{home.name}_{hashlib.sha256(str(home).encode()).hexdigest()[:16]}"
        if numba.config.CACHE_DIR:  # type: ignore[attr-defined]
            return [Path(numba.config.CACHE_DIR) / name]  # type: ignore[attr-defined]
        user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
        return [home / "__pycache__", *([user / "skyenv" / name] if user.is_absolute() else [])]

    @cached_property
    def _stem(self) -> str:
        name = f"{self._source.stem}.{self._function.__qualname__}"
        return f"{name.replace('<locals>', 'locals')}.{sys.implementation.cache_tag}"

    @cached_property
    def _sources(self) -> str:
        # Not before the first use: modules that are imported later may declare what it calls.
        return _digest_of_sources(self._function)

    def _name(self, sig: Any) -> str:
        key = repr((sig, self._owner.targetctx.codegen().magic_tuple()))
        return f"{self._stem}-{self._sources}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.nbc"

    def _found(self, sig: Any) -> Path | None:
        files = (folder / self._name(sig) for folder in self.folders)
        # Unlike Path.is_file, this takes a folder that can't be read for one without the file.
        return next((file for file in files if os.path.isfile(file)), None)

    @contextlib.contextmanager
    def one_process(self, sig: Any) -> Iterator[None]:
        """Keep other processes from compiling while this one does, so that they find its code.

        One lock serves all that is compiled; nobody waits for what is there, or without a place on
        disk.
        """
        is_known = not self.folders or sig in self._owner.overloads or self._found(sig) is not None
        with contextlib.nullcontext() if is_known else self._locked():
            yield

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for folder in self.folders:
                with contextlib.suppress(OSError, NotImplementedError):
                    _Cache._lock = _Cache._lock or _lock_in(folder)
                    stack.enter_context(_Cache._lock)
                    break
                _Cache._lock = None
            yield

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The result of compilation for a signature, or None if it must be compiled."""
        target_context.refresh()
        file = self._found(sig)
        if file is not None:
            try:
                content = pickle.loads(file.read_bytes())
                return compiler.CompileResult._rebuild(target_context, *content)
            except Exception as error:  # whatever a damaged file raises
                _progress.complain(error)
        _progress.begin(self._owner)
        return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Write the result of compilation, in the first folder that takes it."""
        if not self.folders or result.library.has_dynamic_globals:
            return
        content, failure = dumps(result._reduce()), None
        for folder in self.folders:
            try:
                self._write(folder, self._name(sig), content)
                return
            except OSError as error:
                failure = failure or error
        if failure is not None:
            _progress.complain(failure)

    def _write(self, folder: Path, name: str, content: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{secrets.token_hex(4)}.part"
        try:
            part.write_bytes(content)
            os.replace(part, folder / name)
        finally:
            part.unlink(missing_ok=True)
        for old in folder.glob(f"{self._stem}-*.nbc"):
            if not old.name.startswith(f"{self._stem}-{self._sources}-"):
                old.unlink(missing_ok=True)


def _lock_in(folder: Path) -> FileLock:
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / "skyenv.lock")


def _digest_of_sources(function: Any) -> str:
    """What decides on the code that comes out: the source files that may be compiled in, and the
    versions of what compiles.
    """
    skyenv = Path(__file__).parents[1]
    roots = {(skyenv, False), (skyenv / "rules", True), (skyenv / "engine", True), _root(function)}
    called = [one for one in function.__globals__.values() if isinstance(one, _Called)]
    roots |= {_root(one.py_func) for one in called}
    versions = f"{numba.__version__} {np.__version__} {sys.version}"
    digest = hashlib.sha256(versions.encode())
    for root in sorted(roots):
        digest.update(_digest_of(*root))
    return digest.hexdigest()[:16]


def _root(function: Any) -> tuple[Path, bool]:
    """The folder whose files a function may be made of, and whether those below it belong to it:
    its package, or a room of skyenv; of a program the folder alone.
    """
    name = function.__module__ or __name__  # a text that was compiled has none
    if name == "__main__":  # begun by `python -m` as a part of a package
        name = f"{sys.modules[name].__package__ or ''}."
    parts = name.split(".")
    top = ".".join(parts[:2]) if parts[0] == "skyenv" else parts[0]
    paths = getattr(sys.modules.get(top), "__path__", None)
    if paths:
        return Path(next(iter(paths))), True
    return Path(function.__code__.co_filename).parent, False


@cache
def _digest_of(folder: Path, with_folders: bool) -> bytes:
    digest = hashlib.sha256()
    for file in sorted(folder.glob("**/*.py" if with_folders else "*.py")):
        digest.update(f"{file.relative_to(folder)}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()
