"""Room for the frames of Python's functions.

function -> with_room -> the same function, whose calls never cross the end of a block of frames
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

_SLOTS = 2**15
"""Values that the stack of a frame has room for; Python rounds up, so at least as many are left for further frames."""


def with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the same result that has a large block of memory for all frames of its calls.

    Python 3.11 to 3.13 keeps frames in blocks of 16 kB and gives a block back when its first frame ends. A loop whose
    calls cross the end of a block takes and gives back one for each call, which takes a hundred times the time of a
    short call. Where that is depends on the number and size of the frames below, and pytest has many.
    """
    return functools.partial(_roomy, function)


def _call(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return function(*given, **named)


_roomy = types.FunctionType(_call.__code__.replace(co_stacksize=_SLOTS), globals())
