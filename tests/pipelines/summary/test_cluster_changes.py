import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.summary.cluster_changes import CHANGES, SCHEMA, changed_share, cluster_changes, count_changes


def clusters(of_id):
    return pa.table(
        {
            "cluster_id": pa.array(list(of_id), pa.int64()),
            "question_ids": pa.array([sorted(ids) for ids in of_id.values()], pa.list_(pa.int64())),
        }
    )


def changes(before, after):
    return {
        row["cluster_id"]: (row["change"], row["became"])
        for row in cluster_changes(clusters(before), clusters(after)).to_pylist()
    }


def test_every_change_has_a_name():
    before = {1: [10, 11], 2: [20, 21], 3: [30, 31], 4: [40, 41], 5: [50, 51], 6: [60, 61, 62, 63], 7: [70, 71, 72]}
    after = {1: [10, 11], 2: [20, 21, 22], 3: [30, 31, 40, 41], 6: [60, 61], 66: [62, 63], 7: [70, 71], 8: [80, 81]}
    assert changes(before, after) == {
        1: ("kept", [1]),
        2: ("grew", [2]),
        3: ("merged", [3]),
        4: ("merged", [3]),
        5: ("gone", []),
        6: ("split", [6, 66]),
        7: ("shrank", [7]),
        8: ("new", [8]),
    }


def test_a_renamed_answer_keeps_its_cluster_although_the_id_is_another():
    assert changes({1: [10, 11]}, {9: [10, 11]}) == {1: ("kept", [9])}


def test_a_cluster_that_swaps_a_question_has_grown():
    assert changes({1: [10, 11, 12]}, {1: [10, 11, 13]})[1] == ("grew", [1])


def test_clusters_with_a_common_question_change_by_themselves():
    before = {1: [10, 11], 2: [11, 12], 3: [11, 13], 4: [20, 21]}
    assert changes(before, before) == {number: ("kept", [number]) for number in before}
    after = {1: [10, 11, 14], 2: [11, 12], 4: [20, 21, 13], 9: [11, 30]}
    assert changes(before, after) == {
        1: ("grew", [1]),
        2: ("kept", [2]),
        3: ("split", [4, 9]),
        4: ("merged", [4]),
    }


def test_a_question_in_several_clusters_counts_once():
    rows = cluster_changes(clusters({1: [10, 11]}), clusters({2: [10, 11], 3: [10, 12]})).to_pylist()
    assert [(row["change"], row["became"], row["size_before"], row["questions_kept"]) for row in rows] == [
        ("split", [2, 3], 2, 2)
    ]


def test_counts_and_share():
    table = cluster_changes(clusters({1: [1, 2], 2: [3, 4]}), clusters({1: [1, 2], 3: [5, 6]}))
    counts = count_changes(table)
    assert counts == dict.fromkeys(CHANGES, 0) | {"kept": 1, "gone": 1, "new": 1}
    assert changed_share(counts) == pytest.approx(2 / 3)
    assert changed_share(dict.fromkeys(CHANGES, 0)) == 0


def test_without_clusters_there_is_no_change():
    table = cluster_changes(clusters({}), clusters({}))
    assert (len(table), table.schema) == (0, SCHEMA)


PARTITIONS = st.lists(st.integers(0, 4), min_size=0, max_size=12)


@given(PARTITIONS, PARTITIONS)
def test_sizes_add_up_and_every_cluster_is_named(before, after):
    old, new = ({c: [q for q, of in enumerate(part) if of == c] for c in set(part)} for part in (before, after))
    table = cluster_changes(clusters(old), clusters(new))
    rows = table.to_pylist()
    assert sum(row["size_before"] for row in rows) == len(before)
    assert sorted(row["cluster_id"] for row in rows if row["change"] != "new") == sorted(old)
    for row in rows:
        ids = set(old.get(row["cluster_id"], [])) if row["change"] != "new" else set()
        assert row["became"] == sorted(c for c in new if ids & set(new[c])) or row["change"] == "new"
        assert row["questions_kept"] == len(ids & {q for c in row["became"] for q in new[c]})
    assert np.isclose(sum(count_changes(table).values()), len(rows))
