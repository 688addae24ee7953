"""``qpr clusters``: from question-answering logs to a dataset.

log files -> clusters -> dataset
"""

from __future__ import annotations

import typer

from jobs.options.beam import beam_options
from jobs.options.inputs import LogFiles, MaxRejectRatio
from jobs.options.linkage import CalibrationFolder, Precision, RefineWith, ReviewedClusters
from jobs.options.output import AsJson, DryRun, OutputFolder, Overwrite
from jobs.options.secret_files import UserKeyFile
from pipelines.graphs.settings import ClustersConfig


def clusters(
    context: typer.Context,
    output: OutputFolder,
    settings: ClustersConfig,
    files: LogFiles = None,
    refine_with: RefineWith = None,
    calibration: CalibrationFolder = None,
    precision: Precision = None,
    verdicts: ReviewedClusters = None,
    user_key_file: UserKeyFile = None,
    max_reject_ratio: MaxRejectRatio = 0.1,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Group logged questions into clusters of paraphrases.

    Questions with the same answer are compared. Rejected rows are in the dataset too, in the table rejected.

    Example:
      qpr clusters 'logs/*.jsonl.gz' --output dataset

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.workflows.dataset import DatasetRun, dataset_of_logs

    run = DatasetRun(output, beam_options(context), max_reject_ratio, overwrite, dry_run, as_json)
    dataset_of_logs(
        files,
        settings,
        run,
        refine_with=refine_with,
        calibration=calibration,
        precision=precision,
        verdicts=verdicts,
        user_key_file=user_key_file,
    )
