import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, Success, nDCG

from model.evaluation.metrics import filtered_ranks, per_pair, per_question, ranks

DEPTH = 30


@st.composite
def judged(draw):
    """Rankings without repeats over 40 ids, and for each query 1 to 15 relevant ids of which some are not retrieved."""
    count = draw(st.integers(1, 6))
    rankings = [draw(st.permutations(range(40))).copy()[:DEPTH] for _ in range(count)]
    relevant = [sorted(draw(st.sets(st.integers(0, 45), min_size=1, max_size=15))) for _ in range(count)]
    return rankings, relevant


def flat(relevant):
    queries = np.repeat(np.arange(len(relevant)), [len(ids) for ids in relevant])
    return queries, np.array([i for ids in relevant for i in ids], np.int64)


def naive(ranking, relevant):
    """Return H@1, H@10, reciprocal rank and nDCG@10 of one query, by the book."""
    places = [rank for rank, i in enumerate(ranking, start=1) if i in relevant]
    gain = sum(1 / math.log2(1 + rank) for rank in places if rank <= 10)
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(len(relevant), 10) + 1))
    first = places[0] if places else math.inf
    return first <= 1, first <= 10, 1 / first, gain / ideal


def values(metrics):
    return metrics.hits_at_1, metrics.hits_at_10, metrics.mrr, metrics.ndcg_at_10


def measure(rankings, relevant):
    queries, ids = flat(relevant)
    found = ranks(np.array(rankings), queries=queries, relevant=ids)
    return per_question(found, queries=queries, count=len(relevant)), per_pair(found, queries=queries)


def test_two_queries_by_hand():
    # query 0 finds 8 at rank 2 and 9 at rank 3; query 1 does not find 4
    question, pair = measure([[7, 8, 9], [1, 2, 3]], [[8, 9], [4]])
    assert question.hits_at_1 == 0
    assert question.hits_at_10 == 1 / 2
    assert question.mrr == (1 / 2 + 0) / 2
    gain, ideal = 1 / math.log2(3) + 1 / math.log2(4), 1 / math.log2(2) + 1 / math.log2(3)
    assert question.ndcg_at_10 == pytest.approx((gain / ideal + 0) / 2)
    # without the other one, 8 and 9 both stand at rank 2: a third of the pairs is the one not found
    assert pair.mrr == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert pair.ndcg_at_10 == pytest.approx(2 / math.log2(3) / 3)


def test_rank_ten_counts_and_rank_eleven_does_not():
    question, pair = measure([list(range(12))], [[9]])
    assert (question.hits_at_10, pair.hits_at_10) == (1, 1)
    assert question.ndcg_at_10 == pytest.approx(1 / math.log2(11))
    question, pair = measure([list(range(12))], [[10]])
    assert (question.hits_at_10, pair.hits_at_10, question.ndcg_at_10) == (0, 0, 0)
    assert question.mrr == 1 / 11


def test_a_query_without_relevant_questions_scores_zero():
    found = ranks(np.array([[1], [2]]), queries=np.array([1]), relevant=np.array([2]))
    assert values(per_question(found, queries=np.array([1]), count=2)) == (0.5, 0.5, 0.5, 0.5)


def test_padding_is_never_relevant_and_nothing_cannot_be_averaged():
    assert ranks(np.array([[5, -1]]), queries=np.array([0]), relevant=np.array([6])).tolist() == [0]
    with pytest.raises(ValueError, match="nothing to average"):
        per_pair(np.array([], np.int64), queries=np.array([], np.int64))


@given(judged())
def test_per_question_is_what_a_loop_computes(case):
    rankings, relevant = case
    expected = np.mean([naive(*query) for query in zip(rankings, relevant, strict=True)], axis=0)
    assert values(measure(rankings, relevant)[0]) == pytest.approx(expected)


@given(judged())
def test_per_pair_is_the_ranking_with_the_other_paraphrases_removed(case):
    rankings, relevant = case
    pairs = [
        naive([i for i in ranking if i == p or i not in ids], [p])
        for ranking, ids in zip(rankings, relevant, strict=True)
        for p in ids
    ]
    # the k-th paraphrase moves up by those above it, so a ranking may lose entries but a rank is never made up
    assert values(measure(rankings, relevant)[1]) == pytest.approx(np.mean(pairs, axis=0))


@given(judged())
def test_per_question_agrees_with_ir_measures(case):
    rankings, relevant = case
    judgements = [ir_measures.Qrel(str(q), str(i), 1) for q, ids in enumerate(relevant) for i in ids]
    run = [ir_measures.ScoredDoc(str(q), str(i), -r) for q, ids in enumerate(rankings) for r, i in enumerate(ids)]
    theirs = ir_measures.calc_aggregate([Success @ 1, Success @ 10, RR, nDCG @ 10], judgements, run)
    expected = [theirs[measure] for measure in (Success @ 1, Success @ 10, RR, nDCG @ 10)]
    assert values(measure(rankings, relevant)[0]) == pytest.approx(expected)


def test_filtered_ranks_do_not_depend_on_the_order_of_the_pairs():
    queries, found = np.array([0, 0, 0, 1, 1]), np.array([5, 2, 0, 1, 7])
    assert filtered_ranks(found, queries=queries).tolist() == [4, 2, 0, 1, 6]
    shuffled = np.array([4, 0, 2, 3, 1])
    assert filtered_ranks(found[shuffled], queries=queries[shuffled]).tolist() == [6, 4, 0, 1, 2]
