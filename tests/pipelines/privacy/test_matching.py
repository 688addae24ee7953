import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.privacy import matching
from pipelines.privacy.matching import Kind, MatchingCopy, whole_if
from schemas.text import fold

TEXTS = st.text(st.sampled_from("a1 @.-\u00a0\t\u2013\u2014\u200b\ufeff\uff11\uff20\u0967是")) | st.text()


@given(TEXTS)
def test_a_text_without_replacements_is_the_one_that_was_given(text):
    assert MatchingCopy(text).text == text


@given(TEXTS)
def test_a_replacement_leaves_what_is_before_and_after_it_as_it_was(text):
    copy = MatchingCopy(text)
    number = copy.replace(Kind("x", re.compile("1"), whole_if(bool)))
    assert number == MatchingCopy(text).plain.count("1")
    assert "1" not in copy.plain
    parts = copy.text.split("[x]")
    assert len(parts) == number + 1 + text.count("[x]")
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\u00a0\t b", "a b"),
        ("\u200ba\u00adb", "ab"),
        ("1\u20132 \u2013 3 a\u2013b", "1-2 - 3 a-b"),
        ("a\u20141 a \u2013 b 1\u2013b", "a\u20141 a \u2013 b 1\u2013b"),
        ("１\u0968\uff20\uff0e", "12@."),
        ("Ａ\u00b2，是", "A2，是"),
        ("1ー2 ー 1\uff702ー", "1-2 - 1-2ー"),
    ],
)
def test_characters_that_look_alike_are_one_in_the_copy(text, plain):
    assert MatchingCopy(text).plain == plain


@given(st.text(st.sampled_from("a1 @.-\u00a0\u2011\u200b\u00ad\uff11\uff20\uff0e\u00b2\u3000\u2028")))
def test_a_copy_is_no_less_plain_than_a_key(text):
    assert MatchingCopy(f"a{text}").plain.strip() == fold(f"a{text}").replace("\u2010", "-")


CLAUSES = set(',;!"`[]{}<>$*\\^|~')
"""Signs that are in no pattern, or between clauses: their full-width forms stay."""


def test_every_character_that_is_a_sign_in_a_key_is_that_sign_in_a_copy():
    signs = {
        character: sign
        for character in map(chr, range(0x80, sys.maxunicode + 1))
        if len(sign := fold(f"a{character}a")[1:-1]) == 1
        and sign.isascii()
        and not sign.isalnum()
        and sign not in CLAUSES
        and character not in "\u02bc\u2018\u2019\u2010"  # quotes, which are in e-mail addresses, and a hyphen
    }
    assert {character: MatchingCopy(f"a{character}a").plain[1:-1] for character in signs} == signs
    assert len(signs) > 60


def test_no_other_character_than_those_that_are_searched_has_a_plain_form():
    plain = matching._plain.__wrapped__
    changed = [character for character in map(chr, range(sys.maxunicode + 1)) if plain(character) != character]
    assert [character for character in changed if not matching._uneven().fullmatch(character)] == []
    assert not any(matching._uneven().search(text) for text in ("für", "ваш", "日本語", "주소", "आप", "a b"))
