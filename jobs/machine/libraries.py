"""Variables of the environment that libraries read when they load: how their threads wait, and how many they start.

system, command, processors -> library_settings -> variables
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from typing import Final

from jobs.machine.limits import processor_quota

_WITHOUT_FAISS: Final = frozenset({"train", "distil", "encode"})
"""Commands that may load PyTorch, but not FAISS."""


def set_up_libraries(command: str) -> None:
    """Set the variables of `library_settings` that the user has not set."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name, value in library_settings(sys.platform, command, usable, processor_quota()).items():
        os.environ.setdefault(name, value)


def library_settings(platform: str, command: str, usable: int, quota: float | None) -> Mapping[str, str]:
    """Return variables of the environment for numpy, PyTorch and FAISS.

    Args:
        platform: name of the system, as `sys.platform` has it.
        command: name of the command that runs.
        usable: processors on which the process may run.
        quota: processors whose time its container may use; None: all.
    """
    variables = {
        # Threads that spin while they wait took 6 times the CPU time of `qpr train-reranker`, and 10 times as long a
        # training step on two busy cores.
        "OMP_WAIT_POLICY": "passive",
        # By default numpy's threads spin for 2**26 cycles after each product. That was 12 % of the CPU time of
        # `qpr clusters`, whose products are small.
        "OPENBLAS_THREAD_TIMEOUT": "4",
    }
    if quota is not None and math.ceil(quota) < usable:
        # OpenMP starts a thread for each processor of the machine, and the kernel stops all of them when they have
        # used up the container's time.
        variables["OMP_NUM_THREADS"] = str(math.ceil(quota))
    if platform == "darwin" and command not in _WITHOUT_FAISS:
        # There the wheels of PyTorch and FAISS bring an OpenMP each. The second one that starts ends the process unless
        # the first variable permits it, and then threads of one crash in the other (faiss-wheels 73, pytorch 149201).
        variables |= {"KMP_DUPLICATE_LIB_OK": "TRUE", "OMP_NUM_THREADS": "1"}
    return variables
