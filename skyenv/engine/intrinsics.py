"""Instructions of the processor that Numba has no functions for: what compiled loops over rows
need.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from skyenv.rules.compiling import COMPILED
from skyenv.rules.state import Array

Function = TypeVar("Function", bound=Callable[..., Any])

LINE: Final = 64
"""Bytes that a processor's cache brings at a time."""

_one_at_a_time = threading.Lock()


def _instruction(plain: Function) -> Callable[[Callable[..., Any]], Function]:
    """Mark what builds an instruction for Numba; `plain` does the same without compilation."""
    return lambda build: cast(Function, intrinsic(build)) if COMPILED else plain


def _address(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
    """The address at which a row of an array begins, i8*."""
    structure = context.make_array(kind)(context, builder, array)
    stride = builder.extract_value(structure.strides, 0)
    return builder.gep(
        builder.bitcast(structure.data, ir.IntType(8).as_pointer()), [builder.mul(row, stride)]
    )


def _prefetch(array: Array, row: int, byte: int) -> None:
    pass


@_instruction(_prefetch)
def prefetch(_context: Any, array: Any, row: Any, byte: Any) -> Any:
    """Have the line of a byte of a row brought into the cache, to be written; nobody waits for it.

    Args:
        array: of any type. row: along its first axis. byte: from the row's beginning. An address
            that there isn't does no harm.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, text = ir.IntType(32), ir.IntType(8).as_pointer()
        place = builder.gep(
            _address(context, builder, signature.args[0], *arguments[:2]), [arguments[2]]
        )
        kind = ir.FunctionType(ir.VoidType(), [text, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [text], kind)
        builder.call(
            instruction, [place, number(1), number(3), number(1)]
        )  # to write, to be kept, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), build


def _fetch_add(array: Array, row: int, amount: int) -> int:
    with _one_at_a_time:
        before = int(array[row].flat[0])
        array[row].flat[0] += amount
    return before


@_instruction(_fetch_add)
def fetch_add(_context: Any, array: Any, row: Any, amount: Any) -> Any:
    """Add to the first number of a row, which several threads may do at once, and return what was
    there before.

    It orders nothing else: other memory that threads share is theirs to hand over.

    Args:
        array: int64, of any shape. row: along its first axis. amount: to add.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _address(context, builder, signature.args[0], *arguments[:2])
        place = builder.bitcast(place, ir.IntType(64).as_pointer())
        return builder.atomic_rmw("add", place, arguments[2], "monotonic")

    return types.int64(array, types.int64, types.int64), build
