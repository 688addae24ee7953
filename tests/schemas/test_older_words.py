import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from schemas.older_words import words_v1
from schemas.text import key
from tests.schemas.test_words import AWKWARD


@given(st.text() | st.text(AWKWARD))
def test_words_are_the_runs_of_letters_marks_digits_and_underscores_with_han_and_kana_on_their_own(text):
    def belongs(c):
        return re.match(r"\w", c) is not None or unicodedata.category(c)[0] == "M"

    def alone(c):
        point = ord(c)
        ranges = [(0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F)]
        return any(low <= point <= high for low, high in ranges)

    naive, current = [], ""
    for c in key(text):
        if current and (alone(c) or not belongs(c)):
            naive, current = [*naive, current], ""
        if alone(c):
            naive.append(c)
        elif belongs(c):
            current += c
    naive += [current] if current else []
    assert words_v1(key(text)) == naive
