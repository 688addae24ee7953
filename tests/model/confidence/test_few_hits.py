import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.confidence import confidence
from model.confidence.additive_model import AdditiveModel, Curve
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES, NEIGHBOURS
from model.index.ranking import Ranking
from model.reranking.term_statistics import MOST_WORDS, WordCounts
from schemas.text_arrays import key_all

WORDS = ["pay", "Pay", "my", "bill", "the", "flight", "C++", "1,000", "naïve", "?", "rarely"]
TEXTS = ["Pay my bill", "pay the bill", "the flight", "naïve C++", "1,000 bills to pay"]
MODEL = AdditiveModel(
    bias=0.3,
    curves={name: Curve(knots=(-1, 0.7, 9), log_odds=(place / 7, place / 3, -1.1)) for place, name in enumerate(NAMES)},
)


@st.composite
def rankings(draw):
    """Return the arguments of `Confidence.judge` for up to three queries."""
    k = draw(st.sampled_from([1, 4, NEIGHBOURS + 4]))
    texts = st.lists(st.sampled_from(WORDS), max_size=MOST_WORDS + 3).map(" ".join)
    lengths = draw(st.lists(st.integers(0, k), min_size=1, max_size=3))
    found = np.arange(k) < np.array(lengths)[:, None]
    number = st.floats(0, 4, width=32)
    distances = np.sort(draw(st.lists(number, min_size=found.size, max_size=found.size)))
    scores = np.where(found, -distances.reshape(found.shape), -np.inf).astype(np.float32)
    ids = np.where(found, 1, -1)
    places = draw(st.lists(st.lists(st.integers(-1, k - 1), min_size=2, max_size=2), min_size=len(found)))
    columns = np.array(places[: len(found)])
    clusters = draw(st.lists(st.none() | st.integers(0, 2), min_size=sum(lengths), max_size=sum(lengths)))
    looked_at = int(((columns >= 0) & np.take_along_axis(found, np.maximum(columns, 0), axis=1)).sum())
    asked, hits = (draw(st.lists(texts, min_size=count, max_size=count)) for count in (len(found), looked_at))
    return asked, hits, Ranking(ids, scores, ids), clusters, columns


@pytest.mark.parametrize("tokenizer", [1, 2])
@settings(max_examples=60, deadline=None)
@given(rankings())
def test_few_hits_are_judged_as_many_are_to_the_last_bit(tokenizer, arguments):
    counts = WordCounts.of(key_all(pa.array(TEXTS)))
    counts = WordCounts(counts.words, counts.counts, counts.questions, counts.mean_length, tokenizer)
    few = Confidence(counts, MODEL).judge(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "FEW", -1)
        many = Confidence(counts, MODEL).judge(*arguments)
    assert few.probabilities.tobytes() == many.probabilities.tobytes()
    there = ~np.isnan(many.probabilities)
    assert few.contributions[there].tobytes() == many.contributions[there].tobytes()


@pytest.mark.parametrize("cluster", [None, 7])
def test_a_hit_behind_the_neighbours_is_judged_as_among_many(monkeypatch, cluster):
    places = np.array([[1_500, NEIGHBOURS, 0]])
    ids = np.arange(1_501)[None]
    nearest = Ranking(ids, -(ids / 1_000).astype(np.float32), ids)
    arguments = ["pay"], ["bill", "my bill", "pay"], nearest, [cluster] * 1_501, places
    counts = WordCounts.of(key_all(pa.array(TEXTS)))
    few = Confidence(counts, MODEL).judge(*arguments)
    monkeypatch.setattr(confidence, "FEW", -1)
    assert few.contributions.tobytes() == Confidence(counts, MODEL).judge(*arguments).contributions.tobytes()
