"""Prefetching: requests of memory that compiled code will access soon."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic

from skyenv.rules.compiling import COMPILED
from skyenv.rules.record import Array


def _prefetch(_context: Any, array: Any, _row: Any, _byte: Any) -> Any:
    """Emit ``llvm.prefetch`` of an address in a row."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given, row, byte = arguments
        number, text = ir.IntType(32), ir.IntType(8).as_pointer()
        structure = context.make_array(signature.args[0])(context, builder, given)
        stride = builder.extract_value(structure.strides, 0)
        offset = builder.add(builder.mul(row, stride), byte)
        address = builder.gep(builder.bitcast(structure.data, text), [offset])
        kind = ir.FunctionType(ir.VoidType(), [text, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [text], kind)
        builder.call(instruction, [address, number(1), number(3), number(1)])  # write, keep, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), build


def prefetch(array: Array, row: int, byte: int) -> None:
    """Request the cache line of a byte of a row, to be written, without waiting for it.

    Args:
        array: of any type.
        row: along its first axis.
        byte: from the row's beginning. An address outside the array does no harm.
    """


if COMPILED:
    prefetch = intrinsic(_prefetch)
