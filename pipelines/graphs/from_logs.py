"""Graph from question-answering logs to a dataset.

log files -> build -> Written
"""

from __future__ import annotations

import collections
import datetime
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa

from pipelines.engine import progress
from pipelines.engine.shuffle import GroupByShard, JoinByShard, tables_of
from pipelines.graphs.dataset import AssembleDataset, DigestInputs, Parts
from pipelines.graphs.naming import choose_texts, name_and_settle
from pipelines.graphs.settings import ClustersConfig
from pipelines.intermediate import LOG_ANSWER_ID
from pipelines.neighbours.embeddings import Encode
from pipelines.privacy.payloads import USER_ID, Unreadable, protect_rows, protect_unreadable
from pipelines.privacy.scrub import scrub_columns, scrub_payloads
from pipelines.privacy.settings import Privacy
from pipelines.privacy.suppression import Suppression
from pipelines.privacy.transform import limit_by_answer
from pipelines.privacy.users import UserKey, hash_users
from pipelines.questions.answer_texts import with_current_texts
from pipelines.questions.row_filters import Validated, validate
from pipelines.questions.settings import Validation
from pipelines.reading.headers.columns import LOG_COLUMNS
from pipelines.reading.reader import divide, read, without_ids_that_are_texts
from pipelines.reading.sources import Source
from pipelines.writing.rejects import TAG
from pipelines.writing.reported import Written
from pipelines.writing.run_report import WriteReport
from schemas.tables import QA_LOG


def build(
    pipeline: beam.Pipeline,
    *,
    sources: Sequence[Source],
    config: ClustersConfig,
    run_url: str,
    encode: Encode | None = None,
    user_key: UserKey | None = None,
) -> None:
    """Add all steps from log files to the written dataset.

    Args:
        pipeline: to add them to.
        sources: the log files.
        config: how to do it.
        run_url: the run's folder.
        encode: returns vectors of texts, where the configuration compares their cosine.
        user_key: of the hashes of users and questions that are written; it travels to workers with the functions.
    """
    shards = config.for_files(sources).shards or 1
    files = pipeline | "Files" >> beam.Create(list(sources))
    rows = beam.FlatMap(read_asked, config.column_names, config.validation, config.privacy, user_key)
    asked = (
        files
        | "DivideFiles" >> beam.FlatMap(divide)
        | "SpreadFiles" >> beam.Reshuffle()
        | "ReadAndValidate" >> rows.with_outputs(TAG, "written", main="asked")
    )
    digested = files | "DigestInputs" >> DigestInputs()
    limit_and_assemble(asked, [digested], config, shards=shards, run_url=run_url, encode=encode, user_key=user_key)


def limit_and_assemble(
    asked: Any,
    written: Sequence[beam.PCollection[Written]],
    config: ClustersConfig,
    *,
    shards: int,
    run_url: str,
    encode: Encode | None,
    user_key: UserKey | None,
) -> beam.PCollection[None]:
    """Add all steps after the outputs of `read_asked` or `from_tables.count_rows`; the rest is that of `assemble`."""
    counted, rejects = limit_by_answer(
        asked.asked, asked[TAG], privacy=config.privacy, shards=shards, user_key=user_key
    )
    return assemble(
        counted,
        rejects=rejects,
        written=[asked.written, *written],
        config=config,
        shards=shards,
        run_url=run_url,
        encode=encode,
        user_key=user_key,
    )


def assemble(
    asked: beam.PCollection[pa.Table],
    *,
    rejects: beam.PCollection[pa.Table],
    written: Sequence[beam.PCollection[Written]],
    config: ClustersConfig,
    shards: int,
    run_url: str,
    encode: Encode | None = None,
    earlier: beam.PCollection[pa.Table] | None = None,
    since: datetime.datetime | None = None,
    user_key: UserKey | None = None,
) -> beam.PCollection[None]:
    """Add all steps from counted rows to the written dataset; return one element, once its files are there.

    Args:
        asked: ASKED tables.
        rejects: REJECTS tables of rows that could not be used.
        written: counts of the rows, and the inputs with their digests.
        config: how to do it.
        shards: number of parts of a shuffle and of a table.
        run_url: the run's folder.
        encode: returns vectors of texts, where the configuration compares their cosine.
        earlier: EARLIER tables of the versions before.
        since: beginning of the rows, where there are versions before.
        user_key: of the hashes of questions that are written.
    """
    if earlier is None:
        of_questions = (
            asked
            | "ShuffleByQuestion" >> GroupByShard(key="question_id", shards=shards)
            | "WithoutSplits" >> beam.Map(lambda table: (table, None))
        )
    else:
        joined = (asked, earlier) | "ShuffleByQuestion" >> JoinByShard(key="question_id", shards=shards)
        of_questions = joined | "ReadTables" >> beam.Map(tables_of)
    name = beam.FlatMap(name_and_settle, config.ambiguity, config.privacy, user_key, since)
    named = of_questions | "NameQuestions" >> name.with_outputs(
        "members", "token_counts", "answer_forms", TAG, "written", main="questions"
    )
    current = (
        named.answer_forms
        | "ShuffleAnswerForms" >> GroupByShard(key="answer_id", shards=shards)
        | "ChooseTexts" >> beam.FlatMap(choose_texts).with_outputs("written", main="texts")
    )
    texts = beam.pvalue.AsList(current.texts)
    parts: Parts = {
        "questions": named.questions | "NameAnswers" >> beam.Map(with_current_texts, texts, of="answer_id"),
        "members": named.members | "NameMembers" >> beam.Map(with_current_texts, texts, of=LOG_ANSWER_ID.name),
        "token_counts": named.token_counts,
        "rejects": (rejects, named[TAG]) | "Unusable" >> beam.Flatten(),
    }
    assembly = AssembleDataset(config.assembly, shards, run_url, encode, has_earlier_splits=earlier is not None)
    assembled = parts | "AssembleDataset" >> assembly
    return (
        (assembled, *written, named.written, current.written)
        | "AllWritten" >> beam.Flatten()
        | "Report" >> WriteReport(run_url)
    )


