"""``qpr quora``: from pairs labelled by people, as in the Quora dataset, to a dataset.

files of pairs -> quora -> dataset
"""

from __future__ import annotations

import typer

from jobs.options.beam import beam_options
from jobs.options.inputs import MaxRejectRatio, PairFiles
from jobs.options.output import AsJson, DryRun, OutputFolder, Overwrite
from pipelines.graphs.settings import QuoraConfig


def quora(
    context: typer.Context,
    output: OutputFolder,
    settings: QuoraConfig,
    files: PairFiles = None,
    max_reject_ratio: MaxRejectRatio = 0.1,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Group questions that people labelled as duplicates into clusters.

    The columns are qid1, qid2, question1, question2 and is_duplicate (0 or 1, or true or false), in any order; the ids
    are optional.

    Rejected rows are in the dataset too, in the table rejected.

    Examples:
      qpr quora quora_duplicate_questions.tsv --output dataset
      qpr quora links.csv --output dataset --column question1=title

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.workflows.dataset import DatasetRun, dataset_of_pairs

    run = DatasetRun(output, beam_options(context), max_reject_ratio, overwrite, dry_run, as_json)
    dataset_of_pairs(files, settings, run)
