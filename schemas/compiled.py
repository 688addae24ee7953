"""Choice between loops compiled by numba and libraries that do the same without it.

module of loops, amount of work -> load_loops -> the module, or None for the library

What `compile_loop` compiles gives numpy's numbers to the last bit.
"""

from __future__ import annotations

import importlib
import os
import secrets
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Final, ParamSpec, TypeVar

import numpy as np

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

SWITCH: Final = "QPR_COMPILED"
"""With 0 in this variable of the environment nothing runs compiled."""

FEWEST: Final = 65_536
"""Default minimum number of rows for which loops are loaded: that takes 0.5 s, and they save about 5 µs a row."""

FEWEST_OF_FURTHER: Final = 4_096
"""Minimum number of rows where numba is loaded already: further loops then take less than a tenth of that time."""


def load_loops(module: str, rows: int, fewest: int = FEWEST) -> ModuleType | None:
    """Return a module of compiled loops, or None if numpy is to do the work.

    Args:
        module: name of the module, which imports numba.
        rows: number of rows to work on.
        fewest: minimum number of rows for which the module is loaded, or at most `FEWEST_OF_FURTHER` where numba is;
            loaded before, the module is used for any number.
    """
    if os.environ.get(SWITCH) == "0":
        return None
    if module in sys.modules:
        if sys.modules[module] is None:
            return None
    elif rows < (min(fewest, FEWEST_OF_FURTHER) if "numba" in sys.modules else fewest):
        return None
    try:
        return importlib.import_module(module)  # waits where another thread is loading it
    except ImportError:  # there is no numba (extra `fast`), or one that refuses this numpy
        sys.modules[module] = None  # type: ignore[assignment]  # so that nothing tries again
        return None


def unsigned(numbers: np.ndarray) -> np.ndarray:
    """Return integers from 0 on as unsigned ones in the same memory, for compiled loops that use them as indices.

    Numba checks at every other access whether the index is negative, which took 40 % of the time of some loops.
    """
    return numbers.view(f"u{numbers.itemsize}")


def first_call(call: Callable[[], object]) -> bool:
    """Call compiled loops for the first time, which compiles them; return False, with a warning, where numba fails."""
    try:
        call()
    except Exception as error:  # noqa: BLE001  # numba, LLVM and the folder of compiled code each have errors of their own
        cause = f"{type(error).__name__}: {error}".splitlines()[0]
        warnings.warn(f"numba fails, so searches take longer: {cause}", RuntimeWarning, stacklevel=3)
        return False
    return True


def compile_loop(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Return a function that numba compiles when it is first called.

    The machine code is kept beside the module or in the user's cache, so that other processes need not compile it. A
    service whose file system is read-only may have neither; then each process compiles it, for some seconds.
    """
    return _compiled(function, set())


def compile_reordered(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Return `compile_loop` of a function whose sums may be added in any order: faster, but rounded otherwise."""
    return _compiled(function, {"reassoc", "contract"})


def _compiled(function: Callable[_Parameters, _Result], permitted: set[str]) -> Callable[_Parameters, _Result]:
    from numba import njit

    try:
        compiled: Callable[_Parameters, _Result] = njit(cache=True, nogil=True, fastmath=permitted)(function)
    except RuntimeError:  # there is no folder to keep it in
        compiled = njit(nogil=True, fastmath=permitted)(function)
    _name_files_apart(compiled)
    return compiled


def _name_files_apart(compiled: object) -> None:
    """Give each file of a loop's machine code a name that no other process can choose.

    Numba numbers the files, and writes the list of their signatures before the file itself. Of two processes that
    compile a loop for different types at the same time, one could write its machine code under the signature of the
    other, and the loop failed or was wrong in every later process. A file of an older release could be read in place
    of a new one too.
    """
    files = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if files is not None:  # it is kept
        files._data_name = lambda _: f"loop.{secrets.token_hex(8)}.nbc"
