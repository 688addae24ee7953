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
        ("Öffnet der Laden um 16 Uhr?", "Öffnet der Laden um fünf Uhr nachmittags?"),
        ("Öffnet der Laden um 16 Uhr?", "Öffnet der Laden um vier Uhr?"),
        ("Was kosten zweihundert Flyer?", "Was kosten fünfhundert Flyer?"),
        ("Fährt der Bus um halb neun?", "Fährt der Bus um Viertel nach neun?"),
        ("Wie hoch ist das Geld für ein Kind", "Wie hoch ist das Geld für vier Kinder?"),
        ("Duurt het een half jaar?", "Duurt het een jaar?"),
        ("¿Tomo el jarabe una vez al día?", "¿Tomo el jarabe tres veces al día?"),
        ("Com quinze anos já posso votar?", "Com dezesseis anos já posso votar?"),
        ("Czy jest czynne do dwudziestej pierwszej?", "Czy jest czynne do dwudziestej drugiej?"),
        ("Ile wynosi zasiłek na jedno dziecko", "Ile wynosi zasiłek na czworo dzieci?"),
        ("Gibt es einen zweitägigen Kurs?", "Gibt es einen fünftägigen Kurs?"),
        ("Wat kost een tweepersoonskamer?", "Wat kost een driepersoonskamer?"),
        ("Ile kosztuje bilet dla dwulatka?", "Ile kosztuje bilet dla sześciolatka?"),
        ("Сколько стоит двухместный номер?", "Сколько стоит трёхместный номер?"),
        ("Che tasso ha un mutuo a vent'anni?", "Che tasso ha un mutuo a trent'anni?"),
    ],
)
def test_another_number_is_another_question(one, two):
    assert numbers_differ(Reading(one), Reading(two))
    assert numbers_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Was kosten zwölf Eier?", "Was kostet ein Dutzend Eier?"),
        ("Gibt es einen zweitägigen Kurs?", "Gibt es einen Kurs von zwei Tagen?"),
        ("Ile kosztuje pokój dwuosobowy?", "Ile kosztuje pokój dla dwóch osób?"),
        ("Kann ich tausend Euro abheben?", "Kann ich 1.000 Euro abheben?"),
        ("¿Cuánta sal para un litro y medio?", "¿Cuánta sal para 1,5 litros?"),
        ("Le prix de quatre-vingt billets ?", "Le prix de 80 billets ?"),
        ("Quanto costano due etti di prosciutto?", "Quanto costano 200 g di prosciutto?"),
        ("A repartição fecha às 16 horas?", "A repartição fecha às quatro da tarde?"),
        ("Öffnet der Laden um 16 Uhr?", "Öffnet der Laden um vier Uhr nachmittags?"),
        ("Czy dwie godziny wystarczą?", "Czy 2 godziny wystarczą?"),
        ("Сколько стоит десяток яиц?", "Сколько стоят 10 яиц?"),
        ("Brauche ich einen Ausweis?", "Brauche ich 1 Ausweis?"),
        ("Fährt der Bus um halb neun?", "Fährt der Bus um 8:30 Uhr?"),
        ("Is er om kwart voor negen een bus?", "Is er om 8.45 uur een bus?"),
        ("Hoelang bakt een half pond gehakt?", "Hoelang bakt 250 gram gehakt?"),
        ("Tengo un cargo doble en la tarjeta", "Tengo dos cargos en la tarjeta"),
        ("Puis-je retirer mille deux cents euros ?", "Puis-je retirer 1 200 euros ?"),
        ("Quali pittori erano a Roma nel Cinquecento?", "Quali pittori erano a Roma nel XVI secolo?"),
        ("Um quarto dos moradores basta?", "25% dos moradores bastam?"),
        ("Czy mogę wypłacić dwa tysiące pięćset złotych?", "Czy mogę wypłacić 2500 złotych?"),
        ("Дадут ли кредит на 300 000 рублей?", "Дадут ли кредит на триста тысяч рублей?"),
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
        ("el diez por ciento de los clientes", "el 10 % de los clientes"),
        ("dez por cento dos clientes", "10 % dos clientes"),
        ("il dieci per cento dei clienti", "il 10 % dei clienti"),
        ("dix pour cent de nos clients", "10 % de nos clients"),
        ("tien procent van de klanten", "10 % van de klanten"),
        ("скидка десять процентов на все", "скидка 10 % на все"),
        ("was kosten zwei Millionen Stück", "was kosten 2000000 stuck"),
        ("was kosten zwei tausend Stück", "was kosten 2000 stuck"),
        ("soixante-douze jours pour les", "72 jours pour les"),
        ("entre treinta y nueve y cuarenta", "entre 39 y 40"),
        ("entre treinta y cuarenta", "entre 30 y 40"),
        ("mil novecientos ochenta y cuatro", "1984"),
        ("les treinta segundos de la", "les 30 2th de la"),
        ("soixante et onze jours pour quatre-vingt-dix-sept", "71 jours pour 97"),
        ("zweihundertfünfzig oder tausendzweihundert", "250 oder 1200"),
        ("do dwudziestej pierwszej czy do stu", "do 21th czy do 100"),
        ("сто двадцать пять тысяч и еще", "125000 и еще"),
        ("zwei drei Karten im", "2 3 karten im"),
    ],
)
def test_words_of_numbers_become_digits(text, digits):
    assert in_digits(Reading(text), Reading(text)) == (digits, digits)


@pytest.mark.parametrize(
    ("text", "other", "digits"),
    [
        ("Ist am 14.10. offen?", "Ist am 14. Oktober offen?", "ist am 14 offen?"),
        ("Ist am 14/10/2026 offen?", "Ist am 14. Oktober offen?", "ist am 14 offen?"),
        ("Ist am 14.10. offen?", "Ist am 14.10. zu?", "ist am 14.10. offen?"),
        ("Is 10.5 enough for a café?", "Is it enough in March?", "is 10.5 enough for a café?"),
    ],
)
def test_of_a_date_the_day_is_left_beside_the_name_of_a_month(text, other, digits):
    assert in_digits(Reading(text), Reading(other))[0] == digits


@pytest.mark.parametrize(
    ("text", "other", "digits"),
    [
        ("Was kostet ein Koffer mit einem Griff?", "Was kosten zwei Koffer?", "was kostet 1 koffer mit einem griff?"),
        ("Was kostet ein Koffer?", "Was kostet 1 Koffer?", "was kostet ein koffer?"),
        ("¿Cuánto cuesta un litro?", "¿Cuánto cuestan dos litros?", "¿cuanto cuesta 1 litro?"),
        ("¿Cuánto cuesta un litro y medio?", "¿Cuánto cuestan dos litros?", "¿cuanto cuesta un litro y medio?"),
    ],
)
def test_one_is_a_number_before_a_word_with_another_number_in_the_other_text(text, other, digits):
    assert in_digits(Reading(text), Reading(other))[0] == digits
