from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from model.confidence.examples import examples
from model.confidence.features import NAMES
from model.evaluation.relevance import Judgements
from model.index.ranking import Ranking
from model.reranking.term_statistics import WordCounts

# Questions 0 and 1 are a cluster of two, 2, 3 and 4 one of three, 5 is in none; 6 and 7 are of another split.
CLUSTERS = [1, 1, 2, 2, 2, None, 3, 3]
QUESTIONS = pa.table({"text": [f"question {n}" for n in range(8)], "cluster_id": pa.array(CLUSTERS, pa.int64())})
JUDGED = Judgements(
    ids=np.arange(5),
    texts=QUESTIONS["text"].combine_chunks().slice(0, 5),
    queries=np.array([0, 1, 2, 2, 3, 3, 4, 4]),
    relevant=np.array([1, 0, 3, 4, 2, 4, 2, 3]),
)
COUNTS = WordCounts(("question",), np.array([8]), 8, 2.0)


class Line:
    """An index of questions on a line, at the places of their ids."""

    settings = SimpleNamespace(vary_by=None)

    def __len__(self):
        return 8

    def rank(self, texts, k, exclude=None):
        at = np.array([int(text.split()[1]) for text in texts.to_pylist()])
        distances = np.abs(np.arange(8) - at[:, None]).astype(np.float32)
        distances[np.arange(len(at)), exclude] = np.inf
        order = np.argsort(distances, axis=1, kind="stable")[:, : min(k, 7)]
        return Ranking(order, -np.take_along_axis(distances, order, axis=1), order)

    def questions(self, rows):
        return QUESTIONS.take(pa.array(rows))


def gathered(**options):
    found = examples(Line(), JUDGED, COUNTS, **options)
    return found, {name: found.table[:, :, number] for number, name in enumerate(NAMES)}


def test_each_query_is_there_with_and_without_its_paraphrases():
    found, columns = gathered()
    assert found.answerable.tolist() == [True] * 5 + [False] * 5
    assert found.right[:5].sum(axis=1).tolist() == [1, 1, 2, 2, 2]
    assert not found.right[5:].any()
    assert found.there.sum(axis=1).tolist() == [7] * 5 + [6, 6, 5, 5, 5]
    assert columns["distance"][5, :2].tolist() == [2, 3]  # of question 0: neither itself nor 1
    assert columns["distance"][7, :2].tolist() == [1, 2]  # of question 2: its neighbours are 1 and 0 or 5


def test_queries_of_a_cluster_share_a_group_in_both_halves():
    found, _ = gathered()
    groups = found.groups.tolist()
    assert groups[:5] == groups[5:]
    assert groups[0] == groups[1] != groups[2] == groups[3] == groups[4]


def test_the_only_paraphrase_of_a_query_is_in_no_cluster_without_it():
    _, left_out = gathered()
    _, as_indexed = gathered(as_indexed=True)
    assert (left_out["alone"][0, 0], as_indexed["alone"][0, 0]) == (1, 0)
    assert left_out["alone"][2, 1] == 0  # of question 2: 3 still has 4
    assert (left_out["mates"][2] == as_indexed["mates"][2]).all()


def test_queries_are_counted_as_they_are_done(monkeypatch):
    monkeypatch.setattr("model.confidence.examples.QUERIES", 2)
    done = []
    few, _ = gathered(on_queries=done.append)
    monkeypatch.undo()
    many, _ = gathered()
    assert done == [2, 4, 5]
    np.testing.assert_array_equal(few.table, many.table)
