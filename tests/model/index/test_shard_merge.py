import dataclasses

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.index import shard_merge
from model.index.shard_merge import Nearest, nearest, nearest_rows
from model.index.shards import FEW, build_shard, open_shard, train

DIMENSION = 4


def vectors_with_duplicates(seed, count, distinct):
    """Return vectors of which many are equal, and others at equal distance since coordinates are whole numbers."""
    random = np.random.default_rng(seed)
    pool = random.integers(-2, 3, size=(distinct, DIMENSION)).astype(np.float32)
    return pool[random.integers(0, distinct, count)]


def ids_of(seed, count):
    return np.sort(np.random.default_rng(seed).choice(np.arange(-5 * count, 5 * count), count, replace=False))


def build(trained, vectors, ids, *, shards):
    parts = [ids % shards == number for number in range(shards) if (ids % shards == number).any()]
    return [open_shard(build_shard(trained, vectors[part])) for part in parts], [ids[part] for part in parts]


def brute_force(vectors, ids, query, k):
    distances = ((vectors - query) ** 2).sum(axis=1)  # whole numbers, so exact in any order
    best = sorted(zip(distances.tolist(), ids.tolist(), strict=True))[:k]
    return best + [(np.inf, -1)] * (k - len(best))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 300),
    distinct=st.integers(1, 40),
    k=st.integers(1, 40),
    shards=st.sampled_from([1, 3, 8]),
)
def test_flat_shards_find_what_brute_force_finds_ties_by_id(seed, count, distinct, k, shards):
    vectors, ids = vectors_with_duplicates(seed, count, distinct), ids_of(seed, count)
    queries = vectors_with_duplicates(seed + 1, 5, 5)
    found = nearest(*build(train("Flat", vectors[:0]), vectors, ids, shards=shards), queries, k=k, probes=0)
    expected = [brute_force(vectors, ids, query, k) for query in queries]
    assert found.ids.tolist() == [[i for _, i in row] for row in expected]
    assert found.distances.tolist() == [[d for d, _ in row] for row in expected]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 30),
    probes=st.integers(1, 6),
    factory=st.sampled_from(["IVF5,Flat", "IVF5,SQ8", "IVF5,PQ2x4"]),
)
def test_three_or_eight_shards_find_what_one_index_finds(seed, k, probes, factory):
    vectors, ids = vectors_with_duplicates(seed, 400, 60), ids_of(seed, 400)
    vectors += np.random.default_rng(seed).normal(size=(400, 1)).round(1).astype(np.float32)  # not only whole numbers
    trained, queries = train(factory, vectors), vectors[::40]
    one = nearest(*build(trained, vectors, ids, shards=1), queries, k=k, probes=probes)
    for shards in (3, 8):
        several = nearest(*build(trained, vectors, ids, shards=shards), queries, k=k, probes=probes)
        assert np.array_equal(one.ids, several.ids)
        assert np.array_equal(one.distances, several.distances)


