"""Workers that live in the submitting process drop what they used for a bundle, instead of holding it for minutes.

options -> forget_bundles -> Beam keeps the steps of a finished bundle for two seconds

Beam keeps the steps of each bundle for one or two minutes, in case the engine sends them more, and with each step the
last table it saw and its side inputs. Spark never sends more: its tasks have bundles of their own, hundreds of them.
"""

from __future__ import annotations

from typing import Final

from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions
from apache_beam.runners.worker import sdk_worker

KEPT_S: Final = 2
"""So long steps wait for more. Those that are needed again after all are made anew, in some hundredths of a second."""


def forget_bundles(options: PipelineOptions) -> None:
    """Shorten the wait where the workers are threads of this process; Beam has no option for it."""
    if options.view_as(PortableOptions).environment_type == "LOOPBACK":
        sdk_worker.DEFAULT_BUNDLE_PROCESSOR_CACHE_SHUTDOWN_THRESHOLD_S = KEPT_S
