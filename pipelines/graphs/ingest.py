"""Graph from one day's log files to its daily table.

log files of a day -> build -> Written: counts of questions and answers, and rejected rows
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from pipelines.engine.shuffle import GroupByShard, shard_of
from pipelines.graphs.from_logs import read_asked
from pipelines.graphs.settings import IngestConfig
from pipelines.ingestion.days import COUNTS, WAITING, merge_day, off_date_counts, waiting_file
from pipelines.privacy.k_users import limit_day
from pipelines.privacy.settings import Privacy
from pipelines.privacy.suppression import Suppression
from pipelines.privacy.transform import limit_by_answer
from pipelines.privacy.users import UserKey
from pipelines.reading.reader import divide
from pipelines.reading.sources import Source
from pipelines.writing.parquet import to_parquet
from pipelines.writing.rejected_table import WriteRejects
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from pipelines.writing.run_report import WriteReport
from schemas.artifacts.writer import write_file


def build(
    pipeline: beam.Pipeline,
    *,
    sources: Sequence[Source],
    config: IngestConfig,
    date: datetime.date,
    run_url: str,
    user_key: UserKey | None = None,
    suppression: Suppression | None = None,
) -> None:
    """Add all steps from the log files of a day to its written tables.

    Args:
        pipeline: to add them to.
        sources: the log files.
        config: how to read them.
        date: the day.
        run_url: the run's folder.
        user_key: of the hashes of users and questions that are written.
        suppression: questions and users that were erased; None: none were.
    """
    shards = config.for_files(sources).shards or 1
    asked = (
        pipeline
        | "Files" >> beam.Create(list(sources))
        | "DivideFiles" >> beam.FlatMap(divide)
        | "SpreadFiles" >> beam.Reshuffle()
        | "ReadAndValidate"
        >> beam.FlatMap(read_day, config, date, user_key, suppression).with_outputs(TAG, "written", main="asked")
    )
    limited, rejects = limit_by_answer(
        asked.asked, asked[TAG], privacy=config.privacy, shards=shards, user_key=user_key
    )
    counts = (
        limited
        | "ShuffleByQuestion" >> GroupByShard(key="question_id", shards=shards)
        | "WriteCounts"
        >> beam.FlatMap(write_counts, config.privacy, user_key, run_url, shards).with_outputs(TAG, main="written")
    )
    rejected = (rejects, counts[TAG]) | "WriteRejected" >> WriteRejects(run_url, shards)
    (counts.written, rejected, asked.written) | "AllWritten" >> beam.Flatten() | "Report" >> WriteReport(run_url)


def read_day(
    source: Source,
    config: IngestConfig,
    date: datetime.date,
    user_key: UserKey | None = None,
    suppression: Suppression | None = None,
) -> Iterator[Any]:
    """Yield what `pipelines.graphs.from_logs.read_asked` yields, with counts of rows with a time of another day."""
    count_times = functools.partial(off_date_counts, date=date)
    names, validation, privacy = config.column_names, config.validation, config.privacy
    yield from read_asked(source, names, validation, privacy, user_key, suppression, count_times)


def write_counts(
    asked: pa.Table, privacy: Privacy, user_key: UserKey | None, run_url: str, shards: int
) -> Iterator[Any]:
    """Yield the written counts of a shard's questions, and what is rejected; equal rows give equal bytes.

    Users are counted before anything is written. Rows of questions that wait for users of other days are sealed.
    """
    limited, waiting = limit_day(asked, privacy, user_key)
    shard = int(shard_of(asked["question_id"].slice(0, 1), shards)[0])
    if len(limited.rejects):
        yield beam.pvalue.TaggedOutput(TAG, limited.rejects)
    if len(waiting) and user_key is not None:
        content, rows = waiting_file(waiting, user_key)
        sealed = write_file(run_url, f"{WAITING}/{shard:05d}-of-{shards:05d}.bin", content, table=WAITING, rows=rows)
        yield Written(sealed, {"rows_waiting": sum(waiting["events"].to_pylist())})
    if not len(limited.asked):
        return
    counted = merge_day(limited.asked)
    path = f"{COUNTS}/{shard:05d}-of-{shards:05d}.parquet"
    file = write_file(run_url, path, to_parquet(counted, COUNTS), table=COUNTS, rows=len(counted))
    yield Written(file, {"rows_kept": sum(counted["events"].to_pylist()), "forms": len(counted)})
