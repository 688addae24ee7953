import codecs
import contextlib
import dataclasses
import encodings.aliases
import gzip
import random
import resource

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reading import lines
from pipelines.reading.encodings import START_BYTES, checked_encoding, utf8_pieces
from pipelines.reading.headers.columns import Column
from pipelines.reading.lines import MAX_ROW_BYTES, digest_text, physical_lines
from pipelines.reading.reader import check_header
from pipelines.reading.sources import expand
from schemas.errors import QprError, UsageError
from tests.support.read_files import source_of


def lines_of(folder, content, name="x.jsonl", encoding=None):
    source = dataclasses.replace(source_of(folder, content, name), encoding=encoding)
    return [line for part in physical_lines(source) for line in part]


def naive_lines(content):
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


@given(
    content=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"bcd", b"\r", b"\xc3\xa4"]), min_size=1).map(b"".join),
    piece=st.integers(1, 5),
)
def test_lines_are_those_of_a_plain_split_wherever_the_pieces_end(tmp_path_factory, content, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_PIECE_BYTES", piece)
        assert lines_of(tmp_path_factory.getbasetemp(), content) == naive_lines(content)


@given(
    content=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"bcd"]), min_size=1).map(b"".join),
    other=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"bcd"]), min_size=1).map(b"".join),
    piece=st.integers(1, 5),
    most=st.sampled_from([None, 1, 4, 9]),
)
def test_texts_that_differ_by_packing_and_last_line_ends_alone_have_one_digest(
    tmp_path_factory, content, other, piece, most
):
    folder = tmp_path_factory.getbasetemp()
    whole = digest_text(source_of(folder, content), most=most)
    same = [
        (content + b"\n\r\n", "y.jsonl"),
        (gzip.compress(content), "x.jsonl.gz"),
        (b"\xef\xbb\xbf" + content, "z.jsonl"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_PIECE_BYTES", piece)
        for stored, name in same:
            assert digest_text(source_of(folder, stored, name), most=most) == whole
    cut = [text[:most].rstrip(b"\r\n") for text in (content, other)]
    assert (digest_text(source_of(folder, other), most=most) == whole) is (cut[0] == cut[1])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_names_the_encoding_and_is_left_out(tmp_path, encoding):
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"
    assert lines_of(tmp_path, f"{mark}ä\nb".encode(encoding)) == ["ä\n".encode(), b"b"]
    source = dataclasses.replace(source_of(tmp_path, f"{mark}ä\nb".encode(encoding)), encoding="cp1252")
    assert [line for part in physical_lines(source) for line in part] == ["ä\n".encode(), b"b"]


def decoded(folder, content, encoding):
    source = dataclasses.replace(source_of(folder, content), encoding=encoding)
    return [line for part in physical_lines(source) for line in part]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp932", "utf-16-le", "utf-16-be"])
def test_text_of_a_named_encoding_becomes_utf8_wherever_the_pieces_end(tmp_path, encoding, monkeypatch):
    text = "日本語\n質問\n" if encoding == "cp932" else "größer\nélan\n"
    monkeypatch.setattr(lines, "_PIECE_BYTES", 3)
    assert decoded(tmp_path, text.encode(encoding), encoding) == [line.encode() for line in text.splitlines(True)]


@pytest.mark.parametrize(
    ("encoding", "content", "expected"),
    [
        ("cp1252", b"a\x81b\nc\n", [b"a\xffb\n", b"c\n"]),  # cp1252 has no character for 0x81
        ("utf-16-le", "a\n".encode("utf-16-le") + b"\x00\xd8b\x00\n\x00", [b"a\n", b"\xffb\n"]),  # half a pair
        ("utf-16-le", "a\n".encode("utf-16-le") + b"b", [b"a\n", b"\xff"]),  # an odd number of bytes
    ],
)
def test_bytes_that_an_encoding_does_not_have_spoil_their_line_alone(tmp_path, encoding, content, expected):
    assert decoded(tmp_path, content, encoding) == expected


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "question,answer\na,b\n",
        "question,answer\r\nكيف أدفع الفاتورة؟,من صفحة الدفع\r\n",
        "Вопрос;Ответ\r\nКак сбросить пароль?;На странице входа\r\n",
        "質問,回答\r\n一か月でいつ届きますか,一日です\r\n",
    ],
)
def test_utf16_without_a_mark_is_explained(tmp_path, encoding, text):
    with pytest.raises(QprError, match=rf"looks like UTF-16 without a byte-order mark\. Add --encoding {encoding}"):
        lines_of(tmp_path, text.encode(encoding))


