import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output
from schemas.errors import QprError, UsageError
from schemas.tables import QUESTIONS, conform


def questions(*ids, split="train"):
    n = len(ids)
    columns = {"question_id": ids, "key": ["k"] * n, "text": ["t"] * n, "events": [1] * n, "split": [split] * n}
    nulls = {field.name: pa.nulls(n, field.type) for field in QUESTIONS if field.name not in columns}
    return conform(pa.table({**columns, **nulls}), QUESTIONS)


def publish(url, *tables):
    output = Output(url, "dataset")
    files = []
    for i, table in enumerate(tables):
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink)
        content = sink.getvalue().to_pybytes()
        files.append(output.write(f"questions/{i:05d}.parquet", content, table="questions", rows=len(table)))
    return output.publish(files, inputs=[], configuration={}, counters={})


def test_a_table_is_its_files_in_order_with_the_documented_columns(memory):
    publish(memory, questions(5, 1), questions(3, split="test"))
    dataset = open_dataset(memory)
    table = dataset.table("questions")
    assert table.schema.equals(QUESTIONS)
    assert table["question_id"].to_pylist() == [5, 1, 3]
    assert [len(part) for part in dataset.parts("questions")] == [2, 1]


def test_a_dataset_of_an_earlier_release_has_no_ids_of_answers(memory):
    publish(memory, questions(5, 1).drop_columns("answer_id"))
    assert open_dataset(memory).table("questions").equals(questions(5, 1))


def test_columns_and_split_choose_what_is_read(memory):
    publish(memory, questions(5, 1), questions(3, split="test"))
    dataset = open_dataset(memory)
    assert dataset.table("questions", columns=["question_id"], split="test").to_pydict() == {"question_id": [3]}
    assert dataset.table("questions", columns=["split", "question_id"]).column_names == ["split", "question_id"]
    assert len(dataset.table("questions", split="validation")) == 0


def test_a_table_without_files_is_empty_and_has_its_columns(memory):
    publish(memory, questions(1))
    pairs = open_dataset(memory).table("pairs", columns=["text_1"])
    assert pairs.to_pydict() == {"text_1": []}


def test_only_files_of_the_manifest_are_read(memory):
    manifest = publish(memory, questions(1))
    storage.write_bytes(storage.join(memory, manifest.run_id, "questions", "99999.parquet"), b"litter")
    assert len(open_dataset(memory).table("questions")) == 1


def test_a_damaged_file_is_not_read(memory):
    manifest = publish(memory, questions(1))
    place = storage.join(memory, manifest.files[0].path)
    content = bytearray(storage.read_bytes(place))
    content[10] ^= 1
    storage.write_bytes(place, bytes(content))
    with pytest.raises(QprError, match="does not match the manifest"):
        open_dataset(memory).table("questions")


def test_a_model_is_no_dataset(memory):
    Output(memory, "model").publish([], inputs=[], configuration={}, counters={})
    with pytest.raises(QprError, match="holds a model, not a dataset"):
        open_dataset(memory)


def test_a_dataset_is_opened_at_a_path(tmp_path):
    publish(str(tmp_path / "dataset"), questions(5, 1))
    assert open_dataset(tmp_path / "dataset") == open_dataset(str(tmp_path / "dataset"))
    assert repr(open_dataset(tmp_path / "dataset")) == f"Dataset(url={str(tmp_path / 'dataset')!r})"
    for other in (None, 5, b"dataset"):
        with pytest.raises(UsageError, match="a path has to be a str or a Path"):
            open_dataset(other)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "question"}, "'question': is no table. Give one of questions, clusters"),
        ({"name": None}, "'None': is no table"),
        ({"name": "questions", "columns": ["texts"]}, "'texts': is no column of questions. Give one of question_id"),
        ({"name": "questions", "columns": "text"}, "'t': is no column"),
        ({"name": "questions", "split": "training"}, "'training': is no split. Give one of train"),
        ({"name": "rejected", "split": "train"}, "'split': is no column of rejected"),
    ],
)
def test_a_name_that_no_dataset_has_is_wrong_usage(memory, given, message):
    publish(memory, questions(5))
    with pytest.raises(UsageError, match=message):
        open_dataset(memory).table(**given)
