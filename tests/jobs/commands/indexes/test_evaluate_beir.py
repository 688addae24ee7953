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


BEIR = ["--beir", "b", "--model", "m"]
OF_AN_INDEX = [["--warehouse", "w"], ["--probes", 3], ["--exact"], ["--verify"], ["--limit", 9]]


@pytest.mark.parametrize("options", OF_AN_INDEX)
def test_an_option_of_an_index_has_no_use_with_a_collection(qpr, options):
    outcome = qpr("evaluate", *BEIR, *options)
    assert (outcome.code, f"{options[0]}: has no use with --beir" in outcome.err) == (2, True)


def test_a_folder_that_is_no_collection_is_named(qpr, tmp_path, make_model):
    make_model(tmp_path / "model")
    outcome = qpr("evaluate", "--beir", tmp_path, "--model", tmp_path / "model")
    assert (outcome.code, "corpus.jsonl: no such file" in outcome.err) == (1, True)
