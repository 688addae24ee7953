import os
import pickle
import re

import fsspec
import pytest

from pipelines.reading.sources import Source, digest_input, expand, format_of, identity_of
from schemas.errors import QprError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("b.jsonl", "a.jsonl", "c.tsv.gz", "notes.txt"):
        (tmp_path / name).write_text("{}\n")
    (tmp_path / "deep.jsonl").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("x.jsonl", ("jsonl", None)),
        ("a/b.c/x.NDJSON.GZ", ("jsonl", "gzip")),
        ("x.json.zst", ("jsonl", "zstd")),
        ("s3://bucket/x.csv", ("csv", None)),
        ("x.tsv.gz", ("tsv", "gzip")),
        ("x.parquet", ("parquet", None)),
    ],
)
def test_a_file_name_decides_format_and_compression(url, expected):
    assert format_of(url) == expected


@pytest.mark.parametrize(("url", "step"), [("x.txt", "Rename it"), ("x.csv.bz2", "Unpack it"), ("x.zip", "Unpack it")])
def test_a_compressed_file_that_is_not_read_is_not_to_be_renamed(url, step):
    with pytest.raises(QprError, match=rf"{step}.* in one of \.jsonl"):
        format_of(url)


def test_a_database_is_not_to_be_renamed():
    with pytest.raises(QprError, match=r"x\.sqlite: a database cannot be read\. Write its table as CSV, as by sqlite3"):
        format_of("x.sqlite")


@pytest.mark.parametrize("name", ["log.jsonl", "63"])
def test_a_pipe_is_refused_as_one(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(
        QprError, match=rf"{name}: is a pipe or a device, but files are read twice\. Write it to a file"
    ):
        expand([str(tmp_path / name)])


@pytest.mark.parametrize("url", ["x.txt", "x", "x.gz", "x.csv.bz2", "a.csv/x"])
def test_an_unknown_ending_is_an_error_that_lists_the_known_ones(url):
    with pytest.raises(QprError, match=r"shows no known format.*\.ndjson.*\.parquet"):
        format_of(url)


@pytest.mark.parametrize("url", ["x.parquet.gz", "X.PARQUET.ZST"])
def test_a_packed_parquet_file_is_to_be_unpacked(url):
    with pytest.raises(QprError, match=r"a packed Parquet file is not read\. Unpack it; .* rename it to \.parquet"):
        format_of(url)


def test_a_glob_is_sorted_and_leaves_folders_out(folder):
    assert [s.url.rsplit("/", 1)[-1] for s in expand(["*.jsonl"])] == ["a.jsonl", "b.jsonl"]


def test_a_file_named_twice_is_read_once(folder):
    names = [s.url.rsplit("/", 1)[-1] for s in expand(["b.jsonl", "*.jsonl", str(folder / "b.jsonl"), "c.tsv.gz"])]
    assert sorted(names) == ["a.jsonl", "b.jsonl", "c.tsv.gz"]


def test_a_source_states_what_the_file_is_and_survives_pickling(folder):
    (source,) = expand(["c.tsv.gz"])
    assert source == Source(url="c.tsv.gz", bytes=3, format="tsv", compression="gzip")
    assert pickle.loads(pickle.dumps(source)) == source


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(folder):
    (folder / "day[1].jsonl").write_text("{}")
    (folder / "day1.jsonl").write_text("{}")
    assert [s.url for s in expand(["day[1].jsonl"])] == ["day[1].jsonl"]


def test_other_file_systems_keep_their_protocol():
    memory = fsspec.filesystem("memory")
    memory.pipe({"/sources/one.csv": b"a\n1\n", "/sources/two.csv": b"a\n"})
    assert [(s.url, s.bytes) for s in expand(["memory://sources/*.csv"])] == [
        ("memory:///sources/one.csv", 4),
        ("memory:///sources/two.csv", 2),
    ]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("nothing.jsonl", r"nothing\.jsonl: no file matches"),
        ("nothing*.jsonl", r"nothing\*\.jsonl: no file matches"),
        ("deep.jsonl", r"deep\.jsonl: is a folder.*deep\.jsonl/\*\.jsonl"),
        ("notes.txt", r"notes\.txt: its name shows no known format"),
        ("Posts.xml", r"Posts\.xml: its format cannot be read\. Write its rows as CSV, JSON Lines or Parquet"),
        ("faq.XLSX", r"faq\.XLSX: a spreadsheet cannot be read\. Save the sheet as CSV UTF-8"),
        ("empty.csv", r"empty\.csv: the file is empty \(0 bytes\)"),
        ("nowhere://x.csv", r"nowhere://x\.csv: cannot open this kind of path"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_cause(folder, pattern, message):
    for name in ("empty.csv", "faq.XLSX", "Posts.xml"):
        (folder / name).touch()
    with pytest.raises(QprError, match=message):
        expand([pattern])


def test_no_pattern_at_all_is_an_error():
    with pytest.raises(QprError, match="no input file"):
        expand([])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("logs/*.jsonl", ["logs/a.jsonl", "logs/b.jsonl"]),
        ("./logs/*.jsonl", ["./logs/a.jsonl", "./logs/b.jsonl"]),
        ("logs/../logs/[a]*", ["logs/../logs/a.jsonl"]),
        ("*/a.jsonl", ["logs/a.jsonl"]),
        ("**/a.jsonl", ["logs/a.jsonl"]),
        ("~/logs/a*", ["~/logs/a.jsonl"]),
        ("logs/a.jsonl", ["logs/a.jsonl"]),
    ],
)
def test_files_are_called_as_they_were_typed(logs, monkeypatch, pattern, expected):
    monkeypatch.setenv("HOME", str(logs))
    sources = expand([pattern])
    assert [source.url for source in sources] == expected
    monkeypatch.chdir("/")  # as a worker may
    assert [os.path.realpath(s.location) for s in sources] == [str(logs / "logs" / s.url[-7:]) for s in sources]


