"""Numbers in words of other languages than English."""

import pytest

from model.guards.languages.numbers import in_digits
from model.guards.numbers import numbers_differ
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Was kosten zwei Koffer im Flug?", "Was kosten drei Koffer im Flug?"),
        ("Wer war der zweite Kanzler?", "Wer war der einundzwanzigste Kanzler?"),
        (
            "¿Cuánto cuesta el billete para treinta y cinco personas?",
            "¿Cuánto cuesta el billete para treinta personas?",
        ),
        ("Quelle aide avec un enfant ?", "Quelle aide avec deux enfants ?"),
        ("Quanto costa per sei mesi?", "Quanto costa per dodici mesi?"),
        ("Como está o bebê na vigésima semana?", "Como está o bebê na trigésima semana?"),
        ("Ile kosztuje bilet na dwie godziny?", "Ile kosztuje bilet na 3 godziny?"),
        ("Какая выплата за второго ребенка?", "Какая выплата за третьего ребёнка?"),
    ],
)
def test_another_number_is_another_question(one, two):
    assert numbers_differ(Reading(one), Reading(two))
    assert numbers_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Was kosten zwölf Eier?", "Was kostet ein Dutzend Eier?"),
        ("Kann ich tausend Euro abheben?", "Kann ich 1.000 Euro abheben?"),
        ("¿Cuánta sal para un litro y medio?", "¿Cuánta sal para 1,5 litros?"),
        ("Le prix de quatre-vingt billets ?", "Le prix de 80 billets ?"),
        ("Quanto costano due etti di prosciutto?", "Quanto costano 200 g di prosciutto?"),
        ("A repartição fecha às 16 horas?", "A repartição fecha às quatro da tarde?"),
        ("Czy dwie godziny wystarczą?", "Czy 2 godziny wystarczą?"),
        ("Сколько стоит десяток яиц?", "Сколько стоят 10 яиц?"),
        ("Brauche ich einen Ausweis?", "Brauche ich 1 Ausweis?"),
    ],
)
def test_the_same_number_in_another_writing_is_no_difference(one, two):
    assert not numbers_differ(Reading(one), Reading(two))
    assert not numbers_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("cuesta treinta y cinco o cuarenta", "cuesta 35 o 40"),
        ("vingt-deux jours pour les vingt ans", "22 jours pour les 20 ans"),
        ("der zweiundzwanzigste von hundert", "der 22th von 100"),
        ("zehn Prozent für die zehnte Karte", "10 % fur die 10th karte"),
        ("je höher die Zahl", "je hoher die zahl"),
    ],
)
def test_words_of_numbers_become_digits(text, digits):
    assert in_digits(Reading(text), Reading(text)) == digits
