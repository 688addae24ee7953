import numpy as np
import pyarrow as pa
import pytest

from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence, ranked_features
from model.confidence.features import NAMES
from model.index.ranking import Ranking
from model.reranking.term_statistics import WordCounts
from schemas.text_arrays import key_all

TEXTS = ["How do I pay my bill?", "Pay the bill", "Cancel my flight", "I want to pay my C++ bill", "Bill Gates"]
CLUSTERS = [-5, -5, None, 9, None]
COUNTS = WordCounts.of(key_all(pa.array(TEXTS)))
MODEL = AdditiveModel(bias=0, curves={name: Curve(knots=(-1, 1), log_odds=(-1, 1)) for name in NAMES})


def ranking(*rows):
    table = np.array(rows)
    found = table >= 0
    scores = np.where(found, -np.arange(1, table.shape[1] + 1) / 10, -np.inf).astype(np.float32)
    questions = pa.table({"text": TEXTS, "cluster_id": pa.array(CLUSTERS, pa.int64())})
    return Ranking(table + 100, scores, table), questions.take(pa.array(table[found], pa.int64()))


def column(table, name):
    return table[..., NAMES.index(name)].tolist()


def test_hits_without_a_cluster_are_alone_and_others_have_mates():
    nearest, questions = ranking([0, 1, 2, 3, 4], [2, 0, -1, -1, -1])
    table, there = ranked_features(COUNTS, pa.array(["pay my bill", "flight"]), nearest, questions)
    assert column(table, "alone")[0] == [0, 0, 1, 0, 1]
    assert column(table, "mates")[0] == [0.25, 0.25, 0, 0, 0]
    assert there.tolist() == [[True] * 5, [True, True, False, False, False]]


def test_hits_may_be_regarded_as_in_no_cluster():
    nearest, questions = ranking([0, 1])
    table, _ = ranked_features(COUNTS, pa.array(["pay"]), nearest, questions, alone=np.array([[True, False]]))
    assert column(table, "alone") == [[1, 0]]
    assert column(table, "mates") == [[0, 0]]


def test_chosen_places_are_judged_as_among_all():
    nearest, questions = ranking([0, 1, 2, 3], [4, 2, -1, -1])
    judge, texts = Confidence(COUNTS, MODEL).judge, ["pay my bill", "flight"]
    clusters, hits = questions["cluster_id"].to_pylist(), questions["text"].to_pylist()
    whole = judge(texts, hits, nearest, clusters)
    chosen = judge(texts, [hits[2], hits[0], hits[5]], nearest, clusters, [[2, 0], [1, -1]])
    assert chosen.probabilities[0].tolist() == whole.probabilities[0, [2, 0]].tolist()
    assert chosen.probabilities[1, 0] == whole.probabilities[1, 1]
    assert np.isnan(chosen.probabilities[1, 1])
    assert np.isnan(whole.probabilities).tolist() == [[False] * 4, [False, False, True, True]]


def test_the_reasons_of_a_hit_add_up_to_its_probability():
    nearest, questions = ranking([0, 1])
    judged = Confidence(COUNTS, MODEL).judge(
        ["pay"], questions["text"].to_pylist(), nearest, questions["cluster_id"].to_pylist()
    )
    log_odds = sum(judged.reasons(0, 1).values())
    assert judged.probabilities[0, 1] == pytest.approx(1 / (1 + np.exp(-log_odds)))
    assert tuple(judged.reasons(0, 1)) == NAMES


def test_a_query_that_finds_nothing_has_no_probability():
    nearest, _ = ranking([-1, -1])
    judged = Confidence(COUNTS, MODEL).judge(["?"], [], nearest, [])
    assert np.isnan(judged.probabilities).all()
