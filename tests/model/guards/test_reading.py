"""Views of a text."""

import pytest

from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("पासवर्ड भूल गई", ["पासवर्ड", "भूल", "गई"]),
        ("İptal nasıl yapılır?", ["i\u0307ptal", "nasıl", "yapılır"]),
        ("Comment payer l'abonnement ?", ["comment", "payer", "l", "abonnement"]),
    ],
)
def test_marks_of_letters_are_parts_of_their_word_and_elided_words_are_words(text, words):
    assert Reading(text).words == words


@pytest.mark.parametrize(
    ("text", "is_english"),
    [
        ("Is it free?", True),
        ("Will he die from it?", True),
        ("Was the order sent?", True),
        ("Was kostet die Rücksendung?", False),
        ("Is mijn bestelling verzonden?", False),
        ("Is order ka status kya hai", False),
        ("İptal etmek istiyorum", False),
        ("コールバック is missing", True),
    ],
)
def test_words_that_english_shares_with_other_languages_are_no_evidence_among_theirs(text, is_english):
    assert Reading(text).is_english == is_english
