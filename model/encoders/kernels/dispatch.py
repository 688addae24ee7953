"""Choice between compiled and numpy inner loops.

questions to encode -> load_compiled; compiled -> model.encoders.kernels.numba_kernels, or None for numpy
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from schemas.compiled import load_loops

LOOPS: Final = "model.encoders.kernels.numba_kernels"
FEWEST = 65_536
"""Loading numba and the loops takes 0.5 s; they save 8 µs a question."""


def load_compiled(questions: int) -> None:
    """Load the compiled loops if this number of questions is worth it and numba is installed (extra `fast`)."""
    load_loops(LOOPS, questions, FEWEST)


def compiled() -> ModuleType | None:
    """Return the compiled loops if they are loaded, None if numpy is to do it; both give the same numbers."""
    return load_loops(LOOPS, 0)


def spelled(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a table as the compiled loops read it: half precision as the int16 of the same bits."""
    return table.view(np.int16) if table.dtype == np.float16 else table
