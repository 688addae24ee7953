"""Names in other languages than English."""

import json
from importlib import resources

import pytest

from model.guards.entity import entity_differs
from model.guards.languages.language import languages
from model.guards.languages.names import names_of
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Wie lange ist eine Katze trächtig?", "Wie lange ist eine Stute trächtig?"),
        ("wetter morgen in freiburg", "Wetter morgen in Rostock"),
        ("Is de balie op donderdagavond open?", "Is de balie op vrijdagavond open?"),
        ("me duele la cadera al subir escaleras", "Me duele la rodilla al subir escaleras"),
        ("Comment enlever une tache d'encre ?", "Comment enlever une tache de sang ?"),
        ("Quanto dura la gravidanza di una mucca?", "Quanto dura la gravidanza di una gatta?"),
        ("cotação do peso uruguaio hoje", "Qual é a cotação do peso argentino hoje?"),
        ("Gdzie jest dworzec we Wrocławiu?", "Gdzie jest dworzec w Lublinie?"),
        ("Jak zrobić zrzut ekranu na iPhone'a?", "Jak zrobić zrzut ekranu na MacBooka?"),
        ("Czy jest otwarte w poniedziałki?", "Czy jest otwarte w piątki?"),
        ("как будет спасибо по-польски", "как будет спасибо по-итальянски"),
        ("как очистить кэш в телеграме", "Как очистить кэш в Яндекс Браузере?"),
        ("J'ai perdu ma carte grise, que faire ?", "J'ai perdu ma carte Vitale, que faire ?"),
        ("Quanto costa un certificato di nascita?", "Quanto costa un certificato di residenza?"),
        ("Was kostet ein Monatsticket?", "Was kostet ein Jahresticket?"),
        ("Wann beginnt der Polnischkurs?", "Wann beginnt der Tschechischkurs?"),
        ("Jak połączyć słuchawki z telewizorem?", "Jak połączyć słuchawki z laptopem?"),
    ],
)
def test_another_name_of_a_class_is_another_question(one, two):
    assert entity_differs(Reading(one), Reading(two))
    assert entity_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Ich weiß nicht, wie ich den roten Schal wasche", "Ich frage, wie ich den roten Schal wasche"),
        ("Kann ich mit Karte in Harvard zahlen?", "Kann ich nur Karte in Harvard zahlen?"),
        ("¿Cómo pago la cuenta de Juan en dólares?", "¿Cómo pago la cuenta de mi hijo en dólares?"),
        ("Bezorgen jullie ook in Luik?", "Bezorgen jullie ook in Liège?"),
        ("¿Es mejor la tarjeta de crédito o débito?", "¿Es mejor la tarjeta de débito o crédito?"),
        ("Jaka jest stolica Holandii?", "Jaka jest stolica Niderlandów?"),
        ("Сколько мостов в Питере?", "Сколько мостов в Санкт-Петербурге?"),
        ("Wo kann ich mein Auto parken?", "Wo kann ich meinen Wagen parken?"),
        ("¿Me duelen los pies al andar, qué hago?", "¿Me duelen los perros al andar, qué hago?"),
    ],
)
def test_the_same_name_and_common_words_are_no_difference(one, two):
    assert not entity_differs(Reading(one), Reading(two))
    assert not entity_differs(Reading(two), Reading(one))


def test_function_words_of_a_language_are_no_names_in_lower_case():
    german = [language for language in languages() if language.name == "german"]
    assert [name.name for name in names_of([("Mit", False), ("mit", False)], german, None)] == []
    assert [name.name for name in names_of([("MIT", True)], german, None)] == ["mit"]


def test_each_language_has_names_and_no_name_twice_in_a_class():
    rows = json.loads(resources.files("model.guards.languages").joinpath("names.json").read_text("utf-8"))
    assert set(rows) == {"all", *(language.name for language in languages())}
    for row in rows.values():
        for lines in (lines for group, lines in row.items() if group != "endings"):
            spellings = [spelling.rstrip("?") for line in lines for spelling in line.split("|")[1:]]
            assert sorted({spelling for spelling in spellings if spellings.count(spelling) > 1}) == []
