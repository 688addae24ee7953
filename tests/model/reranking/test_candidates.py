import numpy as np
import pyarrow as pa
import pytest

from model.evaluation.relevance import Judgements
from model.reranking.candidates import relevant

JUDGED = Judgements(
    ids=np.array([1, 2, 3, 7, 8]),
    texts=pa.array(["a", "b", "c", "d", "e"]),
    queries=np.array([0, 1, 1, 2, 3, 4]),
    relevant=np.array([2, 1, 3, 2, 99, 7]),
)


@pytest.mark.parametrize("pairs", [100, 2])
def test_paraphrases_are_marked_wherever_they_are_found(monkeypatch, pairs):
    monkeypatch.setattr("model.reranking.candidates.PAIRS", pairs)
    found = np.array([[5, 2, 1], [3, 1, -1], [9, 9, 9], [99, 7, 1], [1, 2, 3]])
    expected = [[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert relevant(found, JUDGED).astype(int).tolist() == expected
