import itertools

import numpy as np
import pyarrow as pa
import pytest

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
