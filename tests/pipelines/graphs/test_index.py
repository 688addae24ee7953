import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.engine.runner import parse_options, run
from pipelines.graphs import index
from pipelines.graphs.index import ShardedQuestions, build
from pipelines.reading import parquet
from pipelines.reading.index_inputs import question_files
from pipelines.reading.sources import expand
from pipelines.writing.run_report import read_report
from schemas.artifacts import storage
from schemas.artifacts.writer import Output
from schemas.text import question_id


class JsonShards:
    """Shards as JSON: the sample's vectors, the number of questions and a shard's own vectors."""

    def in_sample(self, question_ids, questions):
        return question_ids % 2 == 0

    def train(self, vectors, questions):
        return json.dumps([vectors.tolist(), questions]).encode()

    def build(self, trained, vectors):
        return json.dumps([*json.loads(trained), np.concatenate([*vectors]).tolist()]).encode()


def lengths(texts):
    return np.array([[len(text)] for text in texts.to_pylist()], np.float32)


@pytest.mark.parametrize("shards", [1, 2])
def test_any_encoder_and_shard_builder_will_do_and_all_shards_share_one_training(tmp_path, shards):
    texts = [f"pay bill {'x' * n}" for n in range(9)]
    (tmp_path / "a.csv").write_text("question\n" + "\n".join([*texts, "PAY BILL x", "?"]) + "\n")
    inputs = question_files([str(tmp_path / "a.csv")], {}, files_of=lambda url: expand([url]))
    output = Output(str(tmp_path / "i"), "index")
    sharded = ShardedQuestions(inputs.files, shards, lengths, JsonShards())
    run(lambda pipeline: build(pipeline, run_url=output.run_url, sharded=sharded), parse_options([]))
    report = read_report(output)
    counted = {f"questions_{name}": report.counters[f"questions_{name}"] for name in ("read", "indexed", "merged")}
    assert counted == {"questions_read": 11, "questions_indexed": 9, "questions_merged": 1}
    assert report.counters["rejected_validate_no_word"] == 1
    contents = [json.loads(storage.read_bytes(f"{output.url}/{f.path}")) for f in report.files if f.table == "shards"]
    by_id = sorted(texts, key=question_id)
    sample = [[len(text)] for text in by_id if question_id(text) % 2 == 0]
    expected = [[len(t) for t in by_id if question_id(t) % shards == n] for n in range(shards)]
    assert all(content[:2] == [sample, 9] for content in contents)
    assert sorted([row for [row] in content[2]] for content in contents) == sorted(filter(None, expected))


def test_workers_read_a_parquet_file_by_its_row_groups(tmp_path, monkeypatch):
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"question": [f"pay bill {n}" for n in range(40)]}), path, row_group_size=10)
    inputs = question_files([path], {}, files_of=lambda url: expand([url]))
    sharded = ShardedQuestions(inputs.files, 2, lengths, JsonShards())
    parts = []
    read = index.read_questions
    monkeypatch.setattr(index, "read_questions", lambda file: parts.append(file.source.groups) or read(file))

    def build_index(name, part_bytes):
        monkeypatch.setattr(parquet, "PART_BYTES", part_bytes)
        output = Output(str(tmp_path / name), "index")
        run(lambda pipeline: build(pipeline, run_url=output.run_url, sharded=sharded), parse_options([]))
        report = read_report(output)
        return {file.path.split("/", 1)[1]: file.sha256 for file in report.files}, report.counters

    assert build_index("whole", 2**30) == build_index("divided", 1)
    assert sorted(parts) == [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]
