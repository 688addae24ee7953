import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination import character_grams
from pipelines.decontamination.character_grams import count_grams, gram_sets, prefixes
from pipelines.questions.token_frequencies import merge

COUNTS = 1_009
texts = st.text(st.sampled_from("abc é字😀"), max_size=12) | st.text(max_size=6)


@pytest.fixture(autouse=True, scope="module")
def few_counts():
    """Let many grams share a count."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(character_grams, "COUNTED", COUNTS)
        yield


def grams(text):
    return {text[i : i + 4] for i in range(max(len(text) - 3, 1))}


def jaccard(one, two):
    return len(grams(one) & grams(two)) / len(grams(one) | grams(two))


@given(st.lists(texts, max_size=8), st.integers(1, 40))
def test_sets_are_those_of_slices(keys, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(character_grams, "BLOCK_CHARACTERS", block)
        sets = gram_sets(pa.array(keys, pa.string())).to_pylist()
    assert all(found == sorted(set(found)) for found in sets)
    assert list(map(len, sets)) == [len(grams(key)) for key in keys]
    for (one, of_one), (two, of_two) in itertools.product(zip(keys, sets, strict=True), repeat=2):
        assert len({*of_one} & {*of_two}) == len(grams(one) & grams(two))


def test_a_part_of_an_array_has_the_sets_of_its_own_keys():
    keys = pa.array(["one question", "two", "three questions", "four"])
    assert gram_sets(keys.slice(1, 2)).to_pylist() == gram_sets(keys).to_pylist()[1:3]


@given(st.lists(texts, max_size=8), st.lists(texts, max_size=8))
def test_counts_of_parts_add_up_to_those_of_the_whole(some, others):
    parts = merge([count_grams(pa.array(part, pa.string())) for part in (some, others)])
    whole = count_grams(pa.array(some + others, pa.string()))
    assert parts.tokens.tolist() == whole.tokens.tolist()
    assert parts.frequencies.tolist() == whole.frequencies.tolist()
    assert whole.frequencies.sum() == sum(len(grams(key)) for key in some + others)
    assert whole.tokens.max(initial=0) < COUNTS


def placed(keys, least, counts):
    """Return the grams by which each key is compared."""
    found = prefixes(pa.array(keys, pa.string()), least, counts)
    return [set(found.gram[found.row == row].tolist()) for row in range(len(keys))]


@st.composite
def spellings(draw):
    """Draw texts of which some differ in few characters."""
    stem = draw(st.text(st.sampled_from("abcdefgh "), min_size=1, max_size=60))
    found = [stem]
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(stem)))
        added = draw(st.text(st.sampled_from("abxy "), max_size=2))
        found.append(stem[:at] + added + stem[at + draw(st.integers(0, 2)) :])
    return found


@given(spellings(), spellings(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_similar_keys_share_a_gram_of_their_prefixes(held_out, train, least):
    counts = count_grams(pa.array(held_out, pa.string()))
    ours, theirs = placed(held_out, least, counts), placed(train + held_out, least, counts)
    for (one, mine), (two, other) in itertools.product(
        zip(held_out, ours, strict=True), zip(train + held_out, theirs, strict=True)
    ):
        if jaccard(one, two) >= least:
            assert mine & other, (one, two)


@given(spellings())
def test_parities_differ_in_no_more_bits_than_sets_in_grams(keys):
    found = prefixes(pa.array(keys), 0.8, count_grams(pa.array(keys)))
    known = {
        row: (size, parity)
        for row, size, parity in zip(found.row, found.size, found.parity.view(np.uint64), strict=True)
    }
    for (i, one), (j, two) in itertools.product(enumerate(keys), repeat=2):
        assert known[i][0] == len(grams(one))
        assert np.bitwise_count(known[i][1] ^ known[j][1]) <= len(grams(one) ^ grams(two))


def test_few_grams_are_compared_and_none_that_only_train_has():
    held_out = ["how do i cancel my subscription", "where is the nearest bakery in town"]
    counts = count_grams(pa.array(held_out))
    assert [len(found) for found in placed(held_out, 0.9, counts)] == [3, 4]  # 28 and 32 grams
    compared = placed([f"when was the {thing} invented in europe" for thing in ("wheel", "car", "bus")], 0.9, counts)
    assert sum(map(len, compared)) == 0


def test_rare_grams_are_compared_before_frequent_ones():
    held_out = [f"what is the capital of {name}" for name in ("france", "norway", "peru", "chad")]
    found = placed(held_out, 0.9, count_grams(pa.array(held_out)))
    assert not set.intersection(*found)
    assert sum(map(len, found)) == len(set().union(*found))


def test_a_frequent_gram_has_the_count_that_fits():
    counts = merge([count_grams(pa.array(["same words"] * 70_000)), count_grams(pa.array(["other words"]))])
    assert counts.frequencies.max() >= 70_001
    assert all(placed(["same words", "other words"], 0.9, counts))


def test_no_key_has_no_gram():
    nothing = pa.array([], pa.string())
    assert gram_sets(nothing).to_pylist() == []
    assert [len(column) for column in prefixes(nothing, 0.9, count_grams(nothing))] == [0] * 4
    assert count_grams(nothing).tokens.dtype == np.int64
