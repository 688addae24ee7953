import pytest

from schemas.quantities import counted


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
