import itertools
import random

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.decontamination import similar_spellings
from pipelines.decontamination.near_duplicates import PRECEDENCE, REASONS
from pipelines.decontamination.similar_spellings import (
    count_held_out,
    find_similar_spellings,
    place_spellings,
    spellings,
)
from pipelines.intermediate import LEAKS, MEMBERS, SPELLINGS
from pipelines.questions.token_frequencies import merge
from schemas.tables import with_nulls
from schemas.text import key

WORDS = ["where", "is", "the", "capital", "root", "of", "31", "3", "cards", "card", "é"]


@st.composite
def questions(draw):
    """Draw (text, split) of which some differ in few characters."""
    rows = []
    for _ in range(draw(st.integers(0, 4))):
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)))
        for _ in range(draw(st.integers(1, 4))):
            at = draw(st.integers(0, len(text)))
            edited = text[:at] + draw(st.sampled_from(["", "s", "?", "1 "])) + text[at + draw(st.integers(0, 1)) :]
            rows.append((edited, draw(st.sampled_from(PRECEDENCE))))
    return rows


def members(rows):
    columns = {
        "question_id": pa.array(range(len(rows)), pa.int64()),
        "text": pa.array([text for text, _ in rows], pa.string()),
        "split": pa.array([split for _, split in rows], pa.string()),
    }
    return with_nulls(MEMBERS, columns)


def grams(text):
    spelled = key(text)
    return {spelled[i : i + 4] for i in range(max(len(spelled) - 3, 1))}


def brute_force(rows, least):
    """Return (row, split, reason, highest Jaccard index) by two loops."""
    found = {}
    for (number, (one, split)), (two, other) in itertools.product(enumerate(rows), rows):
        score = len(grams(one) & grams(two)) / len(grams(one) | grams(two))
        if PRECEDENCE.index(other) < PRECEDENCE.index(split) and score >= least:
            place = (number, split, f"similar_spelling_in_{other}")
            found[place] = max(score, found.get(place, 0))
    return {(*place, score) for place, score in found.items()}


def place(tables, least, held_out, shards=1):
    placed = [part for table in tables for part in place_spellings(table, least, held_out, shards)]
    assert all(part.schema.equals(SPELLINGS) for part in placed)
    return pa.concat_tables([SPELLINGS.empty_table(), *placed])


def found_in(leaks):
    assert leaks.schema.equals(LEAKS)
    return {(r["question_id"], PRECEDENCE[r["rank"]], REASONS[r["reason"]], r["score"]) for r in leaks.to_pylist()}


@given(questions(), st.sampled_from([1, 3]), st.sampled_from([0.8, 0.9, 0.95]))
@example([("where where", "train"), ("swhere where", "train"), ("where where", "test")], 1, 0.8)
def test_leaks_are_those_of_two_loops(rows, shards, least):
    tables = [spellings(members(rows)).slice(start, 5) for start in range(0, max(len(rows), 1), 5)]
    held_out = merge(map(count_held_out, tables))
    placed = place(tables, least, held_out, shards)
    parts = [find_similar_spellings(placed.filter(pc.equal(placed["shard"], n)), least) for n in range(shards)]
    assert found_in(pa.concat_tables(part.leaks for part in parts)) == brute_force(rows, least)


def test_questions_of_train_that_are_unlike_all_held_out_are_not_compared():
    rows = [("What is the square root of 31?", "validation"), ("What is the square root of 3", "train")]
    rows += [(f"Why was machine number {n} repaired?", "train") for n in range(100, 150)]
    table = spellings(members(rows))
    placed = place([table], 0.9, count_held_out(table))
    assert set(placed["question_id"].to_pylist()) == {0, 1}
    found = find_similar_spellings(placed, 0.9)
    assert found_in(found.leaks) == {(0, "validation", "similar_spelling_in_train", 25 / 26)}
    assert found.pairs <= 3


def test_questions_as_similar_as_the_limit_are_near_duplicates():
    table = spellings(members([("abcdefghijk", "train"), ("abcdefghijkl", "test")]))  # 8 of 9 grams in common
    [leak] = find_similar_spellings(place([table], 8 / 9, count_held_out(table)), 8 / 9).leaks.to_pylist()
    assert leak["score"] == 8 / 9


def test_without_questions_held_out_nothing_is_compared():
    table = spellings(members([("what is the square root of 3", "train")] * 3))
    assert not list(place_spellings(table, 0.9, count_held_out(table)))
    assert find_similar_spellings(SPELLINGS.empty_table(), 0.9).pairs == 0


def test_a_long_question_is_copied_once_for_each_shard_and_not_for_each_gram():
    chance = random.Random(2)
    texts = [" ".join(str(chance.random()) for _ in range(300)) for _ in range(4)]
    table = spellings(members([(text, "test") for text in texts]))
    placed = place([table], 0.9, count_held_out(table), shards=2)
    assert sorted(placed["question_id"].to_pylist()) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert placed.nbytes < 4 * table.nbytes
    assert sum(map(len, placed["blocking_keys"].to_pylist())) > 400


def test_two_long_questions_with_many_grams_in_common_are_compared_exactly_once(monkeypatch):
    compared = []
    exact = similar_spellings.jaccard
    monkeypatch.setattr(similar_spellings, "jaccard", lambda one, *rest: compared.append(len(one)) or exact(one, *rest))
    chance = random.Random(2)
    text = " ".join(str(chance.random()) for _ in range(300))
    table = spellings(members([(text, "train"), (f"{text} 1", "test"), (f"{text} 2", "validation")]))
    found = find_similar_spellings(place([table], 0.9, count_held_out(table)), 0.9)
    assert len(found.leaks) == 3
    assert found.pairs > 100 > sum(compared) == 3
