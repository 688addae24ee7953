import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import stems
from schemas.stems import stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("invest", "investing"), ("run", "running"), ("city", "cities"), ("professor", "professors"),
        ("make", "making"), ("box", "boxes"), ("stop", "stopped"), ("try", "tries"), ("large", "larger"),
        ("город", "городе"), ("гостиница", "гостиницу"), ("дешёвая", "дешёвую"), ("карта", "картами"),
        ("فندق", "فندقا"), ("رخيص", "رخيصا"),
    ],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    "word", ["is", "bus", "2016", "c3s", "ørets", "glass", "мэр", "это", "ما", "لما", "c++", "c#", "-5", "3.14", "$100"]
)
def test_words_without_an_ending_stay(word: str) -> None:
    assert stem(word) == word


@given(st.text(alphabet="abcdefgilnorsty", min_size=1, max_size=12))
def test_a_stem_is_no_shorter_than_three_letters_unless_the_word_is(word: str) -> None:
    assert min(len(word), 3) <= len(stem(word)) <= len(word)


@given(st.text(alphabet="авегийкмнорстыьюя", min_size=1, max_size=12))
def test_a_cyrillic_stem_begins_the_word_and_keeps_three_letters(word: str) -> None:
    assert word.startswith(stem(word))
    assert min(len(word), 3) <= len(stem(word))


def test_very_long_words_are_not_remembered():
    kept = stems._remembered.cache_info().currsize
    assert stem("a" * 64 + "sting") == "a" * 64 + "st"
    assert stems._remembered.cache_info().currsize == kept
    assert stem("a" * 61 + "ing") == stem("a" * 61 + "ing") == "a" * 61
    assert stems._remembered.cache_info().currsize == kept + 1
