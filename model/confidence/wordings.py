"""Wordings of answers, the queries of a confidence model where there are no validation clusters.

Index -> wordings_of -> questions of each answer; these, Judgements -> examples_of_answers -> Examples
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from model.confidence.examples import REMOVED, Examples, examples
from model.confidence.features import Ints
from model.evaluation.relevance import Judgements
from model.index.index import Index
from model.reranking.term_statistics import WordCounts
from schemas.tables import ANSWER_ID
from schemas.text_arrays import answer_keys, key_all

ROWS: Final = 131_072
"""Questions whose answers are compared at a time."""


def wordings_of(index: Index) -> pa.Table:
    """Return the questions of each answer that has at least two, within equal values of the columns that filter.

    An answer with over `REMOVED` + 1 questions is left out, since a ranking could not be made without all of them.

    Returns:
        A row for each answer and values: ``answer``, the key of the answer, and the lists ``question_ids``, ``texts``.
    """
    names = list(index.settings.vary_by or ())
    parts = []
    for table in index.tables(ROWS):
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
    parts = parts_of(index, judged) if index.settings.vary_by else None
    found = examples(index, judged, counts, by_answer=True, parts=parts, on_queries=on_queries)
    number = topics(wordings, judged)
    return dataclasses.replace(found, groups=np.concatenate([number, number]))


def topics(wordings: pa.Table, judged: Judgements) -> Ints:
    """Return a number for each query, from 0 without gaps; queries with one answer or equal keys have the same."""
    ids = pc.list_flatten(wordings["question_ids"].combine_chunks()).to_numpy()
    lengths = pc.list_value_length(wordings["question_ids"]).to_numpy()
    order = np.argsort(ids)
    cluster = np.repeat(np.arange(len(wordings)), lengths)[order][np.searchsorted(ids[order], judged.ids)]
    of_answers = wordings["answer"].take(pa.array(cluster)).to_numpy(zero_copy_only=False)
    of_keys = key_all(judged.texts).to_numpy(zero_copy_only=False)
    (_, answers), (_, keys) = (np.unique(texts, return_inverse=True) for texts in (of_answers, of_keys))
    size = len(judged)
    pairs = coo_array((np.ones(size, bool), (answers, size + keys)), shape=(2 * size, 2 * size))
    component = connected_components(pairs, directed=False)[1][answers]
    return np.asarray(np.unique(component, return_inverse=True)[1], np.int64)


def parts_of(index: Index, judged: Judgements) -> Iterator[tuple[Ints, Index]]:
    """Yield the numbers of the queries with equal values, and the rows of the index with these.

    Answers that have ended are among them: an index does not depend on the time of its build.
    """
    rows, filters = index.questions(index.rows_of(judged.ids)), index.row_filters
    columns = [rows[name].to_pylist() for name in index.settings.vary_by or ()]
    numbers = collections.defaultdict[tuple[str, ...], list[int]](list)
    for number, values in enumerate(zip(*columns, strict=True)):
        numbers[values].append(number)
    for values, some in numbers.items():
        yield np.array(some, np.int64), index.within(filters.masks(values, 0), values)
