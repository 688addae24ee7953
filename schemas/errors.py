"""Errors that a user can cause and correct: one sentence each, never a traceback."""

from __future__ import annotations

import re

_OUT_OF_MEMORY = re.compile("can't allocate memory|out of memory")
"""Messages of PyTorch, on a processor or a graphics card."""


class QprError(Exception):
    """An error that the user can correct; the message names the place, the cause and the next step. Exit code 1."""


class UsageError(QprError):
    """A wrong command line. Exit code 2."""


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error reports too little memory."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and bool(_OUT_OF_MEMORY.search(str(error)))
    )
