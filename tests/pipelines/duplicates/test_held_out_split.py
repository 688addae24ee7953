import collections
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates.held_out_split import hold_out, pairs_of, place_questions, shortlist, size_clusters
from pipelines.duplicates.rows import COMPONENTS, SIZES, SPLITS_OF
from pipelines.duplicates.settings import HeldOut
from pipelines.intermediate import ASKED
from schemas.hashing import uniform
from schemas.text import hash64


def member_of(*rows):
    return pa.table([pa.array(column, pa.int64()) for column in zip(*rows, strict=True)], schema=COMPONENTS)


def test_a_cluster_is_named_after_its_smallest_question_and_holds_two_at_least():
    found = member_of((1, 1), (2, 1), (-7, -7), (3, 1), (9, -7), (5, 5))
    assert size_clusters(found).schema == SIZES
    assert {tuple(row.values()) for row in size_clusters(found).to_pylist()} == {
        (hash64("pairs:1"), 3),
        (hash64("pairs:-7"), 2),
    }
    assert pairs_of(size_clusters(found)).tolist() == [1, 3]
    placed = place_questions(found)
    assert placed.schema == ASKED
    assert dict(zip(placed["question_id"].to_pylist(), placed["answer_id"].to_pylist(), strict=True)) == {
        question: hash64(f"pairs:{root}") for question, root in ((1, 1), (2, 1), (-7, -7), (3, 1), (9, -7), (5, 5))
    }
    known = {"question_id", "answer_id"}
    assert all(placed[name].null_count == (0 if name in known else 6) for name in placed.column_names)


def test_no_component_makes_no_cluster():
    assert size_clusters(COMPONENTS.empty_table()) == SIZES.empty_table()
    assert place_questions(COMPONENTS.empty_table()) == ASKED.empty_table()


def sizes(questions_of):
    return pa.table([list(questions_of), list(questions_of.values())], schema=SIZES)


def splits(table, all_pairs, held_out):
    dealt = hold_out(table, all_pairs, held_out)
    assert dealt.schema == SPLITS_OF
    return dict(zip(dealt["cluster_id"].to_pylist(), dealt["split"].to_pylist(), strict=True))


def naive_split(questions_of, held_out):
    pairs = {cluster: n * (n - 1) // 2 for cluster, n in questions_of.items()}
    enough = min(held_out.pairs, sum(pairs.values()) // 10)
    place = dict(zip(pairs, uniform(np.array(list(pairs), np.int64), held_out.salt), strict=True))
    split, sums = {}, {"validation": 0, "test": 0}
    for cluster, size in sorted(pairs.items(), key=lambda c: (place[c[0]], c[0])):
        fitting = [name for name in sums if sums[name] + size <= enough]
        if fitting:
            split[cluster] = fitting[0]
            sums[fitting[0]] += size
    return split


int64 = st.integers(-(2**63), 2**63 - 1)


@given(
    questions_of=st.dictionaries(int64 | st.integers(-99, 99), st.integers(2, 9), max_size=60),
    pairs=st.integers(0, 100),
    salt=st.sampled_from(["qpr", "other"]),
)
def test_the_split_is_that_of_a_plain_walk_and_the_shortlist_decides_it(questions_of, pairs, salt):
    held_out, table = HeldOut(pairs=pairs, salt=salt), sizes(questions_of)
    all_pairs = int(pairs_of(table).sum())
    assert splits(table, all_pairs, held_out) == naive_split(questions_of, held_out)
    assert splits(shortlist(table, held_out), all_pairs, held_out) == naive_split(questions_of, held_out)


@given(st.lists(st.dictionaries(int64, st.integers(2, 9), max_size=30), max_size=4), st.integers(0, 30))
def test_shortlists_of_parts_make_the_shortlist_of_all(parts, pairs):
    held_out = HeldOut(pairs=pairs)
    whole = sizes({cluster: n for part in parts for cluster, n in part.items()})
    listed = [shortlist(sizes(part), held_out) for part in parts]
    merged = shortlist(pa.concat_tables([SIZES.empty_table(), *listed]), held_out)
    if len(whole) == sum(map(len, parts)):  # no cluster in two parts
        assert merged.sort_by("cluster_id") == shortlist(whole, held_out).sort_by("cluster_id")
    assert len(merged) <= 4 * pairs


def test_the_shortlist_keeps_of_each_size_what_could_fit():
    questions_of = dict(enumerate([2] * 500 + [3] * 500 + [4] * 500 + [15] * 9))
    listed = shortlist(sizes(questions_of), HeldOut(pairs=50))
    counted = collections.Counter(listed["questions"].to_pylist())
    assert counted == {2: 100, 3: 33, 4: 16}  # 2 * 50 pairs / 1, 3, 6; and fifteen questions are 105 pairs


def evenly(count, questions):
    ids = np.random.default_rng(3).choice(2**62, count, replace=False).tolist()
    return dict(zip(ids, questions * (count // len(questions)), strict=True))


def test_validation_and_test_hold_the_required_pairs_and_another_salt_other_clusters():
    questions_of = evenly(20_000, [2, 2, 3, 4])  # 55,000 pairs in all
    split = splits(sizes(questions_of), 55_000, HeldOut(pairs=2_000))
    for name in ("validation", "test"):
        assert (
            sum(math.comb(questions_of[c], 2) for c in split if split[c] == name) == 2_000
        )  # small ones fill the rest
    other = splits(sizes(questions_of), 55_000, HeldOut(pairs=2_000, salt="b"))
    assert len(split.keys() & other.keys()) < 300  # 7 % of 7 %, where the same salt has 1,450
    assert len(split) > 1_000


def test_few_pairs_leave_at_least_eight_tenths_for_training():
    split = splits(sizes(dict.fromkeys(range(100), 2)), 100, HeldOut(pairs=5_000))
    assert collections.Counter(split.values()) == {"validation": 10, "test": 10}


@pytest.mark.parametrize(("pairs", "clusters"), [(5_000, 0), (0, 50)])
def test_without_clusters_or_wish_none_is_held_out(pairs, clusters):
    table = sizes(dict.fromkeys(range(clusters), 4))
    assert splits(shortlist(table, HeldOut(pairs=pairs)), 6 * clusters, HeldOut(pairs=pairs)) == {}
