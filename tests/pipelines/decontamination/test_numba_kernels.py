import numpy as np
import pyarrow as pa
import pytest

from pipelines.decontamination import partners, similar_spellings
from pipelines.decontamination.near_duplicates import PRECEDENCE
from pipelines.decontamination.similar_spellings import (
    count_held_out,
    find_similar_spellings,
    place_spellings,
    spellings,
)
from pipelines.intermediate import MEMBERS
from schemas.tables import with_nulls

loops = pytest.importorskip("pipelines.decontamination.numba_kernels", reason="numba is not installed")


@pytest.fixture(scope="module")
def placed():
    """Return SPELLINGS of questions of which many differ in one character, some in none of another split."""
    draw = np.random.default_rng(5)
    texts = [f"what is the {kind} root of {number}" for kind in ("square", "cubic") for number in range(100, 600)]
    texts += [f"{text}s" for text in texts[::3]]
    columns = {
        "question_id": pa.array(draw.permutation(len(texts))),
        "text": pa.array(texts),
        "split": pa.array(draw.choice(PRECEDENCE, len(texts), p=[0.8, 0.1, 0.1])),
    }
    table = spellings(with_nulls(MEMBERS, columns))
    return pa.concat_tables(place_spellings(table, 0.9, count_held_out(table)))


@pytest.mark.parametrize("space", [1, 1_000, 10**6])
def test_loops_find_what_numpy_finds(placed, monkeypatch, space):
    monkeypatch.setattr(partners, "ALWAYS", 16)  # so that there are several rounds
    monkeypatch.setattr(similar_spellings, "POSSIBLE_PAIRS", space)
    monkeypatch.setattr(similar_spellings, "COMPILED_PAIRS", 1)
    found = find_similar_spellings(placed, 0.9)
    monkeypatch.setenv("QPR_COMPILED", "0")
    expected = find_similar_spellings(placed, 0.9)
    assert found.leaks.equals(expected.leaks)
    assert found.pairs == expected.pairs > len(expected.leaks) > 100


def test_runs_that_do_not_fit_are_left_for_the_next_call():
    row, first, count = np.array([0, 1, 2]), np.array([0, 2, 0]), np.array([2, 3, 4])
    places, sizes = np.array([3, 4, 5, 6, 7]), np.full(8, 9)
    parities = np.array([0, 0, 0b111, 0, 0b1, 0b11, 0b111, 0b1111], np.uint64)
    most, pairs = np.full(19, 1), np.empty((2, 4), int)
    written, left = loops.write_possible(row, first, count, places, sizes, parities, most, 0, pairs)
    assert (written, left) == (2, 1)
    assert pairs[:, :2].T.tolist() == [[0, 3], [0, 4]]
    written, left = loops.write_possible(row, first, count, places, sizes, parities, most, left, pairs)
    assert (written, left) == (2, 3)  # all partners of row 1 differ in two bits or more
    assert pairs[:, :2].T.tolist() == [[2, 5], [2, 6]]
