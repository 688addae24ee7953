from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from model.text.asked import checked_ids, checked_questions, checked_texts
from schemas.errors import UsageError

ASKED = ["pay", "größe"]


class Column:
    """A column of another library, of which this one uses nothing but its values."""

    ndim = 1

    def __iter__(self):
        return iter(ASKED)


@pytest.mark.parametrize(
    "given",
    [
        ASKED,
        tuple(ASKED),
        dict.fromkeys(ASKED).keys(),
        iter(ASKED),
        (text for text in ASKED),
        np.array(ASKED),
        Column(),
    ],
)
def test_every_iterable_of_texts_is_a_list_of_questions(given):
    found = checked_questions(given, "encode", "encode([question])")
    assert found == ASKED
    assert {type(text) for text in found} == {str}


def test_a_column_of_arrow_stays_one():
    for column in (
        pa.array(ASKED),
        pa.array(ASKED).dictionary_encode(),
        pa.chunked_array([ASKED]),
        pa.array([], "str"),
    ):
        assert checked_texts(column, "encode", "") is column
        assert checked_questions(column, "encode", "") == column.to_pylist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pay", r"^encode takes a list of questions, got str. Write encode\(\[question\]\) for one$"),
        (b"pay", "got bytes"),
        (None, "got NoneType"),
        (5, "got int"),
        ({"pay": 1}, "got dict"),
        (pa.scalar("pay"), "got StringScalar"),
        (pa.table({"text": ASKED}), "got Table"),
        (np.array("pay"), "got ndarray of 0 dimensions. Give one column"),
        (np.array([ASKED, ASKED]), "got ndarray of 2 dimensions. Give one column"),
        (["pay", None], "item 1 is of type NoneType. Leave it out"),
        (pa.array(["pay", None]), "item 1 is of type NoneType. Leave it out"),
        (pa.array([None]), "item 0 is of type NoneType. Leave it out"),
        (pa.array([1, 2]), "item 0 is of type int. Convert it to str"),
        (["pay", float("nan")], "item 1 is of type float. Convert it to str"),
        ([b"pay"], "item 0 is of type bytes. Decode it"),
        ([["pay"]], "item 0 is of type list. Convert it to str"),
        (["pay", "\ud800"], "item 1 is no text"),
    ],
)
def test_everything_else_is_refused_with_its_place(given, message):
    with pytest.raises(UsageError, match=message):
        checked_texts(given, "encode", "encode([question])")


@pytest.mark.parametrize("given", [[5, -1], np.array([5, -1]), pa.array([5, -1]), np.array([5, 2**63 - 1], np.uint64)])
def test_ids_are_an_array_of_whole_numbers(given):
    assert checked_ids(given, count=2).tolist() == [int(number) for number in np.asarray(given)]
    assert checked_ids([], count=0).dtype == np.int64


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ([5], r"list of int64 in the shape \(1,\)"),
        ([[5], [6]], r"list of int64 in the shape \(2, 1\)"),
        ([[5], [6, 7]], "list"),
        (5, "int"),
        ("12", "str"),
        ({5, 6}, "set"),
        (["5", "6"], "list of <U1"),
        ([5.0, 6.0], "list of float64"),
        ([True, False], "list of bool"),
        ([5, None], "list of object"),
        (pa.array([5, None]), "Int64Array of float64"),
        (np.array([2**63, 1], np.uint64), "ndarray of uint64"),
    ],
)
def test_other_ids_are_refused_since_they_would_be_rounded_or_of_another_text(given, got):
    with pytest.raises(UsageError, match=f"exclude takes an array of 2 whole numbers, .* got {got}.* Give -1"):
        checked_ids(given, count=2)
