"""The languages that the guards read beside English."""

import re

import pytest

from model.guards.languages.language import languages
from model.guards.languages.numbers import number_words
from model.guards.languages.recognition import common_languages
from model.guards.reading import Reading, without_marks
from schemas.text import fold

TEXTS = {
    "german": "Wie kann ich meinen Vertrag kündigen?",
    "dutch": "Hoe kan ik mijn contract opzeggen?",
    "spanish": "¿Cómo puedo cancelar mi contrato?",
    "french": "Comment puis-je résilier mon contrat ?",
    "italian": "Come posso disdire il mio contratto?",
    "portuguese": "Como posso cancelar o meu contrato?",
    "polish": "Jak mogę rozwiązać moją umowę?",
    "russian": "Как я могу расторгнуть свой договор?",
}


def names(one: str, two: str) -> list[str]:
    return [language.name for language in common_languages(Reading(one), Reading(two))]


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_function_words_show_the_language_of_two_texts_with_and_without_marks(language, text):
    assert names(text, text) == [language]
    assert names(text, without_marks(fold(text))) == [language]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("spanish", "La aplicación no se abre"),
        ("spanish", "No consigo cita para el DNI"),
        ("spanish", "¿La tarifa básica no incluye maleta?"),
        ("french", "commande non livrée"),
        ("dutch", "tram of bus naar Delft"),
        ("portuguese", "cotação do peso"),
    ],
)
def test_words_that_deny_show_the_language_too(language, text):
    assert names(text, text)[0] == language


def test_there_is_a_text_for_each_language():
    assert {language.name for language in languages()} == set(TEXTS)


@pytest.mark.parametrize(
    "text",
    [
        "How do I cancel my contract?",
        "Can I pay in my hotel?",
        "wifi password",
        "",
        "ホテル",
        "Is a la carte dining in the hotel?",
        "arroz and pollo, no cheese",
        "How did La casa de papel end?",
        "kya nahi ho sakta return",
        "як скасувати замовлення, чи можна",
        "es pot pagar amb targeta",
    ],
)
def test_english_and_texts_without_function_words_have_no_other_language(text):
    assert names(text, text) == []


def test_words_that_two_languages_share_leave_both():
    assert names("hotel para dos", "hotel para") == ["spanish", "portuguese"]


def test_russian_words_are_not_those_of_its_neighbors():
    assert names("Мне дали карту", "Можете ли вы мне дать карту") == ["russian"]


def test_all_words_are_written_as_they_are_compared():
    for language in languages():
        words = language.functions | language.openers | language.articles | language.conjunctions
        words |= language.polar | language.ways | language.abilities | language.times | language.required
        words |= language.symmetric | language.ones | language.halves | language.day_parts | language.prepositions
        words |= language.cardinals.keys() | language.ordinals.keys() | language.contractions.keys()
        assert {
            word for word in words if word != without_marks(fold(word)) or not re.fullmatch(r"[^\W_]+", word)
        } == set()


def test_the_words_of_numbers_are_read_in_all_languages():
    assert {"zwei", "tres", "vingtieme", "siodmy", "пятого", "un", "ein"} <= number_words()
    for language in languages():
        assert {"2", "3", "12", "30", "1000"} <= set(language.cardinals.values())
        assert {"2", "10"} <= set(language.ordinals.values())


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        ("german", "karten", "karte"),
        ("french", "enfants", "enfant"),
        ("polish", "paragonu", "paragon"),
        ("polish", "umowie", "umowa"),  # the longest ending, -ie
        ("polish", "dziadek", "dziadka"),
        ("russian", "лермонтов", "лермонтова"),
        ("russian", "договора", "договор"),
    ],
)
def test_two_forms_of_a_word_have_one_stem(language, one, two):
    [found] = [row for row in languages() if row.name == language]
    assert found.stem(one) == found.stem(two)
