import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.clusters.coherence import Coherence, coherence
from pipelines.questions.token_frequencies import MIN_QUESTIONS, TokenWeights

FREQUENCIES = {-3: 900, -1: 40, 0: 2, 2: 1, 5: 300}  # of 1,200 questions; other tokens are unknown
WEIGHTS = TokenWeights(np.array(list(FREQUENCIES)), np.array(list(FREQUENCIES.values())), 1_200)

clusterings = st.lists(
    st.lists(st.sets(st.integers(-4, 6), min_size=1, max_size=5), min_size=1, max_size=5), max_size=5
)


def score(clusters):
    lists = pa.array([sorted(tokens) for cluster in clusters for tokens in cluster], pa.list_(pa.int64()))
    starts = np.cumsum([0, *map(len, clusters)])[:-1].astype(np.int64)
    return coherence(lists, starts, WEIGHTS)


def paper(cluster):  # equations 5 and 6 of Bonadiman et al. 2019
    union = set().union(*cluster)
    return sum(len(tokens) / len(union) for tokens in cluster) / len(cluster)


def adjusted(cluster, weigh):
    if len(cluster) == 1:
        return 1.0
    union = sum(map(weigh, set().union(*cluster)))
    ratio = sum(sum(map(weigh, tokens)) / union for tokens in cluster)
    return (ratio - 1) / (len(cluster) - 1)


def idf(token):
    return math.log(1 + max(1_200, MIN_QUESTIONS) / FREQUENCIES.get(token, 1))


@given(clusterings)
def test_scores_are_those_of_plain_sets(clusters):
    scores = score(clusters)
    assert scores.paper == pytest.approx([paper(c) for c in clusters])
    assert scores.adjusted == pytest.approx([adjusted(c, lambda _: 1.0) for c in clusters])
    assert scores.idf == pytest.approx([adjusted(c, idf) for c in clusters])


@given(clusterings)
def test_scores_lie_between_nothing_shared_and_all_equal(clusters):
    scores = score(clusters)
    assert ((scores.paper > 0) & (scores.paper <= 1)).all()
    for values in (scores.adjusted, scores.idf):
        assert (values > -1e-12).all()
        assert (values < 1 + 1e-12).all()


@pytest.mark.parametrize(
    ("cluster", "expected_paper", "expected_adjusted"),
    [
        ([{1, 2, 3}, {0, 1, 2, 3}], 0.875, 0.75),  # four tokens in all: (3/4 + 4/4) / 2; (7/4 - 1) / 1
        ([{1, 2}, {3, 4}], 0.5, 0.0),  # nothing shared, yet the paper's score is 1/2
        ([{1, 2}, {3, 4}, {5, 6}, {7, 8}], 0.25, 0.0),
        ([{1, 2}] * 3, 1.0, 1.0),
        ([{1, 2}], 1.0, 1.0),
    ],
)
def test_the_papers_score_depends_on_the_size_and_the_adjusted_one_does_not(cluster, expected_paper, expected_adjusted):
    scores = score([cluster])
    assert scores.paper == pytest.approx([expected_paper])
    assert scores.adjusted == pytest.approx([expected_adjusted])


def test_sharing_a_frequent_token_weighs_less_than_sharing_a_rare_one():
    frequent, rare = score([[{-3, 10}, {-3, 11}], [{2, 10}, {2, 11}]]).idf
    assert frequent < 0.2 < rare


def test_chunks_and_no_clusters_are_fine():
    lists = pa.chunked_array([[[1, 2]], [[1]]], pa.list_(pa.int64()))
    assert coherence(lists, np.array([0]), WEIGHTS).paper == pytest.approx([0.75])  # (2/2 + 1/2) / 2
    assert all(len(values) == 0 for values in score([]))


def test_the_option_names_the_score():
    scores = Coherence(np.array([1.0]), np.array([2.0]), np.array([3.0]))
    assert [scores.named(name)[0] for name in ("paper", "adjusted", "idf")] == [1, 2, 3]
