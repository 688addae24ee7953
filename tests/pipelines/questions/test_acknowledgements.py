import unicodedata

import pytest

from pipelines.questions.acknowledgements import is_acknowledgement


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
