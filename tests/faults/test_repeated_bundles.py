import numpy as np
import pyarrow as pa

from jobs.workflows.worker_encoder import WorkerEncoder
from model.index.shard_builder import ShardBuilder
from model.index.shards import train
from pipelines.engine.shuffle import to_ipc
from pipelines.graphs.index import build_shard
from pipelines.writing.parquet import WriteTable
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.tables import INDEX_ROWS, TABLES


def stored(url):
    return {name: storage.read_bytes(f"{url}/{name}") for name in storage.children(url)}


def test_a_shard_written_twice_is_one_file(memory):
    rows = [{"stage": "size", "reason": r, "score": None, "payload": r * 3} for r in "cab"]
    table = pa.Table.from_pylist(rows, TABLES["rejected"]).append_column("shard_key", pa.array([7, 9, 11], pa.int64()))
    write = WriteTable(run_url=f"{memory}/run", table="rejected", key="shard_key", shards=2)._write
    first = write(table)
    before = stored(f"{memory}/run/rejected")
    # the engine may hand the rows over in another order when it tries again
    assert write(table.take([2, 0, 1])) == first
    assert stored(f"{memory}/run/rejected") == before
    assert list(before) == ["00001-of-00002.parquet"]  # 7, 9 and 11 are odd


def test_an_index_shard_built_twice_is_one_pair_of_files(memory, make_model):
    make_model(f"{memory}/model")
    digest = read_manifest(f"{memory}/model").digest
    rows = [
        {
            "question_id": 2 * n,
            "text": f"pay bill {n}",
            "answer": None,
            "cluster_id": None,
            "events": 1,
            "answer_id": None,
        }
        for n in range(9)
    ]
    table = pa.Table.from_pylist(rows).select(INDEX_ROWS.names).cast(INDEX_ROWS)
    trained = train("Flat", np.zeros((4, 8), np.float32))
    encode = WorkerEncoder(f"{memory}/model", digest)

    def write():
        return list(build_shard((9, to_ipc(table)), f"{memory}/run", 2, encode, ShardBuilder(8, "Flat"), trained))

    first = write()
    before = {name: stored(f"{memory}/run/{name}") for name in storage.children(f"{memory}/run")}
    assert write() == first
    assert {name: stored(f"{memory}/run/{name}") for name in storage.children(f"{memory}/run")} == before
    assert [len(files) for files in before.values()] == [1, 1]
