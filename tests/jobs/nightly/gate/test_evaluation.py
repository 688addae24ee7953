import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from jobs.nightly.gate.evaluation import DEPTH, RANKS, JudgedSplit, Ranked, from_rows, own_metrics, to_rows
from jobs.workflows.index_changes.known_rows import RowIds
from model.evaluation.relevance import Judgements


def padded(*rows):
    ids = np.full((len(rows), DEPTH), -1)
    for row, hits in zip(ids, rows, strict=True):
        row[: len(hits)] = hits
    return ids


# queries 0 and 1 are paraphrases, 2 has two of them, 9 and 8
TEST = JudgedSplit(
    Judgements(np.array([0, 1, 2]), pa.array("abc"), np.array([0, 1, 2, 2]), np.array([1, 0, 8, 9])),
    np.array([5, 5, 7]),
)


def test_metrics_of_its_own_test_split_are_those_of_the_first_paraphrases():
    found = own_metrics(TEST, Ranked(padded([7, 1], [0], [9, 7, 8]), np.arange(10)))
    assert (found["queries"], found["hits_at_1"], found["mrr"]) == (3, 2 / 3, (0.5 + 1 + 1) / 3)
    nothing = JudgedSplit(
        Judgements(np.zeros(0, int), pa.array([], pa.string()), np.zeros(0, int), np.zeros(0, int)), np.zeros(0, int)
    )
    assert own_metrics(nothing, Ranked(padded(), np.arange(10))) == {}


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1).filter(lambda value: value != -1), unique=True, max_size=12), st.data()
)
def test_hits_are_stored_as_rows_and_read_as_they_were(ids, data):
    live = np.array([data.draw(st.booleans()) for _ in ids], bool)
    rows = RowIds(np.array(ids, np.int64), live)
    held = rows.ids[live]
    hits = [data.draw(st.permutations(held.tolist())) for _ in range(3)]
    ranked = Ranked(padded(*(found[: data.draw(st.integers(0, len(found)))] for found in hits)), np.sort(held))
    table = to_rows(ranked, rows)
    assert table.schema == RANKS
    again = from_rows(table, rows)
    assert np.array_equal(again.ids, ranked.ids)
    assert np.array_equal(again.held, ranked.held)
