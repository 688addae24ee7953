"""Lines about the hits of a question."""

import pytest

from jobs.display.hits import reason_of_no_hits


@pytest.mark.parametrize(
    ("question", "filtered", "reason"),
    [
        ("?!", False, "no word to search by"),
        ("", True, "no word to search by"),
        ("hi", False, "no question of the index was found"),
        ("日本", True, "no question of the index with these values and a valid answer was found"),
    ],
)
def test_only_a_question_without_a_word_has_no_word_to_search_by(question, filtered, reason):
    assert reason_of_no_hits(question, filtered=filtered) == reason
