import io

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.engine.runner import parse_options, run
from pipelines.intermediate import NAMED_QUESTIONS
from pipelines.writing import parquet
from pipelines.writing.parquet import ORDER, WriteTable, count, to_parquet
from pipelines.writing.rejected_table import WriteRejects, count_equal
from pipelines.writing.reported import Written
from schemas.artifacts import storage
from schemas.tables import CLUSTERS, PAIRS, QUESTIONS, REJECTED, TABLES, conform, with_nulls
from tests.support.encoded_texts import allocations

PAIR_ROWS = st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=12, unique=True)
SCORED_PAYLOADS = st.tuples(st.sampled_from("ab"), st.sampled_from((None, 1.0, 2.0)))


def pairs(rows):
    columns = {
        "cluster_id": [r[0] for r in rows],
        "question_id_1": [r[1] for r in rows],
        "question_id_2": [r[2] for r in rows],
    }
    return conform(pa.table({**columns, "text_1": ["é"] * len(rows), "text_2": ["b"] * len(rows)}), PAIRS)


def rejected(rows):
    stages, reasons, payloads = zip(*rows, strict=True)
    columns = {"shard_key": [0] * len(rows), "stage": stages, "reason": reasons, "payload": payloads}
    return pa.table({**columns, "score": pa.nulls(len(rows), pa.float64())})


def writer(url, shards=1, part=""):
    return WriteTable(run_url=url, table="pairs", key="cluster_id", shards=shards, part=part)


@given(PAIR_ROWS, st.randoms())
def test_shuffled_rows_give_the_same_bytes(memory, rows, random):
    first = writer(memory)._write(pairs(rows)).file
    assert writer(memory)._write(pairs(random.sample(rows, len(rows)))).file == first
    content = storage.read_bytes(storage.join(memory, "pairs/00000-of-00001.parquet"))
    assert [
        tuple(r.values()) for r in pq.read_table(io.BytesIO(content), columns=ORDER["pairs"]).to_pylist()
    ] == sorted(rows)


@given(st.lists(SCORED_PAYLOADS, min_size=1, max_size=9), st.randoms())
def test_shuffled_rejects_that_differ_in_their_score_alone_give_the_same_bytes(memory, rows, random):
    def written(of_rows):
        payloads, scores = zip(*of_rows, strict=True)
        table = rejected([("privacy", "too_few_users", payload) for payload in payloads])
        table = table.set_column(table.column_names.index("score"), "score", pa.array(scores, pa.float64()))
        return WriteRejects(memory, 1)._write(count_equal(table)).file

    assert written(random.sample(rows, len(rows))) == written(rows)


def test_a_bundle_that_runs_twice_leaves_one_file(memory):
    run_url = storage.join(memory, "run")
    one, two = (writer(run_url, part="train-", shards=4)._write(pairs([(5, 1, 2)])) for _ in range(2))
    assert one == two
    assert one.file.path == "run/pairs/train-00001-of-00004.parquet"  # 5 % 4
    assert storage.children(storage.join(run_url, "pairs")) == ["train-00001-of-00004.parquet"]


def test_the_file_documents_its_schema_and_the_entry_in_the_manifest(memory):
    file = writer(memory)._write(pairs([(5, 1, 2), (5, 1, 3)])).file
    content = storage.read_bytes(storage.join(memory, "pairs/00000-of-00001.parquet"))
    assert (file.rows, file.bytes, file.table) == (2, len(content), "pairs")
    assert pq.read_schema(io.BytesIO(content)).equals(PAIRS, check_metadata=True)


def test_every_table_has_an_order_and_what_is_written_is_read_back():
    assert set(ORDER) == set(TABLES)
    for name, schema in TABLES.items():
        assert set(ORDER[name]) <= set(schema.names)
        assert pq.read_table(io.BytesIO(to_parquet(schema.empty_table(), name))).schema.equals(schema)


@given(st.lists(st.none() | st.sampled_from(["a", "b" * 50, "é"]), max_size=20), st.integers(1, 200))
def test_an_encoded_column_is_stored_as_its_texts_are(answers, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "GROUP_BYTES", limit)
        rows = {"question_id": range(len(answers)), "key": ["k"] * len(answers), "answer": answers}
        plain = with_nulls(QUESTIONS, {name: pa.array(values) for name, values in rows.items()} | blank(len(answers)))
        content = to_parquet(plain.cast(NAMED_QUESTIONS), "questions")
        assert content == to_parquet(plain, "questions")
    assert pq.read_table(io.BytesIO(content)).equals(plain, check_metadata=True)
    groups = pq.ParquetFile(io.BytesIO(content))
    for number in range(groups.num_row_groups):
        group = groups.read_row_group(number)
        held = sum(len((text or "").encode()) for name in ("key", "text", "answer") for text in group[name].to_pylist())
        assert len(group) < 2 or held <= limit


def blank(rows):
    return {"text": pa.array(["t"] * rows, pa.string()), "events": pa.array([1] * rows, pa.int64())}


def test_the_texts_of_a_column_are_not_all_in_memory_while_it_is_written(monkeypatch):
    monkeypatch.setattr(parquet, "GROUP_BYTES", 2**20)
    rows = 2_000
    answers = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 50_000]))
    ids = pa.array(range(rows), pa.int64())
    columns = {"question_id": ids, "key": ids.cast("string"), "answer": answers}
    table = with_nulls(NAMED_QUESTIONS, columns | blank(rows))
    with allocations() as held:
        content = to_parquet(table, "questions")
    assert held.max_memory() < 2**24  # of 100 MB
    assert pq.ParquetFile(io.BytesIO(content)).metadata.num_rows == rows


def test_the_engine_writes_one_file_a_shard(memory):
    tables = [pairs([(4, 1, 2)]), pairs([(7, 1, 2), (1, 1, 2)])]  # shards 1 (of 3) ... 4 % 3 = 7 % 3 = 1
    tables = [pairs([(4, 1, 2), (7, 1, 2)]), pairs([(-1, 1, 2)])]  # 4 % 3 = 7 % 3 = 1; -1 % 3 = 2
    run(
        lambda pipeline: pipeline | beam.Create(tables, reshuffle=False) | writer(memory, shards=3, part="test-"),
        parse_options([]),
    )
    names = storage.children(storage.join(memory, "pairs"))
    assert names == ["test-00001-of-00003.parquet", "test-00002-of-00003.parquet"]


def test_a_column_that_is_missing_is_a_defect_that_is_named(memory):
    with pytest.raises(ValueError, match="missing column text_1"):
        writer(memory)._write(pairs([(1, 2, 3)]).drop("text_1"))


def test_counts_of_each_table():
    questions = pa.table({"events": [3, 4], "cluster_id": pa.array([1, None])})
    assert count("questions", questions, "") == {"events": 7, "questions": 2, "questions_in_clusters": 1}
    assert count("clusters", pa.table({"size": [2, 5]}), "test") == {"clusters_test": 2, "members_test": 7}
    assert count("pairs", pa.table({"cluster_id": [1]}), "train") == {"pairs_train": 1}
    lost = rejected([("read", "ragged_row", "a"), ("validate", "no_word", "b"), ("size", "single_question", "c")])
    assert count("rejected", conform(lost, REJECTED), "") == {
        "rows_rejected": 2,
        "members_rejected": 1,
        "rejected_read_ragged_row": 1,
        "rejected_validate_no_word": 1,
        "rejected_size_single_question": 1,
    }
    assert Written(None, {}).file is None
    assert set(QUESTIONS.names) >= set(questions.column_names)
    assert "size" in CLUSTERS.names