def test_all_probes_are_exact_and_more_than_all_are_all():
    vectors, ids = vectors_with_duplicates(0, 400, 60), ids_of(0, 400)
    built = build(train("IVF5,Flat", vectors), vectors, ids, shards=3)
    for probes in (5, 99):
        found = nearest(*built, vectors[:9], k=50, probes=probes)
        expected = [[i for _, i in brute_force(vectors, ids, query, 50)] for query in vectors[:9]]
        assert found.ids.tolist() == expected
    few = nearest(*built, vectors[:9], k=400, probes=1)
    assert (few.ids == -1).any()
    assert np.array_equal(few.rows < 0, np.isinf(few.distances))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 40),
    factory=st.sampled_from(["Flat", "IVF5,Flat"]),
    share=st.sampled_from([0.0, 0.3, 0.97]),
)
def test_flat_shards_beside_lists_without_deleted_rows_are_exact(seed, k, factory, share):
    random = np.random.default_rng(seed)
    vectors, ids = vectors_with_duplicates(seed, 300, 40), ids_of(seed, 300)
    old, old_ids = build(train(factory, vectors), vectors, ids, shards=3)
    new, new_ids = build(train("Flat", vectors[:0]), vectors[100:160], ids[100:160], shards=1)  # replaced: as before
    deleted = [np.isin(part, new_ids[0]) | (random.random(len(part)) < share) for part in old_ids]
    deleted.append(random.random(60) < share)
    shards = [
        dataclasses.replace(shard, live=~mask) if mask.any() else shard
        for shard, mask in zip([*old, *new], deleted, strict=True)
    ]
    all_ids = [*old_ids, *new_ids]
    live = np.sort(np.concatenate([part[~mask] for part, mask in zip(all_ids, deleted, strict=True)]))
    queries, kept = vectors_with_duplicates(seed + 1, 5, 5), vectors[np.searchsorted(ids, live)]
    found = nearest(shards, all_ids, queries, k=k, probes=5)
    expected = [brute_force(kept, live, query, k) for query in queries]
    assert found.ids.tolist() == [[i for _, i in row] for row in expected]
    assert found.distances.tolist() == [[d for d, _ in row] for row in expected]
    there = found.rows >= 0
    assert np.concatenate(all_ids)[found.rows[there]].tolist() == found.ids[there].tolist()
    assert not np.concatenate(deleted)[found.rows[there]].any()


@pytest.mark.parametrize("factory", ["IVF5,Flat", "IVF5,SQ8", "IVF5,SQfp16", "IVF5,PQ2x4"])
def test_deleted_rows_change_neither_the_distances_nor_the_order_of_the_others(factory):
    random = np.random.default_rng(3)
    vectors, ids = random.normal(size=(400, DIMENSION)).astype(np.float32), ids_of(3, 400)
    trained, live = train(factory, vectors), random.random(400) < 0.6
    whole, whole_ids = build(trained, vectors, ids, shards=1)
    expected = nearest(*build(trained, vectors[live], ids[live], shards=1), vectors[:20], k=30, probes=2)
    found = nearest([dataclasses.replace(whole[0], live=live)], whole_ids, vectors[:20], k=30, probes=2)
    assert np.array_equal(found.ids, expected.ids)
    assert np.array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("at_once", [1, 50, 10_000])
def test_few_rows_of_a_flat_shard_have_the_same_distances_and_order(monkeypatch, at_once):
    monkeypatch.setattr(shard_merge, "DISTANCES_AT_ONCE", at_once)
    random = np.random.default_rng(3)
    vectors, ids = random.normal(size=(400, 67)).astype(np.float32), ids_of(3, 400)
    live = random.random(400) < FEW / 2
    (whole,), whole_ids = build(train("Flat", vectors[:0]), vectors, ids, shards=1)
    few = dataclasses.replace(whole, live=live)
    assert whole.few_rows is None
    assert few.few_rows is not None
    assert np.array_equal(np.flatnonzero(live), few.few_rows)
    expected = nearest(*build(train("Flat", vectors[:0]), vectors[live], ids[live], shards=1), vectors, k=9, probes=0)
    found = nearest([few], whole_ids, vectors, k=9, probes=0)
    assert np.array_equal(found.ids, expected.ids)
    assert found.distances.tobytes() == expected.distances.tobytes()


def test_a_search_of_shards_of_which_nothing_is_left_is_empty():
    vectors, ids = vectors_with_duplicates(0, 100, 60), ids_of(0, 100)
    for factory in ("Flat", "IVF2,Flat"):
        shards, shard_ids = build(train(factory, vectors), vectors, ids, shards=2)
        shards = [dataclasses.replace(shard, live=np.zeros(len(shard), bool)) for shard in shards]
        assert (nearest(shards, shard_ids, vectors[:3], k=4, probes=2).rows == -1).all()