@pytest.mark.parametrize("text", ["question,answer\na,b\n".encode("utf-16-le"), b"question,answer\na,b\n", b"a"])
@pytest.mark.parametrize("encoding", ["utf-16", "UTF32"])
def test_an_encoding_that_needs_a_mark_is_explained_where_there_is_none(tmp_path, encoding, text):
    name = checked_encoding(encoding)
    with pytest.raises(
        QprError, match=rf"is not {name.upper()} with a byte-order mark\. .*--encoding {name}-le or {name}-be"
    ):
        lines_of(tmp_path, text, encoding=name)


@pytest.mark.parametrize("encoding", [None, "utf-16", "utf-32", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE])
def test_a_byte_order_mark_decides(tmp_path, mark, encoding):
    order = "le" if mark[0] == 0xFF else "be"
    text = mark + "é😀\nb\n".encode(f"utf-{8 * len(mark)}-{order}")
    assert b"".join(lines_of(tmp_path, text, encoding=encoding)) == "é😀\nb\n".encode()


def test_every_encoding_that_is_accepted_reads_any_bytes():
    names = []
    for name in sorted({*encodings.aliases.aliases.values(), "idna", "punycode", "undefined"}):
        with contextlib.suppress(UsageError):
            names.append(checked_encoding(name))
    assert len(names) > 80
    for name in names:
        pieces = [bytes(range(256)) * 300, b"\xff\x80\xfe", b"a"]
        with contextlib.suppress(QprError) if name in ("utf-16", "utf-32") else contextlib.nullcontext():
            assert b"".join(utf8_pieces(iter(pieces), encoding=name, url="x"))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"PAR1\x15\x04", "is a Parquet file. Rename it"),
        (b"PK\x03\x04", "is a ZIP archive or an Excel workbook"),
        (b"SQLite format 3\0", "is an SQLite database. Write its table as CSV"),
        (b"Obj\x01", "is an Avro file. Write its rows as CSV, JSON Lines or Parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Excel workbook. Save the sheet as CSV UTF-8"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>", "is XML. Write its rows as CSV, JSON Lines or Parquet"),
        (b"\n<!DOCTYPE HTML><html>Sign in", "is an HTML page. Download the file again"),
        (b"BZh91AY&SY", "is bzip2 data"),
        (b"\xfd7zXZ", "is xz data"),
    ],
)
def test_a_file_of_another_format_is_named(tmp_path, start, message):
    with pytest.raises(QprError, match=message):
        lines_of(tmp_path, start + b"\n" * 100)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"PK\x03\x04", r"is a ZIP archive or an Excel workbook\. Unpack it"),
        (b"PAR1\x15", r"is a Parquet file\. Rename it so that its name ends in \.parquet"),
        (b"\n<!doctype html><html>Sign in", r"is an HTML page\. Download the file again"),
    ],
)
@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.csv.zst"])
def test_a_file_of_another_format_whose_name_ends_in_a_compression_is_named(tmp_path, start, message, name):
    with pytest.raises(QprError, match=message):
        lines_of(tmp_path, start + b"\n" * 100, name)


def test_zstd_that_begins_with_a_skipped_frame_is_unpacked(tmp_path):
    skipped = b"\x50\x2a\x4d\x18\x04\0\0\0note"
    assert lines_of(tmp_path, skipped + pa.compress(TEXT, "zstd", asbytes=True), "x.jsonl.zst") == naive_lines(TEXT)


def test_zstd_without_its_suffix_is_unpacked(tmp_path):
    assert lines_of(tmp_path, pa.compress(TEXT, "zstd", asbytes=True), "x.jsonl") == naive_lines(TEXT)


def test_an_unknown_encoding_is_wrong_usage():
    assert (checked_encoding("Latin-1"), checked_encoding("UTF8")) == ("iso8859-1", "utf-8")
    for name in ("nonsense", "base64", "rot13", "punycode", "idna", "undefined", "utf-8\0", "\udcff", ""):
        with pytest.raises(UsageError, match=r"unknown text encoding\. Use a name such as utf-16"):
            checked_encoding(name)


def test_a_line_over_the_limit_is_cut_to_one_byte_more_and_the_next_is_whole(tmp_path):
    exact = b"x" * (MAX_ROW_BYTES - 1) + b"\n"
    found = lines_of(tmp_path, exact + b"y" * 5_000_000 + b"\nnext\n" + b"z" * 3_000_000)
    assert [len(line) for line in found] == [MAX_ROW_BYTES, MAX_ROW_BYTES + 1, 5, MAX_ROW_BYTES + 1]
    assert found[0] == exact
    assert found[2] == b"next\n"


