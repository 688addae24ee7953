import pytest

from jobs.workflows.index_changes import additions
from pipelines.graphs.settings import IngestConfig
from pipelines.reading.index_inputs import TableFile
from pipelines.reading.sources import Source


@pytest.mark.parametrize(
    ("kind", "compression"), [("jsonl", None), ("csv", "gzip"), ("tsv", "zstd"), ("parquet", None)]
)
@pytest.mark.parametrize("megabytes", [1, 7, 9, 33, 100])
def test_a_segment_has_as_many_shards_as_a_log_of_the_same_file(kind, compression, megabytes):
    source = Source("rows", megabytes * 2**20, kind, compression)
    expected = IngestConfig().for_files([source]).shards
    assert additions._shards([TableFile(source, ())], 4096) == expected
    assert additions._shards([TableFile(source, ())], 2) == min(expected, 2)
