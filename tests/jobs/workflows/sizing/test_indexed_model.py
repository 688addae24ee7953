"""The files of a model in the index that is built with it."""

import errno
import os
from unittest.mock import Mock

import pytest

from jobs.workflows.sizing.indexed_model import IndexedModel
from model.search.opening import open_index
from schemas.artifacts import storage
from schemas.artifacts.manifest import REPORTS, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.tables import MODEL

LINES = "".join(f"question number {n},answer {n}\n" for n in range(30))


@pytest.fixture
def model(tmp_path, make_model):
    make_model(tmp_path / "model")
    return str(tmp_path / "model")


@pytest.fixture
def index(qpr, tmp_path, model):
    """Return the URL of an index of a table."""
    (tmp_path / "faq.csv").write_text(f"question,answer\n{LINES}")
    index = str(tmp_path / "index")
    assert qpr("index", "--questions", tmp_path / "faq.csv", "--model", model, "--output", index).code == 0
    return index


def inodes(url, table):
    return {os.stat(storage.join(url, file.path)).st_ino for file in read_manifest(url).of(table)}


def test_the_weights_are_links_and_the_card_is_a_copy(model, index):
    assert inodes(model, MODEL)
    assert inodes(model, MODEL) <= inodes(index, MODEL)
    assert not inodes(model, REPORTS) & inodes(index, REPORTS)


def test_the_index_stays_whole_without_its_model(model, index, tmp_path):
    storage.delete(model)
    moved = str(tmp_path / "moved")
    os.rename(index, moved)
    for file in read_manifest(moved).files:
        read_verified(moved, file)
    assert len(open_index(moved, verify=True)) == 30


def test_a_file_system_without_links_gets_copies_and_the_same_digest(qpr, model, index, tmp_path, monkeypatch):
    refuse = Mock(side_effect=PermissionError(errno.EPERM, "no hard links"))
    monkeypatch.setattr("schemas.artifacts.shared_files.os.link", refuse)
    copied = str(tmp_path / "copied")
    assert qpr("index", "--questions", tmp_path / "faq.csv", "--model", model, "--output", copied).code == 0
    assert refuse.called
    assert not inodes(model, MODEL) & inodes(copied, MODEL)
    assert read_manifest(copied).digest == read_manifest(index).digest


def test_a_model_that_is_replaced_while_it_is_indexed_is_an_error(model, tmp_path):
    indexed = IndexedModel.of(model)
    weights = read_manifest(model).of(MODEL)[0]
    os.remove(storage.join(model, weights.path))
    with (
        Output(str(tmp_path / "other"), "index") as target,
        pytest.raises(QprError, match="is gone, though the manifest"),
    ):
        indexed.copy_to(target)
