"""Rules and entry points by internals of Numba, and the cache of compiled code.

Both take integers of any size as int64, so that there is one version for all types of a record's
fields.

This module uses these internals, tested with Numba 0.61 to 0.68; importing it fails where one is
missing, and :mod:`skyenv.rules.compiling` then does without:

- `numba.core.registry.CPUDispatcher` with `compile`, `get_call_template`, `_cache` and the
  attributes `targetoptions`, `targetdescr`, `targetctx`, `typingctx`; of the target's context
  `insert_user_function` and `remove_user_function`;
- `numba.core.compiler`: `Flags`, `compile_extra`, `CompileResult._reduce` and `._rebuild`;
- `numba.core.codegen.JITCodeLibrary` with `_optimize_final_module`, `_finalize_final_module`,
  `_finalize_dynamic_globals`, `_finalized`, `has_dynamic_globals`; `magic_tuple` of its codegen;
- `numba.core.typing.make_concrete_template`, `compiler_lock.global_compiler_lock`,
  `serialize.dumps`, `config.CACHE_DIR`.
"""

import contextlib
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
from filelock import FileLock
from numba.core import compiler, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.typing import make_concrete_template

from skyenv.files import write_atomically
from skyenv.rules.compile_progress import announce
from skyenv.rules.variant import VARIANT
from skyenv.runtime import print_line, print_once

