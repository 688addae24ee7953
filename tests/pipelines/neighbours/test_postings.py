import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.neighbours import postings
from pipelines.neighbours.postings import Effort, candidates, lists_of_keys
from pipelines.neighbours.sketches import WORDS
from schemas.compiled import SWITCH

EFFORT = Effort(window=3, candidates=2)
lists_of_rows = st.lists(
    st.permutations(range(12)).flatmap(lambda p: st.integers(1, 12).map(lambda n: p[:n])), max_size=6
)


def found(of_key, sketch, answers, wanted, *, same_answer=False):
    keys = np.repeat(np.arange(len(of_key)), [len(rows) for rows in of_key])
    rows = np.array([row for rows in of_key for row in rows], np.int64)
    pairs = candidates(lists_of_keys(keys, rows), sketch, answers, wanted, EFFORT, same_answer=same_answer)
    return set(zip(*(column.tolist() for column in pairs), strict=True))


def expected(of_key, sketch, answers, wanted, *, same_answer=False):
    """Return the pairs by comparing each entry of a list with the window around it."""
    pairs = set()
    for rows in of_key:
        for place, row in enumerate(rows):
            near = []
            for step in range(-EFFORT.window, EFFORT.window + 1):
                if step and 0 <= place + step < len(rows):
                    other = rows[place + step]
                    far = sum(int(a ^ b).bit_count() for a, b in zip(sketch[:, row], sketch[:, other], strict=True))
                    if (answers[row] == answers[other]) == same_answer:
                        near.append((far, abs(step), step < 0, other))
            if wanted[row]:
                pairs |= {(min(row, n[3]), max(row, n[3])) for n in sorted(near)[: EFFORT.candidates]}
    return pairs


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(postings, "_BLOCK", 5)


@settings(max_examples=60)
@given(lists_of_rows, st.integers(0, 99), st.booleans())
def test_each_row_gets_the_nearest_of_the_window_around_it(small, of_key, seed, same_answer):
    generator = np.random.default_rng(seed)
    sketch = generator.integers(0, 8, (WORDS, 12), np.uint64)
    answers, wanted = generator.integers(0, 3, 12), generator.random(12) < 0.7
    case = (of_key, sketch, answers, wanted)
    assert found(*case, same_answer=same_answer) == expected(*case, same_answer=same_answer)


def test_the_work_on_a_frequent_key_is_linear_in_its_rows(monkeypatch):
    monkeypatch.setenv(SWITCH, "0")  # compiled loops count nothing
    distances = postings.distances
    compared = {}
    for rows in (20_000, 40_000):
        counts = []
        monkeypatch.setattr(postings, "distances", lambda a, b, c=counts: c.append(a.shape[1]) or distances(a, b))
        sketch = np.random.default_rng(0).integers(0, 2**63, (WORDS, rows), np.uint64)
        assert len(found([range(rows)], sketch, np.arange(rows), np.ones(rows, bool))) <= rows * EFFORT.candidates
        compared[rows] = sum(counts)
    assert compared[40_000] < 2.05 * compared[20_000]


def test_no_lists_give_no_pairs():
    assert found([], np.zeros((WORDS, 3), np.uint64), np.zeros(3), np.ones(3, bool)) == set()
    assert found([[1], [2]], np.zeros((WORDS, 3), np.uint64), np.zeros(3), np.ones(3, bool)) == set()
