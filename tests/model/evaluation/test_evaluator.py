from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from model.evaluation import evaluator
from model.evaluation.evaluator import metrics_of, missing_questions, query_times, summary
from model.evaluation.relevance import Judgements

# queries 0 and 1 are paraphrases, 2 has two of them, 9 and 8
JUDGED = Judgements(np.array([0, 1, 2]), pa.array("abc"), np.array([0, 1, 2, 2]), np.array([1, 0, 8, 9]))


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (lambda call: 2e-6 * call, {"timed_queries": 500, "mean_ms": 0.501, "p95_ms": 0.95}),  # 2 to 1,000 microseconds
        (lambda _: 2.5, {"timed_queries": 5, "mean_ms": 2_500.0, "p95_ms": 2_500.0}),  # the fourth ends after 10 s
    ],
)
def test_times_are_of_single_queries_after_a_first_one_until_ten_seconds_have_passed(monkeypatch, seconds, expected):
    clock, asked = [0.0], []

    def rank(texts, k):
        assert len(texts) == 1
        clock[0] += seconds(len(asked)) if asked else 100  # a first query reads files
        asked.append((texts[0], k))

    monkeypatch.setattr(evaluator, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    judged = SimpleNamespace(texts=pa.array([f"question {number}" for number in range(600)]))
    assert query_times(SimpleNamespace(rank=rank), judged) == expected
    timed = expected["timed_queries"]
    assert asked == [("question 0", 20), *((f"question {number}", 20) for number in range(timed))]


def test_metrics_are_means_over_all_queries():
    assert metrics_of(np.array([[7, 1], [0, -1], [7, -1]]), JUDGED).mrr == (1 / 2 + 1 + 0) / 3


def test_paraphrases_that_an_index_does_not_have_are_missing():
    index = SimpleNamespace(rows_of=lambda ids: np.where(ids < 9, ids, -1))
    relevant, missing = missing_questions(index, JUDGED)
    assert (relevant.tolist(), missing.tolist()) == ([0, 1, 8, 9], [9])


def test_means_have_intervals_where_there_are_two_clusters():
    values = np.array([[1.0, 0, 0, 1], [1, 1, 0, 1], [1, 0.5, 0, 1], [1, 0.6, 0, 1]])
    found = summary("per_pair", values, np.array([0, 0, 1, 1]))
    assert found["per_pair"] == {"hits_at_1": 0.5, "hits_at_10": 0.75, "mrr": 0.625, "ndcg_at_10": 0.65}
    assert found["per_pair_interval"].keys() == found["per_pair"].keys()
    low, high = found["per_pair_interval"]["hits_at_1"]
    assert (low, high) == (0.5, 0.5)  # both clusters have one right first hit
    low, high = found["per_pair_interval"]["mrr"]
    assert 0.5 <= low < 0.625 < high <= 0.75
    assert summary("per_pair", values, np.zeros(4, int)) == {"per_pair": found["per_pair"]}
