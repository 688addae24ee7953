import pytest

from jobs.display.text_input import MAX_BYTES, question_arguments, question_lines
from schemas.errors import QprError, UsageError


def test_every_line_is_a_text_without_its_end():
    lines = [b"\xef\xbb\xbfpay\r\n", b"\n", "café".encode(), b" a\tb \n"]
    assert list(question_lines(lines, source="x")) == ["pay", "", "café", " a\tb "]


def test_a_line_as_long_as_allowed_passes_and_a_longer_one_is_named():
    assert list(question_lines([b"a" * MAX_BYTES + b"\n"], source="x")) == ["a" * MAX_BYTES]
    with pytest.raises(QprError, match="x: line 1 has 1,048,577 bytes"):
        list(question_lines([b"a" * (MAX_BYTES + 1)], source="x"))


def test_lines_before_a_bad_one_are_handed_over():
    lines = question_lines([b"fine\n", b"caf\xe9\n"], source="x")
    assert next(lines) == "fine"
    with pytest.raises(QprError, match="x: line 2 is not UTF-8"):
        next(lines)


def test_arguments_are_utf8_whatever_the_locale_made_of_them():
    assert question_arguments(["pay", "café", "caf\udcc3\udca9"]) == ["pay", "café", "café"]  # C3 A9 is é
    with pytest.raises(UsageError, match=r"b'caf\\xe9': the question is not UTF-8"):
        question_arguments(["caf\udce9"])
