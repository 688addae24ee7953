"""The order of arguments in other languages than English."""

import pytest

from model.guards.order import order_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Wie viel sind 100 Euro in Dollar?", "Wie viel sind 100 Dollar in Euro?"),
        ("Wie komme ich vom Bahnhof zum Flughafen?", "Wie komme ich vom Flughafen zum Bahnhof?"),
        ("Darf der Mieter den Vermieter verklagen?", "Darf der Vermieter den Mieter verklagen?"),
        ("Soll ich erst duschen und dann die Salbe auftragen?", "Soll ich erst die Salbe auftragen und dann duschen?"),
        ("Is een haas groter dan een konijn?", "Is een konijn groter dan een haas?"),
        ("vuelos de Madrid a Lima", "vuelos de Lima a Madrid"),
        ("Comment passer d'Orange à SFR ?", "Comment passer de SFR à Orange ?"),
        ("Perché la benzina costa più del gasolio?", "Perché il gasolio costa più della benzina?"),
        ("como passar fotos do pendrive para o notebook", "como passar fotos do notebook para o pendrive"),
        ("pociąg z Krakowa do Gdańska o której", "pociąg z Gdańska do Krakowa o której"),
        ("Почему собака боится кошку?", "Почему кошка боится собаку?"),
        ("Quanto é a viagem de Lisboa para Faro?", "Quanto é a viagem de Faro para Lisboa?"),
        ("Qual è il treno da Roma a Milano?", "Qual è il treno da Milano a Roma?"),
        ("Où est le train de Lyon à Nice ?", "Où est le train de Nice à Lyon ?"),
        ("Darf die Bank dem Kunden kündigen?", "Darf der Kunde der Bank kündigen?"),
        ("Kan de huurder de verhuurder aanklagen?", "Kan de verhuurder de huurder aanklagen?"),
        ("Sollte ich zahlen, bevor ich unterschreibe?", "Sollte ich unterschreiben, bevor ich zahle?"),
        ("Pourquoi le gaz est-il plus cher que l'eau ?", "Pourquoi l'eau est-elle plus chère que le gaz ?"),
        ("Wie kommen Fotos vom Laptop auf das iPhone?", "Wie kommen Fotos vom iPhone auf den Laptop?"),
        ("Jak przenieść kontakty z Androida na iPhone'a?", "Jak przenieść kontakty z iPhone'a na Androida?"),
        ("Czy Kraków jest większy od Łodzi?", "Czy Łódź jest większa od Krakowa?"),
        ("Kiedy dziadek dziedziczy po wnuku?", "Kiedy wnuk dziedziczy po dziadku?"),
        ("Правда ли, что Лермонтов старше Пушкина?", "Правда ли, что Пушкин старше Лермонтова?"),
        ("Was, wenn ich einen Radler angefahren habe?", "Was, wenn mich ein Radler angefahren hat?"),
        ("Ik heb een fietser aangereden, wat nu?", "Een fietser heeft mij aangereden, wat nu?"),
        ("Ho insultato il capo, cosa rischio?", "Il capo mi ha insultato, cosa rischio?"),
        ("Что делать, если я затопил соседей?", "Что делать, если соседи затопили меня?"),
    ],
)
def test_exchanged_parts_are_another_question(one, two):
    assert order_differs(Reading(one), Reading(two))
    assert order_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Was ist der Unterschied zwischen Butter und Öl?", "Was ist der Unterschied zwischen Öl und Butter?"),
        ("Il medico manda il certificato all'azienda?", "Il certificato all'azienda lo manda il medico?"),
        ("Le spese le paga il proprietario?", "Il proprietario paga le spese?"),
        ("Ist der Bus billiger als der Zug?", "Ist der Zug teurer als der Bus?"),
        ("¿El cliente puede anular el contrato?", "¿El contrato lo puede anular el cliente?"),
        ("У меня есть виза, я могу лететь?", "Могу лететь, если у меня есть виза?"),
        ("Den Schein hat meine Frau verloren, was nun?", "Meine Frau hat den Schein verloren, was nun?"),
        ("In Nederland mag je vanaf welke leeftijd stemmen?", "Vanaf welke leeftijd mag je in Nederland stemmen?"),
        ("Si pierdo el pasaporte, ¿qué hago?", "¿Qué hago si pierdo el pasaporte?"),
        ("Le musée d'Orsay ouvre à quelle heure ?", "À quelle heure ouvre le musée d'Orsay ?"),
        ("¿Mañana puedo pagar con la tarjeta?", "¿Puedo pagar con la tarjeta mañana?"),
        ("Pourquoi je ne reçois ni colis ni lettres ?", "Pourquoi je ne reçois ni lettres ni colis ?"),
        ("È meglio il gas o l'induzione?", "È meglio l'induzione o il gas?"),
        ("Vocês consertam fogão e geladeira?", "Vocês consertam geladeira e fogão?"),
        ("Czy trzymania kota może zabronić właściciel?", "Czy właściciel może zabronić trzymania kota?"),
        ("Какое расстояние между Омском и Томском?", "Какое расстояние между Томском и Омском?"),
        ("Darf die Bank dem Kunden kündigen?", "Darf dem Kunden die Bank kündigen?"),
        ("Moet ik de buren de sleutel geven?", "Moet ik de sleutel de buren geven?"),
        ("Is de winkel in de zomer open?", "Is in de zomer de winkel open?"),
        ("Mijn rijbewijs ben ik kwijt, wat nu?", "Ik ben mijn rijbewijs kwijt, wat nu?"),
        ("La gare routière se trouve où ?", "Où se trouve la gare routière ?"),
        ("Bevor ich zahle, sollte ich unterschreiben?", "Sollte ich unterschreiben, bevor ich zahle?"),
        ("Наполеона победил Кутузов?", "Кутузов победил Наполеона?"),
    ],
)
def test_moved_phrases_and_symmetric_relations_are_no_difference(one, two):
    assert not order_differs(Reading(one), Reading(two))
    assert not order_differs(Reading(two), Reading(one))
