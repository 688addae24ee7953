"""The guard of numbers and the quantities that it compares."""

import pytest

from model.guards.numbers import numbers_differ
from model.guards.quantities import quantities
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Price of an iPhone 6", "Price of an iPhone 7"),
        ("Who won in 2016?", "Who won in 2017?"),
        ("Is 5 mg safe?", "Is 5 g safe?"),
        ("Is 2 million enough?", "Is 2 billion enough?"),
        ("Trains at 5 am", "Trains at 5 pm"),
        ("When did World War I end?", "When did World War II end?"),
        ("Who came second?", "Who came third?"),
        ("Seats in first class", "Seats in second class"),
        ("Стоит 1 000 рублей?", "Стоит 10 000 рублей?"),
        ("Стоит 1 000 рублей?", "Стоит 2 000 рублей?"),
        ("Gilt die Garantie 2 Jahre?", "Gilt die Garantie 2 Monate?"),
        ("Is it more than 5 km?", "Is it more than 6 km?"),
        ("Fashion of the 1920s", "Fashion of the 2020s"),
        ("Fashion of the 1880s", "Fashion of the 1980s"),
        ("Fashion of the 80s", "Fashion of the 1990s"),
        ("Is 200 g enough?", "Is 500 enough?"),
        ("Do I pay 20 euro for a stay in the hotel?", "What can you offer me below 50 euro?"),
        ("Was kosten 3 Koffer im Flugzeug nach Rom?", "Wie viele Tage darf ich auf 5 Koffer warten?"),
        ("Le colis arrive en quatorze jours ?", "Le colis arrive en quinze jours ?"),
        ("Le colis arrive en quinze jours ?", "Le colis arrive en trois semaines ?"),
        ("iPhone ६ की कीमत क्या है?", "iPhone ७ की कीमत क्या है?"),
        ("كم سعر ايفون ٦ اليوم؟", "كم سعر ايفون ٧ اليوم؟"),
    ],
)
def test_another_number_in_the_same_place_is_another_question(one, two):
    assert numbers_differ(Reading(one), Reading(two))
    assert numbers_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Room for two", "Room for 2"),
        ("Is $1k enough?", "Is $1,000 enough?"),
        ("Back in 24 hours?", "Back in one day?"),
        ("Bake half an hour", "Bake 30 minutes"),
        ("Trains at 5 pm", "Trains at 17:00"),
        ("World War II", "Second World War"),
        ("Music of the 1980s", "Music of the eighties"),
        ("Top 10 phones", "The 5 best phones"),
        ("Top 10 phones", "Top 5 phones"),
        ("Can I have more than one card?", "Can I have two cards?"),
        ("Which one is cheaper?", "Which is cheaper, the 3 or the 4?"),
        ("Price of an iPhone 6", "Price of an iPhone"),
        ("Is 1.000 euro enough?", "Is 1000 euro enough?"),
        ("２０１６年の選挙", "2016年の選挙"),
        ("Стоит 1 000 рублей?", "Стоит 1000 рублей?"),
        ("Est-ce que 12 500 euros suffisent ?", "Est-ce que 12.500 euros suffisent ?"),
        ("iPhone 12 256 GB reset", "256 GB iPhone 12 reset"),
        ("Kargo 24 saat içinde gelir mi?", "Kargo 1 gün içinde gelir mi?"),
        ("Habe ich 14 Tage Rückgaberecht?", "Habe ich 2 Wochen Rückgaberecht?"),
        ("Le colis arrive en quinze jours ?", "Le colis arrive en deux semaines ?"),
        ("Music of the 2010s", "Music of the 10s"),
        ("Music of the 1980s", "Music of 1980"),
        ("Is a bag of 5 enough?", "Is a bag of 5 kg enough?"),
        ("Is it paid back after a month?", "Is it paid back after 30 days?"),
        ("Is it paid back in 12 months?", "Is it paid back in 365 days?"),
    ],
)
def test_another_way_to_write_a_number_is_no_difference(one, two):
    assert not numbers_differ(Reading(one), Reading(two))
    assert not numbers_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Is 5 kg allowed on board?", "Is 7 litres allowed on board?"),
        ("Is 5 pm allowed on board?", "Are 7 allowed on board?"),
        ("Can I use one account on my phone?", "Can I use an account on my two phones?"),
        ("Do I pay 20 euro for 3 days in the hotel?", "A stay takes 3 days, what can you offer below 50 euro?"),
        ("Was kosten 3 Koffer im Bus nach Rom?", "Wie viele Tage darf ich bei 5 Kollegen im Zug bleiben?"),
        ("Was kosten 3 Koffer im Flugzeug nach Rom?", "Wie viele Tage darf ich bei 5 Kollegen bleiben?"),
        ("My code is 4711 and nothing works", "Who of them scored 9 and when?"),
    ],
)
def test_numbers_of_other_kinds_or_in_other_places_do_not_compete(one, two):
    assert not numbers_differ(Reading(one), Reading(two))
    assert not numbers_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [
        ("twenty-one", 21, ""),
        ("five hundred", 500, "count"),
        ("one and a half million", 1_500_000, "count"),
        ("half a litre", 0.5, "volume"),
        ("3/4 of it", 0.75, ""),
        ("1/10 of it", 0.1, ""),
        ("12:59", 779, "clock12"),
        ("13:00", 780, "clock"),
        ("23:59", 1439, "clock"),
        ("12:30 am", 30, "clock"),
        ("12 pm", 720, "clock"),
        ("5 pm", 1020, "clock"),
        ("1985", 1985, "year"),
        ("World War I", 1, ""),
        ("the part V", 5, ""),
        ("read chapter X", 10, ""),
        ("read chapter XI", 11, ""),
        ("2099", 2099, "year"),
        ("2100", 2100, ""),
        ("10:15", 615, "clock12"),
        ("90s", 90, "decade"),
        ("50kg", 50_000, "mass"),
        ("twenty litres", 20, "volume"),
        ("2-month-old", 2 * 2_629_746, "time"),
    ],
)
def test_values_of_numbers_in_words_and_digits(text, value, kind):
    [quantity], _ = quantities(Reading(text), Reading(""))
    assert (quantity.scaled, quantity.kind) == (value, kind)


@pytest.mark.parametrize(
    "number",
    [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "third",
        "90s",
        "eighties",
        "3",
        "twenty-one",
        "half a",
        "3/4",
        "5 pm",
        "10:15 am",
        "II",
    ],
)
def test_the_word_behind_a_number_is_behind_all_its_parts(number):
    [quantity], _ = quantities(Reading(f"the {number} buses"), Reading(""))
    assert (quantity.before, quantity.after) == ("the", "bus")


@pytest.mark.parametrize("word", ["and", "or", "of", "in", "to", "for", "at", "is", "are", "if", "on", "a", "the"])
def test_a_small_word_behind_numbers_of_different_sentences_does_not_show_one_place(word):
    one, two = Reading(f"my code begins with 3 {word} nothing works"), Reading(f"somebody scored 5 {word} left early")
    assert not numbers_differ(one, two)
    same = Reading("my code begins with 3 letters, nothing works"), Reading("somebody scored 5 letters, left early")
    assert numbers_differ(*same)
