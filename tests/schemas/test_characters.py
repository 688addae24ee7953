"""Classes of characters: they hold what Unicode's tables say, for every code point."""

import functools
import re
import sys
import unicodedata

import pytest

from schemas.characters import LAST_OF_PLANE_0, added_characters, characters_matching, characters_of, decimal_digits


@functools.cache
def every():
    """Return all characters, made where a test needs them: each worker imports this module."""
    return [chr(code) for code in range(sys.maxunicode + 1)]


@pytest.mark.parametrize("category", ["Cf", "M", "Nd", "Sc"])
def test_a_category_holds_its_characters_alone(category):
    inside = re.compile(f"[{characters_of(category)}]")
    of_category = [character for character in every() if unicodedata.category(character).startswith(category)]
    assert of_category == inside.findall("".join(every()))


def test_a_category_ends_at_the_last_code_point_asked_for():
    inside = re.compile(f"[{characters_of('M', last=LAST_OF_PLANE_0)}]")
    assert max(inside.findall("".join(every()))) <= chr(LAST_OF_PLANE_0)
    assert inside.findall("".join(every()[: LAST_OF_PLANE_0 + 1])) == [
        character for character in every()[: LAST_OF_PLANE_0 + 1] if unicodedata.category(character)[0] == "M"
    ]


def test_an_expression_holds_what_it_matches_between_two_code_points():
    inside = re.compile(f"[{characters_matching(r'[a-c]|x', first=ord('b'), last=ord('z'))}]")
    assert inside.findall("".join(every())) == ["b", "c", "x"]


def test_every_decimal_digit_beyond_ascii_has_its_ascii_digit():
    expected = {
        ord(character): str(unicodedata.decimal(character))
        for character in every()[128:]
        if unicodedata.category(character) == "Nd"
    }
    assert decimal_digits() == expected


def test_characters_of_which_nfkc_makes_several_have_the_number_that_it_adds():
    lengths = {character: len(unicodedata.normalize("NFKC", character)) for character in every()}
    assert added_characters() == {character: length - 1 for character, length in lengths.items() if length > 1}
