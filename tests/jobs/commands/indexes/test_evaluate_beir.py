import json

import pytest


@pytest.fixture
def beir(tmp_path):
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    documents = ["pay my bill", "cancel the flight", "seat on a flight"]
    rows = [{"_id": str(row), "text": text} for row, text in enumerate(documents)]
    (tmp_path / "beir" / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "beir" / "queries.jsonl").write_text('{"_id": "q", "text": "Pay my bill!"}\n')
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t0\t1\nq\t7\t1\n")
    return str(tmp_path / "beir")


def test_a_collection_is_measured_with_a_model_alone(qpr, tmp_path, make_model, beir):
    make_model(tmp_path / "model")
    outcome = qpr("evaluate", "--beir", beir, "--model", tmp_path / "model", "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert (result["queries"], result["documents"], result["judgements_missing"]) == (1, 3, 1)
    assert result["per_question"]["hits_at_1"] == 1.0  # the same key, so the same vector
    assert result["per_question"]["ndcg_at_10"] == pytest.approx(1 / (1 + 1 / 1.584962500721156))  # one of two found
    assert "1 judged document not in corpus.jsonl" in outcome.err
    assert "H@10" in qpr("evaluate", "--beir", beir, "--model", tmp_path / "model").out


def test_a_collection_without_any_judged_document_is_refused(qpr, tmp_path, make_model, beir):
    make_model(tmp_path / "model")
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("q\t7\t1\nq\t8\t1\n")
    outcome = qpr("evaluate", "--beir", beir, "--model", tmp_path / "model", "--json")
    assert (outcome.code, outcome.out) == (1, "")
    assert f"{beir}: none of the 2 judged documents of split test is in corpus.jsonl" in outcome.err


@pytest.fixture
def index(qpr, tmp_path, make_model, beir):
    make_model(tmp_path / "model", words=("pay", "bill", "cancel", "flight", "seat"))
    given = ["index", "--questions", f"{beir}/corpus.jsonl", "--column", "question=text"]
    outcome = qpr(*given, "--model", tmp_path / "model", "--output", tmp_path / "index")
    assert outcome.code == 0, outcome.err
    return str(tmp_path / "index")


@pytest.mark.parametrize("mode", ["dense", "bm25", "fusion"])
def test_the_modes_of_an_index_are_measured_on_a_collection(qpr, beir, index, mode):
    outcome = qpr("evaluate", "--beir", beir, "--index", index, "--mode", mode, "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert (result["queries"], result["documents"], result["judgements"], result["judgements_missing"]) == (1, 3, 2, 1)
    assert result["per_question"]["hits_at_1"] == 1.0
    assert result["per_question"]["ndcg_at_10"] == pytest.approx(1 / (1 + 1 / 1.584962500721156))
    assert (result["mode"], result["index"]["url"], result["timed_queries"]) == (mode, index, 1)
    assert f"1 judged document not in {index}; counted as not found" in outcome.err
    shown = qpr("evaluate", "--beir", beir, "--index", index, "--mode", mode).out
    assert ("3 documents, 3 indexed" in shown, "exact search" in shown) == (True, False)


def test_modes_differ_where_words_and_vectors_do(qpr, tmp_path, beir, index):
    (tmp_path / "beir" / "queries.jsonl").write_text('{"_id": "q", "text": "seat bill cancel my"}\n')
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("q\t0\t1\n")
    ranks = {
        mode: json.loads(qpr("evaluate", "--beir", beir, "--index", index, "--mode", mode, "--json").out)
        for mode in ("bm25", "exact")
    }
    assert ranks["bm25"]["per_question"]["mrr"] == 1.0  # two of its words are in the first document alone
    assert ranks["exact"]["per_question"]["mrr"] == 0.0


def test_an_index_of_other_documents_is_refused(qpr, tmp_path, beir, index):
    (tmp_path / "beir" / "corpus.jsonl").write_text('{"_id": "0", "text": "close the account"}\n')
    outcome = qpr("evaluate", "--beir", beir, "--index", index)
    assert (outcome.code, outcome.out) == (1, "")
    expected = f"{index}: holds none of the 2 judged documents of split test of {beir}. Index its corpus.jsonl with"
    assert expected in outcome.err


BEIR = ["--beir", "b", "--model", "m"]
OF_AN_INDEX = [["--warehouse", "w"], ["--probes", 3], ["--exact"], ["--mode", "bm25"], ["--verify"], ["--limit", 9]]


@pytest.mark.parametrize("options", OF_AN_INDEX)
def test_an_option_of_an_index_has_no_use_with_a_collection(qpr, options):
    outcome = qpr("evaluate", *BEIR, *options)
    assert (outcome.code, f"{options[0]}: has no use with --beir" in outcome.err) == (2, True)


def test_a_folder_that_is_no_collection_is_named(qpr, tmp_path, make_model):
    make_model(tmp_path / "model")
    outcome = qpr("evaluate", "--beir", tmp_path, "--model", tmp_path / "model")
    assert (outcome.code, "corpus.jsonl: no such file" in outcome.err) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--model is missing: give the model that encodes the texts of --beir, or --index"),
        (["--index", "i", "--model", "m"], "--model: has no use with --index; an index holds its model"),
        (["--index", "i", "--dataset", "d"], "--dataset: has no use with --beir"),
    ],
)
def test_a_collection_is_searched_by_one_index_or_model(qpr, options, message):
    outcome = qpr("evaluate", "--beir", "b", *options)
    assert (outcome.code, message in outcome.err) == (2, True)
