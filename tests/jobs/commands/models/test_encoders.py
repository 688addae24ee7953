from __future__ import annotations

import json

import numpy as np
import pytest

from model.encoders.loading import load_encoder
from model.search.opening import open_index

THINGS = ["bill", "rent", "card", "flight", "train", "hotel"]
CLUSTERS = [
    (split, [f"how do i {verb} my {thing}", f"{verb} {thing} please", f"i want to {verb} the {thing}"])
    for verb, split in (("pay", "train"), ("cancel", "train"), ("find", "test"))
    for thing in THINGS
]
SIZES = ["--epochs", 3, "--batch-size", 16, "--dimension", 8, "--vocabulary-size", 50, "--hash-bins", 5]


@pytest.mark.parametrize("options", [["--preset", "paper"], ["--ngram-bins", 500]], ids=["paper", "default"])
def test_every_encoder_goes_all_the_way_from_pairs_to_hits(qpr, tmp_path, make_training_data, make_dataset, options):
    training = make_training_data(tmp_path / "pairs", CLUSTERS)
    make_dataset(tmp_path / "data", [texts for _, texts in CLUSTERS])
    model, index = tmp_path / "model", tmp_path / "index"
    assert qpr("train", "--dataset", training, "--output", model, *SIZES, *options).code == 0

    asked = ["Pay my rent!", "where is the train"]
    (tmp_path / "q.txt").write_text("\n".join(asked))
    assert qpr("encode", "--model", model, "--input", tmp_path / "q.txt", "--output", tmp_path / "x.npy").code == 0
    vectors = np.load(tmp_path / "x.npy")
    np.testing.assert_array_equal(vectors, load_encoder(str(model)).encode(asked))

    told = qpr("index", "--questions", tmp_path / "data", "--model", model, "--output", index, "--shards", 2)
    assert told.code == 0
    opened = open_index(str(index))
    everything = opened.questions(np.arange(len(opened)))
    distances = ((opened.encoder.encode(everything["text"])[None] - vectors[:, None]) ** 2).sum(axis=2)
    best = everything["question_id"].to_numpy()[np.argsort(distances, axis=1)[:, 0]]
    assert opened.rank(asked, 1).ids[:, 0].tolist() == best.tolist()

    found = qpr("search", "--index", index, "--k", 2, "--json", *asked)
    assert found.code == 0
    measured = qpr("evaluate", "--dataset", tmp_path / "data", "--split", "test", "--index", index, "--exact", "--json")
    assert json.loads(measured.out)["per_question"]["hits_at_10"] > 0.5
