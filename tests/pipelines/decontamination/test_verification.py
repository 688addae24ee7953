import itertools

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decontamination import verification as leakage_check
from pipelines.decontamination.near_duplicates import PRECEDENCE
from pipelines.decontamination.verification import (
    CheckLeakage,
    count_leaks,
    prefix_keys,
    questions_of,
    sets_to_check,
)
from pipelines.intermediate import SETS
from pipelines.questions.token_frequencies import count_tokens, merge
from pipelines.writing.parquet import to_parquet
from pipelines.writing.reported import Written
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import write_file
from schemas.errors import QprError
from schemas.text import hash64, key, words

WORDS = list("abcdefghijklmno")
questions = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join), st.sampled_from(PRECEDENCE)),
    max_size=12,
)


def asked(rows):
    return pa.table(
        {
            "question_id": pa.array([hash64(key(text)) for text, _ in rows], pa.int64()),
            "rank": pa.array([PRECEDENCE.index(split) for _, split in rows], pa.int8()),
            "text": pa.array([text for text, _ in rows], pa.string()),
        }
    )


def weights(rows):
    return count_tokens(
        pa.array([[hash64(w) for w in set(words(key(text)))] for text, _ in rows], pa.list_(pa.int64()))
    )


def compared(rows, least, weighed, shards=1):
    return pa.concat_tables([SETS.empty_table(), *sets_to_check(asked(rows), least, weighed, shards)])


def leaks(rows, least):
    """Tell whether two loops find a question with its like in an earlier split."""
    for (one, split), (two, other) in itertools.product(rows, rows):
        if PRECEDENCE.index(other) >= PRECEDENCE.index(split) or (least == 0 and other != "train"):
            continue
        a, b = words(key(one)), words(key(two))
        if key(one) == key(two) or (least and sorted(a) == sorted(b)):
            return True
        if 0 < least < 1 and len({*a} & {*b}) / len({*a} | {*b}) >= least:
            return True
    return False


@given(questions, st.sampled_from([0, 0.8, 0.9, 1]))
def test_the_check_finds_a_leak_exactly_if_two_loops_do(rows, least):
    found = count_leaks(compared(rows, least, weights(rows)), least)
    assert (found["leakage.check.found"] > 0) == leaks(rows, least)


@given(questions, st.integers(2, 4), st.sampled_from([0, 0.8, 1]))
def test_the_check_compares_the_same_pairs_on_every_number_of_shards(rows, shards, least):
    whole = count_leaks(compared(rows, least, weights(rows)), least)
    sets = compared(rows, least, weights(rows), shards)
    parts = [count_leaks(sets.filter(pc.equal(sets["shard"], shard)), least) for shard in range(shards)]
    assert (sum(part["leakage.check.found"] for part in parts) > 0) == (whole["leakage.check.found"] > 0)
    pairs = "leakage.check.compared.pairs_of_sets"
    assert sum(part[pairs] for part in parts) == whole[pairs]


@given(questions)
def test_weights_decide_how_much_is_compared_and_not_what_is_found(rows):
    one = count_leaks(compared(rows, 0.8, weights(rows)), 0.8)
    other = count_leaks(compared(rows, 0.8, merge([])), 0.8)
    assert (one["leakage.check.found"] > 0) == (other["leakage.check.found"] > 0)


@pytest.mark.parametrize("long", [3, 8, 12, 30])  # below, among and above the sizes of these sets
@given(least=st.sampled_from([0.8, 0.85, 0.9]), size=st.integers(7, 14), seed=st.integers(0, 2**31))
def test_similar_sets_share_a_group_whether_long_or_short(long, least, size, seed):
    generator = np.random.default_rng(seed)
    one = set(generator.choice(40, size, replace=False).tolist())
    two = set(one)
    while True:
        two ^= {int(generator.integers(0, 40))}
        if not two or len(one & two) / len(one | two) < least:
            break
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(leakage_check, "LONG", long)
            met = [set(np.concatenate(list(prefix_keys(np.array([sorted(s)]), least))).tolist()) for s in (one, two)]
        assert met[0] & met[1]


def test_questions_of_clusters_have_the_rank_of_their_split():
    clusters = pa.table({"split": ["test", "train"], "question_ids": [[1, 2], [3]], "texts": [["a", "b"], ["c"]]})
    assert questions_of(clusters).to_pylist() == [
        {"question_id": 1, "rank": 1, "text": "a"},
        {"question_id": 2, "rank": 1, "text": "b"},
        {"question_id": 3, "rank": 0, "text": "c"},
    ]


@pytest.fixture
def written(memory, make_training_data):
    """Return the dataset's URL and a function that gives the Written of its clusters."""
    clusters = [
        ("train", ["pay my bill", "pay bill"]),
        ("test", ["bill my pay", "who"]),
        ("validation", ["ring", "me"]),
    ]
    url = make_training_data(f"{memory}/dataset", clusters)
    dataset = open_dataset(url)
    run_url = f"{url}/{dataset.manifest.run_id}"
    table = dataset.table("clusters")
    parts = [table.slice(i, 1) for i in range(3)]
    return url, [
        Written(write_file(run_url, f"clusters/{i}.parquet", to_parquet(p, "clusters"), table="clusters"), {})
        for i, p in enumerate(parts)
    ]


@pytest.mark.parametrize(("least", "found"), [(0, 0), (0.9, 1), (1, 1)])
def test_the_transform_reads_what_was_written(written, least, found):
    url, files = written
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        weighed = pipeline | "Weights" >> beam.Create([merge([])])
        clusters = pipeline | "Files" >> beam.Create([*files, Written(None, {})])
        counted = (
            (clusters, weighed)
            | CheckLeakage(least, 2, url)
            | beam.FlatMap(lambda one: one.counts.items())
            | beam.CombinePerKey(sum)
            | beam.Filter(lambda count: not count[0].endswith("pairs_of_sets"))
        )
        compared = {f"leakage.check.compared.{split}": 2 for split in PRECEDENCE}
        assert_that(counted, equal_to(list((compared | {"leakage.check.found": found}).items())))


def test_a_file_that_changed_since_is_not_believed(written):
    url, files = written
    changed = files[0].file.model_copy(update={"sha256": "0" * 64})
    with pytest.raises(QprError, match="does not match"):
        list(leakage_check._read(Written(changed, {}), url))
