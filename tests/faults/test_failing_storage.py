import errno
import itertools
import os
import stat

import pytest

from model.encoders.saved_model import load_parts
from model.search.opening import open_index
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.io_errors import system_fault
from schemas.artifacts.manifest import read_manifest, read_verified

OUTPUTS = {
    "simulate": "logs.jsonl",
    "clusters": "dataset",
    "quora": "dataset",
    "train": "model",
    "index": "index",
}


def read_all(name, url):
    """Read an output as its readers do and verify every file."""
    if name == "simulate":
        assert len(storage.read_bytes(url).splitlines()) == 50
        return
    manifest = read_manifest(url)
    for file in manifest.files:
        read_verified(url, file)
    {"train": load_parts, "index": open_index}.get(name, open_dataset)(url)


@pytest.mark.parametrize(
    ("name", "error", "step", "over_an_old_version"),
    [
        ("simulate", errno.ENOSPC, 1, True),
        ("simulate", errno.EIO, 1, False),
        pytest.param("clusters", errno.ENOSPC, 1, True, marks=pytest.mark.fault),
        pytest.param("clusters", errno.EIO, 5, False, marks=pytest.mark.fault),
        pytest.param("quora", errno.EIO, 5, True, marks=pytest.mark.fault),
        pytest.param("train", errno.ENOSPC, 1, True, marks=pytest.mark.fault),
        ("index", errno.ENOSPC, 1, True),
        pytest.param("index", errno.EIO, 1, False, marks=pytest.mark.fault),
    ],
)
def test_whatever_write_fails_the_old_version_stays_and_nothing_else(
    qpr, faulty, stored, arguments_of, name, error, step, over_an_old_version
):
    url = f"faulty://bucket/{OUTPUTS[name]}"
    if over_an_old_version:
        assert qpr(*arguments_of(name, url)).code == 0
    old = stored()
    for number in itertools.count(1, step):
        with faulty("write", number, error) as system:
            outcome = qpr(*arguments_of(name, url))
        if not system.failed():
            break
        assert outcome.code == 1
        assert f"error: {url}" in outcome.err
        assert outcome.err.rstrip().endswith(system_fault(OSError(error, os.strerror(error))))
        assert stored() == old
    assert outcome.code == 0
    assert number > (1 if name == "simulate" else 7)
    read_all(name, url)


def test_a_write_whose_answer_gets_lost_never_costs_a_reader_a_file(qpr, faulty, arguments_of):
    name, url = "index", "faulty://bucket/index"
    assert qpr(*arguments_of(name, url)).code == 0
    replaced = []
    for number in itertools.count(1):
        old = read_manifest(url).run_id
        with faulty("write", number, errno.EIO, answer_lost=True) as system:
            outcome = qpr(*arguments_of(name, url))
        read_all(name, url)
        replaced.append(read_manifest(url).run_id != old)
        assert outcome.code == (0 if replaced[-1] else 1)  # it is not reported as failed once it is published
        if not system.failed():
            break
    assert replaced.count(True) > 1  # the answer to the manifest was lost, and then no answer
    assert replaced.count(False) > 7


@pytest.mark.parametrize("name", ["train", "index"])
def test_old_files_that_cannot_be_removed_do_not_spoil_the_new_version(qpr, faulty, arguments_of, name):
    url = f"faulty://bucket/{OUTPUTS[name]}"
    assert qpr(*arguments_of(name, url)).code == 0
    for number in itertools.count(1):
        before = read_manifest(url).run_id
        with faulty("remove", number, errno.EIO) as system:
            outcome = qpr(*arguments_of(name, url))
        assert outcome.code == 0 or os.strerror(errno.EIO) in outcome.err
        assert (read_manifest(url).run_id != before) == (outcome.code == 0)
        read_all(name, url)
        if not system.failed():
            break
    assert number > 2
    assert storage.children(url) == [read_manifest(url).run_id, "manifest.json"]  # the next run swept


def test_input_that_cannot_be_read_is_an_error_that_names_it(qpr, faulty, inputs, tmp_path):
    storage.write_bytes("faulty://bucket/logs.parquet", (inputs / "logs.parquet").read_bytes())
    output = tmp_path / "dataset"
    for number in itertools.count(1):
        with faulty("read", number, errno.EIO) as system:
            outcome = qpr("clusters", "faulty://bucket/logs.parquet", "--output", output)
        if not system.failed():
            break
        assert outcome.code == 1
        assert f"faulty://bucket/logs.parquet: {os.strerror(errno.EIO)}" in outcome.err
        assert not output.exists()
    assert outcome.code == 0
    assert number > 2


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("simulate", "fsync"),
        ("simulate", "replace"),
        pytest.param("index", "fsync", marks=pytest.mark.fault),
        pytest.param("index", "replace", marks=pytest.mark.fault),
    ],
)
def test_a_local_disk_that_fills_up_keeps_the_old_version_too(
    qpr, monkeypatch, tmp_path, arguments_of, name, operation
):
    url = tmp_path / OUTPUTS[name]
    assert qpr(*arguments_of(name, url)).code == 0
    old = tree(tmp_path)
    real, calls = getattr(os, operation), []
    for number in itertools.count(1):

        def fails(*given, number=number):
            if operation == "fsync" and stat.S_ISDIR(os.fstat(given[0]).st_mode):
                return real(*given)  # after the rename: the file is whole, with or without it
            calls.append(given)
            if len(calls) == number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*given)

        calls.clear()
        monkeypatch.setattr(os, operation, fails)
        outcome = qpr(*arguments_of(name, url))
        monkeypatch.setattr(os, operation, real)
        if len(calls) < number:
            break
        assert outcome.code == 1
        assert os.strerror(errno.ENOSPC) in outcome.err
        assert tree(tmp_path) == old
    assert outcome.code == 0
    read_all(name, str(url))


def tree(folder):
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
