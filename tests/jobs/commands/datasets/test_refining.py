import json
import sys

import numpy as np
import pytest

from model.encoders.loading import digest_of
from schemas.artifacts.dataset import open_dataset

FACTS = {
    "dial 1": ["how do i pay my bill", "how can i pay my bill", "pay my bill how", "where do i pay a bill"],
    "at nine": ["when do you open", "when do you open today", "at what time do you open", "what time do you open"],
}


@pytest.fixture
def logs(write_jsonl):
    rows = [{"question": q, "answer": f"{a} {n}", "fact": a} for a, qs in FACTS.items() for q in qs for n in range(2)]
    return write_jsonl("logs.jsonl", [{**row, "question": f"{row['question']} {row['answer'][-1]}"} for row in rows])


@pytest.mark.parametrize("kind", ["model", "static", "st"])
def test_a_run_compares_vectors_and_states_whose(qpr, logs, model, tokens, sentence_transformer, memory, kind):
    address = {"model": str(model), "static": f"static:{tokens}", "st": sentence_transformer}[kind]
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--refine-with", address, "--min-probability", 0.1)
    assert outcome.code == 0, outcome.err
    assembly = open_dataset(f"{memory}/d").manifest.configuration["assembly"]
    assert assembly["linking"]["encoder"] == digest_of(address)
    assert assembly["linking"]["encoder_kind"] == kind
    assert assembly["gate"]["min_coherence"] == 0  # paraphrases that share no word have no coherence
    probability = open_dataset(f"{memory}/d").table("clusters")["linkage_probability"].to_pylist()
    assert probability
    assert all(0.1 <= p <= 1 for p in probability)


def test_the_vectors_decide_too(qpr, logs, model, memory):
    given = ("clusters", logs, "--min-probability", 0.1, "--output")
    assert qpr(*given, f"{memory}/words").code == 0
    assert qpr(*given, f"{memory}/vectors", "--refine-with", model).code == 0
    words, vectors = (open_dataset(f"{memory}/{name}").table("clusters") for name in ("words", "vectors"))
    assert words["linkage_probability"].to_pylist() != vectors["linkage_probability"].to_pylist()


def test_vectors_that_are_no_numbers_end_the_run(qpr, logs, sentence_transformer, memory, monkeypatch):
    letters = sys.modules["sentence_transformers"].SentenceTransformer
    monkeypatch.setattr(letters, "encode", lambda self, texts, **_: np.full((len(texts), 4), np.nan, np.float32))
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--refine-with", sentence_transformer)
    assert outcome.code == 1
    assert "the encoder returned numbers that are infinite or none" in outcome.err
    assert not open_or_none(f"{memory}/d")


def test_static_names_the_extra_that_it_needs(qpr, logs, memory, monkeypatch):
    monkeypatch.setattr("jobs.workflows.worker_encoder.STATIC_FROM", "no_such_package")
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--refine-with", "static")
    assert outcome.code == 1
    assert "static needs the package no_such_package. Run in a clone" in outcome.err


def test_a_folder_of_sentence_transformers_needs_its_prefix(qpr, logs, sentence_transformer, memory):
    folder = sentence_transformer.removeprefix("st:")
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--refine-with", folder)
    assert outcome.code == 1
    assert f"a model of sentence-transformers. Write st:{folder}" in outcome.err


def test_a_model_that_is_replaced_during_the_run_is_noticed(qpr, logs, model, memory, monkeypatch):
    from jobs.workflows import worker_encoder

    monkeypatch.setattr(
        worker_encoder.WorkerEncoder, "of", lambda url: worker_encoder.WorkerEncoder(str(url), "0" * 64)
    )
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--refine-with", model)
    assert outcome.code == 1
    assert "the model was replaced during the run" in outcome.err
    assert not open_or_none(f"{memory}/d")


def open_or_none(url):
    from schemas.errors import QprError

    try:
        return open_dataset(url)
    except QprError:
        return None


def test_weights_for_vectors_are_calibrated_with_a_model_and_used_with_one(qpr, model, tmp_path):
    logs = tmp_path / "logs.parquet"
    assert qpr("simulate", "--output", logs, "--events", 12_000, "--seed", 3).code == 0
    made = qpr("calibrate", logs, "--linkage", "logistic", "--refine-with", model, "--output", tmp_path / "c", "--json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["curves"]["linkage_probability"]
    use = ("clusters", logs, "--output", tmp_path / "d", "--calibration", tmp_path / "c")
    alone = qpr(*use)
    assert alone.code == 2
    assert "--refine-with must be given to `qpr calibrate` and here" in alone.err
    together = qpr(*use, "--refine-with", model, "--precision", 0.9)
    assert together.code == 0, together.err
