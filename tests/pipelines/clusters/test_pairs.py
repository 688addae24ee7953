import itertools
import tracemalloc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.clusters.pairs import pair, smallest_hashes
from pipelines.intermediate import MEMBERS
from schemas import tables
from schemas.hashing import mix
from schemas.tables import PAIRS, with_nulls

clusterings = st.dictionaries(st.integers(-5, 5), st.sets(st.integers(-50, 50), min_size=1, max_size=8), max_size=5)


def members(clusters):
    rows = [(c, q) for c in sorted(clusters) for q in sorted(clusters[c])]
    known = {
        "cluster_id": [c for c, _ in rows],
        "question_id": [q for _, q in rows],
        "text": [f"text {q}" for _, q in rows],
    }
    return with_nulls(MEMBERS, known)


def pairs_of(clusters, max_pairs):
    found = pair(members(clusters), max_pairs).to_pylist()
    assert all(p[f"text_{i}"] == f"text {p[f'question_id_{i}']}" for p in found for i in (1, 2))
    return [(p["cluster_id"], p["question_id_1"], p["question_id_2"]) for p in found]


@given(clusterings)
def test_all_unordered_pairs_of_each_cluster_come_once_the_smaller_id_first(clusters):
    expected = [(c, *two) for c in sorted(clusters) for two in itertools.combinations(sorted(clusters[c]), 2)]
    assert pairs_of(clusters, 1_000) == expected


@given(clusterings, st.integers(1, 12))
def test_a_cluster_has_at_most_the_allowed_pairs_and_the_choice_depends_on_it_alone(clusters, max_pairs):
    found = pairs_of(clusters, max_pairs)
    for c, questions in clusters.items():
        own = [p for p in found if p[0] == c]
        n = len(questions)
        assert len(set(own)) == len(own) == min(max_pairs, n * (n - 1) // 2)
        assert own == pairs_of({c: questions}, max_pairs)
        assert set(own) <= set(pairs_of({c: questions}, max_pairs + 1))  # a larger bound only adds pairs


def test_a_bounded_choice_uses_all_questions_about_equally():
    [*found] = pairs_of({1: set(range(100))}, 1_000)  # 1,000 of 4,950 pairs: each question is in 20 on average
    times = [sum(q in p[1:] for p in found) for q in range(100)]
    assert min(times) >= 5
    assert max(times) <= 40


def test_the_bounded_choice_never_changes():
    assert pairs_of({7: set(range(6))}, 3) == [(7, 0, 5), (7, 3, 4), (7, 3, 5)]


@given(st.integers(1, 300), st.integers(1, 300), st.integers(-(2**63), 2**63 - 1), st.sampled_from([8.0, -2.0]))
def test_the_smallest_hashes_are_those_of_sorting_all(count, chosen, salt, margin):
    chosen = min(count, chosen)
    with mock.patch.multiple(
        "pipelines.clusters.pairs", BLOCK=7, MARGIN=margin
    ):  # a margin under 0 needs several tries
        found = smallest_hashes(count, chosen, salt=salt)
    assert found.tolist() == np.argsort(mix(np.arange(count), salt), kind="stable")[:chosen].tolist()


def test_a_large_cluster_takes_memory_for_the_pairs_chosen_alone():
    alone = members({1: set(range(4_000))})  # 8 million pairs, of 8 bytes each at least
    tracemalloc.start()
    try:
        assert len(pair(alone, 10)) == 10
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("clusters", [{}, {1: {1}}, {1: {1}, 2: {5}}])
def test_no_two_questions_no_pair(clusters):
    found = pair(members(clusters), 10)
    assert len(found) == 0
    assert found.schema.equals(PAIRS)


def test_texts_are_copied_few_at_a_time(monkeypatch):
    expected = pair(members({1: {*range(9)}, 2: {3, 4}}), 20)
    monkeypatch.setattr(tables, "TAKEN_BYTES", 50)
    found = pair(members({1: {*range(9)}, 2: {3, 4}}), 20)
    assert found["text_1"].num_chunks > 1
    assert found.equals(expected)
