import faiss
import numpy as np
import pytest

from model.index.factory import two_bit_codes
from model.index.linking import groups, nearest
from model.index.linking.groups import grouped
from model.index.linking.nearest import coded, error_of_codes, nearest_others
from tests.support.graphs import flat, random_vectors


def found_in(shards, compared, **options):
    return nearest_others(shards, grouped(shards), compared, **options)


def exact(vectors, compared, count):
    """Return the rows of the nearest compared vectors of each, with the vector itself."""
    distances = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2)
    distances[:, ~compared] = np.inf
    return np.argsort(distances, axis=1, kind="stable")[:, :count], distances


def test_few_vectors_are_all_compared():
    vectors, compared = random_vectors(400, 16), np.arange(400) % 5 != 0
    distances, rows = found_in(flat(vectors[:150], vectors[150:]), compared, count=7)
    expected, all_distances = exact(vectors, compared, 7)
    assert np.array_equal(rows[compared], expected[compared])
    np.testing.assert_allclose(
        distances[compared], np.take_along_axis(all_distances, rows, axis=1)[compared], rtol=1e-5
    )
    assert (rows[~compared] == -1).all()
    assert np.isinf(distances[~compared]).all()


@pytest.mark.parametrize("dimension", [16, 7])
def test_of_many_vectors_most_of_the_nearest_are_found_with_exact_distances(dimension, monkeypatch):
    monkeypatch.setattr(nearest, "FLAT_BELOW", 1_000)
    monkeypatch.setattr(groups, "IN_A_GROUP", 100)
    vectors, searched = random_vectors(3_000, dimension), []
    compared = np.arange(3_000) != 17
    distances, rows = found_in(flat(*np.array_split(vectors, 3)), compared, count=20, searched=searched.append)
    expected, all_distances = exact(vectors, compared, 5)
    found = [len({*rows[row]} & {*expected[row]}) / 5 for row in np.flatnonzero(compared)]
    assert np.mean(found) > 0.85
    there = rows >= 0
    of_found = np.take_along_axis(all_distances, np.maximum(rows, 0), axis=1)
    np.testing.assert_allclose(distances[there], of_found[there], rtol=1e-4)
    assert (searched[-1], sorted(searched)) == (3_000, searched)
    assert 17 not in rows


@pytest.mark.parametrize("dimension", [32, 15])
def test_the_nearest_are_found_inside_of_a_few_groups_far_apart(dimension, monkeypatch):
    monkeypatch.setattr(nearest, "FLAT_BELOW", 1_000)
    monkeypatch.setattr(groups, "IN_A_GROUP", 100)
    centres = random_vectors(10, dimension, seed=1) * 20
    vectors = centres[np.arange(3_000) % 10] + random_vectors(3_000, dimension)
    _, rows = found_in(flat(vectors), np.ones(3_000, bool), count=40)
    expected, _ = exact(vectors, np.ones(3_000, bool), 5)
    assert np.mean([len({*ours} & {*theirs}) / 5 for ours, theirs in zip(rows, expected, strict=True)]) > 0.95


def test_they_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(nearest, "FLAT_BELOW", 1_000)
    monkeypatch.setattr(nearest, "_ROWS", 512)
    shards, found, before = flat(*np.array_split(random_vectors(6_000, 16), 2)), [], faiss.omp_get_max_threads()
    try:
        for threads in (1, 2, 5):
            faiss.omp_set_num_threads(threads)
            found.append(found_in(shards, np.ones(6_000, bool), count=9))
            assert faiss.omp_get_max_threads() == threads
    finally:
        faiss.omp_set_num_threads(before)
    for others in found[1:]:
        assert all(np.array_equal(ours, theirs) for ours, theirs in zip(found[0], others, strict=True))


def test_fewer_vectors_than_are_searched_for_leave_the_rest_missing():
    distances, rows = found_in(flat(random_vectors(3, 16)), np.array([True, False, True]), count=5)
    assert rows.tolist() == [[0, 2, -1, -1, -1], [-1] * 5, [2, 0, -1, -1, -1]]
    assert np.isinf(distances[rows < 0]).all()


@pytest.mark.parametrize("distance", [0, 20])
def test_the_error_of_codes_is_high_where_groups_are_far_apart(distance, monkeypatch):
    monkeypatch.setattr(groups, "IN_A_GROUP", 100)
    centres = random_vectors(10, 16, seed=1) * distance
    vectors = centres[np.arange(3_000) % 10] + random_vectors(3_000, 16)
    error = error_of_codes(coded(grouped(flat(vectors)), two_bit_codes(16), vectors), vectors)
    assert isinstance(error, float)  # as JSON has it
    assert (error > nearest.MOST_ERROR) == (distance > 0)
