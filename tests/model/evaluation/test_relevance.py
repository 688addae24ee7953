import itertools
import tracemalloc

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from model.evaluation.relevance import Judgements, judgements, query_clusters

KINDS = {"question_ids": pa.list_(pa.int64()), "texts": pa.list_(pa.string())}


def clusters(*lists):
    columns = {
        "question_ids": [sorted(ids) for ids in lists],
        "texts": [[f"t{i}" for i in sorted(ids)] for ids in lists],
    }
    return pa.table({name: pa.array(values, KINDS[name]) for name, values in columns.items()})


def pairs_of(judged):
    return [(int(judged.ids[q]), int(r)) for q, r in zip(judged.queries, judged.relevant, strict=True)]


def test_every_question_is_a_query_and_its_cluster_mates_are_relevant():
    judged = judgements(clusters({1, 2, 3}, {7, 8}))
    assert judged.ids.tolist() == [1, 2, 3, 7, 8]
    assert judged.texts.to_pylist() == ["t1", "t2", "t3", "t7", "t8"]
    assert pairs_of(judged) == [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2), (7, 8), (8, 7)]


@given(st.lists(st.sets(st.integers(-20, 20), min_size=1, max_size=6), max_size=8))
def test_judgements_are_the_union_of_the_pairs_of_all_clusters(lists):
    judged = judgements(clusters(*lists))
    expected = {pair for ids in lists for pair in itertools.permutations(ids, 2)}
    found = pairs_of(judged)
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert sorted(judged.ids.tolist()) == sorted(set().union(*lists))
    assert judged.texts.to_pylist() == [f"t{i}" for i in judged.ids]


def test_a_limit_keeps_the_smallest_hashes_and_all_their_pairs():
    judged = judgements(clusters({-5, 4, 6}, {2, 9}), limit=3)
    assert judged.ids.tolist() == [2, 4, 6]  # -5 is a large unsigned number
    assert pairs_of(judged) == [(2, 9), (4, -5), (4, 6), (6, -5), (6, 4)]
    assert len(judgements(clusters({1, 2}), limit=99)) == 2


def test_a_limit_takes_no_memory_for_the_pairs_of_other_questions():
    large = clusters(set(range(3_000)))  # 9 million ordered pairs of 16 bytes
    tracemalloc.start()
    try:
        assert len(judgements(large, limit=2).queries) == 2 * 2_999
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_no_cluster_gives_no_query():
    judged = judgements(clusters())
    assert len(judged) == 0
    assert judged.relevant.dtype == np.int64


def test_queries_that_paraphrase_one_another_however_indirectly_are_one_cluster():
    ids, texts = np.array([1, 2, 3, 7, 8]), pa.array(["a", "b", "c", "d", "e"])
    judged = Judgements(ids, texts, queries=np.array([0, 1, 1, 2, 3, 4]), relevant=np.array([2, 1, 3, 2, 99, 7]))
    found = query_clusters(judged)
    assert found[0] == found[1] == found[2]
    assert found[3] == found[4] != found[0]
