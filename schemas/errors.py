"""The errors a user can cause and read: one sentence each, never a traceback."""

from __future__ import annotations


class QprError(Exception):
    """Something the user can mend; the message names the place, the cause and the next step. Exit code 1."""


class UsageError(QprError):
    """The command line itself is wrong. Exit code 2."""
