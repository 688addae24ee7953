import ast
import itertools
import re
from pathlib import Path

import pytest

from schemas.quantities import counted, listed, rounded_percent, shortened


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "row", "0 rows"),
        (1, "row", "1 row"),
        (2, "row", "2 rows"),
        (12_345, "train question", "12,345 train questions"),
        (1, "query", "1 query"),
        (2, "query", "2 queries"),
    ],
)
def test_one_is_singular_and_all_else_plural(number, noun, text):
    assert counted(number, noun) == text


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [(0.1234, 1, "12.3 %"), (1, 0, "100 %"), (0.97128, 2, "97.13 %"), (0.0001, 1, "0.0 %")],
)
def test_a_share_is_rounded_to_the_decimals(share, decimals, text):
    assert rounded_percent(share, decimals) == text


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([1_234], "row 1234"),
        ([3, 1], "rows 3 and 1"),
        ([1, 1_442, 3_081], "rows 1, 1442 and 3081"),
        (range(1_005), "rows 0, 1, 2, 3, 4 and 1,000 more"),
    ],
)
def test_the_first_of_many_numbers_are_listed(numbers, text):
    assert listed("row", numbers) == text


@pytest.mark.parametrize(
    ("texts", "shown", "text"),
    [
        (["a"], 1, "a"),
        (["a", "b"], 2, "a, b"),
        (["a", "b", "c"], 2, "a, b and 1 more"),
        (["a"] * 1_201, 1, "a and 1,200 more"),
    ],
)
def test_the_first_of_many_texts_are_shown(texts, shown, text):
    assert shortened(texts, shown) == text


ROOT = Path(__file__).parents[2]
NOUNS = (
    "row|question|pair|cluster|group|answer|query|word|token|vector|list|file|part|shard|value|null|verdict|document"
)
COUNTED = re.compile(rf" (?:[a-z-]+ )?(?:{NOUNS}|quer)(?:s|ies)\b(?!/)|.*\(s\)")
FIXED = re.compile(r"[A-Z_]+|counted\(.*\)|.* else .*|most|have|len\(nodes\)|.*join\(.*")
"""Constants, numbers with their noun, choices between two words, and numbers over a limit."""


def uncounted(source):
    """Yield what an f-string prints before a plural noun, and that noun."""
    for string in ast.walk(ast.parse(source)):
        parts = string.values if isinstance(string, ast.JoinedStr) else []
        for number, text in itertools.pairwise(parts):
            if isinstance(number, ast.FormattedValue) and isinstance(text, ast.Constant):
                noun, given = COUNTED.match(text.value), ast.unparse(number.value)
                if noun and not FIXED.fullmatch(given):
                    yield f"{{{given}}}{noun[0]}"


def test_a_plural_after_any_number_is_found():
    assert list(uncounted('f"{len(rows):,} rows, {n} value(s), {x} wrong queries"')) != []
    assert list(uncounted("f\"{counted(n, 'row')} of {MOST:,} rows in {folder} are odd\"")) == []


@pytest.mark.parametrize("room", ["jobs", "pipelines", "model", "schemas", "qpr"])
def test_messages_count_one_thing_in_the_singular(room):
    found = {str(path): list(uncounted(path.read_text())) for path in sorted((ROOT / room).rglob("*.py"))}
    assert {path: texts for path, texts in found.items() if texts} == {}
