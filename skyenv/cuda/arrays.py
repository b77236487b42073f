"""Arrays in the GPU's memory as other libraries take them: by ``__cuda_array_interface__`` and by
DLPack.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numba.cuda
import numpy as np
import numpy.typing as npt

cuda: Final[Any] = numba.cuda
"""Numba's CUDA, its types unknown."""
SIMULATED: Final = bool(cuda.config.ENABLE_CUDASIM)
"""Whether Numba's simulator stands for the GPU (``NUMBA_ENABLE_CUDASIM=1``): arrays then lie in
ordinary memory.
"""
# A few games are too few for a GPU; to say so at every launch, as Numba does, helps nobody and
# fails tests.
cuda.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

# DLPack, version 0: github.com/dmlc/dlpack, include/dlpack/dlpack.h.
_ON_CPU: Final = 1
_ON_CUDA: Final = 2
_KINDS: Final = {"i": 0, "u": 1, "f": 2, "b": 6}
"""DLPack's codes of NumPy's kinds of numbers."""
_NAME: Final = b"dltensor"
LEGACY_STREAM: Final = 1
"""CUDA's legacy default stream, as libraries tell each other of it."""


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

# Prototypes of our own: those of ctypes.pythonapi are everybody's.
_new: Final = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_is_valid: Final = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

_lent: Final[dict[int, tuple[Any, ...]]] = {}
"""What libraries were handed and haven't given back, by the address of its description: keeps
arrays alive.
"""


def _give_back(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


def _unused(capsule: int) -> None:
    """A capsule that nobody has taken the array out of (who does renames it) gives it back when it
    goes.
    """
    if _is_valid(capsule, _NAME):
        _lent.pop(int(_pointer(capsule, _NAME)), None)


_GIVE_BACK: Final = _Deleter(_give_back)
_UNUSED: Final = _Destructor(_unused)


class DeviceArray:
    """An array in the GPU's memory, C-contiguous, which a :class:`skyenv.cuda.Games` writes in
    place.

    PyTorch (``torch.as_tensor(array, device="cuda")``, ``torch.from_dlpack``), CuPy
    (``cupy.asarray``), JAX (``jax.dlpack.from_dlpack``) and Numba take it without a copy; what they
    get changes with every step. Arrays of records, as games are, have no DLPack form; their bytes
    have: ``array.bytes``.

    Args:
        array: a device array of Numba.
    """

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of its entries."""
        dtype: np.dtype[Any] = np.dtype(self.array.dtype)
        return dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype if self.dtype.names is None else 'records'})"

    def numpy(self) -> npt.NDArray[Any]:
        """A copy in ordinary memory; waits until the GPU has written the array."""
        copied: npt.NDArray[Any] = self.array.copy_to_host()
        return copied

    @property
    def bytes(self) -> DeviceArray:
        """The same memory as uint8 (rows, bytes of a row)."""
        return DeviceArray(as_bytes(self.array))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        # Stream 1 is CUDA's legacy default stream: whoever takes the array waits for what has been
        # done there.
        interface: dict[str, Any] = self.array.__cuda_array_interface__
        return interface | {"stream": LEGACY_STREAM}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_ON_CPU, 0) if SIMULATED else (_ON_CUDA, int(cuda.get_current_device().id))

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
        **_: Any,
    ) -> Any:
        """The array as a DLPack capsule.

        Args:
            stream: the stream of the library that takes it; unless it is −1 the GPU's work so far
                is waited for.
            dl_device: where it is wanted; only where it is will do.
            copy: True would want a copy, which :meth:`numpy` makes, or the library that takes the
                array.

        Raises:
            BufferError: it is an array of records, or is wanted elsewhere or as a copy.
        """
        if self.dtype.kind not in _KINDS:
            raise BufferError(
                f"an array of {'records' if self.dtype.names else self.dtype} has no DLPack form; "
                ".bytes has one"
            )
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(
                "DLPack gives this array itself, where it is; copy what comes of it, or call "
                ".numpy()"
            )
        if stream != -1:
            cuda.synchronize()
        axes = len(self.shape)
        shape = (ctypes.c_int64 * axes)(*self.shape)
        kind = _Type(_KINDS[self.dtype.kind], 8 * self.dtype.itemsize, 1)
        tensor = _Tensor(
            address(self.array),
            _Device(*self.__dlpack_device__()),
            axes,
            kind,
            ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
            None,
            0,
        )
        managed = _Managed(tensor, None, _GIVE_BACK)
        place = ctypes.addressof(managed)
        _lent[place] = (managed, shape, self.array)
        return _new(place, _NAME, _UNUSED)


def address(array: Any) -> int:
    """Where an array of Numba's begins."""
    return int(array.ctypes.data if SIMULATED else array.__cuda_array_interface__["data"][0])


def as_bytes(array: Any) -> Any:
    """An array of Numba's, C-contiguous, as uint8 (rows, bytes of a row), in the same memory."""
    return array.reshape(array.size).view(np.uint8).reshape(array.shape[0], -1)
