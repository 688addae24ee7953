import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.reranking.features import COMPARED, PAIR, behind, compare, standings
from model.reranking.term_statistics import WordTable

WORDS = ["how", "pay", "bill", "settle", "22", "rent"]
IDF = np.array([0.5, 2.0, 3.0, 4.0, 5.0, 2.5, 0], np.float32)
WEIGHT = np.array([0.1, 1.0, 2.0, 1.5, 1.0, 2.0, 0], np.float32)
VECTORS = np.eye(7, 6, dtype=np.float32)
VECTORS[3] = [0, 0.8, 0, 0.6, 0, 0]  # "settle" is near "pay"
VECTORS[6] = 0
NUMERIC = np.array([word == "22" for word in [*WORDS, ""]])
TABLE = WordTable(IDF, WEIGHT, VECTORS, NUMERIC)
MEAN = 3.0
WIDTH = 6


def rows(*questions):
    padded = [[WORDS.index(word) for word in question.split()] for question in questions]
    return np.array([row + [6] * (WIDTH - len(row)) for row in padded], np.int32)


def found(query, candidate, table=TABLE):
    return dict(zip(PAIR, compare(rows(query), rows(candidate), table, mean_length=MEAN)[0].tolist(), strict=True))


def naive(query, candidate):
    """Return some of the features by loops over words."""
    one, two = query.split(), candidate.split()
    idf = dict(zip(WORDS, IDF.tolist(), strict=False))
    near = {w: max((float(VECTORS[WORDS.index(w)] @ VECTORS[WORDS.index(v)]) for v in two), default=0) for w in one}
    whole = sum(idf[w] for w in one) + 1e-6
    length = 1.5 * (1 - 0.75 + 0.75 * len(two) / MEAN)
    return {
        "bm25": sum(idf[w] * two.count(w) * 2.5 / (two.count(w) + length) for w in one),
        "contained": sum(idf[w] for w in one if w in two) / whole,
        "unmatched": sum(idf[w] for w in one if w not in two),
        "unmatched_largest": max([idf[w] for w in one if w not in two], default=0),
        "unlike": sum(idf[w] * (1 - near[w]) for w in one),
        "unlike_share": sum(idf[w] * (1 - near[w]) for w in one) / whole,
        "unmatched_count": sum(w not in two for w in one),
        "length": len(one),
        "lengths_differ": abs(len(one) - len(two)),
    }


questions = st.lists(st.sampled_from(WORDS), max_size=WIDTH).map(" ".join)


@given(questions, questions)
def test_features_are_those_of_loops_over_words(query, candidate):
    both, turned = found(query, candidate), found(candidate, query)
    for name, value in naive(query, candidate).items():
        assert both[name] == pytest.approx(value, rel=1e-4, abs=1e-4), name
        if f"{name}_of_candidate" in both:
            assert turned[f"{name}_of_candidate"] == pytest.approx(value, rel=1e-4, abs=1e-4), name
    assert all(np.isfinite(value) for value in both.values())


@given(questions)
def test_a_question_is_all_like_itself(question):
    itself = found(question, question)
    for name in ("unmatched", "unlike", "unlike_weight_share", "unmatched_count", "lengths_differ", "numbers_differ"):
        assert itself[name] == pytest.approx(0, abs=1e-5), name
    assert (itself["same_first"], itself["same_last"]) == (1, 1)
    if question:
        assert itself["jaccard"] == pytest.approx(1, abs=1e-5)


def test_a_word_of_like_meaning_is_less_unlike():
    near, far = found("pay bill", "settle bill"), found("pay bill", "rent bill")
    assert near["unmatched"] == far["unmatched"] == 2
    assert near["unlike"] == pytest.approx(2 * 0.2)
    assert far["unlike"] == pytest.approx(2)
    assert found("pay bill", "settle bill", TABLE._replace(vectors=None))["unlike"] == 2


def test_order_and_numbers_count():
    assert found("how pay bill", "pay bill how")["bigrams"] == 0.5
    assert found("how pay bill", "bill pay how")["bigrams"] == 0
    assert found("pay 22", "pay")["numbers_differ"] == found("pay", "pay 22")["numbers_differ"] == 1


def test_many_pairs_are_compared_as_few(monkeypatch):
    random = np.random.default_rng(0)
    one, two = random.integers(0, 7, (2, 50, WIDTH), dtype=np.int32)
    whole = compare(one, two, TABLE, mean_length=MEAN)
    monkeypatch.setattr("model.reranking.features._PAIRS", 7)
    assert (compare(one, two, TABLE, mean_length=MEAN) == whole).all()


def test_standings_are_rank_and_distance_to_the_best():
    values = np.array([[0.5, 0.9, 0.5]], np.float32)
    assert standings(values, np.isfinite(values))[0] == pytest.approx(np.array([[1, 0.4], [0, 0], [2, 0.4]]))


def test_what_is_missing_is_compared_with_nothing():
    values, there = np.array([[0.9, 0.2, 0.5], [1, 1, 1]], np.float32), np.array([[False, True, True], [False] * 3])
    assert standings(values, there)[0, 1:] == pytest.approx(np.array([[1, 0.3], [0, 0]]))
    table = np.random.default_rng(0).normal(size=(2, 3, len(PAIR))).astype(np.float32)
    assert (behind(table, there)[0, 1:] == behind(table[:1, 1:], there[:1, 1:])[0]).all()
    assert (behind(table, there)[~there] == 0).all()


def test_behind_is_never_negative_and_0_for_the_best():
    table = np.random.default_rng(0).normal(size=(3, 5, len(PAIR))).astype(np.float32)
    gaps = behind(table, np.ones((3, 5), bool))
    assert gaps.shape == (3, 5, len(COMPARED))
    assert (gaps.min(axis=1) == 0).all()
    unlike = COMPARED.index("unlike_share")
    lowest = table[:, :, PAIR.index("unlike_share")].argmin(axis=1)
    assert (gaps[:, :, unlike].argmin(axis=1) == lowest).all()
