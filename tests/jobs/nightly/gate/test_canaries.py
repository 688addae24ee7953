import pytest

from jobs.nightly.gate.canaries import Canary, first_missed, read_canaries
from model.search.results import Hit
from schemas.errors import QprError
from schemas.text import answer_key


def hit(rank, text, answer, *, question_id=1, answer_id=None):
    return Hit(rank, question_id, text, answer, answer_id, None, None)


class Found:
    """Stands for a searcher with the same hits for all questions."""

    def __init__(self, *hits):
        self._hits = hits

    def search_many(self, questions, k):
        return [list(self._hits[:k]) for _ in questions]


FOUND = Found(hit(1, "how to pay", "By post", question_id=7), hit(2, "where to pay", "At the desk", answer_id="desk"))


@pytest.mark.parametrize(
    ("canary", "rank"),
    [
        (Canary(1, "pay", "by  POST", None, None), 1),
        (Canary(1, "pay", None, None, 7), 1),
        (Canary(1, "pay", "At the desk", "desk", 1), 2),
        (Canary(1, "pay", "At the desk", "other", None), None),
        (Canary(1, "pay", "at the door", None, None), None),
    ],
)
def test_a_canary_is_found_within_its_rank(canary, rank):
    for k in (1, 2):
        assert (first_missed(FOUND, [canary], k) is None) == (rank is not None and rank <= k)


def test_ids_of_answers_are_compared_without_outer_white_space():
    found = Found(hit(1, "how to pay", "By post", answer_id=" desk\t"))
    assert first_missed(found, [Canary(1, "pay", None, "desk", None)], 1) is None
    assert first_missed(found, [Canary(1, "pay", None, "des", None)], 1) is not None


def test_an_answer_without_an_id_has_the_one_that_answer_prints():
    # an index of a dataset has no ids of answers, and so that of a warehouse
    found = Found(hit(1, "how to pay", "By post"))
    assert first_missed(found, [Canary(1, "pay", None, answer_key(None, "by post"), None)], 1) is None
    assert first_missed(found, [Canary(1, "pay", None, answer_key(None, "at the desk"), None)], 1) is not None


def test_the_first_missed_one_is_returned_with_the_first_hit_and_the_number():
    canaries = [
        Canary(1, "a", "By post", None, None),
        Canary(2, "b", "no", None, None),
        Canary(3, "c", "no", None, None),
    ]
    missed = first_missed(FOUND, canaries, 1)
    assert (missed.canary.row, missed.found, missed.missed, missed.all) == (2, "By post", 2, 3)
    assert first_missed(Found(), canaries[:1], 1).found is None


def test_files_are_read_with_ids_as_names_or_numbers(tmp_path):
    file = tmp_path / "c.csv"
    file.write_text("question,answer,question_id\npay?,By post,\nwhere,,q00000000000000ff\nwhen,,-12\n,,\n")
    assert read_canaries(str(file)) == [
        Canary(1, "pay?", "By post", None, None),
        Canary(2, "where", None, None, 255),
        Canary(3, "when", None, None, -12),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("question,answer\n", "has no canary"),
        ("question\npay\n", r"row 1 expects nothing\. Fill in answer, answer_id or question_id"),
        ("question,answer\n,By post\n", "row 1 has no question"),
        ("answer\nBy post\n", "question"),
        ("question,question_id\npay,x1\n", r"row 1: 'x1' is no name .* and no whole number"),
    ],
)
def test_unusable_files_are_one_line(tmp_path, content, message):
    file = tmp_path / "c.csv"
    file.write_text(content)
    with pytest.raises(QprError, match=message) as raised:
        read_canaries(str(file))
    assert "\n" not in str(raised.value)
