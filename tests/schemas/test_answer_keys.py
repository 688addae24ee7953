import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from schemas.text import answer_key
from schemas.text_arrays import answer_keys

TEXTS = st.none() | st.text(max_size=6)


@given(rows=st.lists(st.tuples(TEXTS, TEXTS), max_size=8))
def test_keys_of_a_table_are_those_of_its_rows(rows):
    ids, answers = (pa.chunked_array([pa.array([row[n] for row in rows], pa.string())]) for n in (0, 1))
    assert answer_keys(ids, answers).to_pylist() == [answer_key(*row) for row in rows]


def test_an_id_decides_before_the_text_and_case_does_not_count():
    assert answer_key("7", "Pay online.") == "7"
    assert answer_key(None, "Pay  online.") == answer_key(None, "pay online.") != answer_key(None, "Pay by card.")
    assert answer_key(None, None) is None
