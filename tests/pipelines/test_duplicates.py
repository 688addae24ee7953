import collections

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates import PLACED, HeldOut, cluster_duplicates, hold_out
from pipelines.labelled_pairs import EDGES
from pipelines.splitting import uniform
from schemas.text import hash64


def clustered(*edges, **held_out):
    columns = zip(*edges, strict=True) if edges else [[]] * 4
    table = pa.table([pa.array(list(c), f.type) for c, f in zip(columns, EDGES, strict=True)], schema=EDGES)
    return cluster_duplicates(table, HeldOut(**held_out))


def test_counts_add_up_and_conflicts_are_told():
    result = clustered(
        (1, 2, True, 3),  # one edge, two repeats
        (2, 3, True, 1),
        (1, 3, False, 2),  # inside the component 1-2-3
        (1, 2, False, 1),  # inside it, and contradicts the first
        (4, 4, True, 5),  # one question twice
        (5, 6, True, 1),
        (5, 6, True, 1),  # the same from another batch
        (3, 5, False, 1),  # between components
        (8, 9, False, 1),  # no component at all
        (8, 8, False, 2),
    )
    assert result.counts == {
        "rows_positive": 11,
        "rows_positive_same_question": 5,
        "rows_positive_repeated": 3,
        "positive_edges": 3,  # 11 = 5 + 3 + 3
        "rows_negative": 7,
        "rows_negative_same_question": 2,
        "rows_negative_repeated": 1,
        "negative_edges": 4,  # 7 = 2 + 1 + 4
        "components": 2,
        "component_questions": 5,
        "closure_pairs": 4,  # 3 of three questions, 1 of two
        "negative_edges_inside_a_component": 2,
        "contradicting_edges": 1,
    }
    assert result.placed.schema == PLACED
    assert [(row["question_id"], row["cluster_id"]) for row in result.placed.to_pylist()] == [
        *((question, hash64("pairs:1")) for question in (1, 2, 3)),
        *((question, hash64("pairs:5")) for question in (5, 6)),
    ]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.booleans(), st.integers(1, 3)), max_size=15))
def test_counts_are_those_of_plain_loops(edges):
    edges = [(min(a, b), max(a, b), label, rows) for a, b, label, rows in edges]
    positive = {(a, b) for a, b, label, _ in edges if label and a != b}
    negative = {(a, b) for a, b, label, _ in edges if not label and a != b}
    result = clustered(*edges)
    cluster_of = {row["question_id"]: row["cluster_id"] for row in result.placed.to_pylist()}
    sizes = collections.Counter(cluster_of.values())
    assert set(cluster_of) == {node for edge in positive for node in edge}
    assert all(cluster_of[a] == cluster_of[b] for a, b in positive)
    counts = result.counts
    assert counts["closure_pairs"] == sum(n * (n - 1) // 2 for n in sizes.values())
    assert counts["contradicting_edges"] == len(positive & negative)
    inside = sum(a in cluster_of and b in cluster_of and cluster_of[a] == cluster_of[b] for a, b in negative)
    assert counts["negative_edges_inside_a_component"] == inside
    total = sum(rows for *_, rows in edges)
    assert counts["rows_positive"] + counts["rows_negative"] == total


def naive_split(cluster_ids, pairs, held_out):
    enough = min(held_out.pairs, sum(pairs) // 10)
    place = dict(zip(cluster_ids, uniform(np.array(cluster_ids), held_out.salt), strict=True))
    split, sums = {}, {"validation": 0, "test": 0}
    for cluster, size in sorted(zip(cluster_ids, pairs, strict=True), key=lambda c: place[c[0]]):
        fitting = [name for name in sums if sums[name] + size <= enough]
        split[cluster] = fitting[0] if fitting else "train"
        if fitting:
            sums[fitting[0]] += size
    return [split[cluster] for cluster in cluster_ids]


@given(
    sizes=st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.integers(1, 40), min_size=1, max_size=60),
    pairs=st.integers(0, 100),
    salt=st.sampled_from(["qpr", "other"]),
)
def test_the_split_is_that_of_a_plain_walk(sizes, pairs, salt):
    held_out = HeldOut(pairs=pairs, salt=salt)
    ids, counts = np.array(list(sizes), np.int64), np.array(list(sizes.values()))
    assert hold_out(ids, counts, held_out).to_pylist() == naive_split(list(sizes), list(sizes.values()), held_out)


def test_validation_and_test_hold_the_wanted_pairs_and_another_salt_other_clusters():
    ids = np.random.default_rng(3).integers(-(2**62), 2**62, 20_000)
    pairs = np.tile([1, 1, 3, 6], 5_000)  # 55,000 pairs in all
    split = np.array(hold_out(ids, pairs, HeldOut(pairs=2_000)).to_pylist())
    for name in ("validation", "test"):
        assert pairs[split == name].sum() == 2_000  # clusters of one pair fill the rest
    other = np.array(hold_out(ids, pairs, HeldOut(pairs=2_000, salt="b")).to_pylist())
    assert np.count_nonzero((split != "train") & (other != "train")) < 300  # 7 % of 7 %, where the same salt has 1,450


def test_few_pairs_leave_at_least_eight_tenths_for_training():
    split = hold_out(np.arange(100), np.ones(100, np.int64), HeldOut(pairs=5_000)).to_pylist()
    assert collections.Counter(split) == {"train": 80, "validation": 10, "test": 10}


@pytest.mark.parametrize("edges", [[], [(1, 2, False, 4)], [(1, 1, True, 4)]])
def test_without_a_positive_pair_there_is_no_cluster(edges):
    result = clustered(*edges)
    assert (len(result.placed), result.placed.schema) == (0, PLACED)
    assert (result.counts["components"], result.counts["positive_edges"], result.counts["closure_pairs"]) == (0, 0, 0)
