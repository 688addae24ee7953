import json

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, Success, nDCG

from model.beir import Collection, read_beir, search
from model.metrics import per_question, ranks
from schemas.errors import QprError

DOCUMENTS = [
    {"_id": "a", "title": "Paris", "text": "capital of france"},
    {"_id": "b", "title": "", "text": "how tall is everest"},
    {"_id": "q1", "text": "what is the capital of france"},
]
QUERIES = [{"_id": "q1", "text": "what is the capital of france"}, {"_id": "q2", "text": "height of everest"}]
QRELS = "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tb\t1\nq2\tgone\t1\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").mkdir()
    for name, rows in {"corpus": DOCUMENTS, "queries": QUERIES}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS)
    return tmp_path


class Letters:
    """An encoder whose vectors are letter counts."""

    def encode(self, texts):
        return np.array([[text.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts], np.float32)


def test_a_collection_is_read_with_titles_grades_and_what_is_missing(folder):
    collection = read_beir(str(folder))
    assert collection.documents == ["Paris capital of france", "how tall is everest", "what is the capital of france"]
    assert collection.queries == ["what is the capital of france", "height of everest"]
    assert collection.own.tolist() == [2, -1]  # the document q1 is the query q1 itself
    assert (collection.judged.tolist(), collection.relevant.tolist()) == ([0, 1, 1], [0, 1, -2])  # a grade of 0 is none
    assert (collection.grades.tolist(), collection.missing) == ([2, 1, 1], 1)


def test_odd_line_ends_quotes_and_texts_that_are_null_change_nothing(folder):
    odd = [{"_id": "a", "text": "one\u2028two\x85three"}, {"_id": '"b', "text": None}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(d, ensure_ascii=False) + "\r\n" for d in odd), newline="")
    (folder / "qrels" / "test.tsv").write_text('query-id\tcorpus-id\tscore\r\nq1\t"b\t1\r\nq2\ta\t1\r\n', newline="")
    collection = read_beir(str(folder))
    assert collection.documents == ["one\u2028two\x85three", ""]
    assert (collection.relevant.tolist(), collection.missing) == ([1, 0], 0)


def test_a_query_does_not_retrieve_the_document_with_its_own_id(folder):
    found = search(read_beir(str(folder)), Letters(), depth=3)
    assert found[0].tolist() == [0, 1, -1]  # row 2 is the query itself, and nearest
    assert found[1, 0] == 1
    assert sorted(found[1].tolist()) == [0, 1, 2]


def test_a_row_that_is_not_there_is_never_found(folder):
    collection = read_beir(str(folder))
    found = ranks(search(collection, Letters(), depth=5), queries=collection.judged, relevant=collection.relevant)
    assert found.tolist() == [1, 1, 0]  # padding is -1, a missing document -2


def test_graded_metrics_are_those_of_ir_measures():
    rng = np.random.default_rng(0)
    queries, documents = 20, 40
    grades = rng.integers(0, 4, (queries, documents)) * (rng.random((queries, documents)) < 0.2)
    ranked = np.array([rng.permutation(documents)[:15] for _ in range(queries)])
    judged, relevant = np.nonzero(grades)
    found = ranks(ranked, queries=judged, relevant=relevant)
    ours = per_question(found, queries=judged, count=queries, grades=grades[judged, relevant])
    qrels = {str(q): {str(d): int(grades[q, d]) for d in range(documents)} for q in range(queries)}
    run = {str(q): {str(d): -float(rank) for rank, d in enumerate(ranked[q])} for q in range(queries)}
    theirs = ir_measures.calc_aggregate([nDCG @ 10, Success @ 1, Success @ 10, RR], qrels, run)
    expected = [theirs[measure] for measure in (Success @ 1, Success @ 10, RR, nDCG @ 10)]
    assert [ours.hits_at_1, ours.hits_at_10, ours.mrr, ours.ndcg_at_10] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", None, "corpus.jsonl: no such file"),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"text": "y"}\n', "corpus.jsonl, line 2: not an object with _id"),
        (
            "corpus.jsonl",
            '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n',
            "corpus.jsonl, line 2: a second _id a",
        ),
        ("queries.jsonl", "[1]\n", "queries.jsonl, line 1: not an object with _id and text"),
        ("queries.jsonl", b'{"_id": "\xff"}\n', "queries.jsonl: not UTF-8 at byte 9"),
        (
            "qrels/test.tsv",
            "query-id\tcorpus-id\tscore\nq1\ta\n",
            "test.tsv, line 2: not query-id, corpus-id and a whole",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\ta\tyes\n", "test.tsv, line 2: not query-id"),
        (
            "qrels/test.tsv",
            "query-id\tcorpus-id\tscore\nq9\ta\t1\n",
            "no query of queries.jsonl has a relevant document",
        ),
    ],
)
def test_a_file_that_is_not_what_the_layout_wants_is_named(folder, file, content, message):
    path = folder / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(QprError, match=message):
        read_beir(str(folder))


def test_a_collection_holds_only_queries_with_a_relevant_document(folder):
    (folder / "qrels" / "test.tsv").write_text("q2\tb\t1\n")  # without a header, as some have it
    collection = read_beir(str(folder))
    assert isinstance(collection, Collection)
    assert collection.queries == ["height of everest"]
