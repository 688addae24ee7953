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
        ("Trains at 9 a.m.?", "Trains at 9 p.m.?"),
        ("Is 5 pounds a lot?", "Is 6 dollars a lot?"),
        ("Is 5m enough?", "Is 6 million enough?"),
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
        ("It beeps twice at startup and stays black", "It beeps five times at startup and stays black"),
        ("Is it 3x a day?", "Is it twice a day?"),
        ("The monthly cost of ten thousand over 5 years?", "The monthly cost of ten thousand over 10 years?"),
        ("What do I pay on 200,000 over 20 years?", "For a loan of 200,000, how high is a rate over 30 years?"),
        ("Interest at .5%", "Interest at 5%"),
        ("Is Python 3.1 fast?", "Is Python 3.10 fast?"),
        ("Open at quarter past eight?", "Open at quarter to eight?"),
        ("Open at noon?", "Open at midnight?"),
        ("Open at 9?", "Open at 10 am?"),
        ("Open at 9 o'clock?", "Open at 10 am?"),
        ("Is it a hundred dollars?", "Is it a thousand dollars?"),
        ("what is the largest lake of Zorvak", "what is the 2nd largest lake of Zorvak"),
        ("Which is the second most visited park?", "Which is the most visited park?"),
        ("Is it 5 cents?", "Is it 5 dollars?"),
        ("Do I get it back after a week?", "Do I get it back after 3 weeks?"),
        ("Is 5 km/h slow?", "Is 5 mph slow?"),
        ("Art of the XIX century", "Art of the XX century"),
        ("Is Final Fantasy vii long?", "Is Final Fantasy ix long?"),
        ("Was Henry V tall?", "Was Henry VIII tall?"),
        ("Is 20/20 vision good?", "Is 20/40 vision good?"),
        ("Buy one get one free", "Buy two get one free"),
        ("Is it enough for one person?", "Is it enough for six people?"),
        ("port 80", "port 443"),
        ("10^6", "10^9"),
        ("Was I charged 5%?", "Was I charged $5?"),
        ("Is one glass of wine a day harmful?", "Are three glasses of wine a day harmful?"),
        ("Can I book a double room?", "Can I book three rooms?"),
        ("Are you open until 24?", "Are you open until 10 pm?"),
        ("What happens after a second offense?", "What happens after a third offense?"),
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
        ("10 best phones", "5 best phones"),
        ("Is it 2 and a half cups?", "Is it 2.5 cups?"),
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
        ("It beeps twice", "It beeps two times"),
        ("Was I billed 2x?", "Was I billed twice?"),
        ("It stops after 90 seconds every time", "It stops after a minute and a half every time"),
        ("Parking for an hour and 30 minutes?", "Parking for 1.5 hours?"),
        ("Parking for 1h30?", "Parking for 90 minutes?"),
        ("Parking for three quarters of an hour?", "Parking for 45 minutes?"),
        ("Is it open 7 days a week, 24 hours a day?", "Is it open 24/7?"),
        ("Is .5% a lot?", "Is 0.5% a lot?"),
        ("Is half a percent a lot?", "Is .5% a lot?"),
        ("How much is 1½ cups of milk?", "How much is 1 1/2 cups of milk?"),
        ("How much is 1½ cups of milk?", "How much is 1.5 cups of milk?"),
        ("Can I pay 50 cents?", "Can I pay $0.50?"),
        ("A fee of 20 quid?", "A fee of 20 pounds?"),
        ("Are 2.5m views a lot?", "Are 2.5 million views a lot?"),
        ("Is 1.80 m tall?", "Is 180 cm tall?"),
        ("Is 1 GB enough?", "Is 1024 MB enough?"),
        ("Trains at 7.30 am?", "Trains at 7:30?"),
        ("Trains at half past seven?", "Trains at 7:30 pm?"),
        ("Trains at ten to eight?", "Trains at 7:50?"),
        ("Trains at twenty-five past eight?", "Trains at 8:25?"),
        ("Trains at 9 a.m.?", "Trains at 9?"),
        ("Trains at noon?", "Trains at 12 pm?"),
        ("Is it back on 3.5.2024?", "Is it back on May 3, 2024?"),
        ("Is it back on 3/5?", "Is it back on 3 May?"),
        ("Who won in the 2024/25 season?", "Who won in the 2024-2025 season?"),
        ("Which lake is the second largest?", "What is the second-largest lake?"),
        ("Is the 1st of May the best day?", "Which is the best day?"),
        ("How do I train for a 10k?", "How do I train for a 10 kilometer run?"),
        ("Who won it in '08?", "Who won it in 2008?"),
        ("Who was born in '96?", "Who was born in 1996?"),
        ("can i rest it for 1/2 an hour", "can i rest it for 30 minutes"),
        ("Can I spend 100 billion dollars?", "Can I spend a hundred billion dollars?"),
        ("Is it a hundred and fifty dollars?", "Is it 150 dollars?"),
        ("Is it two thousand five hundred?", "Is it 2,500?"),
        ("Is 1984 good?", "Is Nineteen Eighty-Four good?"),
        ("Is half a million enough?", "Is 500k enough?"),
        ("Can I return it within a month?", "Can I return it within 4 weeks?"),
        ("Can I return it within one month?", "Can I return it within 4 weeks?"),
        ("Is a couple hundred enough?", "Are 200 enough?"),
        ("Art of the 19th century", "Art of the 1800s"),
        ("Is 0800 123 456 your number?", "Is 0800-123456 your number?"),
        ("Is 555-1234 your number?", "Is 5551234 your number?"),
        ("Is the 4 by 6 print in stock?", "Is the 4x6 print in stock?"),
        ("Is a third of a cup enough?", "Is 1/3 cup enough?"),
        ("Is it two fifths?", "Is it 40%?"),
        ("Is it two crore fifty lakh?", "Is it 2.5 crore?"),
        ("Is it two lakh fifty thousand?", "Is it 250,000?"),
        ("Is it two hundred and fifty thousand?", "Is it 250,000?"),
        ("Is it an hundred and fifty dollars?", "Is it 150 dollars?"),
        ("Is it $5 million?", "Is it $5m?"),
        ("Did it open 3/5/2024?", "Did it open May 3, 2024?"),
        ("Are two and a spare enough?", "Are 2 and a spare enough?"),
        ("Parking for two hours and a half?", "Parking for 150 minutes?"),
        ("Can I pay once or twice?", "Can I pay one or two?"),
        ("When did the 21st century begin?", "When did the twenty-first century begin?"),
        ("gifts for a 32nd birthday", "gifts for a thirty-second birthday"),
        ("make a 20 second video", "make a twenty second video"),
        ('Which bit makes a 3/4" hole?', "Which bit makes a three-quarter inch hole?"),
        ("Is 3 December free?", "Is the third of December free?"),
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
        ("2024?", "Who won in 2023?"),
        ("Is it three times four?", "Is it 5 times?"),
        ("Once I paid, can I get a refund?", "I paid twice, can I get a refund?"),
        ("I have 2 kids, is there a room for 5 in your hotel?", "We have 2 dogs, do you sell food for 6 in a pack?"),
        ("the second largest city of the oldest country", "the second oldest city of the largest country"),
        ("Is it 3 times 4?", "Is it 5 times?"),
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
        ("1499", 1499, ""),
        ("1500", 1500, "year"),
        ("1h30", 5_400, "time"),
        ("half past six", 390, "clock12"),
        ("quarter to eight", 465, "clock12"),
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
        "3/4 of",
        "5 pm",
        "10:15 am",
        "II",
    ],
)
def test_the_word_behind_a_number_is_behind_all_its_parts(number):
    [quantity], _ = quantities(Reading(f"the {number} buses"), Reading(""))
    assert (quantity.before, quantity.after) == ("the", "bus")