# Importing this module fails where one of these methods is missing.
METHODS: Final = (
    CPUDispatcher.compile,
    CPUDispatcher.get_call_template,
    compiler.CompileResult._rebuild,  # noqa: SLF001
    compiler.CompileResult._reduce,  # noqa: SLF001
    compiler.Flags.no_compile,
    JITCodeLibrary._finalize_dynamic_globals,  # noqa: SLF001
    JITCodeLibrary._finalize_final_module,  # noqa: SLF001
    JITCodeLibrary._optimize_final_module,  # noqa: SLF001
    JITCodeLibrary.has_dynamic_globals,
)
OPTIONS: Final[dict[str, Any]] = {
    "nopython": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


# ---- functions ----


class _RuleLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is only linked into other code, without optimization or machine code of its own.

    By default Numba does both for every function with all its callees.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Called(CPUDispatcher):  # type: ignore[misc]
    """A function that compiled functions can call."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return Numba's template of a call with arguments of these types; integers become
        int64.
        """
        args = tuple(types.int64 if isinstance(one, types.Integer) else one for one in args)
        _, python_signature, args, kws = super().get_call_template(args, kws)
        _needed[-1].update(_needs[self, tuple(args)])
        # Only this signature, so that Numba doesn't search for other matches.
        template = make_concrete_template(
            self.__name__, self.__name__, [self.overloads[tuple(args)].signature]
        )
        return template, python_signature, args, kws


class Rule(_Called):
    """A function that is compiled into others."""

    def compile(self, sig: Any) -> Any:
        """Compile for a signature; return the object that represents the function in Numba."""
        with global_compiler_lock, _noting_needs() as needs:
            if sig not in self.overloads:
                flags = compiler.Flags()
                self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
                flags.no_compile = True
                context = self.targetctx
                library = _RuleLibrary(context.codegen(), self.py_func.__qualname__)
                made = compiler.compile_extra(
                    self.typingctx, context, self.py_func, sig, None, flags, {}, library
                )
                result = made._replace(entry_point=object())
                context.insert_user_function(result.entry_point, result.fndesc, [library])
                self.overloads[sig] = result
                _needs[self, sig] = needs
            return self.overloads[sig].entry_point


class EntryPoint(_Called):
    """A function that is compiled separately and cached on disk.

    Attributes:
        about: description for the progress line.
    """

    about = ""

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load the code from the cache.

        One process compiles at a time; the others then load its code. Cached functions load without
        waiting. Callers link to this function by its symbol instead of a copy, if it is an
        attribute of its module.
        """
        if sig in self.overloads:
            return self.overloads[sig].entry_point
        with global_compiler_lock, contextlib.ExitStack() as lock, _noting_needs() as needs:
            self._cache = _Cache(self, lock)
            pointer = super().compile(sig)
            _needs[self, sig] = needs
            if getattr(sys.modules.get(self.__module__), self.__name__, None) is self:
                _needs[self, sig] = {(self, sig)}
                self.targetctx.remove_user_function(pointer)
                self.targetctx.insert_user_function(pointer, self.overloads[sig].fndesc, [])
            return pointer


# Entry points with their signatures that code calls by symbol; they change only under
# Numba's compiler lock.
_needs: Final[dict[tuple[_Called, Any], set[tuple[EntryPoint, Any]]]] = {}  # of compiled functions
_needed: Final[list[set[tuple[EntryPoint, Any]]]] = [set()]  # so far, of what is being compiled


@contextlib.contextmanager
def _noting_needs() -> Iterator[set[tuple[EntryPoint, Any]]]:
    """Collect the entry points that the function compiled in the block needs."""
    _needed.append(set())
    try:
        yield _needed[-1]
    finally:
        _needed.pop()


def _symbols(needs: Iterable[tuple[EntryPoint, Any]]) -> list[tuple[Any, ...]]:
    """Return names, signatures and symbols of entry points."""
    return [
        (one.__module__, one.__name__, sig, str(one.overloads[sig].fndesc.mangled_name))
        for one, sig in needs
    ]


def _needs_of(symbols: Iterable[tuple[Any, ...]]) -> set[tuple[EntryPoint, Any]] | None:
    """Load or compile entry points by names and symbols; return None if one has changed, as calling
    a missing symbol would crash the process.
    """
    needs = set()
    for module, name, sig, symbol in symbols:
        found = getattr(sys.modules.get(module), name, None)
        if not isinstance(found, EntryPoint):
            return None
        found.compile(sig)
        if found.overloads[sig].fndesc.mangled_name != symbol:
            return None
        needs.add((found, sig))
    return needs


def new_rule(function: Callable[..., Any], *, inline: bool) -> Rule:
    """Return a function to be compiled into its callers; `inline`: whether always inlined."""
    # Without `_nrt` the arrays of a tuple aren't counted as references at every use.
    options = {**OPTIONS, "no_cpython_wrapper": True, "forceinline": inline, "_nrt": not inline}
    return Rule(function, targetoptions=options)


def new_entry_point(function: Callable[..., Any], about: str) -> EntryPoint:
    """Return a function to be compiled separately; `about`: description for the progress line."""
    made = EntryPoint(function, targetoptions={**OPTIONS, "nogil": True})
    made.about = about
    return made


# ---- progress ----

# These change only under Numba's compiler lock.
_compiled: Final[list[EntryPoint]] = []
_expected: Final[set[EntryPoint]] = set()


def _announce(one: EntryPoint) -> None:
    """Report the compilation of a function. Those it calls are expected too if they come from the
    same sources: others may be on disk.
    """
    _compiled.append(one)
    with contextlib.suppress(FileNotFoundError):
        called = [other for other in _called_by(one) if isinstance(other, EntryPoint)]
        digest = _digest_of_sources(one)
        _expected.update(other for other in called if _digest_of_sources(other) == digest)
    left = [other for other in _expected.difference(_compiled) if not other.overloads]
    announce(one.about, len(_compiled), len(_compiled) + len(left))


def _called_by(one: EntryPoint) -> list[_Called]:
    """Return a function and all its direct and indirect callees."""
    seen: list[_Called] = [one]
    for function in seen:  # grows
        names = function.py_func.__globals__
        found = [names.get(name) for name in function.py_func.__code__.co_names]
        seen += [new for new in found if isinstance(new, _Called) and new not in seen]
    return seen


@cache
def _complain() -> None:
    """Print one line per process about an unusable cache."""
    reason = str(sys.exception()) or type(sys.exception()).__name__
    print_line(f"the cache of compiled code fails ({reason}); compiling in memory")


# ---- on disk ----


class _Cache:
    """An entry point's cache on disk: a file per signature, with a digest of the sources and the
    compiled code.

    Numba's own cache checks only the function's file, needs a writable folder, and fails on damaged
    files. Here a failure costs one line on stderr and a compilation in memory.

    Args:
        owner: the entry point.
        lock: an exit stack for the lock of the compiling process.
    """

    def __init__(self, owner: EntryPoint, lock: contextlib.ExitStack) -> None:
        self._owner, self._lock = owner, lock
        self._function: Any = owner.py_func
        self._source = _source_of(owner.py_func)
        try:
            self._digest = _digest_of_sources(owner) if self._source else b""
        except FileNotFoundError as error:
            self._source = None
            print_once(f"{error}; compiling in memory at each start")

    def _files(self, sig: Any) -> list[Path]:
        """Return the possible files for a signature, preferred first; none for functions without a
        file and for closures.
        """
        if self._source is None or self._function.__closure__:
            return []
        # The line number distinguishes functions of one name, such as lambdas.
        function = self._function.__qualname__, self._function.__code__.co_firstlineno
        magic = self._owner.targetctx.codegen().magic_tuple()
        key = repr((sig, function, magic, sys.version, VARIANT))
        digest = hashlib.sha256(key.encode()).hexdigest()[:16]
        package = self._function.__globals__.get("__package__") or ""
        home = self._source.parents[len(package.split(".")) if package else 0]
        if hasattr(sys, "frozen"):  # its modules may be in a temporary folder
            home = Path(sys.executable).parent
        name = f"{self._source.stem}.{digest}.nbc"
        return [folder / package / name for folder in _folders(home)]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached compilation of a signature; None if there is none."""
        found = self._load(sig, target_context)
        if found is None:
            with contextlib.suppress(OSError, NotImplementedError):
                self._lock.enter_context(_process_lock())
                found = self._load(sig, target_context)
        if found is None:
            _announce(self._owner)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        for file in filter(os.path.isfile, self._files(sig)):
            try:
                content = file.read_bytes()
                if content.startswith(self._digest):
                    symbols, kept = pickle.loads(content.removeprefix(self._digest))
                    needs = _needs_of(symbols)
                    if needs is not None:
                        _needed[-1].update(needs)
                        return compiler.CompileResult._rebuild(target_context, *kept)  # noqa: SLF001
            except Exception:  # any error of a damaged file
                _complain()
        return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Write the compilation to the first writable folder."""
        if result.library.has_dynamic_globals:
            return
        kept = _symbols(_needed[-1]), result._reduce()  # noqa: SLF001
        files = self._files(sig)
        content = self._digest + dumps(kept) if files else b""
        for file in files:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(file, content)
                return
            except OSError:
                if file == files[-1]:
                    _complain()


@cache
def _folders(home: Path) -> list[Path]:
    """Return the cache folders for packages and scripts in a folder: NUMBA_CACHE_DIR, or beside the
    packages and, if not writable, in the user's cache.

    Inside a package, files would remain when pip removes it, as a package without content.
    """
    name = f"{home.name}_{hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:16]}"
    if numba.config.CACHE_DIR:  # type: ignore[attr-defined]
        return [Path(numba.config.CACHE_DIR, name)]  # type: ignore[attr-defined]
    user = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return [home / "__pycache__", *([user / "skyenv" / name] if user.is_absolute() else [])]


@cache
def _process_lock() -> contextlib.AbstractContextManager[Any]:
    """Return the lock of the compiling process: a file in the first writable folder."""
    for folder in _folders(Path(__file__).parents[2]):
        with contextlib.suppress(OSError, NotImplementedError):
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / "skyenv.lock") as lock:
                return lock
    return contextlib.nullcontext()


# ---- sources ----


def _source_of(function: Any) -> Path | None:
    """Return a function's source file or, where there are no sources, its module's file; None for
    functions from text that is in no file, as in notebooks.
    """
    source = Path(function.__code__.co_filename)
    module = Path(function.__globals__.get("__file__") or "")
    if source.is_file():
        return source
    return module if module.stem == source.stem else None


@cache
def _digest_of_sources(one: EntryPoint) -> bytes:
    """Return a digest of everything that affects the code: the sources and the versions of Numba,
    NumPy and Python.

    Raises:
        FileNotFoundError: there is no file whose digest shows that sources have changed.
    """
    skyenv = Path(__file__).parents[1]
    places = {
        (
            other.py_func.__globals__.get("__package__"),
            os.path.dirname(other.py_func.__code__.co_filename),
        )
        for other in _called_by(one)
    }
    own = [file for name in ("", "rules", "engine") for file in _code_in(skyenv / name)]
    files = {file for file in own if file.stem != "cli"}
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for file in sorted(files.union(*(_sources(*place) for place in places))):
        digest.update(file.name.encode() + _digest_of(file))
    return digest.digest()


@cache
def _sources(package: str | None, folder: str) -> list[Path]:
    """Return the code of a function's outermost package (in skyenv, its subpackage); of a
    script, that beside it.
    """
    names = (package or "").split(".")
    outermost = ".".join(names[: 1 + (names[0] == "skyenv")])
    folders = getattr(sys.modules.get(outermost), "__path__", None)
    if folders is None:
        return _code_in(Path(folder))
    return [file for each in folders for file in _code_in(Path(each), "**/")]


def _code_in(folder: Path, inside: str = "") -> list[Path]:
    """Return the files of Python code in a folder, bytecode without its source included; instead of
    them the archive or frozen program that they are in.

    Raises:
        FileNotFoundError: there is none of them.
    """
    found = [*folder.glob(f"{inside}*.py"), *folder.glob(f"{inside}*.pyc")]
    files = [file for file in found if file.parent.name != "__pycache__"]
    archives = [place for place in folder.parents if place.is_file()]
    program = [Path(sys.executable)] if hasattr(sys, "frozen") else []
    if not (chosen := files or archives or program):
        raise FileNotFoundError(f"there are no source files in {folder}")
    return chosen


@cache
def _digest_of(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()
