"""Wordings of answers, the queries of a confidence model where there are no validation clusters.

Index -> wordings_of -> questions of each answer; these, Judgements -> examples_of_answers -> Examples
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from model.confidence.examples import REMOVED, Examples, examples, joined_by_wording
from model.evaluation.relevance import Judgements
from model.index.index import Index
from model.reranking.term_statistics import WordCounts
from schemas.arrays import Int64s
from schemas.tables import ANSWER_ID
from schemas.text_arrays import answer_keys


def wordings_of(index: Index) -> pa.Table:
    """Return the questions of each answer that has at least two, within equal values of the columns that filter.

    An answer with over `REMOVED` + 1 questions is left out, since a ranking could not be made without all of them.

    Returns:
        A row for each answer and values: ``answer``, the key of the answer, and the lists ``question_ids``, ``texts``.
    """
    names = list(index.settings.vary_by or ())
    parts = []
    for table in index.tables():
        answers = answer_keys(table[ANSWER_ID.name], table["answer"])
        rows = table.select(["question_id", "text", *names]).append_column("answer", answers)
        parts.append(rows.filter(pc.is_valid(answers)))
    grouped = pa.concat_tables(parts).group_by(["answer", *names], use_threads=False)
    listed = grouped.aggregate([("question_id", "list"), ("text", "list")])
    sizes = pc.list_value_length(listed["question_id_list"])
    several = listed.filter(pc.and_(pc.greater_equal(sizes, 2), pc.less_equal(sizes, REMOVED + 1)))
    lists = several.select(["answer", "question_id_list", "text_list"])
    return lists.rename_columns(["answer", "question_ids", "texts"])


def examples_of_answers(
    index: Index,
    wordings: pa.Table,
    judged: Judgements,
    counts: WordCounts,
    *,
    on_queries: Callable[[int], None],
) -> Examples:
    """Search an index by wordings as `examples` does, each among the rows with its values of the columns that filter.

    Wordings of one answer are in one group, with whatever values. So are equal wordings with different values: tenants
    often have answers of their own to the same questions.

    Args:
        index: to search.
        wordings: as of `wordings_of`.
        judged: some of them, at least one.
        counts: of the words of the index.
        on_queries: called with the number of queries done.
    """
    of_query = topics(wordings, judged)
    return examples(index, judged, counts, by_answer=True, of_query=of_query, on_queries=on_queries)


def topics(wordings: pa.Table, judged: Judgements) -> Int64s:
    """Return a number for each query, from 0 without gaps; queries with one answer or equal keys have the same."""
    ids = pc.list_flatten(wordings["question_ids"].combine_chunks()).to_numpy()
    lengths = pc.list_value_length(wordings["question_ids"]).to_numpy()
    order = np.argsort(ids)
    cluster = np.repeat(np.arange(len(wordings)), lengths)[order][np.searchsorted(ids[order], judged.ids)]
    answers = wordings["answer"].take(pa.array(cluster)).to_numpy(zero_copy_only=False)
    return joined_by_wording(answers, judged.texts)
