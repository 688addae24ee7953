"""A quiet worker process for ``--direct_running_mode=multi_processing``.

python -m pipelines.engine.quiet_worker (started by the runner) -> Beam's worker until the runner closes its channel
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Work for the runner whose addresses Beam put into the environment."""
    # Ctrl-C reaches every process of a terminal. The runner's process answers it and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not os.environ.get("QPR_TRACEBACK"):
        # Beam prints its log of every level and a traceback of each error, which the runner's process is told anyway.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    from apache_beam.runners.worker import sdk_worker_main

    sdk_worker_main.main([])


if __name__ == "__main__":
    main()
