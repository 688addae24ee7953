"""Recall of candidates, with and without the question itself."""

from __future__ import annotations

import numpy as np

from benchmarks.retrieval.graphs.sampled_recall import recall
from model.index.shards import build_shard, open_shard, train


def test_all_candidates_find_all_and_a_question_itself_can_count_in_neither_ranking() -> None:
    vectors = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    exact, few = (open_shard(build_shard(train("Flat", part[:0]), part)) for part in (vectors, vectors[:150]))
    own = np.arange(20)
    for rows in (None, own):
        assert recall(exact, exact, vectors[:20], rows) == 1.0
    with_own, without = recall(few, exact, vectors[:20]), recall(few, exact, vectors[:20], own)
    assert 0.3 < without < with_own < 0.8  # of ten, one is the question itself, which the first half has
