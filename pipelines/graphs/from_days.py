"""Graph from the daily tables of a window to a dataset.

daily tables, splits of earlier versions -> build -> Written
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any, Final

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.graphs.from_logs import assemble
from pipelines.graphs.settings import ClustersConfig
from pipelines.ingestion.days import COUNTS, WAITING, Day, DayFile, beginning_of, read_day_file
from pipelines.ingestion.earlier import read_earlier_file
from pipelines.ingestion.ignored_answers import without_ignored
from pipelines.intermediate import ENOUGH, USER
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey
from pipelines.reading.sources import Source
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from schemas.artifacts.concurrent_reads import groups, read_each
from schemas.artifacts.manifest import Source as Input

_TOGETHER: Final = 2**22
"""Bytes of the files that a worker reads together; a larger file is read alone."""


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
    user_key: UserKey | None = None,
) -> None:
    """Add all steps from daily tables to the written dataset.

    Args:
        pipeline: to add them to.
        days: the days of the window.
        earlier: files with the splits of earlier versions; none in the first.
        config: how to make the dataset; how to read the rows was decided when they were ingested.
        run_url: the run's folder.
        user_key: of sealed rows and of hashes that are written.
    """
    over_days = any(day.manifest.of(WAITING) for day in days)
    ignored = config.validation.ignored_answers
    read_rows = beam.FlatMap(read_tagged, user_key, over_days, ignored, config.privacy)
    rows = (
        pipeline
        | "DayFiles" >> beam.Create([*_together(days)])
        | "SpreadDays" >> beam.Reshuffle()
        | "ReadDays" >> read_rows.with_outputs(TAG, "written", main="asked")
    )
    sources = [Input(url=day.url, bytes=day.bytes, digest=day.manifest.digest) for day in days]
    carried = pipeline | "DayCounts" >> beam.Create(
        [Written(None, day.carried(ignored), source) for day, source in zip(days, sources, strict=True)]
    )
    splits = None
    if earlier:
        splits = pipeline | "SplitFiles" >> beam.Create(list(earlier)) | "ReadSplits" >> beam.FlatMap(read_earlier_file)
    assemble(
        rows.asked,
        rejects=rows[TAG],
        written=[carried, rows.written],
        config=config,
        shards=config.for_files(sources_of(days)).shards or 1,
        run_url=run_url,
        earlier=splits,
        since=beginning_of(min(day.date for day in days)),
        user_key=user_key,
    )


def read_tagged(
    dated_files: Sequence[tuple[datetime.date, DayFile]],
    user_key: UserKey | None,
    over_days: bool,
    ignored: Sequence[str],
    privacy: Privacy,
) -> Iterator[Any]:
    """Yield the ASKED rows of files, and their rejected rows; rows without a time get the beginning of the day.

    Args:
        dated_files: day and file of each.
        user_key: of sealed rows.
        over_days: users are counted over days, so that rows have the columns `USER` and `ENOUGH`.
        ignored: answers that the dataset ignores; the day may have been ingested without this.
        privacy: protection of rejected rows.
    """
    contents = read_each(lambda dated: [*read_day_file(dated[1], user_key)], dated_files)
    dated = zip((date for date, _ in dated_files), contents, strict=True)
    for date, table, part in ((date, *named) for date, tables in dated for named in tables):
        if table not in (COUNTS, WAITING):
            yield beam.pvalue.TaggedOutput(TAG, part)
            continue
        counted = without_ignored(part, ignored, privacy)
        if len(counted.rejects):
            yield beam.pvalue.TaggedOutput(TAG, counted.rejects)
            yield beam.pvalue.TaggedOutput("written", Written(None, counted.counts))
        rows = _timed(counted.asked, date)
        if over_days:
            of_users = rows if table == WAITING else rows.append_column(USER, pa.nulls(len(rows), USER.type))
            rows = of_users.append_column(ENOUGH, pa.array(np.full(len(rows), table == COUNTS)))
        yield rows


def _together(days: Sequence[Day]) -> Iterator[Sequence[tuple[datetime.date, DayFile]]]:
    """Yield the files of days, small ones together: a remote store answers requests for all of them at once."""
    files = [(day.date, file) for day in days for file in day.files]
    return groups(files, lambda dated: dated[1].file.bytes, most_bytes=_TOGETHER)


def _timed(rows: pa.Table, date: datetime.date) -> pa.Table:
    """Return ASKED rows with the beginning of a day as the time of those without one."""
    day = pa.scalar(beginning_of(date), rows["first_seen"].type)
    times = {name: pc.fill_null(rows[name], day) for name in ("first_seen", "last_seen")}
    return pa.table({name: times.get(name, rows[name]) for name in rows.column_names})
