"""Processes that train together, as `torchrun` starts them.

script, folder -> run_together -> the script has run with each rank
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.engine_servers import ROOT
from tests.support.ports import free_ports

_MOST_S = 300


def run_together(script: str, folder: Path, *, count: int, **environment: str) -> None:
    """Run a script with a folder as its argument in several processes; all have ended when this returns or raises.

    Args:
        script: its path.
        folder: the place of its results.
        count: number of processes.
        environment: further variables of them.
    """
    [port] = free_ports(1)
    world = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    given = os.environ | world | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, script, str(folder)]
    running = [subprocess.Popen(command, env=given | {"RANK": str(rank)}) for rank in range(count)]
    try:
        assert [process.wait(_MOST_S) for process in running] == [0] * count
    finally:
        for process in running:
            process.kill()
            process.wait()
