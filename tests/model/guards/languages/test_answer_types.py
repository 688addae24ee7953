import json
from importlib import resources

import pytest

from model.guards.languages.answer_types import _phrase, asks_for_another_type
from model.guards.languages.glossing.lists import NAMES
from model.guards.languages.language import languages
from model.guards.reading import Reading

ANOTHER_TYPE = [
    ("Wie lautet die E-Mail-Adresse der Bibliothek?", "Wann öffnet die Bibliothek?"),
    ("Из-за чего закрыли музей?", "Когда закрыли музей?"),
    ("Wann öffnet das Hallenbad in Uster?", "Wo ist das Hallenbad in Uster?"),
    ("Wie lange dauert der Versand nach Wien?", "Was kostet der Versand nach Wien?"),
    ("Hoe laat vertrekt de veerboot naar Texel?", "Waar vertrekt de veerboot naar Texel?"),
    ("¿Cuándo cierra la piscina municipal?", "¿Dónde está la piscina municipal?"),
    ("Où se trouve le musée du chocolat ?", "Combien coûte le musée du chocolat ?"),
    ("Chi ha scritto Il Gattopardo?", "Quando è stato scritto Il Gattopardo?"),
    ("In welchen Straßen gilt der Ausweis?", "Wie lange gilt der Ausweis?"),
    ("Öffnungszeiten Bürgeramt Neukölln", "Adresse Bürgeramt Neukölln"),
    ("Quanto pesa uma baleia azul?", "Onde vive uma baleia azul?"),
    ("Kiedy zbudowano zamek w Malborku?", "Dlaczego zbudowano zamek w Malborku?"),
    ("Сколько стоит абонемент в бассейн?", "Где купить абонемент в бассейн?"),
    ("Galata Kulesi ne zaman yapıldı?", "Galata Kulesi nerede?"),
    ("متى يفتح المتحف؟", "أين المتحف؟"),
    ("पुस्तकालय कब खुलता है?", "पुस्तकालय कहाँ है?"),
    ("游泳馆什么时候开门？", "游泳馆在哪里？"),
    ("プールはいつ開きますか", "プールはどこですか"),
    ("In welchen Monaten blüht der Flieder?", "Warum blüht der Flieder?"),
    ("Pazar hangi günler?", "Pazar nerede?"),
    ("祭りはどの季節ですか", "祭りはどこですか"),
]
SAME_TYPE = [
    ("Wie lautet die E-Mail-Adresse der Bibliothek?", "Wo ist die Bibliothek?"),
    ("Wann öffnet das Hallenbad?", "Um wie viel Uhr öffnet das Hallenbad?"),
    ("Öffnungszeiten Hallenbad Uster", "Wann öffnet das Hallenbad Uster?"),
    ("Wie hoch ist der Preis für den Versand?", "Was kostet der Versand?"),
    ("Wann kommt mein Paket?", "Wo ist mein Paket?"),
    ("Wo kann ich mein Passwort ändern?", "Wie kann ich mein Passwort ändern?"),
    ("¿Puedo pagar cuando llega el repartidor?", "¿Cómo puedo pagar al repartidor?"),
    ("Combien coûte le billet ?", "Quel est le prix du billet ?"),
    ("thé ou café pour le petit déjeuner", "Quand est servi le thé ou café du petit déjeuner ?"),
    ("Voglio pagare al corriere perché non ho la carta", "Quando posso pagare al corriere?"),
    ("Во сколько открывается музей?", "Когда открывается музей?"),
    ("图书馆几点开门？", "图书馆什么时候开门？"),
    ("図書館は何時に開きますか", "図書館の営業時間は"),
    ("Wann öffnet das Hallenbad?", "Wo kann ich ein Konto eröffnen?"),
    ("Chi può entrare se piove?", "Quando posso entrare se piove, e che cosa devo portare?"),
    ("Zu welchem Zeitpunkt wird der Beitrag abgebucht?", "Wann wird der Beitrag abgebucht?"),
    ("Wo bekomme ich Hilfe bei der Steuer?", "Wer gibt mir Hilfe bei der Steuer?"),
    ("An welchem Wochentag öffnet das Museum?", "Wann öffnet das Museum?"),
    ("Op welke dagen is het museum open?", "Wanneer is het museum open?"),
    ("¿En qué día llega mi pedido?", "¿Cuándo llega mi pedido?"),
    ("Quels jours ouvre le musée ?", "Quand ouvre le musée ?"),
    ("In quali giorni apre il museo?", "Quando apre il museo?"),
    ("Em que mês abre o museu?", "Quando abre o museu?"),
    ("W którym miesiącu otwiera się muzeum?", "Kiedy otwiera się muzeum?"),
    ("По каким дням открывается музей?", "Когда открывается музей?"),
    ("Müze hangi ayda açılıyor?", "Müze ne zaman açılıyor?"),
    ("في أي أيام يفتح المتحف؟", "متى يفتح المتحف؟"),
    ("संग्रहालय कौन से दिन खुलता है?", "संग्रहालय कब खुलता है?"),
    ("博物馆哪个月开放？", "博物馆什么时候开放？"),
    ("Wie lang ist der Film?", "Wie lange dauert der Film?"),
    ("In welchem Takt fährt der Bus?", "Wie oft fährt der Bus?"),
    ("¿Qué tanto pesa la bicicleta?", "¿Cuánto pesa la bicicleta?"),
    ("¿A cómo está la entrada?", "¿Cuánto cuesta la entrada?"),
    ("講座はどのくらいかかりますか", "講座は何時間かかりますか"),
    ("Welche Maße darf Sperrmüll haben?", "Wie groß darf Sperrmüll sein?"),
    ("Welke afmetingen heeft de koffer?", "Hoe groot is de koffer?"),
    ("¿Qué dimensiones tiene la maleta?", "¿Qué tamaño tiene la maleta?"),
    ("When does the pool open?", "Where is the pool?"),  # English has a guard of its own
]


