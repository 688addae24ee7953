import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from pipelines.linkage.comparison.pair_features import shared
from pipelines.linkage.comparison.part_weights import Partition
from pipelines.neighbours.postings import Effort, candidates, lists_of_keys
from pipelines.neighbours.similarity import LEVELS, Divided, similarities, vectors_of
from pipelines.neighbours.sketches import WORDS
from schemas.compiled import SWITCH

pytest.importorskip("pipelines.neighbours.numba_kernels", reason="numba is not installed")


@pytest.fixture(scope="module")
def both():
    """Return a function that returns the result of another one by numpy and by compiled loops."""
    with pytest.MonkeyPatch.context() as environment:

        def results(function):
            environment.setenv(SWITCH, "0")
            plain = function()
            environment.setenv(SWITCH, "1")
            return plain, function()

        yield results


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 12), st.booleans())
def test_candidates_are_those_of_numpy(both, seed, window, most, same_answer):
    generator = np.random.default_rng(seed)
    keys = np.sort(generator.integers(0, 6, 60))
    rows = generator.integers(0, 25, 60)
    lists = lists_of_keys(keys, rows)
    sketch = generator.integers(0, 4, (WORDS, 25), np.uint64) * np.uint64(2**62 + 1)  # many equal distances
    answers, subjects = generator.integers(0, 3, 25), generator.random(25) < 0.8
    effort = Effort(window, most)
    found = both(lambda: candidates(lists, sketch, answers, subjects, effort, same_answer=same_answer))
    assert len(found[0][0])
    for plain, compiled in zip(*found, strict=True):
        assert np.array_equal(plain, compiled)


def test_a_distance_of_all_bits_is_counted(both):
    lists = lists_of_keys(np.zeros(3, np.int64), np.arange(3))
    sketch = np.zeros((WORDS, 3), np.uint64)
    sketch[:, 1] = np.uint64(2**64 - 1)
    everything = np.ones(3, bool)
    for most in (1, 2):
        plain, compiled = both(
            lambda n=most: candidates(lists, sketch, np.zeros(3, int), everything, Effort(5, n), same_answer=True)
        )
        assert np.array_equal(plain, compiled)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_similarities_are_those_of_numpy_to_the_last_bit(both, seed):
    generator = np.random.default_rng(seed)
    rows = sparse.random_array((20, 50), density=0.3, format="csr", dtype=np.float32, rng=generator)
    rows.sort_indices()
    left, right = generator.integers(0, 20, (2, 200))
    plain, compiled = both(lambda: similarities(rows, np.sort(left), right))
    assert plain.tobytes() == compiled.tobytes()
    assert np.array_equal(plain * LEVELS, np.round(plain * LEVELS))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0, 1, 3, 7, 8]))
def test_sums_of_shared_parts_are_those_of_numpy_to_the_last_bit(both, seed, columns):
    generator = np.random.default_rng(seed)
    row, code = np.sort(generator.integers(0, 20, 150)), generator.integers(0, 30, 150)
    weight = generator.random(30)[code]
    parts = Partition(np.repeat([0, 1], 10), 1_000).parts(row, code, weight)
    values = generator.random((len(parts.weight), columns)) if columns else None
    left, right = generator.integers(0, 20, (2, 300))
    plain, compiled = both(lambda: shared(parts, left, right, values))
    assert plain.shape == (300, columns or 4)
    assert plain.tobytes() == compiled.tobytes()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([5, 300]))
def test_sums_of_parts_are_those_of_scipy_to_the_last_bit(both, seed, columns):
    pytest.importorskip("pipelines.neighbours.vector_kernels")
    generator = np.random.default_rng(seed)
    words, parts = (
        sparse.random_array(shape, density=density, format="csr", rng=generator)
        for shape, density in (((30, 20), 0.2), ((20, columns), 0.4))
    )
    parts.sort_indices()
    divided = Divided(words, parts, np.arange(columns), np.ones(20), np.arange(20))
    plain, compiled = both(lambda: vectors_of(divided))
    assert plain.shape == compiled.shape == (30, columns)
    for name in ("indptr", "indices", "data"):
        assert getattr(plain, name).tobytes() == getattr(compiled, name).tobytes()
        assert getattr(plain, name).dtype == getattr(compiled, name).dtype


def test_nothing_is_compared_without_pairs(both):
    none = np.zeros(0, np.int64)
    rows = sparse.csr_array((3, 5), dtype=np.float32)
    assert [len(found) for found in both(lambda: similarities(rows, none, none))] == [0, 0]
    assert pa.array(similarities(rows, none, none)).type == pa.float32()
