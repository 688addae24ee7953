"""``qpr clusters``: from question-answering logs to a dataset.

log files -> clusters -> dataset
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from jobs.beam_options import beam_options, show_dataset
from jobs.console import say
from jobs.leakage_option import NearDuplicate
from schemas.manifest import Output


class Score(StrEnum):
    """Which coherence decides whether a cluster is kept."""

    PAPER = "paper"
    ADJUSTED = "adjusted"
    IDF = "idf"


def clusters(
    context: typer.Context,
    logs: Annotated[list[str], typer.Option(help="Log files, globs or URLs: .jsonl, .csv, .tsv, .parquet; .gz, .zst.")],
    output: Annotated[str, typer.Option(help="Folder of the dataset, any fsspec URL.")],
    more_logs: Annotated[list[str] | None, typer.Argument(metavar="[LOGS]...", help="More log files.")] = None,
    coherence: Annotated[Score, typer.Option(help="The score of the gate.")] = Score.IDF,
    min_coherence: Annotated[float, typer.Option(min=0, max=1, help="Clusters that score lower are rejected.")] = 0.1,
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
    max_cluster_size: Annotated[int, typer.Option(min=2, help="Larger clusters are sampled.")] = 1_000,
    max_pairs_per_cluster: Annotated[int, typer.Option(min=1, help="Pairs written of one cluster.")] = 10_000,
    near_duplicate: NearDuplicate = None,
    split_salt: Annotated[str, typer.Option(help="Another salt, another split.")] = "qpr",
    min_confidence: Annotated[float | None, typer.Option(help="Reject rows of lower confidence.")] = None,
    locale: Annotated[str | None, typer.Option(help="Keep rows of this locale only, such as en-GB.")] = None,
    question_column: Annotated[str | None, typer.Option(help="Name of the question column.")] = None,
    answer_column: Annotated[str | None, typer.Option(help="Name of the answer column.")] = None,
    answer_id_column: Annotated[str | None, typer.Option(help="Name of the answer id column.")] = None,
    timestamp_column: Annotated[str | None, typer.Option(help="Name of the timestamp column.")] = None,
    user_id_column: Annotated[str | None, typer.Option(help="Name of the user column.")] = None,
    confidence_column: Annotated[str | None, typer.Option(help="Name of the confidence column.")] = None,
    locale_column: Annotated[str | None, typer.Option(help="Name of the locale column.")] = None,
    shards: Annotated[int | None, typer.Option(min=1, max=4096, help="Parts of a shuffle; by input size.")] = None,
    max_reject_ratio: Annotated[float, typer.Option(min=0, max=1, help="Fail above this share of bad rows.")] = 0.1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the dataset that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Group logged questions by the answer they got and keep the groups that hang together.

    Example: qpr clusters --logs 'logs/*.jsonl.gz' --output dataset

    Options of Apache Beam follow after --, for example: -- --runner=FlinkRunner --flink_master=host:8081
    """
    from pipelines import clusters as pipeline
    from pipelines.ambiguity import Ambiguity
    from pipelines.assembly import Assembly
    from pipelines.clustering import Gate
    from pipelines.leakage import Leakage
    from pipelines.publication import run_and_publish, shards_for
    from pipelines.reading.reader import check_header
    from pipelines.reading.sources import expand
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
    sources = expand([*logs, *(more_logs or [])])
    for source in sources:
        check_header(source, pipeline.COLUMNS, column_names)
    if min_answer_share is None:
        min_answer_share = 0 if coherence is Score.PAPER else Ambiguity().min_answer_share
    if near_duplicate is None:
        near_duplicate = 0 if coherence is Score.PAPER else Leakage().near_duplicate
    config = pipeline.ClustersConfig(
        column_names=column_names,
        validation=Validation(min_confidence=min_confidence, locale=locale),
        ambiguity=Ambiguity(min_answer_share=min_answer_share, min_answer_events=min_answer_events),
        assembly=Assembly(
            gate=Gate(coherence=coherence.value, min_coherence=min_coherence, max_cluster_size=max_cluster_size),
            leakage=Leakage(near_duplicate=near_duplicate),
            salt=split_salt,
            max_pairs_per_cluster=max_pairs_per_cluster,
        ),
        shards=shards or shards_for(sources),
    )
    target = Output(output, "dataset", overwrite=overwrite)
    say(f"{len(sources)} file(s), {sum(s.bytes for s in sources):,} bytes, {config.shards} shard(s)")
    manifest = run_and_publish(
        lambda beam_pipeline, run_url: pipeline.build(beam_pipeline, sources=sources, config=config, run_url=run_url),
        output=target,
        sources=sources,
        configuration=config,
        leakage=config.assembly.leakage,
        options=options,
        max_reject_ratio=max_reject_ratio,
    )
    show_dataset(output, manifest, as_json=as_json)