def test_rows_point_into_the_concatenated_shards():
    vectors, ids = vectors_with_duplicates(1, 50, 50), ids_of(1, 50)
    shards, shard_ids = build(train("Flat", vectors[:0]), vectors, ids, shards=3)
    found = nearest(shards, shard_ids, vectors[:4], k=5, probes=0)
    assert np.array_equal(np.concatenate(shard_ids)[found.rows], found.ids)


def test_a_thousand_equal_vectors_rank_by_id():
    vectors, ids = np.ones((1_000, DIMENSION), np.float32), ids_of(2, 1_000)
    built = build(train("Flat", vectors[:0]), vectors, ids, shards=8)
    assert nearest(*built, vectors[:1], k=10, probes=0).ids[0].tolist() == ids[:10].tolist()
    assert nearest(*built, vectors[:1], k=1_000, probes=0).ids[0].tolist() == ids.tolist()


@pytest.mark.parametrize(
    ("distances", "rows", "asked", "nearest_two"),
    [
        (np.zeros(20), np.arange(20)[::-1], [6, 20], [0, 0]),  # all are ties: 6, then 24 but there are 20
        (np.arange(20), np.arange(20), [6], [0, 1]),
    ],
)
def test_only_a_query_with_an_undecided_tie_is_searched_again(distances, rows, asked, nearest_two):
    counts = []

    def search(count):
        counts.append(count)
        return distances[None, :count].astype(np.float32), rows[None, :count]

    found, nearest_rows_of = nearest_rows(search, k=2, rows=20)
    assert counts == asked
    assert nearest_rows_of.tolist() == [0, 1]
    assert found.tolist() == nearest_two


def test_fewer_rows_than_are_asked_for_are_padded():
    found, rows = nearest_rows(lambda count: (np.zeros((1, count), np.float32), np.array([[1, -1]])), k=3, rows=2)
    assert (found.tolist(), rows.tolist()) == ([0, np.inf, np.inf], [1, -1, -1])


def test_own_ids_are_left_out_and_the_rest_keeps_its_order():
    found = Nearest(
        np.array([[0, 1, 2], [0, 1, np.inf]], np.float32),
        np.array([[7, 8, 9], [5, 6, -1]]),
        np.array([[0, 1, 2], [3, 4, -1]]),
    )
    left = found.without(np.array([8, 100]), 2)
    assert left.ids.tolist() == [[7, 9], [5, 6]]
    assert left.distances.tolist() == [[0, 2], [0, 1]]
    assert found.without(np.array([9, 5]), 2).ids.tolist() == [[7, 8], [6, -1]]


@pytest.mark.parametrize("k", [1, 3])
def test_fewer_rows_than_k_are_padded(k):
    vectors = np.zeros((1, DIMENSION), np.float32)
    built = build(train("Flat", vectors[:0]), vectors, np.array([42]), shards=1)
    found = nearest(*built, vectors, k=k, probes=0)
    assert found.ids.tolist() == [[42] + [-1] * (k - 1)]


@pytest.mark.parametrize("copies", [1, 20])  # 20: more rows tie at rank k than are fetched at first
def test_a_query_has_the_same_distances_alone_and_in_a_batch_with_any_number_of_threads(copies):
    random = np.random.default_rng(0)
    vectors = random.random((12_000 // copies, 32), np.float32).repeat(copies, axis=0)
    queries, ids = random.random((4, 32), np.float32), ids_of(2, len(vectors))
    shards = build(train("Flat", vectors[:0]), vectors, ids, shards=1)
    threads, found = faiss.omp_get_max_threads(), []
    for number in (1, 3):
        faiss.omp_set_num_threads(number)
        for batch in (queries, *queries[:, None]):
            found.append(nearest(*shards, batch, k=7, probes=0))
    faiss.omp_set_num_threads(threads)
    expected = found[0]
    for start in (0, 5):
        assert np.array_equal(found[start].distances, expected.distances)
        assert np.array_equal(np.vstack([one.distances for one in found[start + 1 : start + 5]]), expected.distances)
        assert np.array_equal(np.vstack([one.ids for one in found[start + 1 : start + 5]]), expected.ids)
