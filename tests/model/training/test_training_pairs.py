from __future__ import annotations

import pyarrow as pa
import pytest

from model.training.training_pairs import index_pairs, read_pairs
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError
from schemas.tables import PAIRS

A, B, C = (
    ["pay my bill", "settle my bill", "how do I pay my bill"],
    ["who is he", "who's he"],
    ["fly me", "book a flight"],
)


def as_sets(pairs) -> set[frozenset[str]]:
    keys = pairs.keys.to_pylist()
    return {frozenset((keys[i], keys[j])) for i, j in zip(pairs.first, pairs.second, strict=True)}


def test_each_distinct_question_is_kept_once_as_its_key():
    rows = [(7, "A?", 8, "b", 50), (7, "A?", 9, "C", 50), (1, "d", 2, "e", -3)]
    pairs = index_pairs(pa.table(list(zip(*rows, strict=True)), schema=PAIRS))
    assert pairs.keys.to_pylist() == ["d", "e", "a", "b", "c"]  # in order of their ids 1, 2, 7, 8, 9
    assert pairs.first.tolist() == [2, 2, 0]
    assert pairs.second.tolist() == [3, 4, 1]
    assert pairs.clusters.tolist() == [1, 1, 0]
    assert (len(pairs), pairs.cluster_count) == (3, 2)


def test_no_rows_are_no_pairs():
    pairs = index_pairs(PAIRS.empty_table())
    assert (len(pairs), pairs.cluster_count, len(pairs.keys)) == (0, 0, 0)


def test_pairs_go_to_the_split_of_their_cluster(memory, make_training_data):
    url = make_training_data(f"{memory}/d", [("train", A), ("validation", B), ("train", C), ("test", ["x", "y"])])
    found = read_pairs(open_dataset(url))
    a = {frozenset(pair) for pair in [A[:2], A[1:], A[::2]]}
    lower = {frozenset(text.lower() for text in pair) for pair in [*a, C]}
    assert as_sets(found["train"]) == lower
    assert as_sets(found["validation"]) == {frozenset(B)}
    assert found["train"].cluster_count == 2


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [
        ([("validation", A)], "no train pair among 3"),
        ([("train", A), ("test", B)], "of one cluster"),
        ([], "no train pair"),
    ],
)
def test_a_dataset_that_teaches_nothing_is_an_error(memory, make_training_data, clusters, reason):
    url = make_training_data(f"{memory}/d", clusters)
    with pytest.raises(QprError, match=reason):
        read_pairs(open_dataset(url))
