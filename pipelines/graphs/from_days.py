"""Graph from the daily tables of a window to a dataset.

daily tables, splits of earlier versions -> build -> Written
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam

from pipelines.graphs.from_logs import assemble
from pipelines.graphs.settings import ClustersConfig
from pipelines.ingestion.days import COUNTS, Day, DayFile, read_day_file, read_splits_file
from pipelines.intermediate import Written
from pipelines.reading.sources import Source
from pipelines.writing.rejects import TAG
from schemas.artifacts.manifest import Source as Input


def sources_of(days: Sequence[Day]) -> list[Source]:
    """Return the days as input files, for the number of shards and for messages."""
    return [Source(url=day.url, bytes=day.bytes, format="parquet") for day in days]


def build(
    pipeline: beam.Pipeline,
    *,
    days: Sequence[Day],
    earlier: Sequence[DayFile],
    config: ClustersConfig,
    run_url: str,
) -> None:
    """Add all steps from daily tables to the written dataset.

    Args:
        pipeline: to add them to.
        days: the days of the window.
        earlier: files with the splits of earlier versions; none in the first.
        config: how to make the dataset; how to read the rows was decided when they were ingested.
        run_url: the run's folder.
    """
    rows = (
        pipeline
        | "DayFiles" >> beam.Create([file for day in days for file in day.files])
        | "SpreadDays" >> beam.Reshuffle()
        | "ReadDays" >> beam.FlatMap(read_tagged).with_outputs(TAG, main="asked")
    )
    carried = pipeline | "DayCounts" >> beam.Create(
        [Written(None, day.carried, Input(url=day.url, bytes=day.bytes, digest=day.manifest.digest)) for day in days]
    )
    splits = None
    if earlier:
        splits = pipeline | "SplitFiles" >> beam.Create(list(earlier)) | "ReadSplits" >> beam.FlatMap(read_splits_file)
    assemble(
        rows.asked,
        rejects=rows[TAG],
        written=[carried],
        config=config,
        shards=config.for_files(sources_of(days)).shards or 1,
        run_url=run_url,
        earlier=splits,
    )


def read_tagged(day_file: DayFile) -> Iterator[Any]:
    """Yield the ASKED rows of a file, or its rejected rows."""
    for table, rows in read_day_file(day_file):
        yield rows if table == COUNTS else beam.pvalue.TaggedOutput(TAG, rows)
