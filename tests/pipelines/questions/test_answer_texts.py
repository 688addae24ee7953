import pyarrow as pa
import pytest

from pipelines.intermediate import MEMBERS
from pipelines.questions.answer_texts import MANY, many_text_counts, many_text_warnings
from schemas.tables import with_nulls


def members(rows):
    """Return MEMBERS of (answer id, text, events)."""
    ids, texts, events = zip(*rows, strict=True)
    known = {"answer_id": ids, "answer": texts, "events": events, "question_id": range(len(rows))}
    return with_nulls(MEMBERS, {name: pa.array(values) for name, values in known.items()})


SKILL = [(1, f"{n} minutes", 2) for n in range(MANY)]
EDITED = [(2, "In the app", 9), *((2, f"In app {n}", 2) for n in range(MANY - 1))]
FEW = [(3, f"Text {n}", 1) for n in range(MANY - 1)]


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        (SKILL, {"many_texts_answers": 1, "many_texts_rows": 10}),
        ([*SKILL, *EDITED, *FEW], {"many_texts_answers": 1, "many_texts_rows": 10}),
        ([*SKILL, *((4, text, events) for _, text, events in SKILL)], {"many_texts_answers": 2, "many_texts_rows": 20}),
        ([*EDITED, *FEW], {}),
        ([(5, None, 3)], {}),
    ],
)
def test_ids_are_counted_whose_most_frequent_text_stands_for_at_most_half_of_their_rows(rows, counts):
    assert many_text_counts(members(rows)) == counts
    assert many_text_counts(members(rows[::-1])) == counts


def test_the_warning_names_the_option_that_compares_the_texts():
    counters = {"rows_read": 200, "many_texts_answers": 1, "many_texts_rows": 10}
    [warning] = many_text_warnings(counters, {"answer": "reply"})
    assert warning.startswith("1 answer id with 5.0 % of the rows has 5 or more texts each")
    assert warning.endswith("--column answer_id=reply")
    assert many_text_warnings(counters, {})[0].endswith("--column answer_id=answer")
    assert many_text_warnings(counters | {"rows_read": 201}, {}) == many_text_warnings({"rows_read": 9}, {}) == []
