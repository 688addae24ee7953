"""Kinds of answers by their text."""

import random

import pyarrow as pa
import pytest

from pipelines.questions.answer_kinds import KINDS, kinds_of


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("You can return any item within thirty days.", "sentence"),
        ("Open the settings and choose the account whose password you want to change", "sentence"),
        ("Der Versand kostet 4,90 Euro.", "sentence"),
        ("Sie finden Ihre Rechnung im Kundenkonto unter Bestellungen.", "sentence"),
        ("Ändern Sie Ihre Adresse unter Konto und Daten.", "sentence"),
        ("Fiona Granger is married to Cedric Almeida.", "sentence"),
        ("Lady Maud Trentham Ashworth of Kensington, C.B.E.", "entity"),
        ("Ray Liotta as Shoeless Joe Jackson in Field of Dreams", "entity"),
        ("您可以在三十天内退货，全额退款。", "sentence"),
        ("Toyota Motor Manufacturing, U.S.A., Inc.", "entity"),
        ("Mount Everest", "entity"),
        ("card arrival", "entity"),
        ("card_arrival", "label"),
        ("Refund_not_showing_up?", "label"),
        ("Yes.", "yes/no"),
        ("nein", "yes/no"),
        ("1990", "number"),
        ("3.5 km", "number"),
        ("1,000,000", "number"),
        ("12 May 1990", "date"),
        ("May 12, 1990", "date"),
        ("Q970867", "id"),
        ("You may return it within 30 days.", "sentence"),
        ("Die Augenklinik ist in Haus 3.", "sentence"),
        ("Our shop is open until May 5.", "sentence"),
        ("Decker 2010", "entity"),
        ("Marta Müller, 3. Stock", "entity"),
        ("5 May", "date"),
        ("Friday, May 5 at 9 am", "date"),
        ("20-May-1990", "date"),
        ("20 de julio de 1969", "date"),
        ("1er août 1969", "date"),
        ("20 июля 1969 г.", "date"),
        ("faq/card_arrival", "label"),
        ("https://example.com/card_arrival", "entity"),
        ("5 €", "number"),
        ("(030) 1234-567", "number"),
        ("5 days or 6", "entity"),
        ("Sim.", "yes/no"),
        ("हाँ", "yes/no"),
        ("いいえ。", "yes/no"),
        ("Yes, of course.", "yes/no"),
        ("No, sorry", "yes/no"),
        ("Ja, gerne!", "yes/no"),
        ("Yes, dogs are welcome.", "sentence"),
        ("はい、設定画面から変更できます。", "sentence"),
        ("No Doubt", "entity"),
        ("Ja Rule", "entity"),
        ("Пароль можно сбросить на странице входа, когда угодно.", "sentence"),
        ("Да.", "yes/no"),
        ("Проспект Победы, дом 7", "entity"),
        ("Москва, ул. Ленина большая", "entity"),
        ("الإرجاع مجاني خلال 30 يوم عمل.", "sentence"),
        ("٣٠ يومًا", "number"),
        ("30 दिनों में", "number"),
        ("営業時間は9時から18時です。", "sentence"),
        ("パスワードは設定画面から変更できます", "sentence"),
        ("설정에서 변경할 수 있습니다", "sentence"),
        ("東京都立図書館", "entity"),
        ("จัดส่งภายใน 2-4 วัน", "entity"),
        ("第3章", "entity"),
        ("Я1234", "id"),
        ("کالا را می‌توانید تا سی روز پس بدهید۔", "sentence"),
        ("", "entity"),
        (None, "entity"),
    ],
)
def test_the_kind_of_an_answer_follows_from_its_text(text: str | None, kind: str) -> None:
    assert [KINDS[number] for number in kinds_of(pa.array([text], pa.string()))] == [kind]


def test_a_very_long_answer_is_a_sentence_by_its_beginning() -> None:
    assert KINDS[kinds_of(pa.array(["a word and " * 100_000]))[0]] == "sentence"


def test_no_answer_has_no_kind() -> None:
    assert len(kinds_of(pa.array([], pa.string()))) == 0


def test_ascii_answers_have_the_same_kinds_beside_an_answer_in_another_script() -> None:
    parts = (
        "jan",
        "May 3",
        "yes",
        "No",
        "a_b",
        " ",
        "  ",
        ".",
        "?",
        "12",
        "A",
        "b",
        "C1",
        "\n",
        "\t",
        "\x0b",
        "_",
        "-",
        "%",
    )
    parts += ("words in lower case", "Words Of a Title", "\x00", "\x7f")
    draw = random.Random(0)
    texts = ["".join(draw.choices(parts, k=draw.randrange(9))) for _ in range(20_000)]
    alone = kinds_of(pa.array(texts))
    assert set(alone.tolist()) == {*range(len(KINDS))}
    assert (alone == kinds_of(pa.array([*texts, "Да."]))[:-1]).all()
