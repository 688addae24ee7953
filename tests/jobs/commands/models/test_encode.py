from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from model.encoders.loading import load_encoder

LINES = ["Pay my bill?", "", "cancel flight é", "pay my bill"]
TEXT = "".join(f"{line}\n" for line in LINES).encode()


@pytest.fixture
def model(tmp_path, make_model):
    make_model(tmp_path / "m")
    return tmp_path / "m"


@pytest.fixture
def encode(qpr, model, tmp_path):
    def run(content, *options, name="questions.txt"):
        (tmp_path / name).write_bytes(content)
        return qpr("encode", "--model", model, "--input", tmp_path / name, "--output", tmp_path / "x.npy", *options)

    return run


def test_every_line_becomes_a_row(encode, model, tmp_path):
    outcome = encode(TEXT, "--json")
    vectors = np.load(tmp_path / "x.npy")
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, load_encoder(str(model)).encode(LINES))
    np.testing.assert_array_equal(vectors[0], vectors[3])  # equal keys
    result = json.loads(outcome.out)
    assert (result["questions"], result["dimension"], result["type"]) == (4, 8, "float32")


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a\nb\n", 2),
        (b"a\nb", 2),
        (b"\n", 1),
        (b"a\n\n\n", 3),
        (b"a\r\nb\r\n", 2),
        ("a\u2028b\n".encode(), 1),
        (b"a\0b\n", 1),
    ],
)
def test_there_are_as_many_rows_as_lines(encode, tmp_path, content, rows):
    assert encode(content).code == 0
    assert len(np.load(tmp_path / "x.npy")) == rows


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(encode, tmp_path):
    encode(b"pay my bill\ncancel\n")
    plain = np.load(tmp_path / "x.npy")
    encode("\ufeffpay my bill\r\ncancel\r\n".encode(), "--overwrite")
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), plain)


@pytest.mark.parametrize(
    ("name", "pack"),
    [("q.gz", gzip.compress), ("q.zst", lambda content: pa.Codec("zstd").compress(content, asbytes=True))],
)
def test_packed_files_are_unpacked(encode, tmp_path, name, pack):
    assert encode(pack(TEXT), name=name).code == 0
    assert len(np.load(tmp_path / "x.npy")) == 4
    broken = encode(pack(TEXT * 50)[:-20], "--overwrite", name=name)
    assert broken.code == 1
    assert "broken" in broken.err


def test_standard_input_is_read_for_a_dash(qpr, model, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert qpr("encode", "--model", model, "--input", "-", "--output", tmp_path / "x.npy").code == 0
    assert len(np.load(tmp_path / "x.npy")) == 4
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    empty = qpr("encode", "--model", model, "--input", "-", "--output", tmp_path / "y.npy")
    assert (empty.code, "standard input: is empty" in empty.err) == (1, True)


def test_half_precision_is_half_the_size(encode, tmp_path):
    encode(TEXT)
    exact = np.load(tmp_path / "x.npy")
    encode(TEXT, "--float16", "--overwrite")
    half = np.load(tmp_path / "x.npy")
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, exact, rtol=1e-3)


def test_invalid_utf8_names_the_line_and_writes_nothing(encode, tmp_path):
    outcome = encode(b"fine\nfine too\nbad \xff\nfine\n")
    assert outcome.code == 1
    assert "questions.txt: line 3 is not UTF-8" in outcome.err
    assert not (tmp_path / "x.npy").exists()


def test_a_line_too_long_for_a_question_is_named(encode, tmp_path):
    outcome = encode(b"fine\n" + b"long " * 300_000)  # 1.5 MB
    assert outcome.code == 1
    assert "questions.txt: line 2 has 1,500,000 bytes" in outcome.err
    assert not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("name", ["q.txt", "q.gz"])
def test_an_empty_file_is_an_error(encode, name):
    outcome = encode(b"", name=name)
    assert (outcome.code, "is empty" in outcome.err) == (1, True)


def test_a_file_is_replaced_only_on_request(encode, tmp_path):
    assert encode(b"one\n").code == 0
    refused = encode(b"one\ntwo\n")
    assert (refused.code, "--overwrite" in refused.err) == (1, True)
    assert len(np.load(tmp_path / "x.npy")) == 1
    assert encode(b"one\ntwo\n", "--overwrite").code == 0
    assert len(np.load(tmp_path / "x.npy")) == 2


def test_what_is_missing_is_named(qpr, model, tmp_path):
    outcome = qpr("encode", "--model", model, "--input", tmp_path / "none.txt", "--output", tmp_path / "x.npy")
    assert (outcome.code, "none.txt: no such file" in outcome.err) == (1, True)
    (tmp_path / "q.txt").write_text("a\n")
    outcome = qpr("encode", "--model", tmp_path / "none", "--input", tmp_path / "q.txt", "--output", tmp_path / "x.npy")
    assert (outcome.code, "qpr train" in outcome.err) == (1, True)


def test_threads_and_half_tables(encode, model, tmp_path):
    assert encode(TEXT, "--threads", "2").code == 0
    expected = load_encoder(str(model)).encode(LINES)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), expected)
    assert encode(TEXT, "--half-tables", "--overwrite").code == 0
    halved = np.load(tmp_path / "x.npy")
    assert not np.array_equal(halved, expected)
    np.testing.assert_allclose(halved, expected, atol=2e-2)
    assert encode(TEXT, "--threads", "0", "--overwrite").code == 2


def test_pytorch_chooses_the_threads_of_a_transformer(qpr, tiny_sentences, tmp_path):
    (tmp_path / "q.txt").write_bytes(TEXT)
    given = ("encode", "--model", f"st:{tiny_sentences}", "--input", tmp_path / "q.txt", "--output", tmp_path / "x.npy")
    outcome = qpr(*given, "--threads", 2)
    assert (outcome.code, "--threads: PyTorch chooses" in outcome.err) == (2, True)
    assert not (tmp_path / "x.npy").exists()
    assert qpr(*given).code == 0


def test_half_tables_are_of_cnn_alone(encode, model, make_model, tmp_path):
    make_model(model, encoder="subword")
    outcome = encode(TEXT, "--half-tables")
    assert (outcome.code, "--half-tables: only an encoder of kind cnn" in outcome.err) == (2, True)
    assert not (tmp_path / "x.npy").exists()


def test_it_needs_no_torch(model, tmp_path):
    (tmp_path / "q.txt").write_bytes(TEXT)
    code = (
        "import sys; sys.modules['torch'] = None; from jobs.cli import main; "
        f"main(['encode', '--model', {str(model)!r}, '--input', {str(tmp_path / 'q.txt')!r}, "
        f"'--output', {str(tmp_path / 'x.npy')!r}])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
    assert (tmp_path / "x.npy").exists()


def test_a_name_that_looks_like_text_is_refused(qpr, tmp_path):
    outcome = qpr("encode", "--model", "m", "--input", "-", "--output", tmp_path / "v.txt")
    assert (outcome.code, outcome.err) == (
        2,
        f"error: --output {tmp_path}/v.txt: must end in .npy, NumPy's binary format\n",
    )
    assert not (tmp_path / "v.txt").exists()
