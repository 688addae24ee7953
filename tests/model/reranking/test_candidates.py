import tracemalloc

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


@pytest.mark.parametrize("compared", [300, 6, 1])
def test_paraphrases_are_marked_wherever_they_are_found(monkeypatch, compared):
    monkeypatch.setattr("model.reranking.candidates.COMPARED", compared)
    found = np.array([[5, 2, 1], [3, 1, -1], [9, 9, 9], [99, 7, 1], [1, 2, 3]])
    expected = [[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert relevant(found, JUDGED).astype(int).tolist() == expected


def test_the_memory_of_marking_does_not_grow_with_the_number_of_hits():
    ids, found = np.arange(200), np.tile(np.arange(1_000), (200, 1))
    pairs = np.repeat(ids, 250), np.tile(np.arange(250), 200)
    judged = Judgements(ids, pa.array(["a"] * 200), *pairs)
    tracemalloc.start()
    try:
        flags = relevant(found, judged)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert flags.sum() == 200 * 250
    assert peak < 30e6, f"{peak / 1e6:.0f} MB; 450 MB with a fixed number of pairs"
