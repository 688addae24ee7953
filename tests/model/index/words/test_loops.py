import dataclasses
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest

from model.index import lexical as plain
from model.index.lexical import Lexical
from model.index.words import loops
from schemas.compiled import SWITCH
from schemas.text import hash64

TERMS = 40
ROUNDED = [16.0, 16.000002, 1.2e-6, 9e-7]
"""16 and 1.2e-6 are less than 16.000002, but as float32 their sum is as much."""


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    pytest.importorskip("numba", reason="numba is not installed")
    monkeypatch.setattr(loops, "SMALLEST", 0)
    monkeypatch.delenv(SWITCH, raising=False)


def log(random, size, weights=None):
    """Return BM25 of random questions, some terms of which are in one of them and some in all."""
    counts = np.minimum(np.maximum(1, size * random.random(TERMS) ** random.choice([1, 4, 9])).astype(int), size)
    lists = [np.sort(random.choice(size, count, replace=False)) for count in counts]
    total = int(counts.sum())
    of_entry = random.random(total) * 9 + 1e-3 if weights is None else random.choice(weights, total)
    return opened(np.sort(random.choice(10 * size, size, replace=False)), lists, of_entry)


def opened(ids, lists, weights):
    """Return BM25 of the questions with each term, and the weights of all entries."""
    starts, of_entry = np.cumsum([0, *map(len, lists)]), np.asarray(weights, np.float32)
    arrays = {
        "ids": ids,
        "terms": np.sort([hash64(f"t{number}") for number in range(len(lists))]),
        "starts": starts,
        "largest": np.maximum.reduceat(of_entry, starts[:-1]),
        "questions": np.concatenate(lists),
        "weights": of_entry,
    }
    return Lexical.of({name: np.asarray(arrays[name], kind).tobytes() for name, kind in plain.LAYOUT.items()})


def queries(random, count):
    """Return queries, with unknown terms and repeated ones, and one without a term."""
    numbers = [random.integers(TERMS + 3, size=random.integers(1, 13)) for _ in range(count)]
    return ["?!", *(" ".join(f"t{number}" for number in of_query) for of_query in numbers)]


def check_equal(lexical, compiled, texts, k, exclude=None):
    assert compiled.loops is not None
    assert lexical.loops is None
    ranking, ours = lexical.rank(texts, k, exclude), compiled.rank(texts, k, exclude)
    assert ours.ids.tolist() == ranking.ids.tolist()
    assert ours.rows.tolist() == ranking.rows.tolist()
    assert ours.scores.tobytes() == ranking.scores.tobytes()
    return ranking.ids


@pytest.mark.parametrize("weights", [None, [0.5, 1, 1.5], [1], ROUNDED], ids=["any", "few", "equal", "rounded"])
@pytest.mark.parametrize("seed", range(60))
def test_the_numbers_are_those_of_numpy_to_the_last_bit(monkeypatch, seed, weights):
    random = np.random.default_rng(seed)
    lexical, texts = log(random, int(random.choice([1, 9, 33, 400, 3_000])), weights), queries(random, 12)
    monkeypatch.setattr(plain, "ENTRIES", int(random.choice([1, 60, 10_000])))
    monkeypatch.setattr(plain, "SHORT", int(random.choice([0, 2, 10, 10**9])))
    monkeypatch.setattr(loops, "_GROUPED", int(random.choice([0, 4, 64, 10**6])))  # 0: no term has groups; 10^6: all
    compiled, size = lexical.compiled(), len(lexical.ids)
    for k in (1, 2, 7, 20, size + 5):
        check_equal(lexical, compiled, texts, k)
        check_equal(lexical, compiled, texts, k, random.choice(lexical.ids, len(texts)))
        allowed = random.random(size) < random.choice([0.9, 0.3, 0.01, 0])
        some = [dataclasses.replace(of, allowed=allowed) for of in (lexical, compiled)]
        found = check_equal(*some, texts, k)
        assert set(found[found >= 0].tolist()) <= set(lexical.ids[allowed].tolist())


@pytest.mark.parametrize(
    ("entries", "highest", "last", "best"),
    [(19, 16.000002, 1.9055e-6, 0), (20, 16.000002, 1.9055e-6, 1), (20, 16, 1e-30, 0)],
)
@pytest.mark.parametrize("grouped", [0, 10**6])
def test_questions_leave_at_the_same_term_as_with_numpy(monkeypatch, entries, highest, last, best, grouped):
    monkeypatch.setattr(loops, "_GROUPED", grouped)
    lists = [[0, 1], [*range(2, 2 + entries)], [0, *range(2, 1 + entries)]]
    parts = [[16, highest], [1e-3] * entries, [last] * entries]
    order = sorted(range(3), key=lambda number: hash64(f"t{number}"))
    lexical = opened(np.arange(30), [lists[of] for of in order], np.concatenate([parts[of] for of in order]))
    found = check_equal(lexical, lexical.compiled(), ["t0 t1 t2"], 1)
    assert found.tolist() == [[best]]  # 16 + 1.9055e-6 is less than 16.000002, but as much when rounded


@pytest.mark.parametrize("seed", range(3))
def test_lists_with_more_entries_than_are_read_give_the_same_numbers(seed):
    random = np.random.default_rng(seed)
    lexical = log(random, 40_000)
    assert np.diff(lexical.starts).max() > plain.ENTRIES
    texts = queries(random, 300)  # more than are looked up together
    for k in (1, 20, 300):
        check_equal(lexical, lexical.compiled(), texts, k)


def test_logs_of_other_sizes_take_turns_and_threads_work_at_once():
    random = np.random.default_rng(0)
    logs = [log(random, size) for size in (3_000, 50, 20_000, 700)]
    pairs = [(of_size, of_size.compiled()) for of_size in logs]
    texts = queries(random, 50)
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(check_equal, *pair, texts, k) for _ in range(5) for k in (3, 20) for pair in pairs]
        assert [call.result().shape[0] for call in done] == [51] * 40


def test_sums_that_an_interruption_left_are_not_used():
    random = np.random.default_rng(0)
    lexical, texts = log(random, 500), queries(random, 20)
    compiled = lexical.compiled()

    def interrupted(*given):
        [sums] = [of for of in given if isinstance(of, np.ndarray) and of.dtype == np.float32 and of.shape == (500,)]
        sums[:] = 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dataclasses.replace(compiled, loops=dataclasses.replace(compiled.loops, loop=interrupted)).rank(texts, 3)
    check_equal(lexical, compiled, texts, 3)


def test_questions_of_words_are_ranked_alike():
    random = np.random.default_rng(0)
    lexical = log(random, 100)
    assert lexical.compiled().rank([], 3).ids.shape == (0, 3)
    check_equal(lexical, lexical.compiled(), ["", "unknown", "t1", "t1 " * 9, "t1 unknown t2"], 3)


def test_a_compiler_that_fails_leaves_the_ranking_to_numpy(monkeypatch):
    monkeypatch.setattr("model.index.words.numba_kernels.rank", Mock(side_effect=OSError("disk full")))
    with pytest.warns(RuntimeWarning, match="searches take longer: OSError: disk full"):
        assert log(np.random.default_rng(0), 9).compiled().loops is None


def test_a_small_log_is_left_to_numpy(monkeypatch):
    lexical = log(np.random.default_rng(0), 9)
    monkeypatch.setattr(loops, "SMALLEST", 10)
    assert lexical.compiled().loops is None
    monkeypatch.setattr(loops, "SMALLEST", 9)
    assert lexical.compiled().loops is not None


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    assert log(np.random.default_rng(0), 9).compiled().loops is None
