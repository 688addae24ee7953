import collections
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates.labelled_pairs import COLUMNS, validate_pairs
from pipelines.duplicates.rows import EDGES, QIDS
from pipelines.intermediate import ASKED, REJECTS
from schemas import text


def rows_of(*rows):
    """Each row is (question1, question2, is_duplicate[, qid1, qid2])."""
    full = [(*row, *[None] * (5 - len(row))) for row in rows]
    return pa.table({c.name: pa.array([row[i] for row in full], c.type) for i, c in enumerate(COLUMNS)})


def paired(*rows):
    result = validate_pairs(rows_of(*rows))
    assert result.asked.schema == ASKED
    assert result.edges.schema == EDGES
    assert result.qids.schema == QIDS
    assert result.rejects.schema == REJECTS
    return result


TEXTS = st.sampled_from(["How?", "how", "HOW ", "Why?", "Où?", "", "??", None])
ROWS = st.tuples(
    TEXTS, TEXTS, st.sampled_from(["0", "1", " 1", "2", None]), st.sampled_from("123"), st.sampled_from("123")
)


def naive(rows):
    events, edges, reasons = collections.Counter(), collections.Counter(), collections.Counter()
    for first, second, label, qid_1, qid_2 in rows:
        faults = []
        for question in (first, second):
            if question is None:
                faults.append("missing_question")
            elif not question.strip():
                faults.append("empty_question")
            elif not text.words(text.key(question)):
                faults.append("no_word")
        if qid_1 == qid_2:
            faults.append("self_pair")
        if label is None or label.strip() not in ("0", "1"):
            faults.append("bad_is_duplicate")
        if faults:
            reasons[faults[0]] += 1
            continue
        events.update([first, second])
        edges[*sorted(map(text.question_id, (first, second))), label.strip() == "1"] += 1
    return events, edges, reasons


@given(st.lists(ROWS, min_size=1, max_size=12))
def test_events_edges_and_rejects_are_those_of_a_plain_loop(rows):
    result = paired(*rows)
    events, edges, reasons = naive(rows)
    assert dict(zip(result.asked["text"].to_pylist(), result.asked["events"].to_pylist(), strict=True)) == events
    assert {tuple(row.values())[:3]: row["rows"] for row in result.edges.to_pylist()} == edges
    assert collections.Counter(result.rejects["reason"].to_pylist()) == reasons
    assert sum(events.values()) == 2 * (len(rows) - len(result.rejects))


def test_a_question_is_its_key_whatever_its_form():
    asked = paired(("How?", "how", "1")).asked.to_pylist()
    assert {row["text"]: (row["key"], row["question_id"]) for row in asked} == {
        "How?": ("how", text.question_id("how")),
        "how": ("how", text.question_id("how")),
    }


@pytest.mark.parametrize(
    ("label", "expected"),
    [("1", True), ("0", False), ("true", True), ("False", False), (" 1\r", True), ("1.0", True), (" 0.00", False)],
)
def test_labels_are_zero_and_one_or_what_booleans_become(label, expected):
    assert paired(("a", "b", label)).edges["positive"].to_pylist() == [expected]


@pytest.mark.parametrize("label", ["1.5", "0.1", "10.0", "true.0", "1.", "-0.0", "yes"])
def test_other_labels_are_rejected(label):
    assert paired(("a", "b", label)).rejects["reason"].to_pylist() == ["bad_is_duplicate"]


def test_a_rejected_row_is_kept_whole():
    (row,) = paired(("What?", "?!", "1", "7", "8")).rejects.to_pylist()
    assert (row["stage"], row["reason"]) == ("validate", "no_word")
    told = {"question1": "What?", "question2": "?!", "is_duplicate": "1", "qid1": "7", "qid2": "8"}
    assert json.loads(row["payload"]) == told


def test_ids_are_remembered_with_their_texts_even_of_rejected_rows():
    qids = paired(("a", "b", "1", "1", "2"), ("c", "", "0", "1", "3"), ("a", "b", "0", "1", "2")).qids.to_pylist()
    expected = {(q, text.hash64(t)) for q, t in [("1", "a"), ("2", "b"), ("1", "c"), ("3", "")]}
    assert {(row["qid"], row["text"]) for row in qids} == {(text.hash64(q), t) for q, t in expected}
    assert len(qids) == 4


def test_ids_may_be_missing():
    result = paired(("a", "b", "1"))
    assert (len(result.edges), len(result.qids), len(result.rejects)) == (1, 0, 0)
