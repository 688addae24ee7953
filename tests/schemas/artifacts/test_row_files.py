import gzip
import json
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from pipelines.simulation.generator import LOG, simulate_log
from pipelines.simulation.settings import Simulation
from schemas.artifacts import storage
from schemas.artifacts.row_files import format_of, write_rows
from schemas.errors import QprError, UsageError

SIMULATION = Simulation(events=50)
EXPECTED = pa.concat_tables(simulate_log(SIMULATION))


def unpacked(path: str) -> bytes:
    content = storage.read_bytes(path)
    if path.endswith(".gz"):
        return gzip.decompress(content)
    if path.endswith(".zst"):
        return pa.CompressedInputStream(pa.BufferReader(content), "zstd").read()
    return content


def questions_and_golds(path: str) -> list[tuple[str, int]]:
    content, (suffix, _) = unpacked(path), format_of(path)
    if suffix == ".parquet":
        table = pq.read_table(pa.BufferReader(content))
        assert table.schema.equals(LOG)
        rows = table.to_pylist()
    elif suffix == ".jsonl":
        rows = [json.loads(line) for line in content.decode().splitlines()]
        assert list(rows[0]) == LOG.names
    else:
        delimiter = "\t" if suffix == ".tsv" else ","
        rows = pacsv.read_csv(
            pa.BufferReader(content), parse_options=pacsv.ParseOptions(delimiter=delimiter)
        ).to_pylist()
    return [(row["question"], row["gold_cluster"]) for row in rows]


@pytest.mark.parametrize(
    "suffix", ["parquet", *(f"{s}{c}" for s in ("jsonl", "csv", "tsv") for c in ("", ".gz", ".zst"))]
)
def test_what_is_written_reads_back_and_is_the_same_bytes_again(tmp_path, suffix):
    first, second = (str(tmp_path / folder / f"log.{suffix}") for folder in ("a", "b"))
    for path in (first, second):
        assert write_rows(simulate_log(SIMULATION), path, schema=LOG) == 50
    assert questions_and_golds(first) == [(r["question"], r["gold_cluster"]) for r in EXPECTED.to_pylist()]
    assert storage.read_bytes(first) == storage.read_bytes(second)


def test_times_in_text_are_iso_8601(tmp_path):
    write_rows(simulate_log(SIMULATION), str(tmp_path / "log.jsonl"), schema=LOG)
    first = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])
    assert first["timestamp"] == EXPECTED["timestamp"][0].as_py().strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.mark.parametrize("name", ["log.txt", "log", "log.parquet.gz", "log.gz"])
def test_a_name_without_a_format_is_wrong_usage(name):
    with pytest.raises(UsageError, match=r"\.parquet"):
        format_of(name)


def test_an_existing_file_is_replaced_only_when_asked_and_a_folder_never(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("old")
    with pytest.raises(QprError, match="--overwrite"):
        write_rows(simulate_log(SIMULATION), str(path), schema=LOG)
    assert path.read_text() == "old"
    write_rows(simulate_log(SIMULATION), str(path), schema=LOG, overwrite=True)
    assert path.read_text() != "old"
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(QprError, match="folder"):
        write_rows(simulate_log(SIMULATION), str(tmp_path / "folder.csv"), schema=LOG, overwrite=True)


@pytest.mark.parametrize("suffix", ["parquet", "csv.gz", "jsonl"])
@pytest.mark.parametrize("place", ["local", "memory"])
def test_a_failed_run_leaves_the_old_file_and_no_part_of_the_new(tmp_path, place, suffix):
    folder = str(tmp_path) if place == "local" else f"memory://failed-{suffix}"
    url = storage.join(folder, f"log.{suffix}")
    storage.write_bytes(url, b"old")

    def breaking():
        yield from simulate_log(SIMULATION)
        raise QprError("the input broke")

    with pytest.raises(QprError, match="the input broke"):
        write_rows(breaking(), url, schema=LOG, overwrite=True)
    assert storage.read_bytes(url) == b"old"
    assert storage.children(folder) == [f"log.{suffix}"]


@pytest.mark.parametrize("suffix", ["parquet", "csv.gz", "jsonl"])
@pytest.mark.parametrize("place", ["local", "memory", "s3"])
def test_a_file_that_appears_meanwhile_is_replaced_only_with_overwrite(request, tmp_path, place, suffix):
    folder = str(tmp_path) if place == "local" else request.getfixturevalue(place)
    url = storage.join(folder, f"log.{suffix}")

    def slow():
        yield from simulate_log(SIMULATION)
        system, path = storage.locate(url)
        type(system)(skip_instance_cache=True).pipe_file(path, b"theirs")  # one of its own, outside the transaction

    with pytest.raises(QprError, match="was written by another process while this command ran; it stays"):
        write_rows(slow(), url, schema=LOG)
    assert storage.read_bytes(url) == b"theirs"
    assert storage.children(folder) == [f"log.{suffix}"]
    write_rows(slow(), url, schema=LOG, overwrite=True)
    assert storage.read_bytes(url) != b"theirs"


@pytest.mark.parametrize("suffix", ["parquet", "csv.gz"])
def test_other_file_systems_get_the_same_bytes(tmp_path, suffix):
    local, remote = str(tmp_path / f"log.{suffix}"), f"memory://written/log.{suffix}"
    for url in (local, remote):
        write_rows(simulate_log(SIMULATION), url, schema=LOG, overwrite=True)
    assert storage.read_bytes(local) == storage.read_bytes(remote)


def test_a_store_that_can_only_be_read_is_named(memory, monkeypatch):
    # as fsspec's HTTP file system does
    monkeypatch.setattr(MemoryFileSystem, "_open", Mock(side_effect=NotImplementedError))
    with pytest.raises(QprError, match=rf"{memory}/log.jsonl: this kind of store can only be read. Choose another"):
        write_rows([EXPECTED], f"{memory}/log.jsonl", schema=LOG)
