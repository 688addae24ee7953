import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination import similar_spellings, wide_parities
from pipelines.decontamination.character_grams import gram_parities, gram_sets
from pipelines.decontamination.near_duplicates import PRECEDENCE
from pipelines.decontamination.similar_spellings import (
    count_held_out,
    find_similar_spellings,
    place_spellings,
    spellings,
)
from pipelines.decontamination.wide_parities import WideParities
from pipelines.intermediate import MEMBERS
from schemas.tables import with_nulls

texts = st.lists(st.text(st.sampled_from("abcd é字"), max_size=60), max_size=6)


@given(texts, st.integers(6, 13))
def test_bits_are_those_of_odd_numbers_of_grams(keys, width):
    array = pa.array(keys, pa.string())
    parities = gram_parities(array, width)
    for bits, grams in zip(parities, gram_sets(array).to_pylist(), strict=True):
        expected = np.zeros(1 << width, bool)
        for gram in grams:
            expected[gram >> (48 - width)] ^= True
        assert np.unpackbits(bits.view(np.uint8)).astype(bool).tolist() == expected.tolist()


def long_questions(number, changed):
    """Return SPELLINGS of questions of 300 words, some of which are another one with ``changed`` other words."""
    chance = random.Random(4)
    words = ["".join(chance.choices("abcdefghij", k=chance.randint(2, 9))) for _ in range(400)]
    written = [chance.choices(words, k=300) for _ in range(number)]
    for other in range(0, number, 3):
        written[other] = [*written[other - 1][:-changed], *chance.choices(words, k=changed)]
    columns = {
        "question_id": pa.array(range(number), pa.int64()),
        "text": pa.array([" ".join(question) for question in written]),
        "split": pa.array([PRECEDENCE[place % 3] for place in range(number)]),
    }
    return spellings(with_nulls(MEMBERS, columns))


@pytest.fixture
def compared(monkeypatch):
    """Return a list to which the number of each call's pairs that are compared exactly is added."""
    numbers = []
    exact = similar_spellings.jaccard
    monkeypatch.setattr(similar_spellings, "jaccard", lambda one, *rest: numbers.append(len(one)) or exact(one, *rest))
    return numbers


@pytest.mark.parametrize("least", [0.8, 0.9])
def test_unlike_long_questions_are_not_compared_exactly(monkeypatch, compared, least):
    rows = long_questions(60, changed=8)
    placed = pa.concat_tables(place_spellings(rows, least, count_held_out(rows)))
    found = find_similar_spellings(placed, least)
    assert len(found.leaks) <= sum(compared) <= 40 < 1_000 < found.pairs
    compared.clear()
    monkeypatch.setattr(wide_parities, "MIN_DIFFERENCES", 10**6)
    plain = find_similar_spellings(placed, least)
    assert sum(compared) > 500
    assert found.leaks.equals(plain.leaks)
    assert found.pairs == plain.pairs
    assert len(found.leaks) >= 20


def test_short_questions_have_no_bits():
    keys, most = pa.chunked_array([["what is the root of 31", "what is the root of 3"]]), np.arange(80) // 19
    parities = WideParities.of(keys, np.array([19, 18]), most)
    assert len(parities.bits) == 0
    assert parities.may_be_similar(np.array([0]), np.array([1])).tolist() == [True]