def read_asked(
    source: Source,
    column_names: Mapping[str, str],
    validation: Validation,
    privacy: Privacy,
    user_key: UserKey | None = None,
    suppression: Suppression | None = None,
    count_times: Callable[[pa.ChunkedArray], Mapping[str, int]] | None = None,
) -> Iterator[Any]:
    """Yield the ASKED rows of a file, its rejected rows, and counts of rows, unreadable values and personal data.

    Rows of erased questions and users are counted only. ``count_times`` returns counters of the times of rows.
    """
    counts = collections.Counter({"rows_read": 0} | count_readable(QA_LOG.empty_table(), validation, privacy))
    for batch in read(source, LOG_COLUMNS, column_names):
        counts["rows_read"] += len(batch.rows) + len(batch.rejects)
        progress.count(len(batch.rows) + len(batch.rejects), "row", "read")
        counts.update({f"unreadable_{name}": number for name, number in batch.unreadable.items()})
        counts.update({f"ambiguous_{name}": number for name, number in batch.ambiguous.items()})
        counts.update(count_readable(batch.rows, validation, privacy))
        unreadable = Unreadable(batch.rejects, batch.unusable)
        given = without_ids_that_are_texts(batch.rows, column_names)
        if suppression is not None:  # as they were asked: other rules of scrubbing decided what an older list has
            given = suppression.remove_rows(given)
        rows, replaced = scrub_columns(given, privacy.columns)
        if suppression is not None:
            rows = suppression.remove_rows(rows)
            unreadable = suppression.remove_unreadable(unreadable)
            counts["rows_erased"] += len(batch.rows) + len(batch.rejects) - len(rows) - len(unreadable.rejects)
        has_users = len(unreadable.rejects) > 0 and batch.has(USER_ID)  # looks through a file of objects
        unread = protect_unreadable(unreadable, column_names, privacy, user_key, has_users=has_users)
        if privacy.columns:
            hashed = frozenset({USER_ID, column_names.get(USER_ID, USER_ID)})
            unread, replaced_unread = scrub_payloads(unread, hashed=hashed)
            replaced += replaced_unread
        counts.update({f"replaced_{kind}": number for kind, number in replaced.items()})
        counts.update(count_times(rows["timestamp"]) if count_times else {})
        checked = checked_rows(rows, validation, privacy, user_key)
        counts.update(checked.counts)
        if len(checked.asked):
            yield checked.asked
        for rejects in (checked.rejects, unread):
            if len(rejects):
                yield beam.pvalue.TaggedOutput(TAG, rejects)
    yield beam.pvalue.TaggedOutput("written", Written(None, dict(counts)))


def count_readable(rows: pa.Table, validation: Validation, privacy: Privacy) -> dict[str, int]:
    """Return the number of rows with a value in each column that options need."""
    needed = [*validation.filters, *([USER_ID] if privacy.options_of_users else [])]
    return {f"readable_{name}": len(rows) - rows[name].null_count for name in needed}


def checked_rows(rows: pa.Table, validation: Validation, privacy: Privacy, key: UserKey | None) -> Validated:
    """Return the usable and the rejected rows of a scrubbed table.

    Args:
        rows: columns of `schemas.tables.QA_LOG`.
        validation: the limits of a row.
        privacy: limits of users, and protection of rejected rows.
        key: of the hashes of users.
    """
    users = hash_users(rows[USER_ID], key) if privacy.options_of_users else None
    return validate(rows, validation, users=users, protect=functools.partial(protect_rows, privacy=privacy, key=key))
