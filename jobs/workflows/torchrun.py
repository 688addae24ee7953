"""Environment variables that `torchrun` sets for each process.

environment -> process_count, is_first_process
"""

from __future__ import annotations

import os


def process_count() -> int:
    """Return how many processes do this command together; 1 without `torchrun`."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first_process() -> bool:
    """Tell whether this is the process that writes and speaks."""
    return os.environ.get("RANK", "0") == "0"
