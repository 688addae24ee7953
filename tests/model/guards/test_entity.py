"""The guard of entities and the names that it has."""

import pytest

from model.guards.entity import entity_differs
from model.guards.languages.names import names_of
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Hotels in Paris", "Hotels in London"),
        ("foods rich in vitamin c", "foods rich in vitamin d"),
        ("Does the Model 3 have a heat pump?", "Does the Model Y have a heat pump?"),
        ("room b access code", "room c access code"),
        ("How much power does a PS5 slim take?", "How much power does a PS5 pro take?"),
        ("How do I reset an iPhone 13 Pro?", "How do I reset an iPhone 13 mini?"),
        ("hotels in paris", "hotels in london"),
        ("Where can I stay in Paris?", "Is there a place where I can stay in London?"),
        ("Is the shop open on Monday?", "Is the shop open on Friday?"),
        ("Who directed the film Zorvak?", "Who directed the film Miluna?"),
        ("Is there an aerosol called Zorvak?", "Is there an aerosol called Miluna?"),
        ("Can people die from Zorvak?", "Can people die from Miluna?"),
        ("how do i sell on ebay", "how do i sell on etsy"),
        ("Wie komme ich nach Berlin?", "Wie komme ich nach Hamburg?"),
        ("¿Dónde compro Zorvak en Lima?", "¿Dónde compro Miluna en Lima?"),
        ("Who wrote the book Game of Thrones?", "Who wrote the book Lord of the Rings?"),
        ("Who wrote the book Pride and Zorvak?", "Who wrote the book War and Miluna?"),
        ("Is Zorvak dead?", "Is Zurvel dead?"),
        ("Is Qarvak dead?", "Is Arvakun dead?"),
        ("Is Abc dead?", "Is Abd dead?"),
        ("What does the BXZ sell?", "What does the Bank of Zorvak sell?"),
        ("Hello can I fly to Upham, and how long?", "Hello can I fly to Crewe, and how long?"),
        ("how do i feed a zorvak", "how do i feed a miluna"),
        ("Dove trovo un dentista ad Arvunz?", "Dove trovo un dentista a Miluna?"),
        ("how much vitamin c do i need", "how much vitamin d do i need"),
        ("Does it come in size M?", "Does it come in size L?"),
        ("how heavy is CO", "how heavy is CO2"),
        ("Who won Zorvak in 2019?", "Who won the Miluna Open in 2019?"),
        ("Hola quiero cancelar mi viaje a Toledo, ¿cómo?", "Hola quiero cancelar mi viaje a Zamora, ¿cómo?"),
        ("Beste tijd om naar Lissabon te gaan, en hoe lang?", "Beste tijd om naar Palermo te gaan, en hoe lang?"),
    ],
)
def test_another_name_in_the_same_place_is_another_question(one, two):
    assert entity_differs(Reading(one), Reading(two))
    assert entity_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What does a taxi cost?", "What is the price of a taxi?"),
        ("What is the cost of a taxi?", "What is the price of a taxi?"),
        ("Is the UK in the EU?", "Is Britain in the EU?"),
        ("How old is Obama?", "How old is Barack Obama?"),
        ("What is there in New York?", "What is there in NYC?"),
        ("Is Michael Jackson dead?", "Is Micheal Jackson dead?"),
        ("How Do I Learn Cooking?", "How Do I Study Cooking?"),
        ("Wo kann ich mein Auto parken?", "Wo kann ich mein Fahrzeug parken?"),
        ("Was kostet die Versicherung?", "Was kostet die Polizze?"),
        ("Will die Bank mein Passwort?", "Will die Bank mein Kennwort?"),
        ("Is de Levering gratis bij een bestelling?", "Is de Bezorging gratis bij een bestelling?"),
        ("¿Dónde compro Zorvak en Lima?", "¿Dónde compro Miluna En Lima?"),
        ("What does IBM sell?", "What does International Business Machines sell?"),
        ("What does the BoZ sell?", "What does the Bank of Zorvak sell?"),
        ("What does the Bz sell?", "What does the Bank of Zorvak sell?"),
        ("Is Zorvak dead?", "Is Zurvek dead?"),
        ("when does Zor Utd play", "When does Zorvak United play?"),
        ("Is there a discount with a ZMQC card?", "Is there a discount with a Zorvak Miluna Qarn Card?"),
        ("Are shops in Munich open?", "Are shops in München open?"),
        ("is table salt a mineral", "is NaCl a mineral"),
        ("How old is Bob Zorvak?", "How old is Robert Zorvak?"),
        ("Is the Big Apple safe?", "Is New York safe?"),
        ("What do you think of the President of Zorvak?", "What do you think of Miluna Arv?"),
        ("is it mine or hers", "is it mine or his"),
        ("Is Zorvak dead?", "Is Orvakx dead?"),
        ("Is Zorvak down today?", "Is Зорвак down today?"),
        ("Is Paris nicer than London?", "Is London nicer than Paris?"),
        ("May I leave?", "Can I leave?"),
        ("When does the Parkway close?", "When does the PKWY close?"),
        ("Can I pay with Zorvak?", "Can I pay with ZorvakCheckout?"),
        ("Perché non mi fa accedere con SPID?", "Perché non mi fa accedere con SIPD?"),
        ("Hi Anna, where is my order?", "Hi Bob, where is my order?"),
        ("Bonjour Madame Dupont, où est mon colis ?", "Bonjour Monsieur Martin, où est mon colis ?"),
        ("Beste meneer De Vries, waar is mijn pakket?", "Beste  Jan, waar is mijn pakket?"),
        ("Hola Ana, ¿dónde está mi pedido?", "Hola Luis, ¿dónde está mi pedido?"),
        ("Buenas, ¿Tarda mucho el envío?", "Buenas, ¿Demora mucho el envío?"),
        ("Le message « Erreur de connexion » s'affiche", "Le message « Echec de connexion » s'affiche"),
        ("Quiero ir a Madrid con Luis", "Quiero ir A Madrid con Ana"),
        ("How long do pumas live?", "How long do mountain lions live?"),
        ("How high is Mount Denali?", "How high is Mount McKinley?"),
        ("When is the Pole Star visible?", "When is Polaris visible?"),
        ("What do people eat at Pesach?", "What do people eat at Passover?"),
    ],
)
def test_synonyms_and_other_spellings_are_no_difference(one, two):
    assert not entity_differs(Reading(one), Reading(two))
    assert not entity_differs(Reading(two), Reading(one))


def test_a_name_that_is_a_common_word_is_sure_with_a_capital_in_the_sentence():
    assert [name.sure for name in names_of(Reading("I fly to Nice").cased, [], None)] == [True]
    assert [name.sure for name in names_of(Reading("Is it a nice town").cased, [], None)] == [False]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Сколько мостов В Питере?", "Сколько мостов в Санкт-Петербурге?"),
        ("¿Cómo doy De baja mi línea de Zorvak?", "¿Cómo doy de baja mi línea de Miluna?"),
    ],
)
def test_capitals_as_in_a_title_on_either_side_are_no_names(one, two):
    assert not entity_differs(Reading(one), Reading(two))
    assert not entity_differs(Reading(two), Reading(one))
