import random

import pytest

from benchmarks.certificates.certified_requests import Request, _judged, _quora, _right_answer, _right_cluster
from schemas.artifacts.dataset import open_dataset
from schemas.text import question_id


def row(answer="Pay online.", cluster_id="7"):
    hit = {"answer": answer, "cluster_id": cluster_id}
    return {"question": "pay?", "probability": 0.5, "answer_id": "a", "hit": hit}


def test_a_request_without_an_answer_in_the_index_is_never_right():
    assert _right_answer(row("pay online."), Request("pay?", "Pay online."))
    assert not _right_answer(row(), Request("pay?", None))
    assert not _right_answer(row() | {"hit": None}, Request("pay?", "Pay online."))
    assert _right_cluster(row(), Request("pay?", "7"))
    assert not _right_cluster(row(cluster_id="8"), Request("pay?", "7"))
    assert not _right_cluster(row(), Request("pay?", None))


def test_judged_requests_have_the_columns_of_a_requests_file():
    [judged] = _judged([row()], [Request("pay?", None)], _right_answer)
    assert judged["verdict"] == "wrong"
    assert {"question", "probability", "answer_id", "asked_at", "labeller", "request_id"} <= judged.keys()


@pytest.fixture
def dataset(make_dataset, tmp_path):
    clusters = [[f"question {a} of {b}" for a in ("one", "two", "three")[: 2 + b % 2]] for b in range(20)]
    make_dataset(tmp_path / "dataset", clusters, alone=[f"alone {number}" for number in range(10)])
    return str(tmp_path / "dataset")


def test_half_of_the_test_clusters_leave_the_index_and_no_request_stays_in_it(dataset, tmp_path):
    requests, reduced = _quora(dataset, tmp_path / "made", random.Random(0), 1_000)
    questions = open_dataset(str(reduced)).table("questions").to_pylist()
    ids = {question["question_id"] for question in questions}
    assert len(requests) == 20
    assert sum(request.right is None for request in requests) == 10
    assert not ids & {question_id(request.question) for request in requests}
    kept = [str(question["cluster_id"]) for question in questions if question["cluster_id"] is not None]
    assert all(kept.count(cluster) >= 2 for cluster in kept)
