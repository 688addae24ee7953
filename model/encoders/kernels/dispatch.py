"""Choice between compiled and numpy inner loops.

questions to encode -> load_compiled; compiled -> model.encoders.kernels.numba_kernels, or None for numpy
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

SWITCH = "QPR_COMPILED"
"""With 0 in this variable of the environment nothing runs compiled."""

FEWEST = 65_536
"""Loading numba and the loops takes 0.5 s; they save 8 µs a question."""


def load_compiled(questions: int) -> None:
    """Load the compiled loops if this number of questions is worth it and numba is installed (extra `fast`)."""
    if questions < FEWEST or "model.encoders.kernels.numba_kernels" in sys.modules or os.environ.get(SWITCH) == "0":
        return
    try:
        importlib.import_module("model.encoders.kernels.numba_kernels")
    except ImportError:  # there is no numba, or one that refuses this numpy
        sys.modules["model.encoders.kernels.numba_kernels"] = None  # type: ignore[assignment]  # so that nothing tries again


def compiled() -> ModuleType | None:
    """Return the compiled loops if they are loaded, None if numpy is to do it; both give the same numbers."""
    return None if os.environ.get(SWITCH) == "0" else sys.modules.get("model.encoders.kernels.numba_kernels")


def spelled(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a table as the compiled loops read it: half precision as the int16 of the same bits."""
    return table.view(np.int16) if table.dtype == np.float16 else table
