import numpy as np
import pyarrow as pa
import pytest

from pipelines.decontamination import partners
from pipelines.decontamination.near_duplicates import KINDS, NEAR_DUPLICATE, find_leaks
from pipelines.decontamination.partners import Partners
from pipelines.intermediate import SETS


def runs(*counts):
    count = np.array(counts)
    first = np.cumsum(count) - count
    return Partners(np.arange(len(count)), np.zeros(len(count), int), first, count, np.arange(count.sum()))


def test_all_partners_are_compared_where_none_is_similar():
    some = runs(3, 2_000, 0, 700)
    leaking = np.zeros((4, 1), bool)
    pairs = [pair for block in some.blocks(np.ones(4, int), 100, leaking) for pair in zip(*block.pairs, strict=True)]
    assert sorted(pairs) == [(row, some.first[row] + n) for row in range(4) for n in range(some.count[row])]


def test_a_row_with_a_similar_partner_ends_after_its_first_ones(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(partners, "ALWAYS", 4)
    some, leaking, compared = runs(100, 100), np.zeros((2, 1), bool), []
    for block in some.blocks(np.ones(2, int), 1_000, leaking):
        row, place = block.pairs
        compared += zip(row.tolist(), place.tolist(), strict=True)
        leaking[row[place == 2], 0] = True  # only the first row has the place 2
    assert [place for row, place in compared if row == 0] == [0, 1, 2, 3]
    assert [place for row, place in compared if row == 1] == list(range(100, 200))


def near(questions: int) -> pa.Table:
    """Return sets of 20 words of which one varies, with one key; one question in ten is held out."""
    words = [[*range(100, 119), 1_000 + number] for number in range(questions)]
    columns = {
        "shard": np.zeros(questions, int),
        "blocking_keys": [[0]] * questions,
        "question_id": np.random.default_rng(0).permutation(questions),
        "rank": np.where(np.arange(questions) % 10, 0, 1),
        "bag_id": np.arange(questions),
        "token_ids": words,
    }
    return pa.table(columns).cast(SETS)


def test_a_log_of_one_sentence_with_one_varying_word_takes_linear_work_and_memory():
    small, large = (find_leaks(near(questions), 0.9) for questions in (4_000, 16_000))
    assert large.pairs == 4 * small.pairs == 1_600 * partners.ALWAYS
    assert len(large.leaks) == 1_600  # one row a question held out
    assert set(large.leaks["reason"].to_pylist()) == {0 * KINDS + NEAR_DUPLICATE}


def test_what_is_found_does_not_depend_on_the_order_of_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(partners, "ALWAYS", 8)
    rows = near(300)
    mixed = rows.take(pa.array(np.random.default_rng(1).permutation(300)))
    assert find_leaks(rows, 0.9).leaks.equals(find_leaks(mixed, 0.9).leaks)
    assert find_leaks(rows, 0.9).pairs == find_leaks(mixed, 0.9).pairs
