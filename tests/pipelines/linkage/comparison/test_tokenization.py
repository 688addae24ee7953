import itertools

import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage.comparison import part_weights, tokenization
from pipelines.linkage.comparison.tokenization import wording
from pipelines.questions.token_frequencies import merge


def compared(*texts):
    """Return the parts of questions of one answer."""
    return wording(pa.array(texts), np.zeros(len(texts), np.int64), merge([]))


def shared(parts, one, other):
    return int(parts.rows[one].multiply(parts.rows[other]).sum())


FORMS = ("is c", "is c++", "is c#", "is 5", "is -5", "is 5%", "is $5", "is 5.5", "is 3.14")


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(range(len(FORMS)), 2)))
def test_words_that_differ_in_a_symbol_share_neither_stem_nor_pair_of_stems(one, other):
    parts = compared(*FORMS)
    assert shared(parts.stems, one, other) == 1  # "is"
    assert shared(parts.bigrams, one, other) == 0


@pytest.mark.parametrize(
    ("text", "numbers"), [("is -5", 1), ("is 3.14 or 1,000", 2), ("is ٣", 1), ("c++ or c#", 0), ("is $5 or 5%", 2)]
)
def test_a_number_with_symbols_is_a_number(text, numbers):
    parts = compared(text, "the same as any other")
    assert (parts.stems.rows @ parts.numbers)[0] == numbers


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ("วันนี้อากาศที่เชียงใหม่เป็นอย่างไร", "สภาพอากาศเชียงใหม่วันนี้", "ร้านอาหารเปิดกี่โมง"),
        ("서울의 오늘 날씨", "오늘 서울은 날씨가", "비밀번호를 잊었어요"),
    ],
)
def test_scripts_without_words_between_spaces_are_compared_by_their_parts(one, same, other):
    parts = compared(one, same, other)
    for part in (parts.stems, parts.grams):
        assert shared(part, 0, 1) >= 3 * max(shared(part, 0, 2), 1)


@pytest.mark.parametrize("words_at_once", [1, 2, 5])
def test_parts_do_not_depend_on_how_many_words_are_divided_at_a_time(monkeypatch, words_at_once):
    texts = ("how do i find the station", "", "the station", "how do i get to paris by train", "?")
    at_once = compared(*texts)
    monkeypatch.setattr(tokenization, "AT_ONCE", words_at_once)
    monkeypatch.setattr(part_weights, "CHUNK", words_at_once)
    for one, other in zip(vars(compared(*texts)).values(), vars(at_once).values(), strict=True):
        if isinstance(one, np.ndarray):
            assert np.array_equal(one, other)
            continue
        if isinstance(one, pa.Array):
            assert one.equals(other)
            continue
        assert (one.rows != other.rows).nnz == 0
        for name in ("code", "counts", "weight", "weight_of_single", "weight_of_shared", "length"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
