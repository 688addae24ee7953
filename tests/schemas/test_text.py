import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.text import fold, hash64, is_outer_punctuation, key, normal_length, question_id, tokens, words

AWKWARD = (
    "aAbİIıßẞſﬁﬃＡｂ１½Σςσéé́̀̈͏्ͅहिन्दी東京はが゙カｶﾞ한국مرحبا"
    "\u00ad\u200b\u200c\u200d\u2060\ufeff\u00a0\u1680\u2003\u2028\u2029\u3000\x00\t\n\x1c\x1f\x85"
    "‘’“”ʼ'\"«»¿?!.,;:-–…()#%&@$_ 🙂"
)
texts = st.text() | st.text(AWKWARD)


@given(texts)
@example("a\u200b\u0301")  # the removed space lets letter and accent meet
@example("ΐ")  # folding denormalises
@example("\u1e9e\u0345")
def test_folding_or_keying_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)
    assert key(key(text)) == key(text)
    assert fold(key(text)) == key(text)


@given(texts)
def test_a_folded_text_has_no_case_no_invisible_character_and_no_white_space_but_single_spaces(text):
    folded = fold(text)
    assert folded == unicodedata.normalize("NFKC", folded)
    assert folded == folded.casefold()
    assert not any(unicodedata.category(c) == "Cf" for c in folded)
    assert folded == " ".join(folded.split())
    assert not set(folded) & set("‘’“”ʼ")


@given(st.text())
def test_the_ascii_short_cut_is_the_long_way(text):
    narrow = "".join(c for c in text if c.isascii())
    assert fold(narrow) == fold(narrow + "\u200b")  # a zero-width space forces the long way and is removed


@given(st.text(st.characters(max_codepoint=127)) | st.text(" _#-a.", max_size=6))
def test_the_key_of_ascii_lacks_its_outer_punctuation_and_spaces(text):
    folded = fold(text)
    inner = [place for place, c in enumerate(folded) if c != " " and not is_outer_punctuation(c)]
    assert key(text) == (folded[inner[0] : inner[-1] + 1] if inner else "")


@given(st.text(alphabet=st.characters(categories=["P", "Zs", "Cf"]), max_size=8))
def test_the_key_of_punctuation_is_empty_unless_some_of_it_has_a_meaning(text):
    remaining = key(text)
    assert remaining == "" or any(c in "#%&@" for c in remaining)


@given(texts, st.sampled_from(["?", "!", " ...", "\u00bf", '"', ")", "\u3002"]))
def test_outer_punctuation_never_makes_another_question(text, outer):
    assert key(text + outer) == key(text)
    assert key(outer + " " + text) == key(text)  # the space keeps a leading accent off the punctuation


@given(texts)
def test_tokens_are_the_first_of_equal_words(text):
    found = words(key(text))
    assert tokens(key(text)) == sorted(set(found), key=found.index)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  How do I PAY\tmy bill ?! ", "how do i pay my bill"),
        ("Is it C#?", "is it c#"),
        ("Straße", "strasse"),
        ("ﬁnd “it” now", 'find "it" now'),
        ("what’s up", "what's up"),
        ("İstanbul", "i̇stanbul"),  # dotted capital I: i and a combining dot
        ("ΟΔΟΣ οδος", "οδοσ οδοσ"),
        ("ＦＵＬＬ　ｗｉｄｔｈ？", "full width"),
        ("soft\u00adhyphen", "softhyphen"),
        ("東京は？", "東京は"),
        ("ｶﾞ", "ガ"),
        ("100%", "100%"),
        ("...", ""),
        ("", ""),
    ],
)
def test_keys_by_example(text, expected):
    assert key(text) == expected


@given(texts)
@example("ﷺ")
def test_the_normal_length_is_no_shorter_than_the_text_nor_its_normal_form(text):
    assert normal_length(text) >= max(len(text), len(unicodedata.normalize("NFKC", text)))
    assert normal_length("ﷺ é") == 20


def test_meaningful_punctuation_keeps_questions_apart():
    assert len({key(text) for text in ("C", "C#", "C%", "C&", "C@")}) == 5
    assert key("C?") == key("C")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How do I pay my bill?", 4753045484982927428),
        ("  how do I PAY my bill ?! ", 4753045484982927428),
        ("c#", 8031879275447193678),
        ("C", 1957948516733239095),
        ("Straße", -1999455078789040598),
        ("İstanbul", -6684015154477539497),
        ("東京は？", -3921867162244175250),
        ("हिन्दी में", -261776858151665055),
        ("เชียงใหม่?", 4282052372716317060),
        ("می\u200cروم", 8531158114173515405),
        ("مُحَمَّد إلى", 32834079514145604),
        ("한국어 말", 7544541880141003824),
        ("-5 + 3.14 = $100 %", 4512586713470467864),
        ("C++", -6128930653834395687),
        ("", -5426141060434712860),
    ],
)
def test_ids_never_change(text, expected):  # computed once; datasets that exist rely on them
    assert question_id(text) == expected


@given(texts)
def test_an_id_is_the_hash_of_the_key_and_fits_int64(text):
    assert question_id(text) == hash64(key(text)) == question_id(key(text))
    assert -(2**63) <= question_id(text) < 2**63
