import numpy as np
import pyarrow as pa
import pytest

from jobs.workflows.index_changes import known_rows
from jobs.workflows.index_changes.known_rows import KnownRows, RowIds, equal_rows
from schemas.errors import QprError


def rows(*of_rows):
    ids, texts, answers = zip(*of_rows, strict=True)
    return pa.table({"question_id": pa.array(ids, pa.int64()), "text": texts, "answer": pa.array(answers, pa.string())})


def test_rows_are_equal_where_all_columns_are_and_a_null_equals_a_null():
    stored = rows((1, "a", "x"), (2, "b", None), (3, "c", "x"), (4, "d", None), (5, "e", "x"), (6, "f", "x"))
    others = rows((1, "a", "x"), (2, "b", None), (3, "c", None), (4, "d", "x"), (5, "e", "y"), (6, "g", "x"))
    assert equal_rows(stored, others).tolist() == [True, True, False, False, False, False]


def test_rows_are_known_that_an_index_has_unless_they_are_or_will_be_deleted(monkeypatch):
    first, second = rows((1, "a", "x"), (3, "c", "x"), (5, "e", "x"), (7, "g", "x")), rows((2, "b", "x"), (3, "c", "y"))
    parts = [
        known_rows._Part(np.array([1, 3, 5, 7]), first, np.array([False, True, False, True])),
        known_rows._Part(np.array([2, 3]), second, np.array([False, False])),
    ]
    monkeypatch.setattr(known_rows, "_load", lambda *_: parts)
    asked = rows(
        (9, "i", "x"), (5, "e", "x"), (3, "c", "x"), (2, "b", "x"), (1, "a", "z"), (0, "z", "x"), (7, "g", "x")
    )
    known = KnownRows("index", "run", np.array([2]).tobytes())
    assert known(asked).tolist() == [False, True, *[False] * 5]
    assert known(rows((3, "c", "y"), (2, "b", "x"))).tolist() == [True, False]


def test_rows_of_another_version_than_that_of_the_run_are_refused(monkeypatch):
    manifest = type("Manifest", (), {"run_id": "later"})()
    monkeypatch.setattr(known_rows, "read_manifest", lambda *_: manifest)
    with pytest.raises(QprError, match="the index changed during the run"):
        KnownRows("index of another version", "run", b"")(rows((1, "a", "x")))


def test_live_rows_are_in_the_order_of_their_ids():
    found = RowIds(np.array([5, 2, 9, 1]), np.array([True, True, False, True]))
    assert (found.by_id.tolist(), found.held.tolist()) == ([3, 1, 0], [1, 2, 5])
