import json

import numpy as np
import pytest

from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES
from model.confidence.saved_confidence import read_confidence, to_json
from model.reranking.term_statistics import WordCounts
from schemas.errors import QprError

MODEL = AdditiveModel(bias=-1, curves={name: Curve(knots=(0, 1.5), log_odds=(-0.25, 0.5)) for name in NAMES})
COUNTS = WordCounts(("bill", "pay"), np.array([2, 3]), 5, 4.5)


def changed(**fields):
    return json.dumps(json.loads(to_json(Confidence(COUNTS, MODEL))) | fields).encode()


def test_a_model_is_read_as_it_was_written():
    read = read_confidence(to_json(Confidence(COUNTS, MODEL)), source="i/confidence.json")
    assert read.model == MODEL
    assert (read.counts.words, read.counts.counts.tolist(), read.counts.questions) == (("bill", "pay"), [2, 3], 5)


def test_a_model_of_answers_is_read_as_one_and_others_have_the_bytes_of_earlier_releases():
    assert read_confidence(to_json(Confidence(COUNTS, MODEL, by_answer=True)), source="").by_answer
    assert not read_confidence(to_json(Confidence(COUNTS, MODEL)), source="").by_answer
    assert b"by_answer" not in to_json(Confidence(COUNTS, MODEL))


def test_in_a_model_of_an_earlier_release_the_support_of_a_hit_decides_nothing():
    curves = json.loads(MODEL.model_dump_json())["curves"]
    del curves["support"]
    read = read_confidence(changed(version=1, model={"bias": -1, "curves": curves}), source="")
    assert tuple(read.model.curves) == NAMES
    table = np.random.default_rng(0).uniform(0, 2, (5, len(NAMES)))
    expected = np.where(np.array(NAMES) == "support", 0, MODEL.contributions(table))
    assert np.array_equal(read.model.contributions(table), expected)
    assert read_confidence(to_json(read), source="").model == read.model


def test_the_most_frequent_words_are_stored(monkeypatch):
    monkeypatch.setattr("model.confidence.saved_confidence.MOST_WORDS_COUNTED", 1)
    assert read_confidence(to_json(Confidence(COUNTS, MODEL)), source="").counts.words == ("pay",)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"version": 3}, "version"),
        ({"version": 1}, "the features are not distance, margin, isolation, mates, shared,"),
        ({"counts": [2]}, "do not fit"),
        ({"counts": [2, 9]}, "do not fit"),
        ({"counts": [2, 2**70]}, "i/confidence.json"),
        ({"model": {"bias": 0, "curves": {}}}, "the features are not distance"),
        ({"model": {"bias": None, "curves": {}}}, "model.bias"),
        ({"extra": 1}, "extra"),
        ({"tokenizer": 3}, "tokenizer"),
    ],
    ids=[
        "version",
        "features of another version",
        "lengths",
        "counts",
        "large",
        "features",
        "bias",
        "unknown",
        "tokenizer",
    ],
)
def test_a_damaged_file_is_refused_by_name(fields, message):
    with pytest.raises(QprError, match=message) as error:
        read_confidence(changed(**fields), source="i/confidence.json")
    assert str(error.value).startswith("i/confidence.json: ")
    assert str(error.value).endswith("Build the index again")


def test_no_json_is_refused():
    with pytest.raises(QprError, match="Build the index again"):
        read_confidence(b"\xff", source="i/confidence.json")
