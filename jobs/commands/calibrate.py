"""``qpr calibrate``: from logs with a gold column to weights and thresholds for `qpr clusters`.

log files with a gold column -> calibrate -> calibration
"""

from __future__ import annotations

from jobs.options.inputs import LogFiles
from jobs.options.linkage import RefineWith
from jobs.options.output import AsJson, OutputFolder, Overwrite
from pipelines.calibration.settings import CalibrationConfig


def calibrate(
    output: OutputFolder,
    settings: CalibrationConfig,
    files: LogFiles = None,
    refine_with: RefineWith = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Learn linkage weights and measure thresholds on logs with gold clusters.

    Weights are learned on one half of the answers; precision and recall of each threshold are measured on the other.

    Examples:
      qpr calibrate 'labelled/*.jsonl' --gold-column topic --output calibration
      qpr clusters logs.jsonl --output dataset --calibration calibration
    """
    from jobs.workflows.calibration import write_calibration

    write_calibration(files, settings, refine_with=refine_with, output=output, overwrite=overwrite, as_json=as_json)
