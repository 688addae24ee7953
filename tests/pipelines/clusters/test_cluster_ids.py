import datetime
import itertools

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.clusters.cluster_ids import cluster_ids, further_ids, ids_of
from pipelines.intermediate import MEMBERS
from schemas.tables import with_nulls
from schemas.text import hash64

TIME = MEMBERS.field("first_seen").type


def members(*rows):
    """Return MEMBERS of (answer, question, day of the month or None, earlier cluster or None), in their order."""
    listed = sorted(rows, key=lambda row: row[:2])
    times = [None if row[2] is None else datetime.datetime(2026, 11, row[2], tzinfo=datetime.UTC) for row in listed]
    columns = {
        "answer_id": pa.array([row[0] for row in listed], pa.int64()),
        "question_id": pa.array([row[1] for row in listed], pa.int64()),
        "first_seen": pa.array(times, TIME),
        "cluster_id": pa.array([row[3] for row in listed], pa.int64()),
    }
    return with_nulls(MEMBERS, columns)


def of(answer, question):
    """Return the id of the cluster of an answer with this oldest question."""
    return int(ids_of(pa.table({"answer_id": pa.array([answer]), "question_id": pa.array([question])}))[0])


def ids(*rows, groups):
    return cluster_ids(members(*rows), np.array(groups)).tolist()


def test_a_cluster_has_the_id_of_its_answer_and_its_oldest_question():
    rows = [(1, 5, 20, None), (1, 6, 3, None), (1, 7, 3, None), (1, 8, None, None), (2, 6, None, None)]
    assert ids(*rows, groups=[0, 0, 0, 3, 4]) == [of(1, 6)] * 3 + [of(1, 8), of(2, 6)]
    assert of(1, 6) == hash64("1:6")  # of another hash all ids of earlier versions would change
    assert cluster_ids(members(), np.array([], np.int64)).tolist() == []


def test_questions_without_a_time_are_the_youngest():
    rows = [(1, 5, None, None), (1, 6, 30, None), (1, 7, None, None), (1, 8, None, None)]
    assert ids(*rows, groups=[0, 0, 2, 2]) == [of(1, 6)] * 2 + [of(1, 7)] * 2


def test_a_cluster_whose_oldest_question_has_left_keeps_its_id():
    old = of(1, 99)
    rows = [(1, 5, 20, old), (1, 6, 21, old), (1, 7, 3, None)]
    assert ids(*rows, groups=[0, 0, 0]) == [old] * 3


def test_an_oldest_question_that_is_asked_again_does_not_take_the_id_away():
    old = of(1, 7)
    rows = [(1, 5, 20, old), (1, 6, 21, old), (1, 7, 3, old), (1, 8, 22, None)]
    first, second, back, new = ids(*rows, groups=[0, 0, 2, 2])
    assert first == second == old
    assert back == new
    assert back not in {old, of(1, 5), of(1, 8)}
    assert ids((1, 5, 20, None), (1, 6, 21, None), *rows[2:], groups=[0, 0, 2, 2]) == [of(1, 5)] * 2 + [old] * 2
    assert ids(*rows, groups=[0, 1, 0, 1]) == [old, of(1, 6), old, of(1, 6)]


def test_of_the_parts_of_a_cluster_the_one_with_most_of_its_questions_keeps_the_id():
    old = of(1, 99)
    rows = [(1, 5, 20, old), (1, 6, 21, old), (1, 7, 22, old), (1, 8, 23, None)]
    assert ids(*rows, groups=[0, 1, 1, 1]) == [of(1, 5), old, old, old]
    assert ids(*rows, groups=[0, 0, 2, 2])[:2] == [old] * 2


def test_clusters_that_merge_keep_the_id_of_the_larger_one():
    first, second = of(1, 98), of(1, 99)
    rows = [(1, 5, 20, first), (1, 6, 21, second), (1, 7, 22, second)]
    assert ids(*rows, groups=[0, 0, 0]) == [second] * 3
    assert ids(*rows, (1, 8, 1, None), (1, 9, 2, None), groups=[0] * 5) == [of(1, 8)] * 5


def test_a_cluster_of_another_answer_gives_no_id():
    assert ids((1, 5, 20, of(1, 99)), (1, 6, 21, None), (2, 7, 3, None), groups=[0, 0, 2])[2] == of(2, 7)


def id_of(answer, number):
    first = of(answer, number % 100)
    return first if number < 100 else int(next(further_ids(np.array([first])))[0])


def test_an_id_that_is_derived_from_one_can_be_inherited_too():
    old = of(1, 7)
    second, third = (int(ids[0]) for ids in itertools.islice(further_ids(np.array([old])), 2))
    rows = [
        (1, 5, 20, old),
        (1, 6, 21, old),
        (1, 7, 3, second),
        (1, 8, 22, None),
        (1, 9, 22, second),
        (1, 10, 23, second),
    ]
    assert ids(*rows, groups=[0, 0, 1, 1, 2, 2]) == [old] * 2 + [third] * 2 + [second] * 2


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_each_cluster_has_one_id_whatever_the_order_of_numbers(data):
    size = data.draw(st.integers(1, 14))
    answers = sorted(data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size)))
    earlier = st.one_of(st.none(), st.integers(0, 5), st.integers(100, 105))  # from 100 on second ids
    rows, groups = [], []
    for question, answer in enumerate(answers):
        known = data.draw(earlier)
        rows.append((answer, question, data.draw(st.integers(1, 4)), None if known is None else id_of(answer, known)))
        groups.append(100 * answer + data.draw(st.integers(0, 3)))
    found = ids(*rows, groups=groups)
    assert len(set(zip(groups, found, strict=True))) == len(set(groups)) == len(set(found))
    assert ids(*rows, groups=[-group for group in groups]) == found
    fresh = ids(*[(*row[:3], None) for row in rows], groups=groups)
    assert ids(*[(*row[:3], named) for row, named in zip(rows, fresh, strict=True)], groups=groups) == fresh


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_cluster_that_grows_by_younger_questions_keeps_its_id(data):
    old = [(1, q, data.draw(st.integers(1, 9)), None) for q in data.draw(st.sets(st.integers(0, 50), min_size=1))]
    new = [(1, q, data.draw(st.integers(10, 20)), None) for q in data.draw(st.sets(st.integers(51, 99)))]
    new += [(1, -q, data.draw(st.integers(10, 20)), None) for q in data.draw(st.sets(st.integers(1, 50)))]
    [before] = set(ids(*old, groups=[0] * len(old)))
    assert set(ids(*old, *new, groups=[0] * (len(old) + len(new)))) == {before}