def test_an_endless_line_does_not_fill_the_memory(tmp_path):
    with gzip.open(tmp_path / "x.jsonl.gz", "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b"x" * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (part,) = physical_lines(expand([str(tmp_path / "x.jsonl.gz")])[0])
    assert len(part[0]) == MAX_ROW_BYTES + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB; the line has 300,000


TEXT = b"".join(b"line %d of some text\n" % (i * 7919 % 100_003) for i in range(120_000))
PACKED = gzip.compress(TEXT, 1, mtime=0)  # a fixed time: the bytes are part of tests' names


def flipped(content, position, bit=1):
    return content[:position] + bytes([content[position] ^ bit]) + content[position + 1 :]


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.jsonl"])  # by its name, or by its first bytes
def test_gzip_of_one_or_several_members_is_unpacked(tmp_path, name):
    assert lines_of(tmp_path, PACKED, name) == naive_lines(TEXT)
    assert lines_of(tmp_path, PACKED + gzip.compress(b"") + gzip.compress(b"more"), name)[-1] == b"more"


def test_zstd_is_unpacked_and_a_truncated_one_is_an_error(tmp_path):
    packed = pa.compress(TEXT, "zstd", asbytes=True)
    assert lines_of(tmp_path, packed, "x.csv.zst") == naive_lines(TEXT)
    with pytest.raises(QprError, match=r"x\.csv\.zst: the zstd data is broken"):
        lines_of(tmp_path, packed[:-1], "x.csv.zst")


@pytest.mark.parametrize(
    "content",
    [
        *(PACKED[:length] for length in (2, 5, 10, 1000, len(PACKED) // 2, len(PACKED) - 8, len(PACKED) - 1)),
        flipped(PACKED, len(PACKED) // 2, 16),
        flipped(PACKED, len(PACKED) - 6),  # the checksum
        flipped(PACKED, len(PACKED) - 2),  # the length
        PACKED + b"g",
        PACKED + b"garbage after the end",
        PACKED + PACKED[: len(PACKED) // 2],
    ],
)
def test_broken_gzip_is_an_error_that_names_the_file_and_the_row(tmp_path, content):
    with pytest.raises(QprError, match=r"x\.csv\.gz: the gzip data is broken after about row [\d,]+ .*Copy the file"):
        lines_of(tmp_path, content, "x.csv.gz")


@pytest.mark.parametrize("content", [b"n", b"not gzip at all\n", b"\x1f\x8c" + PACKED])
def test_a_file_named_gzip_without_its_content_is_reported(tmp_path, content):
    with pytest.raises(
        QprError, match=r"x\.csv\.gz: is not gzip data, although its name ends in \.gz\. Rename the file"
    ):
        lines_of(tmp_path, content, "x.csv.gz")


def test_the_row_in_the_message_is_about_where_the_data_breaks(tmp_path):
    with pytest.raises(QprError, match=r"after about row (7|8)\d{4} "):  # 2 of 2.6 MB, at 22 to 27 bytes a line
        lines_of(tmp_path, PACKED[:-8], "x.csv.gz")


def test_no_flipped_bit_goes_unnoticed(tmp_path):
    packed = gzip.compress(TEXT[:5_000])
    chance = random.Random(7)
    for _ in range(100):
        broken = flipped(packed, chance.randrange(10, len(packed)), 1 << chance.randrange(8))
        with pytest.raises(QprError, match="broken"):
            lines_of(tmp_path, broken, "x.csv.gz")


def test_a_file_that_vanishes_is_named(tmp_path):
    source = source_of(tmp_path, b"{}")
    (tmp_path / "x.jsonl").unlink()
    with pytest.raises(QprError, match=r"x\.jsonl: no such file"):
        list(physical_lines(source))


@pytest.mark.parametrize(
    ("content", "encoding", "noted"),
    [
        ("question\nfür wen?".encode(), "cp1252", True),
        (gzip.compress("question\nfür wen?".encode(), mtime=0), "iso8859-1", True),
        ("question\nfür wen?".encode(), "utf-8", False),
        ("question\nfür wen?".encode(), "utf-8-sig", False),
        ("question\nfür wen?".encode(), None, False),
        ("question\nfür wen?".encode("utf-8-sig"), "cp1252", False),  # a mark overrides the option
        ("question\nfür wen?".encode("utf-16"), "cp1252", False),
        ("question\nfür wen?".encode("cp1252"), "cp1252", False),
        (b"question\nfor whom?", "cp1252", False),
        (b"question\n" + b"a" * (START_BYTES - 10) + "ä".encode(), "cp1252", False),  # a character that is cut
    ],
)
def test_utf8_that_is_read_in_another_encoding_is_noted(tmp_path, content, encoding, noted):
    name = "x.csv.gz" if content.startswith(b"\x1f\x8b") else "x.csv"
    source = dataclasses.replace(source_of(tmp_path, content, name), encoding=encoding)
    notes = check_header(source, [Column("question", pa.string())]).notes
    assert [note.startswith(f"seems to be UTF-8, of which {encoding}") for note in notes] == [True] * noted
