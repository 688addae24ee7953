"""Mentions of erased questions in texts of people."""

import pytest

from pipelines.privacy.erase import erasure_of
from pipelines.privacy.mentions import Mentions
from schemas.text import key, question_id

QUESTIONS = (
    "Who is zibeline?",
    "zibeline",
    "住所は東京都です",
    "東京",
    "내주소는서울시",
    "내 주소는",
    "我要退货",
    "如何退",
    "मेरा बिल कैसे दे",
)
MENTIONS = Mentions(erasure_of(QUESTIONS, [], None))


@pytest.mark.parametrize(
    ("text", "has_it"),
    [
        ("WHO is  Zibeline", True),
        ('they asked "who is zibeline?" twice', True),
        ("who is zibeline2", False),
        ("someone who is zibeline", True),
        ("xwho is zibeline", False),
        ("Zibeline!", True),
        ("a coat of zibeline", False),  # one word may stand in any text
        ("東京", True),
        ("東京に行く", False),
        ("私の住所は東京都ですか", True),
        ("OK住所は東京都ですOK", True),
        ("请问我要退货吗", True),
        ("请问如何退款", False),  # three words without a space are a name
        ("내주소는서울시", True),
        ("제 내주소는서울시 입니다", False),
        ("그래서 내 주소는", True),
        ("पूछा: मेरा बिल कैसे दे?", True),
        ("मेरा बिल कैसे दे।", True),
        ("मेरा बिल कैसे देखूं", False),
        ("how do I pay?", False),
        ("", False),
    ],
)
def test_a_question_of_several_words_is_found_in_a_text_and_one_of_one_word_is_the_whole_text(text, has_it):
    assert MENTIONS.mentions(text) == has_it


def test_without_a_question_of_several_words_only_whole_texts_are_found():
    mentions = Mentions(erasure_of(["zibeline"], [], None))
    assert mentions.mentions("Zibeline?")
    assert not mentions.mentions("who is zibeline")
    assert not Mentions(erasure_of([], [], None)).mentions("who is zibeline")


def test_the_names_of_questions_in_files_are_removed_and_other_words_stay():
    mentions = Mentions(erasure_of(["Who is zibeline?", "zibeline"], [], None))
    names = [f"q{question_id(key(text)) % 2**64:016x}" for text in ("Who is zibeline?", "zibeline")]
    assert mentions.names == set(names)
    assert mentions.without_names(f"q0 {names[0]}  {names[1]} q1") == "q0  q1"
    assert mentions.without_names(f"q0  x{names[0]}") == f"q0  x{names[0]}"
    assert mentions.without_names(names[0]) == ""