@pytest.mark.parametrize(("one", "two"), ANOTHER_TYPE)
def test_texts_that_ask_for_another_property_of_a_thing(one, two):
    assert asks_for_another_type(Reading(one), Reading(two))
    assert asks_for_another_type(Reading(two), Reading(one))


@pytest.mark.parametrize(("one", "two"), SAME_TYPE)
def test_texts_that_ask_for_the_same_or_about_something_else(one, two):
    assert not asks_for_another_type(Reading(one), Reading(two))
    assert not asks_for_another_type(Reading(two), Reading(one))


def test_each_phrase_asks_for_one_type_and_stands_in_one_line():
    text = resources.files("model.guards.languages").joinpath("question_words.json").read_text("utf-8")
    for name, row in json.loads(text)["languages"].items():
        phrases = [_phrase(phrase, name) for line in row["asking"].values() for phrase in line.split("|")]
        assert len(set(phrases)) == len(phrases), name
        assert set(row.get("at_start", "").split()) <= set(phrases)
        words = f"{row.get('at_start', '')} {row.get('before', '')}".split()
        assert words == [_phrase(word, name) for word in words]


def test_every_language_with_rules_has_question_words_and_every_pair_names_types_in_the_file():
    text = resources.files("model.guards.languages").joinpath("question_words.json").read_text("utf-8")
    file = json.loads(text)
    assert set(file["languages"]) == {*(language.name for language in languages()), *NAMES}
    types = {kind for row in file["languages"].values() for kind in row["asking"]}
    names = ("compatible", "compatible_unless_all_else_is_equal", "compatible_of_mine", "compatible_of_me")
    assert {kind for name in names for pair in file[name] for kind in pair.split()} <= types
    assert {kind for name in ("weak", "weaker_than_nouns", "undecided") for kind in file[name]} <= types
