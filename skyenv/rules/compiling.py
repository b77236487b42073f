"""How functions are compiled, and how compiled code on disk is kept from going stale.

There are two kinds. A *rule* is compiled into whatever compiled function calls it, and has no code
of its own. An *entry point* is compiled by itself, once, and kept on disk; Python calls it, and so
do other entry points. Both take whole numbers of any size as int64, lest they be compiled once for
every type of a record's fields.
"""

from __future__ import annotations

import dis
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
from numba.core import compiler, sigutils, types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher, _FunctionCompiler
from numba.core.extending import _Intrinsic
from numba.core.registry import CPUDispatcher
from numba.core.typing import make_concrete_template

try:
    import fcntl
except ImportError:  # not on Windows: there each process compiles for itself
    fcntl = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILED: Final = not bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
"""False if Numba was told to leave everything to plain Python (``NUMBA_DISABLE_JIT=1``)."""
QUIET: Final = "SKYENV_QUIET"
"""Environment variable that silences announcements."""
SHORTEST_ANNOUNCED: Final = 1.0
"""Compilation that should take fewer seconds than this isn't announced."""
LIBRARIES: Final = ("math", "numpy", "numba", "llvmlite")
"""Modules whose own functions compiled code may use; their versions stand for their content."""


ENTRY_POINTS: Final[list[EntryPoint]] = []
"""All of modules that are imported; none without compilation."""


# ---- what a function is compiled from ----


class Fingerprint:
    """All that Numba compiles into a function: its code, the functions it calls and the constants
    it uses, and theirs in turn.

    Numba freezes global and closure variables, so together with the types of its arguments they
    decide what comes out.

    Args:
        function: compiled or not.

    Attributes:
        entry_points: those that it calls, directly or not.

    Raises:
        TypeError: something is used of which it isn't known how to tell whether it has changed.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.entry_points: list[EntryPoint] = []
        self._seen: set[int] = set()
        self._digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
        self._add(function)

    def digest(self) -> str:
        """Tells what a function is compiled from from anything else."""
        return self._digest.hexdigest()

    def _note(self, *things: object) -> None:
        self._digest.update(f"{things!r}\n".encode())

    def _add(self, value: object) -> None:
        if isinstance(value, Dispatcher):
            self._note("compiled", sorted(value.targetoptions.items()))
            if isinstance(value, EntryPoint) and id(value.py_func) not in self._seen and self._seen:
                self.entry_points.append(value)
            value = value.py_func
        elif isinstance(value, _Intrinsic):
            self._note("instruction")
            value = value.__wrapped__
        if isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, np.ndarray):
            self._note("array", value.dtype, value.shape, value.tobytes())
        elif isinstance(value, (tuple, list)):
            self._note(type(value).__name__, len(value))
            for one in value:
                self._add(one)
        elif isinstance(value, frozenset):
            self._note("set", sorted(map(repr, value)))
        elif isinstance(
            value, (int, float, complex, str, bytes, type(None), np.generic, np.dtype, types.Type)
        ):
            self._note(type(value).__name__, value)
        elif isinstance(value, (type, BuiltinFunctionType, np.ufunc)):
            self._note("named", value.__name__, getattr(value, "_fields", None))
        else:
            raise TypeError(
                f"compiled code can't use {value!r}: nobody could tell whether it has changed"
            )

    def _add_function(self, function: FunctionType) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self._add_code(function.__code__, function.__doc__)
        self._add(function.__defaults__)
        for cell in function.__closure__ or ():
            self._add(cell.cell_contents)
        for name in sorted(_all_names(function.__code__) & function.__globals__.keys()):
            self._note("global", name)
            self._add_global(function, name)

    def _add_code(self, code: CodeType, text: str | None) -> None:
        self._note(code.co_code, code.co_names, code.co_varnames, code.co_argcount)
        for number, constant in enumerate(code.co_consts):
            if isinstance(constant, CodeType):
                self._add_code(constant, None)
            else:
                self._add(None if number == 0 and constant == text else constant)

    def _add_global(self, function: FunctionType, name: str) -> None:
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] not in LIBRARIES:
                for attribute in sorted(_all_names(function.__code__) & vars(value).keys()):
                    self._note("attribute", attribute)
                    self._add(vars(value)[attribute])
            return
        try:
            self._add(value)
        except TypeError:
            # The name may be that of a field which happens to be a global variable as well.
            if name in _global_names(function.__code__):
                raise


def _codes(code: CodeType) -> Iterable[CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _all_names(code: CodeType) -> set[str]:
    """Names of global variables and of attributes in a function's code."""
    return {name for one in _codes(code) for name in one.co_names}


