"""Corrections of Apache Beam at run time.

options of a run -> end_late_workers, drop_finished_bundles -> Beam's modules, changed in this process

Both are for Beam 2.70, the oldest version that setup.py allows, to 2.77, the newest tested.
`tests/pipelines/engine/test_beam_patches.py` shows each fault in the installed version and fails once Beam is mended:
then remove the patch.
"""

from __future__ import annotations

import queue
from typing import Final

from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions
from apache_beam.portability import python_urns
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    BeamFnControlServicer,
    SubprocessSdkWorkerHandler,
    WorkerHandler,
)
from apache_beam.runners.worker import sdk_worker

BUNDLE_KEPT_S: Final = 2
"""Seconds that the steps of a finished bundle are kept; building them again takes some hundredths of a second."""


class LateWorkerHandler(SubprocessSdkWorkerHandler):
    """Beam's handler of a worker process, which also ends a worker that connects after the run has ended.

    A run that fails within its first seconds closes the connection of a worker that is still importing its libraries.
    Beam then sends the worker no end marker and waits for its process, and the worker waits for instructions: for ever.
    No issue of Beam describes this.
    """

    def close(self) -> None:
        """Replace the instructions of a worker that has not connected by the end marker, then close as Beam does."""
        if self.control_conn._state == BeamFnControlServicer.UNSTARTED_STATE:
            instructions = self.control_conn._push_queue
            try:
                while True:
                    instructions.get_nowait()
            except queue.Empty:
                self.control_conn.push(BeamFnControlServicer._DONE_MARKER)
        super().close()


def end_late_workers() -> None:
    """Make Beam start worker processes through `LateWorkerHandler`."""
    WorkerHandler.register_environment(python_urns.SUBPROCESS_SDK, bytes)(LateWorkerHandler)


def drop_finished_bundles(options: PipelineOptions) -> None:
    """Keep the steps of a finished bundle for `BUNDLE_KEPT_S` where workers are threads of this process.

    Beam keeps them for one to two minutes in case the engine sends the same stage again, and with each step its last
    table and its side inputs (https://github.com/apache/beam/pull/10655); it has no option for the time. Spark never
    sends it again: each of its hundreds of tasks has a stage of its own, so memory only grows.
    """
    if options.view_as(PortableOptions).environment_type == "LOOPBACK":
        sdk_worker.DEFAULT_BUNDLE_PROCESSOR_CACHE_SHUTDOWN_THRESHOLD_S = BUNDLE_KEPT_S
