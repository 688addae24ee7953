"""Environment variables that `torchrun` sets for each process.

environment -> process_count, is_first_process
"""

from __future__ import annotations

import os


def process_count() -> int:
    """Return the number of processes that share this command; 1 without `torchrun`."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first_process() -> bool:
    """Return true in the process that writes files and messages."""
    return os.environ.get("RANK", "0") == "0"
