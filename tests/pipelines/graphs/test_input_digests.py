import hashlib

import apache_beam as beam
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from pipelines.graphs.input_digests import DigestInputs, digest_input
from pipelines.reading.sources import Source, expand
from pipelines.writing.parquet import Written
from schemas.artifacts.manifest import Source as Input
from schemas.errors import QprError


def test_a_digest_is_of_the_bytes_as_they_are_stored(tmp_path, monkeypatch):
    content = b"abc" * 1_000_000  # several pieces
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "b.csv").write_bytes(b"b")
    monkeypatch.chdir(tmp_path)
    expected = [
        Written(None, {}, Input(url=f"{name}.csv", bytes=len(of), digest=hashlib.sha256(of).hexdigest()))
        for name, of in (("a", content), ("b", b"b"))
    ]
    sources = expand(["*.csv"])
    monkeypatch.chdir("/")  # as a worker may
    with test_pipeline.TestPipeline(runner="FnApiRunner") as pipeline:
        assert_that(pipeline | beam.Create(sources) | DigestInputs(), equal_to(expected))


def test_a_file_that_is_gone_is_named(tmp_path):
    with pytest.raises(QprError, match=r"gone\.csv: no such file"):
        digest_input(Source("gone.csv", 1, "csv", path=str(tmp_path / "gone.csv")))
