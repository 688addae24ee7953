"""Logs with gold clusters, the ground truth for the choice of a threshold.

log files with a gold column -> read_gold -> Gold
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import ASKED
from pipelines.questions.aggregation import name_questions
from pipelines.questions.memberships import merge_answers
from pipelines.questions.row_filters import answer_faults, answer_hashes, validate
from pipelines.questions.settings import Validation
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.reading.headers.columns import LOG_COLUMNS, Column
from pipelines.reading.reader import check_header, read, without_ids_that_are_texts
from pipelines.reading.sources import Source
from schemas.errors import QprError
from schemas.ragged import most_frequent
from schemas.text_arrays import encode, fold_all, hash64_all, key_all

GOLD: Final = Column("gold", pa.string(), option="--gold-column")
"""Gold cluster of a row's question: equal values are paraphrases, null and white space are unknown."""

_COLUMNS: Final = (*LOG_COLUMNS, GOLD)


@dataclasses.dataclass(frozen=True)
class Gold:
    """Questions under their answers, and which of them are paraphrases.

    Attributes:
        members: MEMBERS, merged and ordered by answer and question.
        cluster: (R,) int64, the gold cluster of each row.
        weights: of the log's tokens.
        unreadable: number of rows that could not be read, by reason.
    """

    members: pa.Table
    cluster: np.ndarray
    weights: TokenWeights
    unreadable: Mapping[str, int] = dataclasses.field(default_factory=dict)


def read_gold(sources: Sequence[Source], names: Mapping[str, str]) -> Gold:
    """Read logs with a gold column; a question's cluster under an answer is that of most of its rows there.

    Args:
        sources: the files.
        names: our name of a column to the files', where they differ.

    Raises:
        QprError: a file cannot be read, has no such column, or no row can be used.
    """
    for source in sources:
        check_header(source, _COLUMNS, names)
    tables, unreadable = [], Counter[str]()
    for source in sources:
        for batch in read(source, _COLUMNS, names):
            tables.append(without_ids_that_are_texts(batch.rows, names))
            unreadable.update(batch.rejects["reason"].to_pylist())
    rows = pa.concat_tables(tables) if tables else pa.table({c.name: pa.array([], c.type) for c in _COLUMNS})
    conditions = [pc.is_valid(rows["question"]), pc.is_valid(rows["answer"])]
    conditions.append(pc.not_equal(pc.utf8_trim_whitespace(rows["gold"]), ""))
    rows = rows.filter(functools.reduce(pc.and_, conditions))
    if not len(rows):
        where = ", ".join(source.url for source in sources)
        raise QprError(f"{where}: no row has a question, an answer and a value in the gold column. Check --gold-column")
    return dataclasses.replace(gold_of([rows]), unreadable=unreadable)


def gold_of(tables: Iterable[pa.Table]) -> Gold:
    """Return the questions of tables with the columns of QA_LOG and ``gold``; no question, answer or gold is null."""
    rows = pa.concat_tables(tables).combine_chunks()
    asked = validate(rows.drop_columns("gold"), Validation()).asked
    named = name_questions(asked if len(asked) else ASKED.empty_table())
    members = merge_answers(named.members)
    answers = encode(rows["answer"])
    folded = fold_all(answers.dictionary)
    usable = pc.is_null(answer_faults(answers.dictionary, folded)).take(answers.indices)
    rows, answers = rows.filter(usable), answers.filter(usable)  # rejected rows have no vote
    questions = hash64_all(key_all(rows["question"].combine_chunks()))
    numbered = pa.table({"answer": answers.indices, "answer_id": rows["answer_id"]})
    places = _places(questions, answer_hashes(numbered, folded))
    once = pa.array(np.ones(len(rows), np.int64))
    of_place = most_frequent(places, rows["gold"].combine_chunks(), once)
    sought = _places(members["question_id"].combine_chunks(), members["answer_id"].combine_chunks())
    row = np.searchsorted(of_place["group"].to_numpy(), sought.to_numpy())
    codes = of_place["value"].combine_chunks().take(pa.array(row)).dictionary_encode().indices
    return Gold(members, codes.to_numpy().astype(np.int64), named.token_counts)


def _places(questions: pa.Array, answers: pa.Array) -> pa.Array:
    """Return a number for each pair of a question and an answer."""
    texts = (ids.cast(pa.string()) for ids in (questions, answers))
    coded = encode(pc.binary_join_element_wise(*texts, "|"))
    return hash64_all(coded.dictionary).take(coded.indices)
