"""Typed records: structured NumPy arrays whose fields a class declares.

A subclass of :class:`Record` is the only table of a record's fields, with their meaning in comments
beside or above them::

    class NodeRecord(Record):
        visits = field(I32)  # simulations through the node
        total = field(F64, (4,))  # [seat] → sum of its win probabilities

The dtype of the arrays is `NodeRecord.dtype`. Type checkers see `node.visits` as an int and
`node.total` as a Vector[float]. Compiled code works on Numba's records and plain Python on
:class:`_PlainRecord`; there are no instances of the declared classes.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar, cast, overload

import numpy as np

from skyenv.array_types import AnyArray, RecordArray
from skyenv.rules.compiling import COMPILED

Array = AnyArray
"""An array for compiled code; the function's or module's docstring describes its contents."""

Kind = TypeVar("Kind")


class Vector(Protocol[Kind]):
    """One dimension of numbers: a field of a record, a row of one, or a NumPy array."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Kind: ...
    def __setitem__(self, index: int, value: Kind, /) -> None: ...


class Matrix(Protocol[Kind]):
    """Two dimensions of numbers; `flat`: all of them in order."""

    flat: Vector[Kind]

    @overload
    def __getitem__(self, index: int, /) -> Vector[Kind]: ...
    @overload
    def __getitem__(self, index: tuple[int, int], /) -> Kind: ...
    def __setitem__(self, index: tuple[int, int], value: Kind, /) -> None: ...


class Cube(Protocol[Kind]):
    """Three dimensions of numbers; `flat`: all of them in order."""

    flat: Vector[Kind]

    @overload
    def __getitem__(self, index: int, /) -> Matrix[Kind]: ...
    @overload
    def __getitem__(self, index: tuple[int, int], /) -> Vector[Kind]: ...
    @overload
    def __getitem__(self, index: tuple[int, int, int], /) -> Kind: ...
    def __setitem__(self, index: tuple[int, int, int], value: Kind, /) -> None: ...


# To type checkers these are Python's numbers, as compiled code computes with all integers alike.
I8, I16, I32, I64, U32 = cast("list[type[int]]", [np.int8, np.int16, np.int32, np.int64, np.uint32])
F32, F64 = cast("list[type[float]]", [np.float32, np.float64])
BOOL: Final = cast("type[bool]", np.bool_)


class Field(NamedTuple):
    """A field of a record.

    Attributes:
        kind: its NumPy type, or another record's class.
        shape: its dimensions; () for one number.
        low, high: its lowest and highest value in a valid record, where that is checked.
    """

    kind: type
    shape: tuple[int, ...]
    low: int
    high: int


@overload
def field(kind: type[Kind], shape: tuple[()] = (), low: int = 0, high: int = 0) -> Kind: ...
@overload
def field(kind: type[Kind], shape: tuple[int], low: int = 0, high: int = 0) -> Vector[Kind]: ...
@overload
def field(
    kind: type[Kind], shape: tuple[int, int], low: int = 0, high: int = 0
) -> Matrix[Kind]: ...
@overload
def field(
    kind: type[Kind], shape: tuple[int, int, int], low: int = 0, high: int = 0
) -> Cube[Kind]: ...
def field(kind: type, shape: tuple[int, ...] = (), low: int = 0, high: int = 0) -> Any:
    """Declare a field of a record; see :class:`Field`."""
    return Field(kind, shape, low, high)


class Record:
    """A record of a structured array, its fields as attributes.

    Attributes:
        fields: the declared fields by name, in order.
        dtype: the type of arrays of such records.
    """

    fields: ClassVar[dict[str, Field]]
    dtype: ClassVar[np.dtype[np.void]]

    def __init_subclass__(cls) -> None:
        cls.fields = {name: one for name, one in vars(cls).items() if isinstance(one, Field)}
        layout = [
            (name, kind.dtype if issubclass(kind, Record) else kind, shape)
            for name, (kind, shape, *_) in cls.fields.items()
        ]
        cls.dtype = np.dtype(layout, align=True)


class _PlainRecord(np.void):  # type: ignore[misc]
    """A record for plain Python, with a property per field, ten times as fast as np.record's
    lookup.
    """

    def __getattr__(self, field: str) -> Any:
        """Return a field read for the first time, and add its property."""
        if field not in (self.dtype.names or ()):
            raise AttributeError(field)
        setattr(
            _PlainRecord,
            field,
            property(itemgetter(field) if self.dtype[field].names is None else _inner(field)),
        )
        return getattr(self, field)

    def __setattr__(self, field: str, value: Any) -> None:
        self[field] = value


def _inner(field: str) -> Callable[[_PlainRecord], Any]:
    """Return the reader of a nested record."""
    return lambda record: record[field].view((_PlainRecord, record[field].dtype))


def _layout(dtype: np.dtype[np.void]) -> np.dtype[Any]:
    """Return the layout that records need: without compilation, with fields as attributes."""
    return dtype if COMPILED else np.dtype((_PlainRecord, dtype))


def new_records(number: int, dtype: np.dtype[np.void]) -> RecordArray:
    """Return zeroed records for compiled functions, shape (number,).

    Compiled calls take a plain structured array in a tenth of the time of a record array. Without
    compilation the same code needs records with fields as attributes.
    """
    return np.zeros(number, _layout(dtype))


def as_records(array: RecordArray, dtype: np.dtype[np.void]) -> RecordArray:
    """Return records in the form for compiled functions; see :func:`new_records`."""
    return np.asarray(array, dtype).view(np.ndarray).view(_layout(dtype))
