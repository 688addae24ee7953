"""``qpr calibrate``: from judged pairs, or logs with a gold column, to a calibration for `qpr clusters`.

log files with a gold column, or a dataset and verdicts -> calibrate -> calibration
"""

from __future__ import annotations

from jobs.options.inputs import LogFiles
from jobs.options.linkage import RefineWith
from jobs.options.output import AsJson, OutputFolder, Overwrite
from pipelines.calibration.settings import CalibrationConfig, JudgedSample
from schemas.errors import UsageError


def calibrate(
    output: OutputFolder,
    settings: CalibrationConfig,
    judged: JudgedSample,
    files: LogFiles = None,
    refine_with: RefineWith = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Find weights and thresholds of the linkage by labelled logs or judged pairs.

    With --verdicts, people's verdicts on pairs of a dataset estimate the share of paraphrases, correct the probability
    and show from which probability on a precision holds with 95 % confidence.

    With LOGS, weights are learned on one half of the answers; precision and recall are measured on the other.

    Examples:
      qpr sample --dataset dataset --for-calibration 150 --output verdicts.csv
      qpr calibrate --dataset dataset --verdicts verdicts.csv --output judged
      qpr calibrate 'labelled/*.jsonl' --gold-column topic --output measured
      qpr clusters logs.jsonl --output new --calibration judged --precision 0.9
    """
    if judged.verdicts is not None and judged.dataset is not None:
        from jobs.workflows.verdicts.verdict_calibration import write_verdict_calibration

        if files or refine_with or settings.model_fields_set:
            raise UsageError("--verdicts: needs no LOGS, --refine-with or options of a gold column. Leave them out")
        write_verdict_calibration(judged.dataset, judged.verdicts, output=output, overwrite=overwrite, as_json=as_json)
        return
    from jobs.workflows.calibration import write_calibration

    write_calibration(files, settings, refine_with=refine_with, output=output, overwrite=overwrite, as_json=as_json)