def _global_names(code: CodeType) -> set[str]:
    """Names of global variables alone; slower."""
    return {
        i.argval
        for one in _codes(code)
        for i in dis.get_instructions(one)
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


# ---- functions ----

OPTIONS: Final[dict[str, Any]] = {
    "nopython": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


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


class _RuleCompiler(_FunctionCompiler):  # type: ignore[misc]
    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags = compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = True
        target = self.targetdescr.target_context
        return compiler.compile_extra(
            self.targetdescr.typing_context,
            target,
            self.py_func,
            args=args,
            return_type=return_type,
            flags=flags,
            locals=self.locals,
            library=_RuleLibrary(target.codegen(), self.py_func.__qualname__),
            pipeline_class=self.pipeline_class,
        )


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

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        own: Any = self._compiler
        self._compiler: Any = _RuleCompiler(
            own.py_func, own.targetdescr, own.targetoptions, own.locals, own.pipeline_class
        )

    def compile(self, sig: Any) -> Any:
        """Compile for a signature; what comes back stands for the function where Numba looks for
        it.
        """
        with global_compiler_lock, self._compiling_counter:
            args, return_type = sigutils.normalize_signature(sig)
            if args not in self.overloads:
                result = self._compiler.compile(args, return_type)._replace(entry_point=object())
                self.targetctx.insert_user_function(
                    result.entry_point, result.fndesc, [result.library]
                )
                self.overloads[args] = result
            return self.overloads[args].entry_point

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        raise TypeError(f"{self.__name__} is compiled into other functions; Python can't call it")


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


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache on disk looks at a function's own file alone; this one at all that is compiled
    into it.
    """

    @cached_property
    def fingerprint(self) -> Fingerprint:
        # Not before the first use: the function may call others that are defined behind it.
        return Fingerprint(self._py_func)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self.fingerprint.digest()

    def holds(self, codegen: Any) -> bool:
        """Whether the function, as it is now, is on disk for any signature."""
        digest = self.fingerprint.digest()
        return any(
            key[1:] == (codegen.magic_tuple(), digest) for key in self._cache_file._load_index()
        )

    @contextmanager
    def one_process(self) -> Iterator[None]:
        """Keep other processes from compiling or loading the function while this one does, so that
        they find it on disk.

        The lock is a file beside the compiled code, and ends with the process that holds it.
        Numba's own lock between threads comes first, as another function may compile this one while
        it holds that. Without a place on disk nobody waits.
        """
        with global_compiler_lock, ExitStack() as stack:
            if fcntl is not None and self.cache_path is not None:
                try:
                    folder = Path(self.cache_path)
                    folder.mkdir(parents=True, exist_ok=True)
                    file = stack.enter_context(
                        open(folder / f"{self._impl.filename_base}.lock", "wb")
                    )
                    fcntl.flock(file, fcntl.LOCK_EX)
                except OSError:  # a folder that can only be read, or a file system without locks
                    pass
            yield


class _EntryPointCompiler(_FunctionCompiler):  # type: ignore[misc]
    entry_point: EntryPoint

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        with _Announcement(self.entry_point):
            return super()._compile_core(args, return_type)


class EntryPoint(_Called):
    """A function that is compiled by itself and kept on disk.

    Attributes:
        about: what is compiled, for the announcement.
        seconds: of processor time that compiling it takes, without other entry points.
    """

    about = ""
    seconds = 0.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        own: Any = self._compiler
        self._compiler: Any = _EntryPointCompiler(
            own.py_func, own.targetdescr, own.targetoptions, own.locals, own.pipeline_class
        )
        self._compiler.entry_point = self
        self._cache = _Cache(self.py_func)

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load what is on disk; of several processes one compiles and
        the others load.
        """
        for follow in _followers:
            follow(self, False)
        try:
            with self._cache.one_process():
                return super().compile(sig)
        finally:
            for follow in _followers:
                follow(self, True)

    def needs(self) -> list[EntryPoint]:
        """The other entry points that it calls, directly or not."""
        return self._cache.fingerprint.entry_points

    def seconds_to_go(self) -> float:
        """Seconds of compilation that lie ahead when it is compiled now, with those entry points
        that aren't there yet.
        """
        needed = [one for one in self.needs() if not one.is_there()]
        return self.seconds + sum(one.seconds for one in needed)

    def is_there(self) -> bool:
        """Whether it needn't be compiled before it is called."""
        return bool(self.overloads) or self._cache.holds(self.targetctx.codegen())


_followers: Final[list[Callable[[EntryPoint, bool], None]]] = []


@contextmanager
def following(follow: Callable[[EntryPoint, bool], None]) -> Iterator[None]:
    """Hear of every entry point that is made ready in this process meanwhile, compiled or loaded
    from disk.

    Args:
        follow: called in whatever thread does that, before and after, with the entry point and
            whether it has ended. What an entry point calls is made ready within it.
    """
    _followers.append(follow)
    try:
        yield
    finally:
        _followers.remove(follow)


class _Announcement:
    """Says on stderr that something is compiled, unless it belongs to something of which that has
    been said.
    """

    _open = 0  # changes under Numba's compiler lock alone

    def __init__(self, entry_point: EntryPoint) -> None:
        self._entry_point = entry_point

    def __enter__(self) -> None:
        if _Announcement._open == 0 and QUIET not in os.environ:
            seconds = self._entry_point.seconds_to_go()
            if seconds >= SHORTEST_ANNOUNCED:
                text = f"skyenv: compiling {self._entry_point.about}, once, about {seconds:.0f} s …"
                print(text, file=sys.stderr, flush=True)
        _Announcement._open += 1

    def __exit__(self, *exception: object) -> None:
        _Announcement._open -= 1


def entry_point(about: str, seconds: float) -> Callable[[Function], Function]:
    """Mark a function that is compiled once, by itself, and kept on disk; Python and other compiled
    functions call it.

    Code on disk is used as long as nothing has changed of which the function is made, in whatever
    file or package; see :class:`Fingerprint`. Compilation is announced on stderr, unless the
    environment variable SKYENV_QUIET is set.

    Args:
        about: what is compiled, for the announcement: "skyenv: compiling …, once, about 5 s".
        seconds: of processor time that this takes, as experiments/benchmarks/compilation.py
            measures it.
    """

    def mark(function: Function) -> Function:
        if not COMPILED:
            return function
        made = EntryPoint(function, targetoptions={**OPTIONS, "nogil": True})
        made.about, made.seconds = about, seconds
        ENTRY_POINTS.append(made)
        return cast(Function, made)

    return mark
