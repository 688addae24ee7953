import numpy as np
import pyarrow as pa

from jobs.nightly.gate.comparison import Comparison, compare, differences
from jobs.nightly.gate.evaluation import Ranked
from jobs.nightly.gate.relevance import Relevance
from model.evaluation.intervals import Interval
from tests.jobs.nightly.gate.test_evaluation import TEST, padded


def clusters(*rows):
    """Return clusters, each an answer and its questions."""
    answers, members = zip(*rows, strict=True)
    return pa.table({"question_ids": pa.array(members, pa.list_(pa.int64())), "answer_hash": pa.array(answers)})


BEFORE = clusters((1, [0, 1]), (2, [2, 8, 9]), (3, [20, 21]))
OLD = np.array([0, 1, 2, 8, 9, 20, 21])
NEW = np.array([30, 31, 32])
FIRST = padded([1, 20], [20, 0], [20, 21, 9])


def compared(*, common=FIRST, after=FIRST, night=BEFORE, held=None, earlier=BEFORE):
    held = np.union1d(OLD, NEW) if held is None else held
    relevance = Relevance(TEST.judged, earlier, night)
    return compare(TEST, Ranked(FIRST, OLD), Ranked(common, held), Ranked(after, held), relevance)


def values(reciprocal_ranks):
    return np.round(reciprocal_ranks, 4).tolist()


def test_an_unchanged_index_has_the_same_ranks():
    found = compared()
    assert values(found.before) == values(found.after) == values(found.whole) == [1, 0.5, 0.3333]
    assert found.clusters.tolist() == [5, 5, 7]


def test_a_worse_index_is_worse_among_the_questions_of_both():
    found = compared(common=padded([20, 21, 1], [20, 21, 0], [20, 21]))
    assert (values(found.before), values(found.after)) == ([1, 0.5, 0.3333], [0.3333, 0.3333, 0])


def test_new_questions_of_a_cluster_are_right_and_those_of_other_clusters_displace():
    after = padded([30, 31, 32, 1, 20], [20, 31, 0], [31, 32, 20, 9])
    night = clusters((1, [0, 1, 30]), (2, [2, 8, 9, 32]), (3, [20, 21, 31]))
    found = compared(after=after, night=night)
    assert values(found.after) == [1, 0.5, 0.3333]
    assert values(found.whole) == [1, 0.3333, 0.5]


def test_questions_that_left_the_log_have_no_rank(capsys):
    found = compared(held=np.setdiff1d(OLD, [20]), common=padded([1], [0], [21, 9]), after=padded([1], [0], [21, 9]))
    assert values(found.before) == values(found.after) == [1, 1, 0.5]
    gone = compared(held=np.setdiff1d(OLD, [1, 8, 9]))
    assert gone.clusters.tolist() == [5]  # query 1, whose paraphrase 0 both indexes have
    assert differences(compared(held=np.array([20, 21])), is_kept=True) == {}
    assert "is in both indexes, so ranks refuse nothing tonight. --new-test-set takes" in capsys.readouterr().err


def test_questions_that_joined_a_cluster_before_are_right_in_both():
    earlier = clusters((1, [0, 1, 20]), (2, [2, 8, 9]), (3, [21]))
    assert values(compared(earlier=earlier, night=earlier).before) == [1, 1, 0.3333]


def test_a_cluster_that_joins_other_answers_is_no_evidence():
    after = padded([30, 1], [30, 0], [30, 9])
    merged = clusters((9, [0, 1, 2, 8, 9, 30]), (3, [20, 21]))
    assert values(compared(after=after, night=merged).whole) == [0.5, 0.5, 1]  # most of it had the answer of query 2
    renamed = clusters((7, [0, 1, 30]), (8, [2, 8, 9]), (3, [20, 21]))
    assert values(compared(after=after, night=renamed).whole) == [1, 1, 0.5]
    split = clusters((2, [2, 8]), (2, [9, 30]), (1, [0, 1]))
    assert values(compared(after=after, night=split).whole) == [0.5, 0.5, 1]


def test_intervals_are_read_from_metrics():
    metrics = dict(zip(Interval.names("new_questions"), (-0.1, -0.2, 0.1), strict=True))
    assert Interval.of(metrics, "new_questions") == Interval(-0.1, -0.2, 0.1)
    assert Interval.of(metrics, "difference") is None


def test_queries_of_one_cluster_are_no_evidence_and_two_clusters_have_an_interval(capsys):
    worse = Comparison(np.ones(3), np.full(3, 0.5), np.full(3, 0.5), np.array([7, 7, 7]))
    metrics = differences(worse, is_kept=True)
    assert (metrics["frozen_queries"], metrics["frozen_mrr_before"], metrics["frozen_mrr"]) == (3, 1, 0.5)
    assert Interval.of(metrics, "difference") is Interval.of(metrics, "new_questions") is None
    assert "are of one cluster, so ranks refuse nothing tonight. --new-test-set takes" in capsys.readouterr().err
    two = differences(worse._replace(clusters=np.array([7, 7, 8])), is_kept=True)
    assert Interval.of(two, "difference") == (-0.5, -0.5, -0.5)
    assert capsys.readouterr().err == ""


def test_a_test_set_that_is_replaced_needs_no_advice(capsys):
    nothing = Comparison(np.array([]), np.array([]), np.array([]), np.array([], int))
    assert differences(nothing, is_kept=False) == {}
    error = capsys.readouterr().err
    assert "no question of the frozen test set is in both indexes, so ranks refuse nothing tonight. The test" in error
    assert "--new-test-set" not in error
