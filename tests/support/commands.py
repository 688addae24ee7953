"""Commands of `qpr` in the process of a test."""

from __future__ import annotations

import pytest


def run(*arguments: object) -> int:
    """Run a command and return its exit code."""
    from jobs.cli import main

    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return int(stopped.value.code or 0)
