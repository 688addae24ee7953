from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
import safetensors.numpy

from model.encoders.subword.pretrained_tokens import read_static
from schemas.errors import QprError


def test_a_folder_is_read(tokens):
    found = read_static(str(tokens))
    np.testing.assert_array_equal(found.rows, np.arange(12).reshape(4, 3))
    assert (found.version, found.licence, found.licence_text) == ("", "not stated", "Do as you like.")
    settings = found.settings("here")
    assert (settings["static_from"], settings["tokens"], settings["dimension"]) == ("here", 4, 3)
    assert read_static(str(tokens), digest=found.digest).digest == found.digest


@pytest.fixture
def package(tokens, monkeypatch):
    """Install the folder as a package that must not be run."""
    (tokens / "__init__.py").write_text("raise RuntimeError('ran')")
    about = tokens.parent / "published-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: published\nVersion: 1.5\nLicense: MIT License\n")
    (about / "LICENSE").write_text("The text.")
    (about / "top_level.txt").write_text("published\n")
    (about / "RECORD").write_text("published-1.5.dist-info/LICENSE,,\npublished/__init__.py,,\n")
    monkeypatch.syspath_prepend(str(tokens.parent))
    importlib.invalidate_caches()
    return "published"


def test_a_package_is_read_without_running_it(package, tokens):
    found = read_static(package)
    assert (found.version, found.licence, found.licence_text) == ("1.5", "MIT License", "The text.")
    assert found.digest == read_static(str(tokens)).digest
    assert package not in sys.modules


def test_the_digest_is_of_rows_and_tokenizer(tokens):
    digests = {read_static(str(tokens)).digest}
    (tokens / "tokenizer.json").write_bytes((tokens / "tokenizer.json").read_bytes() + b"\n")
    digests.add(read_static(str(tokens)).digest)
    safetensors.numpy.save_file({"rows": np.ones((4, 3), np.float32)}, str(tokens / "rows.safetensors"))
    digests.add(read_static(str(tokens)).digest)
    assert len(digests) == 3
    with pytest.raises(QprError, match=r"has changed: its digest is .* is that of the model\. Restore"):
        read_static(str(tokens), digest=min(digests - {read_static(str(tokens)).digest}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "rows.safetensors").unlink(), r"one \*\.safetensors is expected, found none"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "one tokenizer .* is expected, found none"),
        (lambda folder: save(folder / "more.safetensors", a=np.ones((4, 3))), "found more.safetensors, rows.safetens"),
        (lambda folder: (folder / "rows.safetensors").write_bytes(b"1"), r"cannot be read.*\. Fetch it again"),
        (
            lambda folder: save(folder / "rows.safetensors", a=np.ones((4, 3)), b=np.ones(3)),
            r"holds a \(4, 3\) float64",
        ),
        (
            lambda folder: save(folder / "rows.safetensors", a=np.ones((4, 3), np.int8)),
            "one matrix of floating-point rows",
        ),
        (lambda folder: save(folder / "rows.safetensors", a=np.full((4, 3), np.nan)), "infinite or none"),
        (
            lambda folder: save(folder / "rows.safetensors", a=np.full((4, 3), -1e5, np.float32)),
            r"numbers of up to 1e\+05, more than 10,000, which a model cannot store\. Divide all by one number",
        ),
        (lambda folder: save(folder / "rows.safetensors", a=np.ones((3, 3))), "3 rows for 4 tokens"),
        (lambda folder: (folder / "tokenizer.json").write_text('{"vocab"'), "not a tokenizer"),
    ],
)
def test_what_does_not_fit_is_refused(tokens, change, message):
    change(tokens)
    with pytest.raises(QprError, match=message):
        read_static(str(tokens))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("no_such_package", "pip install no_such_package"),
        ("no_such_package", "Correct the path, or "),
        ("no/folder", "Name a folder"),
        ("no/folder", "^no/folder: no such folder. Name"),
        (__file__, f"^{__file__}: a file, not a folder"),
        ("sys", "no such folder"),
    ],
)
def test_what_is_not_there_is_named(source, message):
    with pytest.raises(QprError, match=message):
        read_static(source)


def save(path, **matrices):
    safetensors.numpy.save_file(matrices, str(path))
