import collections
import itertools

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as Pipeline
from apache_beam.testing.util import assert_that

from pipelines.engine.shuffle import concatenate, split_by_shard
from pipelines.intermediate import NEIGHBOURS
from pipelines.neighbours import described, join, pairs, similarity
from pipelines.neighbours.described import describe
from pipelines.neighbours.embeddings import with_vectors
from pipelines.neighbours.nearest import exact_nearest
from pipelines.neighbours.pairs import merge_nearest, parts_of_questions
from pipelines.neighbours.transform import FindNeighbours
from pipelines.questions.token_frequencies import count_tokens
from schemas import tables

FRAMES = ["who wrote the {} book", "when was the {} tower built", "the {} author", "how tall is {}", "{} opening hours"]
NAMES = [f"{a}{b}" for a in ("mar", "lon", "gris", "vel") for b in ("ville", "ton", "ham", "wick", "ford")]
ANSWERS = [
    *([frame.format(name) for frame in FRAMES[: 2 + n % 3]] for n, name in enumerate(NAMES)),
    [frame.format(name) for frame in FRAMES for name in NAMES[::3]],
    ["what is this", "???", "!!"],
    ["who"],
]


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


def by_shard(tables, key, shards):
    parts = collections.defaultdict(list)
    for table in tables:
        for shard, part in split_by_shard(table, key, shards):
            parts[shard].append(part)
    return [concatenate(several) for several in parts.values()]


def in_memory(members, weights, *, k, shards):
    """Return the sorted rows of the steps of the transform."""
    described = [describe(table, weights) for table in by_shard([members], "answer_id", shards)]
    placed = [table for part in described for table in join.place_in_shards(part.keyed, weights, shards=shards)]
    met = by_shard(placed, "shard", shards)
    found = [table for part in described for table in join.nearest_of_answers(part, weights, k=k)]
    found += [table for part in met for table in join.compare_placed(part, weights, k=k, shards=shards)]
    grouped = [part for table in by_shard(found, "question_id", shards) for part in parts_of_questions(table)]
    return sorted(row for part in grouped for row in tuples(merge_nearest(part, k)))


def tuples(table):
    assert table.schema == NEIGHBOURS
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def letters(texts):
    """Return vectors that count pairs of letters; stands for an encoder."""
    counts = np.zeros((len(texts), 64), np.float32)
    for row, text in enumerate(texts.to_pylist()):
        for one, two in itertools.pairwise(text):
            counts[row, (31 * ord(one) + ord(two)) % 64] += 1
    return counts


@pytest.fixture(params=["words", "vectors"])
def log(members_of, request):
    members = members_of(*ANSWERS)
    weights = count_tokens(members["token_ids"])
    return with_vectors(members, letters) if request.param == "vectors" else members, weights


@pytest.fixture
def joined(monkeypatch):
    monkeypatch.setattr(join, "FEW", 0)


@pytest.mark.parametrize("shards", [1, 3])
def test_the_neighbours_in_a_small_log_are_exact(log, shards):
    assert in_memory(*log, k=3, shards=shards) == sorted(tuples(exact_nearest(*log, k=3)))


@pytest.mark.parametrize("shards", [2, 5, 64])
def test_the_number_of_shards_changes_nothing(log, joined, shards):
    assert in_memory(*log, k=3, shards=shards) == in_memory(*log, k=3, shards=1)


def test_the_order_of_the_rows_changes_nothing(log, joined):
    members, weights = log
    shuffled = members.take(pa.array(np.random.default_rng(0).permutation(len(members))))
    assert in_memory(shuffled, weights, k=3, shards=3) == in_memory(members, weights, k=3, shards=3)


def test_neither_slices_nor_many_rows_change_the_result(log, joined, monkeypatch):
    expected = in_memory(*log, k=3, shards=2)
    monkeypatch.setattr(join, "AT_A_TIME", 7)
    monkeypatch.setattr(join, "QUESTIONS_A_PART", 3)
    monkeypatch.setattr(join, "MERGED_FROM", 0.5)
    monkeypatch.setattr(join, "PLACED_AT_ONCE", 4)
    monkeypatch.setattr(tables, "TAKEN_BYTES", 30)
    monkeypatch.setattr(described, "_AT_ONCE", 5)
    monkeypatch.setattr(similarity, "_ROWS_AT_A_TIME", 2)
    monkeypatch.setattr(pairs, "ROWS_A_PART", 5)
    monkeypatch.setattr(pairs, "_LARGEST", 8)
    monkeypatch.setattr(pairs, "_keep_nearest_of_many", counted := Counted(pairs._keep_nearest_of_many))
    assert in_memory(*log, k=3, shards=2) == expected
    assert counted.calls


@pytest.mark.parametrize("few", [0, 5_000])
@pytest.mark.parametrize("shards", [1, 3])
def test_the_transform_groups_what_its_steps_find(log, monkeypatch, few, shards):
    monkeypatch.setattr(join, "FEW", few)
    members, weights = log
    expected = in_memory(members, weights, k=2, shards=shards)

    def check(tables):
        assert sorted(row for table in tables for row in tuples(table)) == expected
        questions = [set(table["question_id"].to_pylist()) for table in tables]
        assert sum(map(len, questions)) == len(set().union(*questions))

    with Pipeline(runner="FnApiRunner") as pipeline:
        rows = pipeline | "Members" >> beam.Create(by_shard([members], "answer_id", 4))
        counted = pipeline | "Weights" >> beam.Create([weights])
        assert_that((rows, counted) | FindNeighbours(2, shards), check)


def test_the_join_finds_most_of_the_nearest(log, joined):
    exact, found = set(tuples(exact_nearest(*log, k=3))), set(in_memory(*log, k=3, shards=2))
    least = 0.5 if "vector" in log[0].column_names else 0.8  # near vectors need not share a rare word
    assert len(exact & found) > least * len(exact)


def test_all_similarities_are_exact(log, joined):
    exact = {row[:4]: row[4] for row in tuples(exact_nearest(*log, k=1000))}
    found = {row[:4]: row[4] for row in in_memory(*log, k=3, shards=2)}
    assert found
    assert found.items() <= exact.items()


def test_questions_alone_in_their_answer_are_neighbours_only(members_of, joined):
    members = members_of(["the blue tower"], ["the blue book", "the blue door"])
    found = in_memory(members, count_tokens(members["token_ids"]), k=3, shards=2)
    assert {row[1] for row in found} == {1}
    assert {row[3] for row in found} == {0, 1}


@pytest.mark.parametrize("few", [0, 5_000])
@pytest.mark.parametrize("answers", [[], [["one question"]], [["??", "!!"]], [["a b"], ["a b", "???"]]])
def test_nothing_to_compare_gives_no_neighbours(members_of, monkeypatch, answers, few):
    monkeypatch.setattr(join, "FEW", few)
    members = members_of(*answers)
    assert in_memory(members, count_tokens(members["token_ids"]), k=3, shards=2) == []
