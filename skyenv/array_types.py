"""Types of NumPy arrays by their dtype, for annotations."""

from typing import Any

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]
ArrayLike = npt.ArrayLike
Bool = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
Int16 = npt.NDArray[np.int16]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
# Structured arrays, such as those of GAME_DTYPE.
RecordArray = npt.NDArray[np.void]
