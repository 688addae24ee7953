"""Result of a search in arrays: a ranking, the nearest questions, and the ranks by each way of finding.

Retrieval.find -> Found -> judged, hits_of
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from model.index.ranking import Ranking
from schemas.arrays import Int64s, Matrix

if TYPE_CHECKING:
    from model.confidence.confidence import Judgement


class Found(NamedTuple):
    """A ranking, and the ranks of its questions, (n, k), by each way of finding them; 0 where it did not.

    ``nearest`` is the ranking by vectors, which may have more questions; ``own_ids`` (n,) are row ids of the queries,
    and ``vectors`` (n, dimension) those of the queries, if these were encoded. ``judgement`` is that of all hits, if
    the way of finding them has made it.
    """

    ranking: Ranking
    dense_ranks: Int64s
    lexical_ranks: Int64s
    nearest: Ranking
    own_ids: Int64s
    vectors: Matrix | None = None
    judgement: Judgement | None = None
