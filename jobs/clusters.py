"""``qpr clusters``: from question-answering logs to a dataset.

log files -> clusters -> dataset
"""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Annotated

import typer

from jobs.beam_options import beam_options
from jobs.dataset_run import make_dataset
from jobs.input_options import Delimiter, Encoding, check_inputs, input_files
from jobs.leakage_option import NearDuplicate
from jobs.linkage_option import (
    Calibrate,
    CalibrationFolder,
    GoldColumn,
    Linkage,
    MinProbability,
    Precision,
    RefineWith,
    decide,
    kind_to_learn,
)
from schemas.errors import UsageError

EXAMPLE = "qpr clusters 'logs/*.jsonl.gz' --output dataset"

SCORES = (
    "How alike the questions of an answer are. paper: mean share of their words that a question has (Bonadiman et al. "
    "2019), high for few questions; adjusted: the same, freed of their number; idf: adjusted, rare words count more."
)


class Score(StrEnum):
    """Which coherence decides whether a cluster is kept."""

    PAPER = "paper"
    ADJUSTED = "adjusted"
    IDF = "idf"


def clusters(
    context: typer.Context,
    output: Annotated[str, typer.Option(help="Folder of the dataset, any fsspec URL.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="LOGS...", help="Files, globs or URLs: .jsonl, .csv, .tsv, .parquet; .gz, .zst."),
    ] = None,
    logs: Annotated[list[str] | None, typer.Option(help="The same as LOGS; may be repeated.")] = None,
    coherence: Annotated[Score, typer.Option(help=SCORES)] = Score.IDF,
    min_coherence: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Clusters that score lower are rejected. Default: 0.05; with --linkage none 0.1, --refine-with 0.",
            show_default=False,
        ),
    ] = None,
    linkage: Linkage = None,
    min_probability: MinProbability = None,
    refine_with: RefineWith = None,
    calibration: CalibrationFolder = None,
    precision: Precision = None,
    calibrate: Calibrate = False,
    gold_column: GoldColumn = "gold_cluster",
    min_answer_share: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Of several answers to a question believe the most frequent if it has this share; 0 believes all. "
            "Default: 0.5; with --coherence paper 0, as in the paper.",
            show_default=False,
        ),
    ] = None,
    min_answer_events: Annotated[int, typer.Option(min=1, help="And if it was given so many times.")] = 2,
    max_cluster_size: Annotated[
        int, typer.Option(min=2, help="Questions kept of a larger group, always the same.")
    ] = 1_000,
    max_pairs_per_cluster: Annotated[int, typer.Option(min=1, help="Most pairs written of a cluster.")] = 10_000,
    near_duplicate: NearDuplicate = None,
    split_salt: Annotated[str, typer.Option(help="Any word; another one deals the splits anew.")] = "qpr",
    min_confidence: Annotated[
        float | None, typer.Option(help="Reject rows of lower confidence; one without is kept.")
    ] = None,
    locale: Annotated[
        str | None, typer.Option(help="Reject rows of another locale, such as en-GB; one without is kept.")
    ] = None,
    question_column: Annotated[str | None, typer.Option(help="Where question is called otherwise.")] = None,
    answer_column: Annotated[str | None, typer.Option(help="Where answer is called otherwise.")] = None,
    answer_id_column: Annotated[str | None, typer.Option(help="Where answer_id is called otherwise.")] = None,
    timestamp_column: Annotated[str | None, typer.Option(help="Where timestamp is called otherwise.")] = None,
    user_id_column: Annotated[str | None, typer.Option(help="Where user_id is called otherwise.")] = None,
    confidence_column: Annotated[str | None, typer.Option(help="Where confidence is called otherwise.")] = None,
    locale_column: Annotated[str | None, typer.Option(help="Where locale is called otherwise.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    shards: Annotated[int | None, typer.Option(min=1, max=4096, help="Parts of the work; by input size.")] = None,
    max_reject_ratio: Annotated[
        float, typer.Option(min=0, max=1, help="Fail if a larger share of rows is unusable.")
    ] = 0.1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the dataset that is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the plan; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Group logged questions by the answer they got and keep the groups that hang together.

    A log has the columns question and answer and may have answer_id, timestamp, user_id, confidence and locale.

    What cannot be used is in the dataset too, with the reason, in the table rejected.

    Example: qpr clusters 'logs/*.jsonl.gz' --output dataset

    Options of Apache Beam follow after --, for example: -- --runner=FlinkRunner --flink_master=host:8081
    """
    from jobs.calibrating import write_calibration
    from pipelines import clusters as pipeline
    from pipelines.ambiguity import Ambiguity
    from pipelines.assembly import Assembly
    from pipelines.clustering import Gate
    from pipelines.leakage import Leakage
    from pipelines.publication import shards_for
    from pipelines.validation import Validation

    options = beam_options(context)
    named = {
        "question": question_column,
        "answer": answer_column,
        "answer_id": answer_id_column,
        "timestamp": timestamp_column,
        "user_id": user_id_column,
        "confidence": confidence_column,
        "locale": locale_column,
    }
    column_names = {ours: theirs for ours, theirs in named.items() if theirs is not None}
    sources = input_files([*(logs or []), *(files or [])], delimiter=delimiter, encoding=encoding, example=EXAMPLE)
    if calibrate:
        if dry_run:
            raise UsageError("--dry-run plans a dataset, not a calibration. Leave out one of the two")
        write_calibration(
            sources,
            names=column_names | {"gold": gold_column},
            kind=kind_to_learn(linkage),
            refine_with=refine_with,
            output=output,
            overwrite=overwrite,
            as_json=as_json,
        )
        return
    asked_for = {"confidence": min_confidence is not None, "locale": locale is not None}
    columns = [dataclasses.replace(c, required=c.required or asked_for.get(c.name, False)) for c in pipeline.COLUMNS]
    check_inputs(sources, columns, column_names)
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
        column_names=column_names,
        delimiter=delimiter,
        encoding=encoding,
        validation=Validation(min_confidence=min_confidence, locale=locale),
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
