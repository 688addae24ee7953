import gzip
import json

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, Success, nDCG

from model.evaluation.beir import MAX_GRADE, Collection, judged_questions, read_beir, search
from model.evaluation.metrics import per_question, ranks
from schemas.errors import QprError
from schemas.text import question_id

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


def test_the_document_with_the_id_of_a_query_is_not_relevant_to_it(folder):
    (folder / "qrels" / "test.tsv").write_text("a\ta\t1\na\tb\t1\nb\tb\t1\n")
    (folder / "queries.jsonl").write_text('{"_id": "a", "text": "paris"}\n{"_id": "b", "text": "everest"}\n')
    collection = read_beir(str(folder))
    assert (collection.queries, collection.relevant.tolist()) == (["paris"], [1])  # b has no other relevant document
    assert judged_questions(collection, question_id)[0].relevant.tolist() == [question_id("how tall is everest")]
    (folder / "qrels" / "test.tsv").write_text("a\ta\t1\nb\tb\t1\n")
    with pytest.raises(QprError, match=r"but the one with its own id, which it may not retrieve\. Give queries ids"):
        read_beir(str(folder))


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


def test_documents_with_one_question_are_one_with_the_highest_grade():
    collection = Collection(
        documents=["pay my bill", "Pay my bill!", "cancel", "seat", "SEAT"],
        queries=["bill", "cancel it", "seats"],
        own=np.array([-1, 2, 3]),
        judged=np.array([0, 0, 0, 0, 1, 1, 2]),
        relevant=np.array([0, 1, -2, -2, 2, 0, 4]),
        grades=np.array([1, 3, 1, 2, 9, 1, 5]),
        missing=2,
    )
    judged, grades = judged_questions(collection, question_id)
    assert judged.texts.to_pylist() == ["bill", "cancel it"]  # the question of "SEAT" is the third query's own
    assert judged.ids.tolist() == [-1, question_id("cancel")]
    relevant = {(int(q), int(d)): int(g) for q, d, g in zip(judged.queries, judged.relevant, grades, strict=True)}
    bill = question_id("pay my bill")
    assert relevant == {(0, bill): 3, (0, -4): 1, (0, -5): 2, (1, bill): 1}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", None, "corpus.jsonl: no such file"),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"text": "y"}\n', "corpus.jsonl, line 2: _id is null"),
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
            "test.tsv, line 2: not query-id, corpus-id and score. Separate",
        ),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\ta\tyes\n", "test.tsv, line 2: the score yes is not"),
        ("qrels/test.tsv", "q1\ta\t1\n\nq1\tb\t1.5\n", "test.tsv, line 3: the score 1.5 is not a whole number"),
        ("qrels/test.tsv", "q1\ta\t1e300\n", "line 1: the score 1e300 is not a whole number of at most 2,147,483,647"),
        ("qrels/test.tsv", "q1\ta\t2147483648\n", "line 1: the score 2147483648 is not"),
        ("qrels/test.tsv", "q1\ta\t1" + "0" * 5000 + "\n", "line 1: the score 1000"),
        ("qrels/test.tsv", "q1\ta\t1_0\n", "line 1: the score 1_0 is not"),
        ("qrels/test.tsv", "q1 0 a 1\n", "line 1: not query-id, corpus-id and score. Separate the three by tabs"),
        ("qrels/test.tsv", "q1\t\t1\n", "line 1: not query-id, corpus-id and score"),
        ("qrels/test.tsv", "q1\ta\t1\nq1\ta\t2\n", "line 2: query q1 and document a have the scores 1 and 2. Remove"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "test.tsv: holds no judgement"),
        ("corpus.jsonl", "", "corpus.jsonl: holds no text"),
        ("queries.jsonl", "\n \n", "queries.jsonl: holds no text"),
        ("corpus.jsonl", '{"_id": "a", "text": 5}', "corpus.jsonl, line 1: text is 5, not a string"),
        ("corpus.jsonl", '{"_id": "a", "text": ["x"]}', r'line 1: text is \["x"\], not a string'),
        ("corpus.jsonl", '{"_id": "a", "text": "x", "title": {}}', "line 1: title is {}, not a string"),
        ("corpus.jsonl", '{"_id": "a"}', "line 1: no text. Give every object an _id and a text"),
        ("corpus.jsonl", '{"_id": "a", "text": "\\ud800"}', "line 1: text holds '.ud800', half of a surrogate pair"),
        ("corpus.jsonl", '{"_id": "", "text": "x"}', 'line 1: _id is "". Give every object'),
        ("corpus.jsonl", '{"_id": true, "text": "x"}', "line 1: _id is true"),
        ("corpus.jsonl", '{"_id": 1.5, "text": "x"}', "line 1: _id is 1.5"),
        ("corpus.jsonl", '{"_id": "a", "text": "x"', "line 1: not JSON"),
        ("corpus.jsonl", "[" * 100_000, "line 1: not JSON"),
        ("corpus.jsonl", gzip.compress(b"x" * 99, mtime=0)[:-9], "corpus.jsonl: damaged gzip .*Fetch the file again"),
        (
            "qrels/test.tsv",
            "query-id\tcorpus-id\tscore\nq9\ta\t1\n",
            "no query of queries.jsonl has a relevant document",
        ),
    ],
)
def test_a_file_without_the_required_layout_is_named(folder, file, content, message):
    path = folder / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(QprError, match=message):
        read_beir(str(folder))


HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize("qrels", [HEADER + "{0}{1}", "{0}{1}", "{0}" + HEADER + "{1}", "\n" + HEADER + "{0}\n \n{1}"])
def test_a_header_is_known_by_what_it_holds_wherever_it_stands(folder, qrels):
    (folder / "qrels" / "test.tsv").write_text(qrels.format("q1\ta\t2\n", "q2\tb\t1\n"))
    collection = read_beir(str(folder))
    assert (collection.judged.tolist(), collection.relevant.tolist()) == ([0, 1], [0, 1])
    assert collection.grades.tolist() == [2, 1]


def test_a_judgement_that_is_repeated_counts_once_and_one_under_1_not_at_all(folder):
    (folder / "qrels" / "test.tsv").write_text("q1\ta\t2\nq1\ta\t+2\nq1\tb\t-1\nq2\tb\t0\n")
    collection = read_beir(str(folder))
    assert (collection.judged.tolist(), collection.relevant.tolist(), collection.grades.tolist()) == ([0], [0], [2])


def test_ids_that_are_whole_numbers_are_those_of_the_qrels(folder):
    (folder / "corpus.jsonl").write_text('{"_id": 12, "text": "x"}\n')
    (folder / "qrels" / "test.tsv").write_text("q1\t12\t1\n")
    assert read_beir(str(folder)).relevant.tolist() == [0]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_compressed_files_and_byte_order_marks_change_nothing(folder, ending):
    expected = read_beir(str(folder))
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        content = (folder / name).read_bytes().replace(b"\n", b"\r\n")
        (folder / name).unlink()
        (folder / f"{name}{ending}").write_bytes(gzip.compress(b"\xef\xbb\xbf" + content, mtime=0))
    found = read_beir(str(folder))
    assert (found.documents, found.queries) == (expected.documents, expected.queries)
    assert (found.relevant.tolist(), found.grades.tolist()) == (expected.relevant.tolist(), expected.grades.tolist())


@pytest.mark.parametrize("grade", [3, 10_000, MAX_GRADE])
def test_a_gain_is_the_grade_itself_however_large(grade):
    found = ranks(np.array([[1, 0]]), queries=np.array([0, 0]), relevant=np.array([0, 1]))
    ours = per_question(found, queries=np.array([0, 0]), count=1, grades=np.array([grade, 1])).ndcg_at_10
    at_2 = 1 / np.log2(3)
    assert ours == pytest.approx((1 + grade * at_2) / (grade + at_2))
    if grade < MAX_GRADE:  # ir_measures takes memory and minutes for as many numbers as the largest grade
        run, qrels = {"0": {"0": 1.0, "1": 2.0}}, {"0": {"0": grade, "1": 1}}
        assert ours == pytest.approx(ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10])


def test_a_collection_holds_only_queries_with_a_relevant_document(folder):
    (folder / "qrels" / "test.tsv").write_text("q2\tb\t1\n")  # without a header, as some have it
    collection = read_beir(str(folder))
    assert isinstance(collection, Collection)
    assert collection.queries == ["height of everest"]
