import unicodedata

import pytest

from pipelines.questions.stock_answers import is_acknowledgement, is_opening, is_placeholder


@pytest.mark.parametrize(
    "answer",
    [
        "Okay.",
        " OK!",
        "Sure thing 👍",
        "Okay, got it.",
        "Alles klar, mach ich.",
        "D’accord.",
        "C'est noté !",
        "¡Listo!",
        "Va bene",
        "Está bem.",
        "Komt voor elkaar!",
        "Хорошо, сделано.",
        "Tamam.",
        "ठीक है।",
        "โอเค",
        "好的。",
        "かしこまりました。",
        unicodedata.normalize("NFD", "알겠습니다."),
    ],
)
def test_an_answer_of_confirmations_alone_is_one(answer):
    assert is_acknowledgement(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "...",
        "Yes.",
        "No",
        "Okay, the kitchen lights are on.",
        "Oklahoma",
        "Done by Friday",
        "Bien sûr que non",
        "ठीक",
        "You're welcome.",
        "12",
        "ok " * 30,
    ],
)
def test_an_answer_with_other_words_is_none(answer):
    assert not is_acknowledgement(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "NULL",
        "n/a",
        " N/A. ",
        "None",
        "nan",
        "-",
        "--",
        "…",
        "[]",
        "(empty)",
        "?",
        "#N/A",
        "<null>",
        "K.A.",
        "[deleted]",
        "[removed]",
        "\\N",
        "<br>",
        "<p></p>",
        "<p>&nbsp;</p>",
        "&nbsp;",
        "<p>N/A</p>",
    ],
)
def test_texts_in_place_of_a_missing_answer(answer):
    assert is_placeholder(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "0",
        "No",
        "+",
        "👍",
        "✓",
        "None of them",
        "Nan Goldin",
        "Deleted.",
        "removed",
        "<p>No</p>",
        "N",
        "$",
        "-5",
        "x" * 70,
    ],
)
def test_short_answers_that_are_no_placeholder(answer):
    assert not is_placeholder(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Hi! How can I help you?",
        "Hello Anna, what can I do for you today?",
        "Is there anything else I can do for you?",
        "I will connect you with a colleague.",
        "Please hold on. I'm transferring you to an agent.",
        "One moment please...",
        "Please choose: [Returns] [Delivery]",
        "Hallo! Wie kann ich Ihnen helfen?",
        "Kann ich sonst noch etwas für dich tun?",
        "Einen Moment bitte, ich verbinde Sie mit einem Kollegen.",
        "Bonjour, comment puis-je vous aider ?",
        "Je vous transfère à un conseiller.",
        "¡Hola! ¿En qué puedo ayudarte?",
        unicodedata.normalize("NFD", "Olá! Como posso ajudar?"),
        "Hoe kan ik je helpen?",
    ],
)
def test_greetings_offers_and_hand_overs_are_openings(answer):
    assert is_opening(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "👍",
        "",
        "We are open from 9 to 7. Is there anything else I can do for you?",
        "Hi Anna, your parcel takes 2 to 4 working days to arrive.",
        "Refunds arrive 5 to 7 working days after we have received your parcel.",
        "Press Forgotten password on the login page.",
        "How can I help you? " * 20,
    ],
)
def test_answers_with_other_sentences_are_no_openings(answer):
    assert not is_opening(answer)
