"""Types of arrays by the type and the bits of their values.

annotations of functions -> Bools, Int32s, Int64s, Float32s, Float64s, Matrix
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float32s = npt.NDArray[np.float32]
Float64s = npt.NDArray[np.float64]

Matrix = npt.NDArray[np.float32]
"""Two-dimensional, such as vectors row by row."""
