import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.calibration.verdicts.verdict_file import cluster_name
from pipelines.clusters.reviewed import read_name, remove_reviewed
from pipelines.clusters.settings import Reviewed
from pipelines.intermediate import MEMBERS
from pipelines.summary.run_summary import unmatched_verdicts
from schemas.tables import with_nulls

IDS = st.integers(-(2**63), 2**63 - 1)


def question_name(number):
    return "q" + cluster_name(number)[1:]


def members(rows):
    columns = {
        "cluster_id": [c for c, _ in rows],
        "answer_id": [c for c, _ in rows],
        "question_id": [q for _, q in rows],
        "text": [f"text {q}" for _, q in rows],
        "events": [1] * len(rows),
        "token_ids": [[1]] * len(rows),
    }
    return with_nulls(MEMBERS, columns)


@given(IDS)
def test_a_name_is_read_back(number):
    assert read_name(cluster_name(number)) == number


@pytest.mark.parametrize("name", ["", "c", "c00", "x0000000000000001", "c00000000000000zz", "c-000000000000001"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ValueError, match="is no name"):
        read_name(name)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-4, 4)), unique=True, max_size=20),
    st.sets(st.integers(-3, 3)),
    st.sets(st.tuples(st.integers(-3, 3), st.integers(-4, 4))),
)
def test_members_of_wrong_clusters_and_strays_are_rejected_with_a_reason(rows, wrong, strays):
    reviewed = Reviewed(
        verdicts="d",
        wrong=tuple(map(cluster_name, wrong)),
        strays=tuple((cluster_name(c), question_name(q)) for c, q in strays),
    )
    stays, rejects, counts = remove_reviewed(members(rows), reviewed)
    expected = [None if c not in wrong and (c, q) not in strays else c in wrong for c, q in rows]
    assert stays.tolist() == [reason is None for reason in expected]
    found = [(json.loads(row["payload"])["question"], row["stage"], row["reason"]) for row in rejects.to_pylist()]
    texts = [(f"text {q}", whole) for (_, q), whole in zip(rows, expected, strict=True) if whole is not None]
    assert sorted(found) == sorted((text, "review", "wrong_cluster" if whole else "stray") for text, whole in texts)
    matched = {c for (c, _), whole in zip(rows, expected, strict=True) if whole is not None}
    missing = len(wrong | {c for c, _ in strays}) - len(matched)
    sentences = unmatched_verdicts({"assembly": {"reviewed": reviewed.model_dump()}}, counts)
    assert [f"--verdicts: {missing:,} of" in sentence for sentence in sentences] == [True] * bool(missing)


def test_without_verdicts_all_stay():
    stays, rejects, counts = remove_reviewed(members([(1, 2), (1, 3)]), None)
    assert (stays.tolist(), len(rejects), counts) == ([True, True], 0, {})
    assert unmatched_verdicts({"assembly": {"reviewed": None}}, counts) == []
