"""``qpr clusters``: from question-answering logs to a dataset.

log files -> clusters -> dataset
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Annotated

import typer

from jobs.options.beam import beam_options
from jobs.options.columns import COLUMN, OlderColumn, column_names
from jobs.options.dataset import (
    LIMITS,
    DryRun,
    MaxPairsPerCluster,
    MaxRejectRatio,
    Overwrite,
    Shards,
    SplitSalt,
)
from jobs.options.ignored_answers import IgnoreAnswer, read_ignored
from jobs.options.inputs import Delimiter, Encoding, LogFiles, OlderFiles, check_inputs, input_files, with_older
from jobs.options.leakage import NearDuplicate
from jobs.options.linkage import (
    CalibrationFolder,
    Linkage,
    MinProbability,
    Precision,
    RefineWith,
)
from jobs.options.output import lasting
from jobs.workflows.dataset import make_dataset
from jobs.workflows.linkage import decide

EXAMPLE = "qpr clusters 'logs/*.jsonl.gz' --output dataset"

SCORES = (
    "Score of --min-coherence: idf (common words, rare ones count more), adjusted (common words) or paper (Bonadiman "
    "et al. 2019, high for few questions)."
)


class Score(StrEnum):
    """Which coherence decides whether a cluster is kept."""

    PAPER = "paper"
    ADJUSTED = "adjusted"
    IDF = "idf"


def clusters(
    context: typer.Context,
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FOLDER", help="Folder of the dataset, any fsspec URL.")
    ],
    files: LogFiles = None,
    logs: OlderFiles = None,
    coherence: Annotated[Score, typer.Option(metavar="NAME", help=SCORES)] = Score.IDF,
    min_coherence: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="X",
            help="Minimum coherence of a cluster: 0 unrelated questions, 1 the same words.",
            show_default="0.05; 0.1 with --linkage none; 0 with --refine-with",
        ),
    ] = None,
    linkage: Linkage = None,
    min_probability: MinProbability = None,
    refine_with: RefineWith = None,
    calibration: CalibrationFolder = None,
    precision: Precision = None,
    min_answer_share: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="X",
            help="Minimum share of a question's most frequent answer; 0: keep every answer.",
            show_default="0.5; 0 with --coherence paper",
            **LIMITS,
        ),
    ] = None,
    min_answer_events: Annotated[
        int, typer.Option(min=1, metavar="N", help="Minimum rows of that answer.", **LIMITS)
    ] = 2,
    max_cluster_size: Annotated[
        int, typer.Option(min=2, metavar="N", help="Maximum questions of a cluster, a fixed choice.", **LIMITS)
    ] = 1_000,
    max_pairs_per_cluster: MaxPairsPerCluster = 10_000,
    near_duplicate: NearDuplicate = None,
    split_salt: SplitSalt = "qpr",
    min_confidence: Annotated[
        float | None, typer.Option(metavar="X", help="Reject rows of lower confidence.", **LIMITS)
    ] = None,
    ignore_answer: IgnoreAnswer = None,
    locale: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Reject rows of another locale than this, such as en-GB.", **LIMITS),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="Column for one of question, answer, answer_id, timestamp, user_id, confidence, locale, such as "
            "question=query. Repeatable.",
            **COLUMN,
        ),
    ] = None,
    question_column: OlderColumn = None,
    answer_column: OlderColumn = None,
    answer_id_column: OlderColumn = None,
    timestamp_column: OlderColumn = None,
    user_id_column: OlderColumn = None,
    confidence_column: OlderColumn = None,
    locale_column: OlderColumn = None,
    shards: Shards = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    max_reject_ratio: MaxRejectRatio = 0.1,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Group logged questions into clusters of paraphrases.

    Questions with the same answer are compared. Rejected rows are in the dataset too, in the table rejected.

    Example:
      qpr clusters 'logs/*.jsonl.gz' --output dataset

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from pipelines.clusters.clustering import Gate
    from pipelines.decontamination.transform import Leakage
    from pipelines.graphs import from_logs as pipeline
    from pipelines.graphs.dataset import Assembly
    from pipelines.graphs.publish import shards_for
    from pipelines.questions.ambiguity import Ambiguity
    from pipelines.questions.row_filters import Validation

    options = beam_options(context)
    names = column_names(
        column,
        known=[known.name for known in pipeline.COLUMNS],
        question=question_column,
        answer=answer_column,
        answer_id=answer_id_column,
        timestamp=timestamp_column,
        user_id=user_id_column,
        confidence=confidence_column,
        locale=locale_column,
    )
    sources = input_files(
        with_older(files, logs, option="--logs"), delimiter=delimiter, encoding=encoding, example=EXAMPLE
    )
    asked_for = {"confidence": min_confidence is not None, "locale": locale is not None}
    columns = [dataclasses.replace(c, required=c.required or asked_for.get(c.name, False)) for c in pipeline.COLUMNS]
    check_inputs(sources, columns, names)
    if min_answer_share is None:
        min_answer_share = 0 if coherence is Score.PAPER else Ambiguity().min_answer_share
    if near_duplicate is None:
        near_duplicate = 0 if coherence is Score.PAPER else Leakage().near_duplicate
    decided = decide(
        method=linkage,
        score=coherence.value,
        min_probability=min_probability,
        min_coherence=min_coherence,
        calibration=calibration,
        precision=precision,
        refine_with=refine_with,
    )
    config = pipeline.ClustersConfig(
        column_names=names,
        delimiter=delimiter,
        encoding=encoding,
        validation=Validation(
            min_confidence=min_confidence, locale=locale, ignored_answers=read_ignored(ignore_answer or [])
        ),
        ambiguity=Ambiguity(min_answer_share=min_answer_share, min_answer_events=min_answer_events),
        assembly=Assembly(
            linking=decided.linking,
            gate=Gate(
                coherence=coherence.value, min_coherence=decided.min_coherence, max_cluster_size=max_cluster_size
            ),
            leakage=Leakage(near_duplicate=near_duplicate),
            salt=split_salt,
            max_pairs_per_cluster=max_pairs_per_cluster,
        ),
        shards=shards or shards_for(sources),
    )
    make_dataset(
        lambda beam_pipeline, url: pipeline.build(
            beam_pipeline, sources=sources, config=config, run_url=url, encode=decided.encode
        ),
        sources=sources,
        configuration=config,
        output=output,
        overwrite=overwrite,
        options=options,
        max_reject_ratio=max_reject_ratio,
        dry_run=dry_run,
        as_json=as_json,
    )
