"""The more probable of the first two hits in front.

Found with at least `NEIGHBOURS` nearest questions -> first_by_probability -> Found of k hits
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from model.confidence.confidence import Confidence
from model.index.index import Index
from model.index.ranking import Ints
from model.search.found import Found
from model.search.judging import judged

COMPARED: Final = 2
"""Hits whose probabilities are compared. With 2, 3, 5 and 10 the MRR is .825, .818, .816 and .815 on the validation of
Quora, .815 in the order of `fusion`; on that of a help desk .927, .929, .929, .929 and .909."""


def first_by_probability(
    confidence: Confidence, index: Index, texts: Sequence[str], found: Found, k: int, exclude: Ints | None
) -> Found:
    """Return the k first hits, of which the first is the most probable of the first `COMPARED` by their own order.

    The question with the key of the query stays first. Of hits of equal probability the first stays first.

    Args:
        confidence: of the index.
        index: that was searched.
        texts: the queries.
        found: their hits, with at least `NEIGHBOURS` nearest questions.
        k: maximum number of hits of each.
        exclude: for each query the question id that was left out; see `judged`.
    """
    ranking = found.ranking
    order = np.tile(np.arange(ranking.ids.shape[1]), (len(ranking.ids), 1))
    start = ranking.first(COMPARED)
    records = index.records(start.rows[start.found])
    of_start = found._replace(ranking=start, dense_ranks=found.dense_ranks[:, :COMPARED])
    judgement = judged(confidence, index, texts, of_start, records, exclude=exclude)
    if judgement is not None:
        probable = np.where(start.found, judgement.probabilities, -1.0)
        probable[start.ids == found.own_ids[:, None]] = 2.0
        best = probable.argmax(axis=1)[:, None]
        order[:, :COMPARED] = np.argsort(order[:, :COMPARED] != best, axis=1, kind="stable")
    order = order[:, :k]
    dense, lexical = (np.take_along_axis(ranks, order, axis=1) for ranks in (found.dense_ranks, found.lexical_ranks))
    return found._replace(ranking=ranking.reordered(order), dense_ranks=dense, lexical_ranks=lexical)
