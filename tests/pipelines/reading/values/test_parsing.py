import datetime

import pytest

from pipelines.reading.values.parsing import parse_date, parse_mail_date, parse_number


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("12", 12, 12),
        ("0.89", 0.89, None),
        ("0,89", None, 0.89),
        (" -0,5 ", None, -0.5),
        (",5", None, 0.5),
        ("1,5e-3", None, 0.0015),
        ("1.234,56", None, 1234.56),
        ("1,234.56", 1234.56, None),
        ("1,234", 1234, 1.234),
        ("1.234", 1.234, 1234),
        ("0,123", None, 0.123),  # thousands do not begin with 0
        ("1.234.567", None, 1234567),
        ("1,234,567", 1234567, None),
        ("1234,567", None, 1234.567),
        ("1 234,5", None, 1234.5),
        ("1\u202f234", 1234, 1234),
        ("1'234.5", 1234.5, None),
        ("1.23,456", None, None),
        ("89 %", None, None),
        ("nan", None, None),
        ("", None, None),
        (",", None, None),
    ],
)
def test_a_number_has_an_interpretation_for_each_decimal_mark(text, point, comma):
    assert parse_number(text) == (point, comma)


def at(*clock):
    return datetime.datetime(*clock, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("text", "day_first", "month_first"),
    [
        ("31.12.2025 14:05", at(2025, 12, 31, 14, 5), None),
        ("1.2.2025", at(2025, 2, 1), None),  # dots: the day is first
        ("31.12.25, 14:05:09", at(2025, 12, 31, 14, 5, 9), None),
        ("31/12/2025", at(2025, 12, 31), None),
        ("12/31/2025 2:05 PM", None, at(2025, 12, 31, 14, 5)),
        ("12/31/2025 12:05 a.m.", None, at(2025, 12, 31, 0, 5)),
        ("01/02/2025", at(2025, 2, 1), at(2025, 1, 2)),
        ("05-05-2025", at(2025, 5, 5), at(2025, 5, 5)),
        ("2025/12/31 01:02:03.5", at(2025, 12, 31, 1, 2, 3, 500_000), at(2025, 12, 31, 1, 2, 3, 500_000)),
        ("31.12.2025 14:05 +02:00", at(2025, 12, 31, 12, 5), None),
        ("31.12.68", at(2068, 12, 31), None),
        ("31.12.69", at(1969, 12, 31), None),
        ("32/12/2025", None, None),
        ("31/12-2025", None, None),
        ("12/31/2025 13:05 PM", None, None),
        ("1/2/3", None, None),
        ("2025/1/2025", None, None),
        ("yesterday", None, None),
    ],
)
def test_a_date_has_an_interpretation_for_each_order_of_day_and_month(text, day_first, month_first):
    assert parse_date(text) == (day_first, month_first)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tue, 03 Nov 2026 10:00:00 +0000", at(2026, 11, 3, 10)),
        (" Tue,  3 Nov 2026 10:00:00 -0800 (PST) ", at(2026, 11, 3, 18)),
        ("03 Nov 2026 10:00 GMT", at(2026, 11, 3, 10)),
        ("03 Nov 2026 10:00:00 EST", at(2026, 11, 3, 15)),
        ("03 Nov 2026 10:00:00 -0000", at(2026, 11, 3, 10)),
        ("03 Nov 2026 10:00:00 CET", None),  # no zone of RFC 2822: taken as UTC it would be an hour wrong
        ("03 Nov 2026 10:00:00 +9999", None),
        ("33 Nov 2026 10:00:00 GMT", None),
        ("03 Nuv 2026 10:00:00 GMT", None),
        ("03 Nov 0001 10:00:00 GMT", None),
        ("31 Dec 9999 23:00:00 -0100", None),
        ("03 Nov 2026", None),
        ("2026-11-03", None),
    ],
)
def test_a_date_of_a_mail_has_one_interpretation(text, expected):
    assert parse_mail_date(text) == expected
