"""Worker processes that have not called yet when a run ends: Beam would wait for them, and they for work, for ever.

use_patient_handlers -> Beam's handler of worker processes is replaced by PatientWorkerHandler
"""

from __future__ import annotations

import queue

from apache_beam.portability import python_urns
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    BeamFnControlServicer,
    SubprocessSdkWorkerHandler,
    WorkerHandler,
)


class PatientWorkerHandler(SubprocessSdkWorkerHandler):
    """Beam's handler, but a worker that calls after the end is told so, and none of the work that was meant for it.

    A run that is stopped within its first seconds, while workers still import their libraries, is such a case.
    """

    def close(self) -> None:
        """Leave word for a late worker, then close as Beam does."""
        if self.control_conn._state == BeamFnControlServicer.UNSTARTED_STATE:
            work = self.control_conn._push_queue
            try:
                while True:
                    work.get_nowait()
            except queue.Empty:
                self.control_conn.push(BeamFnControlServicer._DONE_MARKER)
        super().close()


def use_patient_handlers() -> None:
    """Make Beam start its worker processes through `PatientWorkerHandler`."""
    WorkerHandler.register_environment(python_urns.SUBPROCESS_SDK, bytes)(PatientWorkerHandler)
