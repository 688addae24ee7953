"""``qpr quora``: from pairs labelled by people, as in the Quora dataset, to a dataset.

files of pairs -> quora -> dataset
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.beam import beam_options
from jobs.options.dataset import (
    LIMITS,
    SPLITS,
    DryRun,
    MaxPairsPerCluster,
    MaxRejectRatio,
    Overwrite,
    Shards,
    SplitSalt,
)
from jobs.options.inputs import Delimiter, Encoding, OlderFiles, check_inputs, input_files, with_older
from jobs.options.leakage import NearDuplicate
from jobs.options.output import lasting
from jobs.workflows.dataset import make_dataset

EXAMPLE = "qpr quora quora_duplicate_questions.tsv --output dataset"


def quora(
    context: typer.Context,
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FOLDER", help="Folder of the dataset, any fsspec URL.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAIRS", help="Files, globs or URLs of pairs: .tsv, .csv, .jsonl, .parquet; .gz."),
    ] = None,
    pairs: OlderFiles = None,
    held_out_pairs: Annotated[
        int, typer.Option(min=0, metavar="N", help="Pairs in validation and in test, at most a tenth.", **SPLITS)
    ] = 5_000,
    max_cluster_size: Annotated[
        int, typer.Option(min=2, metavar="N", help="Maximum questions of a cluster.", **LIMITS)
    ] = 1_000,
    max_pairs_per_cluster: MaxPairsPerCluster = 10_000,
    near_duplicate: NearDuplicate = None,
    split_salt: SplitSalt = "qpr",
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    shards: Shards = None,
    max_reject_ratio: MaxRejectRatio = 0.1,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Group questions that people labelled as duplicates into clusters.

    The columns are qid1, qid2, question1, question2 and is_duplicate (0 or 1), in any order; the ids are optional.

    Rejected rows are in the dataset too, in the table rejected.

    Example:
      qpr quora quora_duplicate_questions.tsv --output dataset

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from pipelines.clusters.clustering import Gate
    from pipelines.decontamination.transform import Leakage
    from pipelines.duplicates.held_out_split import HeldOut
    from pipelines.duplicates.labelled_pairs import COLUMNS
    from pipelines.graphs import from_pairs as pipeline
    from pipelines.graphs.dataset import Assembly
    from pipelines.graphs.publish import shards_for

    options = beam_options(context)
    sources = input_files(
        with_older(files, pairs, option="--pairs"), delimiter=delimiter, encoding=encoding, example=EXAMPLE
    )
    check_inputs(sources, COLUMNS, mappable=False)
    config = pipeline.QuoraConfig(
        delimiter=delimiter,
        encoding=encoding,
        held_out=HeldOut(pairs=held_out_pairs, salt=split_salt),
        assembly=Assembly(
            # people have judged these clusters: the score is written, none is turned away for it
            gate=Gate(coherence="paper", min_coherence=0, max_cluster_size=max_cluster_size),
            leakage=Leakage() if near_duplicate is None else Leakage(near_duplicate=near_duplicate),
            salt=split_salt,
            max_pairs_per_cluster=max_pairs_per_cluster,
        ),
        shards=shards or shards_for(sources),
    )
    make_dataset(
        lambda beam_pipeline, url: pipeline.build(beam_pipeline, sources=sources, config=config, run_url=url),
        sources=sources,
        configuration=config,
        output=output,
        overwrite=overwrite,
        options=options,
        max_reject_ratio=max_reject_ratio,
        questions_a_row=2,
        dry_run=dry_run,
        as_json=as_json,
    )
