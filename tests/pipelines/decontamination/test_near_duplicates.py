import itertools

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination.near_duplicates import (
    KEYS_A_LEVEL,
    PRECEDENCE,
    REASONS,
    blocking_keys,
    find_leaks,
    level_of,
    sets_to_compare,
)
from pipelines.intermediate import LEAKS, MEMBERS
from pipelines.questions.aggregation import token_ids, word_ids
from schemas.hashing import bag_ids
from schemas.tables import with_nulls

WORDS = list("abcdefghijklmno")
questions = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), st.sampled_from(PRECEDENCE)), max_size=14
)


def members(rows):
    """Return MEMBERS of (words, split); the row's number is its question id."""
    keys = pa.array([" ".join(words) for words, _ in rows], pa.string())
    known = {
        "question_id": pa.array(range(len(rows)), pa.int64()),
        "token_ids": token_ids(keys),
        "bag_id": bag_ids(word_ids(keys)),
        "split": pa.array([split for _, split in rows], pa.string()),
    }
    return with_nulls(MEMBERS, known)


def compared(rows, least, shards=1):
    return pa.concat_tables(sets_to_compare(members(rows), least, shards))


def strongest(leaks):
    """Return (question, split) -> (reason, score), of several the first reason and its greatest score."""
    found = {}
    for row in leaks.to_pylist():
        of = (row["question_id"], PRECEDENCE[row["rank"]])
        found[of] = min(found.get(of, (99, 0)), (row["reason"], -row["score"]))
    return {of: (REASONS[reason], -score) for of, (reason, score) in found.items()}


def naive(rows, least):
    found = {}
    for (i, (one, split)), (two, other) in itertools.product(enumerate(rows), rows):
        if PRECEDENCE.index(other) >= PRECEDENCE.index(split):
            continue
        score = len(set(one) & set(two)) / len(set(one) | set(two))
        kind = "same_words" if sorted(one) == sorted(two) else "near_duplicate"
        if kind == "same_words" or (least < 1 and score >= least):
            verdict = (REASONS.index(f"{kind}_in_{other}"), -score)
            found[i, split] = min(found.get((i, split), verdict), verdict)
    return {of: (REASONS[reason], -score) for of, (reason, score) in found.items()}


@given(questions, st.sampled_from([0.8, 0.9, 1.0]))
def test_leaks_are_those_of_two_loops(rows, least):
    found = find_leaks(compared(rows, least), least)
    assert found.leaks.schema.equals(LEAKS)
    assert strongest(found.leaks) == naive(rows, least)


@given(questions, st.integers(1, 3), st.sampled_from([0.8, 0.9]))
def test_leaks_are_the_same_on_every_number_of_shards(rows, shards, least):
    sets = compared(rows, least, shards)
    parts = [find_leaks(sets.filter(pc.equal(sets["shard"], number)), least) for number in range(shards)]
    whole = find_leaks(compared(rows, least), least)
    assert set(sets["shard"].to_pylist()) <= set(range(shards))
    assert strongest(pa.concat_tables(part.leaks for part in parts)) == strongest(whole.leaks)
    assert sum(part.pairs for part in parts) == whole.pairs


@pytest.mark.parametrize(
    ("train", "held_out", "reason", "score"),
    [
        ("how far is it", "is it how far", "same_words_in_train", 1.0),
        ("how far is it", "how far far is it", "near_duplicate_in_train", 1.0),  # the same set, another bag
        ("a b c d e f g h i", "a b c d e f g h i j", "near_duplicate_in_train", 0.9),  # 9 of 10
        ("a b c d e f g h", "a b c d e f g h i", None, None),  # 8 of 9
    ],
)
def test_the_default_finds_another_order_and_one_word_of_ten(train, held_out, reason, score):
    rows = [(train.split(), "train"), (held_out.split(), "validation")]
    expected = {} if reason is None else {(1, "validation"): (reason, score)}
    assert strongest(find_leaks(compared(rows, 0.9), 0.9).leaks) == expected


def test_what_is_in_train_counts_before_what_is_in_test():
    rows = [(["a", "b", "b"], "train"), (["b", "a"], "test"), (["a", "b"], "validation")]
    leaks = strongest(find_leaks(compared(rows, 0.9), 0.9).leaks)
    assert leaks == {(1, "test"): ("near_duplicate_in_train", 1.0), (2, "validation"): ("near_duplicate_in_train", 1.0)}
    exact = strongest(find_leaks(compared(rows, 1), 1).leaks)
    assert exact == {(2, "validation"): ("same_words_in_test", 1.0)}


@given(st.sampled_from([1, 2, 4, 8]), st.integers(0, 8), st.integers(0, 2**31))
def test_sets_that_differ_in_few_words_are_compared(level, removed, seed):
    generator = np.random.default_rng(seed)
    words = np.unique(generator.integers(0, 10**9, 60))[:40]
    removed = min(removed, level)
    one = words[: 20 + removed]
    two = np.concatenate([words[removed : 20 + removed], words[30 : 30 + generator.integers(0, level - removed + 1)]])
    met = [
        set(np.concatenate(list(blocking_keys(w[None, :], level))).tolist()) for w in (one, generator.permutation(two))
    ]
    assert met[0] & met[1]


@pytest.mark.parametrize(("level", "words"), [(1, 9), (2, 19), (4, 28)])  # at .9 no fewer words differ in so many
def test_few_comparisons_are_in_vain_or_repeated(level, words):
    tokens = np.random.default_rng(3).integers(0, 10**6, (2_000, words))
    keys = list(blocking_keys(tokens, level))
    assert len(keys) <= KEYS_A_LEVEL
    assert all(len(np.unique(key)) > 0.99 * len(tokens) for key in keys)


def test_levels_are_powers_of_two():
    assert [level_of(most) for most in (1, 2, 3, 4, 5, 8, 9)] == [1, 2, 4, 4, 8, 8, 16]


def test_members_of_few_words_are_compared_in_one_place_only():
    rows = [(WORDS[:n], "train") for n in range(1, 12)]
    places = pc.list_parent_indices(compared(rows, 0.9)["blocking_keys"].combine_chunks())
    ids = compared(rows, 0.9)["question_id"].take(places).to_pylist()
    assert [ids.count(i) for i in range(11)] == [1] * 8 + [1 + 6] * 3


def test_the_words_of_a_long_question_are_copied_once_for_each_shard_and_not_for_each_key():
    sets = compared([([str(n) for n in range(900)], "test")], 0.9, shards=2)
    assert sets["token_ids"].null_count == 1  # the row by which equal sets are found
    assert sorted(sets.filter(pc.is_valid(sets["token_ids"]))["shard"].to_pylist()) == [0, 1]
    assert pc.sum(pc.list_value_length(sets["blocking_keys"])).as_py() > 100
