"""Answers to ignore in the counts of days, which may have been made when they were not ignored yet.

counts of a day -> without_ignored -> counts without these answers, REJECTS, counters
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import REJECTS
from pipelines.privacy.payloads import protect_rows
from pipelines.privacy.settings import Privacy
from pipelines.questions.row_filters import Validated, hash_ids, ignored_counts
from pipelines.writing.rejects import ROWS, reject_rows
from schemas.tables import QA_LOG
from schemas.text_arrays import encode, fold_all


def without_ignored(asked: pa.Table, ignored: Sequence[str], privacy: Privacy) -> Validated:
    """Reject the rows of a day whose answer or answer id is to be ignored, as `questions.row_filters` does with a log.

    The rows of the log are gone, so a rejected one has the question and the answer alone.

    Args:
        asked: ASKED, or rows that wait for more users; further columns stay.
        ignored: answers and answer ids.
        privacy: protection of rejected rows.
    """
    if not ignored:
        return Validated(asked, REJECTS.empty_table(), {})
    answers, given = encode(asked["answer"]), pa.array(ignored, pa.string())
    by_text = pc.index_in(fold_all(answers.dictionary), value_set=fold_all(given)).take(answers.indices)
    by_id = pc.index_in(asked["answer_id"].combine_chunks(), value_set=hash_ids(given))
    is_ignored = pc.or_(pc.is_valid(by_text), pc.is_valid(by_id))
    rejected = asked.filter(is_ignored)
    unknown = QA_LOG.empty_table().take(pa.nulls(len(rejected), pa.int64()))
    texts = unknown.set_column(0, "question", rejected["text"]).set_column(1, "answer", rejected["answer"])
    rejects = reject_rows(protect_rows(texts, privacy, None), pa.repeat("ignored_answer", len(rejected)))
    rejects = rejects.append_column(ROWS, rejected["events"].cast(ROWS.type))
    counts = ignored_counts(by_text, by_id, asked["events"].to_numpy())
    return Validated(asked.filter(pc.invert(is_ignored)), rejects, counts)
