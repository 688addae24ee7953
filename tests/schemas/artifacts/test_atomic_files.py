import contextlib
import errno
import os
import runpy
import stat
from unittest.mock import Mock

import pytest

from schemas.artifacts import atomic_files
from schemas.artifacts.atomic_files import fill_atomically, write_atomically


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_passes_its_permissions_on(tmp_path, umask, mode):
    path = tmp_path / "audit.jsonl"
    path.write_text("private")
    path.chmod(mode)
    with write_atomically(str(path)) as file:
        [staged] = tmp_path.glob("*.partial")
        assert stat.S_IMODE(staged.stat().st_mode) == mode  # before it has any text
        file.write(b"private too")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "private too"


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path, umask):
    umask(0o027)
    with write_atomically(str(tmp_path / "new"), new=True) as file:
        file.write(b"")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_disk_without_links_takes_a_new_file_where_that_error_has_the_number_of_macos(tmp_path, monkeypatch):
    monkeypatch.setattr(errno, "EOPNOTSUPP", 102)
    monkeypatch.setattr(errno, "ENOTSUP", 45)
    monkeypatch.setattr(os, "link", Mock(side_effect=OSError(errno.ENOTSUP, "Operation not supported")))
    write = runpy.run_path(atomic_files.__file__)["write_atomically"]
    with write(str(tmp_path / "new"), new=True) as file:
        file.write(b"whole")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("new", b"whole")]


def test_a_folder_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "collection"
    with contextlib.suppress(KeyboardInterrupt), fill_atomically(str(path)) as staged:
        os.mkdir(staged)
        raise KeyboardInterrupt
    assert [*tmp_path.iterdir()] == []
    with fill_atomically(str(path)) as staged:
        os.mkdir(staged)
        assert not path.exists()
    assert [*tmp_path.iterdir()] == [path]
