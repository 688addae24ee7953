"""The errors a user can cause and read: one sentence each, never a traceback."""

from __future__ import annotations

import re

_OUT_OF_MEMORY = re.compile("can't allocate memory|out of memory")
"""What PyTorch says, of a processor or a graphics card."""


class QprError(Exception):
    """Something the user can mend; the message names the place, the cause and the next step. Exit code 1."""


class UsageError(QprError):
    """The command line itself is wrong. Exit code 2."""


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error says that memory does not suffice."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and bool(_OUT_OF_MEMORY.search(str(error)))
    )
