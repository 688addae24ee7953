"""Texts as roots and glosses."""

import pytest

from model.guards.languages.glossing.numerals import values
from model.guards.languages.glossing.reading import glossed
from model.guards.languages.glossing.scripts import language_of
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("kartsız ödeyebilir miyim", "turkish"),
        ("kartsiz odeyebilir miyim", "turkish"),
        ("emlak vergisini kimler öder", "turkish"),
        ("kartla ödəniş etmək olar", None),
        ("كيف ألغي الطلب", "arabic"),
        ("چگونه سفارش را لغو کنم", None),
        ("میں آرڈر کیسے منسوخ کروں", None),
        ("ऑर्डर कैसे रद्द करें", "hindi"),
        ("ऑर्डर कसा रद्द करायचा आहे", None),
        ("怎么取消订单", "chinese"),
        ("iPhone 15 Pro Max 怎么退货", "chinese"),
        ("注文をキャンセルしたい", "japanese"),
        ("주문을 취소하고 싶어요", None),
        ("What does 你好 mean in English?", None),
        ("How do I cancel an order?", None),
        ("Kann ich ohne Karte zahlen?", None),
        ("Ce oraș este mai mare?", None),
        ("not hat with son", None),
        ("", None),
    ],
)
def test_the_language_of_a_text(text, language):
    assert language_of(Reading(text), Reading(text)) == language


def test_texts_of_other_languages_and_long_ones_stay():
    for text in ("How do I cancel?", "怎么取消订单" * 60):
        readings = Reading(text), Reading("订单")
        assert glossed(*readings) == readings or len(text) < 300


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("kartsız ödeyemez miyim", "kart without ot"),
        ("İstanbul'dan Ankara'ya", "istanbul abl ankar dat"),
        ("三天内不能退货", "3 days 内 not 退货"),
        ("خلال يومين", "خلال 2 days"),
    ],
)
def test_a_text_as_roots_and_glosses(text, roots):
    assert glossed(Reading(text), Reading(text))[0].folded == roots


@pytest.mark.parametrize(
    ("words", "least_factor", "found"),
    [
        ([3, 100, 50], 100, [350]),
        ([2, 100], 100, [200]),
        ([5, 1000, 200], 100, [5200]),
        ([5, 20], 100, [25]),
        ([3, 4], 100, [3, 4]),
        ([3, 10, 5], 10, [35]),
        ([10], 10, [10]),
        ([3, 1000, 10000], 10, [30_000_000]),
        ([1, 10000, 2, 1000], 10, [12_000]),
    ],
)
def test_number_words_in_a_row(words, least_factor, found):
    assert values(words, least_factor=least_factor) == found