@pytest.mark.parametrize("term", ["after", "at", "every", "for", "in", "of", "over", "under", "until", "within"])
def test_terms_between_the_same_words_compete_in_different_sentences(term):
    one = Reading(f"Which rate would I get on 200,000 {term} 20 years?")
    assert numbers_differ(one, Reading(f"Tell me your cost of 200,000 {term} 30 years"))
    assert not numbers_differ(one, Reading(f"Tell me your cost of 200,000 {term} 20 years"))


@pytest.mark.parametrize("word", ["best", "ways", "way", "tips", "things", "reasons", "steps", "most"])
def test_the_length_of_a_list_is_no_difference(word):
    assert not numbers_differ(Reading(f"10 {word} for a trip"), Reading(f"5 {word} for a trip"))
    assert numbers_differ(Reading(f"10 days of the {word} trip"), Reading(f"5 days of the {word} trip"))


@pytest.mark.parametrize("word", ["and", "or", "of", "in", "to", "for", "at", "is", "are", "if", "on", "a", "the"])
def test_a_small_word_behind_numbers_of_different_sentences_does_not_show_one_place(word):
    one, two = Reading(f"my code begins with 3 {word} nothing works"), Reading(f"somebody scored 5 {word} left early")
    assert not numbers_differ(one, two)
    same = Reading("my code begins with 3 letters, nothing works"), Reading("somebody scored 5 letters, left early")
    assert numbers_differ(*same)
