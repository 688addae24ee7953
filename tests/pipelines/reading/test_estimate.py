import gzip
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.reading import estimate
from pipelines.reading.estimate import Estimate, estimate_rows, text_bytes
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import read
from pipelines.reading.sources import Source, expand
from schemas.errors import QprError

ROWS = [
    (f"question {n}" + " or so" * (n % 7), "multi\nline" if n % 5 == 0 else f"answer {n}") for n in range(20_000)
]  # zstd packs 128 kB at a time
COLUMNS = [Column("question", pa.string())]


def as_jsonl(rows):
    lines = [json.dumps({"question": q, "answer": a}) + "\n" for q, a in rows]
    return "".join([*lines, "\n", "broken\n", "  \n"]).encode()  # a blank line is no row, a broken one is


def as_delimited(rows, mark):
    return "".join(["question", mark, "answer\n", *(f'"{q}"{mark}"{a}"\n' for q, a in rows), "\n", "ragged\n"]).encode()


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(content)
    return sink.getvalue().to_pybytes()


PACKERS = {"": bytes, ".gz": gzip.compress, ".zst": zstd}
TEXTS = {
    "jsonl": as_jsonl(ROWS),
    "csv": as_delimited(ROWS, ","),
    "tsv": as_delimited(ROWS, "\t"),
}


@pytest.fixture(params=[f"{suffix}{packed}" for suffix in TEXTS for packed in PACKERS])
def url(request, memory):
    import fsspec

    suffix, _, packed = request.param.partition(".")
    name = f"{memory}/log.{request.param}"
    with fsspec.open(name, "wb") as file:
        file.write(PACKERS[f".{packed}" if packed else ""](TEXTS[suffix]))
    return name


def test_a_small_text_is_counted_as_the_reader_counts(url):
    sources = expand([url])
    read_rows = sum(len(batch.rows) + len(batch.rejects) for batch in read(sources[0], COLUMNS))
    assert read_rows >= len(ROWS)
    assert estimate_rows(sources) == [Estimate(read_rows, exact=True)]


def test_of_a_larger_one_the_beginning_is_counted(url, monkeypatch):
    [source] = expand([url])
    monkeypatch.setattr(estimate, "SAMPLE_BYTES", source.bytes // 2)
    monkeypatch.setattr(estimate, "_PIECE_BYTES", 1 << 10)
    [found] = estimate_rows([source])
    assert not found.exact
    assert found.rows == pytest.approx(len(ROWS), rel=0.2)


def test_a_line_that_is_longer_than_the_sample_is_a_row(write_jsonl, monkeypatch):
    monkeypatch.setattr(estimate, "SAMPLE_BYTES", 10)
    assert estimate_rows(expand([str(write_jsonl("a.jsonl", [{"question": "x" * 100}]))])) == [
        Estimate(12, exact=False)
    ]


def test_the_rows_of_a_parquet_file_are_counted_at_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr(estimate, "SAMPLE_BYTES", 1)
    pq.write_table(pa.table({"question": ["a"] * 1234}), tmp_path / "a.parquet")
    assert estimate_rows(expand([str(tmp_path / "a.parquet")])) == [Estimate(1234, exact=True)]


def test_of_many_files_some_are_sampled_and_the_others_are_in_proportion(write_jsonl, monkeypatch):
    sampled = []
    real = estimate._sample
    monkeypatch.setattr(estimate, "_sample", lambda source: sampled.append(source) or real(source))
    draw = random.Random(1)
    sizes = [draw.randint(1, 50) for _ in range(100)]
    for number, size in enumerate(sizes):
        write_jsonl(f"{number:03}.jsonl", [{"question": "what is it", "answer": "x"}] * size)
    path = write_jsonl("z.ndjson", [{"question": "q"}] * 3)  # of the same kind
    found = estimate_rows(expand([str(path.parent / "*.*json*")]))
    assert len(sampled) <= estimate.SAMPLE_FILES
    assert [e.rows for e in found[:100]] == pytest.approx(sizes, abs=2)
    assert sum(e.exact for e in found) == len(sampled)


def test_a_broken_file_is_the_error_of_its_reader(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(TEXTS["jsonl"])[:-20])
    with pytest.raises(QprError, match="the gzip data is broken after about row"):
        estimate_rows(expand([str(tmp_path / "a.jsonl.gz")]))


def test_no_files_have_no_rows():
    assert estimate_rows([]) == []


@pytest.mark.parametrize("rows", [3, 200_000])  # counted; estimated from the first four megabytes
def test_rows_of_another_delimiter_and_encoding_are_counted_as_they_are_read(tmp_path, rows):
    text = "sep=;\nquestion;answer\n" + 'größer;"a\nb"\n' * rows
    (tmp_path / "a.csv").write_bytes(text.encode("utf-16"))
    [estimate] = estimate_rows(expand([str(tmp_path / "a.csv")]))
    assert estimate.rows == pytest.approx(rows, rel=0.001)


@pytest.mark.parametrize(
    ("kind", "compression", "expansion"),
    [("jsonl", None, 1), ("csv", None, 1), ("jsonl", "gzip", 5), ("tsv", "zstd", 5), ("parquet", None, 4)],
)
def test_the_text_of_a_file_is_estimated_by_its_format_and_compression(kind, compression, expansion):
    assert text_bytes(Source("rows", 1_000, kind, compression)) == expansion * 1_000
