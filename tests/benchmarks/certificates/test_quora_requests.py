"""Quora's test questions as requests."""

import json

import numpy as np
import pytest

from benchmarks.certificates import quora_requests
from benchmarks.certificates.quora_requests import VERDICTS, FirstHits, first_hits, read_verdicts, sheet
from jobs.workflows.confidence import counts_of
from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset


def hits(questions, found, *, probability, wrong, guarded):
    texts = (
        np.array([f"{name} {number}" for number in numbers], object)
        for name, numbers in (("q", questions), ("h", found))
    )
    arrays = (np.array(values) for values in (probability, wrong, guarded, questions, found))
    return FirstHits(*arrays, *texts)


FOUND = hits(
    [1, 2, 3, 1],
    [11, 12, 13, 14],
    probability=[0.9, 0.8, 0.7, 0.2],
    wrong=[False, True, False, True],
    guarded=[False, False, True, False],
)


def test_verdicts_count_before_labels():
    verdicts = {(1, 11): False, (2, 12): True}
    assert FOUND.judged(verdicts).tolist() == [True, False, False, True]
    assert FOUND.take(FOUND.most_probable()[:3]).compared(verdicts) == {
        "read": pytest.approx(2 / 3),
        "wrong_by_labels": pytest.approx(2 / 3),
        "wrong_by_verdicts": pytest.approx(2 / 3),
        "right_by_verdicts_alone": pytest.approx(1 / 3),
        "wrong_by_verdicts_alone": pytest.approx(1 / 3),
    }


def test_a_sheet_has_the_most_probable_pairs_without_a_guard_once_and_no_label():
    twice = FirstHits(*(np.concatenate([values, values]) for values in FOUND))
    table = sheet(twice, most=4, seed=0)
    assert table.schema.names == ["question_id", "hit_id", "request", "hit"]
    assert sorted(table.to_pylist(), key=lambda row: row["question_id"]) == [
        {"question_id": 1, "hit_id": 11, "request": "q 1", "hit": "h 11"},
        {"question_id": 2, "hit_id": 12, "request": "q 2", "hit": "h 12"},
    ]


def test_the_pairs_that_were_read_are_different_and_have_one_verdict():
    read = json.loads(VERDICTS.read_text("utf-8"))
    pairs = [tuple(pair) for name in ("right", "wrong") for pair in read[name]]
    assert len(set(pairs)) == len(pairs) == len(read_verdicts())
    assert all(question != hit for question, hit in pairs)


@pytest.fixture
def made(qpr, make_dataset, make_model, tmp_path):
    things = ["boat", "lamp", "violin", "carpet", "engine", "garden", "helmet", "ladder"]
    clusters = [[f"how do i clean the {thing}", f"what cleans a {thing}"] for thing in things]
    make_dataset(tmp_path / "dataset", clusters, alone=["where is the station", "who painted this"])
    make_model(tmp_path / "model")
    assert (
        qpr(
            "index", "--questions", tmp_path / "dataset", "--model", tmp_path / "model", "--output", tmp_path / "index"
        ).code
        == 0
    )
    return str(tmp_path / "dataset"), str(tmp_path / "index")


def test_each_question_is_a_request_with_its_paraphrases_and_without(made, monkeypatch):
    dataset, index = made
    with pytest.raises(SystemExit, match="has no confidence model"):
        first_hits(dataset, index)
    flat = Curve(knots=(0.0, 1.0), log_odds=(0.0, 0.0))
    searcher = open_searcher(index, mode="bm25")
    counts = counts_of(searcher.index)
    judging = type(searcher)(
        searcher.retrieval, confidence=Confidence(counts, AdditiveModel(bias=1.0, curves=dict.fromkeys(NAMES, flat)))
    )
    monkeypatch.setattr(quora_requests, "open_searcher", lambda _: judging)
    found = first_hits(dataset, index)
    clusters = {row["question_id"]: row["cluster_id"] for row in open_dataset(dataset).table("questions").to_pylist()}
    assert len(found.wrong) == 2 * 16
    assert sorted(found.questions[:16]) == sorted(found.questions[16:])
    assert (found.questions != found.hits).all()
    right = [
        clusters[question] == clusters[hit]
        for question, hit in zip(found.questions.tolist(), found.hits.tolist(), strict=True)
    ]
    assert right == (~found.wrong).tolist()
    by_question = {question: found.wrong[found.questions == question].tolist() for question in found.questions.tolist()}
    assert all(any(of_both) for of_both in by_question.values())  # without its paraphrase no hit is right
    assert any(not all(of_both) for of_both in by_question.values())