def test_absolute_patterns_stay_absolute(logs):
    assert [s.url for s in expand([f"{logs}/logs/a*"])] == [f"{logs}/logs/a.jsonl"]
    assert [s.url for s in expand([f"file://{logs}/logs/a*"])] == [f"file://{logs}/logs/a.jsonl"]


@pytest.fixture
def logs(tmp_path, monkeypatch):
    (tmp_path / "logs").mkdir()
    for name in ("a", "b"):
        (tmp_path / "logs" / f"{name}.jsonl").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_spellings_of_one_file_are_one_file_and_reported_once(logs):
    (logs / "link.jsonl").symlink_to("logs/a.jsonl")
    spellings = ["logs/a.jsonl", "./logs/../logs/a.jsonl", "link.jsonl", f"file://{logs}/logs/a.jsonl", "logs/*.jsonl"]
    notes = []
    assert [s.url for s in expand(spellings, note=notes.append)] == ["logs/a.jsonl", "logs/b.jsonl"]
    [note] = notes
    assert note.startswith("Given more than once, read once: ./logs/../logs/a.jsonl is logs/a.jsonl, link.jsonl is ")
    assert note.endswith(" and 1 more")
    assert len({identity_of(spelling) for spelling in spellings[:4]}) == 1
    expand(["logs/*.jsonl"], note=notes.append)
    assert len(notes) == 1


def test_remote_spellings_of_one_file_are_one_file():
    fsspec.filesystem("memory").pipe({"/twice/one.csv": b"a\n1\n"})
    notes = []
    assert len(expand(["memory://twice/one.csv", "memory:///twice/*.csv"], note=notes.append)) == 1
    assert len(notes) == 1


def test_delimiter_and_encoding_go_to_the_files_that_can_have_them(folder):
    (folder / "x.parquet").write_text("x")
    sources = expand(["b.jsonl", "c.tsv.gz", "x.parquet"], delimiter=";", encoding="cp1252")
    assert [(s.delimiter, s.encoding) for s in sources] == [(None, "cp1252"), (";", "cp1252"), (None, None)]


@pytest.mark.parametrize("name", ["x.jsonl", "*.jsonl"])
def test_a_server_that_does_not_answer_is_no_missing_file(name):
    pytest.importorskip("aiohttp", reason="fsspec reads HTTP with aiohttp")
    with pytest.raises(QprError, match=r"cannot connect to 127\.0\.0\.1:1 \(connection refused\)\. Check the address"):
        expand([f"http://127.0.0.1:1/{name}"])


def test_a_file_that_is_gone_is_named(tmp_path):
    with pytest.raises(QprError, match=r"gone\.csv: no such file"):
        digest_input(Source("gone.csv", 1, "csv", path=str(tmp_path / "gone.csv")))


@pytest.mark.parametrize("ending", ["csv.gz", "CSV"])
def test_a_folder_is_refused_with_a_pattern_for_the_files_in_it(tmp_path, ending):
    for file in ("a.txt", f"b.{ending}", "c.jsonl"):
        (tmp_path / file).touch()
    with pytest.raises(QprError, match=rf"is a folder\. Name its files, such as .*/\*\.{re.escape(ending)}$"):
        expand([str(tmp_path)])
