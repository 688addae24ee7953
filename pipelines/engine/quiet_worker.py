"""A quiet worker process for ``--direct_running_mode=multi_processing``.

python -m pipelines.engine.quiet_worker (started by the runner) -> Beam's worker until the runner closes its channel
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run Beam's worker for the runner whose addresses are in environment variables."""
    # Ctrl-C reaches every process of a terminal; the runner's process handles it and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not os.environ.get("QPR_TRACEBACK"):
        # Beam prints its log of every level and a traceback of each error; the runner's process reports errors anyway.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # open until the process ends
    from apache_beam.runners.worker import sdk_worker_main

    sdk_worker_main.main([])


if __name__ == "__main__":
    main()
