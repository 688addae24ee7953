"""Lines are appended as a whole, or not at all."""

import contextlib
import os
import resource
from concurrent.futures import ThreadPoolExecutor, wait
from unittest.mock import Mock

import pytest

from jobs.web import appended_lines
from jobs.web.appended_lines import AppendedFile
from schemas.artifacts.atomic_files import write_atomically


def append(path, lines):
    AppendedFile(path).append(lines)


def fail_after(file, lines, *steps):
    """Append lines in a block that takes some steps and fails."""

    def run():
        with file.appending(lines):
            for step in steps:
                step()
            raise KeyError

    with pytest.raises(KeyError):
        run()


def test_lines_are_appended_after_the_half_line_of_a_killed_process(tmp_path):
    path = tmp_path / "lines"
    append(path, b"one\n")
    append(path, b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    path.write_bytes(b"one\nhal")
    append(path, b"two\n")
    assert path.read_bytes() == b"one\nhal\ntwo\n"


def test_the_lines_of_a_block_that_fails_are_removed(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"one\nhal")
    with pytest.raises(KeyError), AppendedFile(path).appending(b"two\n"):
        raise KeyError(path.read_bytes())
    assert path.read_bytes() == b"one\nhal"


@pytest.mark.parametrize("before", [b"one\n", b"one\nhal", b""])
def test_the_lines_that_others_appended_during_a_block_that_fails_stay(tmp_path, before, monkeypatch):
    monkeypatch.setattr("jobs.web.appended_lines._COPIED", 3)
    path = tmp_path / "lines"
    path.write_bytes(before)
    file = AppendedFile(path)
    fail_after(file, b"two\n", lambda: file.append(b"three\n"), lambda: file.append(b"two\n"))
    whole = before + (b"" if before[-1:] in (b"", b"\n") else b"\n")
    assert path.read_bytes() == whole + b"three\ntwo\n"
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_that_was_moved_away_during_a_block_that_fails_is_left(tmp_path):
    path = tmp_path / "lines"
    file = AppendedFile(path)
    fail_after(file, b"two\n", lambda: path.rename(tmp_path / "moved"), lambda: file.append(b"three\n"))
    assert path.read_bytes() == b"three\n"


def test_blocks_that_fail_at_once_remove_their_own_lines(tmp_path):
    file = AppendedFile(tmp_path / "lines")

    def fail(number):
        fail_after(file, b"%d\n" % number * (number + 1), lambda: file.append(b"kept %d\n" % number))

    with ThreadPoolExecutor(8) as pool:
        [*pool.map(fail, range(24))]
    assert sorted(file.path.read_bytes().splitlines()) == sorted(b"kept %d" % number for number in range(24))


def test_lines_that_come_while_those_of_a_block_are_written_or_removed_stay_and_shift_none(tmp_path, monkeypatch):
    file, write = AppendedFile(tmp_path / "lines"), appended_lines._write_whole
    with ThreadPoolExecutor(2) as pool:

        def meanwhile(lines):
            wait([pool.submit(file.append, lines)], timeout=0.05)

        def write_late(opened, content):
            if content == b"two\n":
                meanwhile(b"three\n")
            write(opened, content)

        @contextlib.contextmanager
        def replace_late(path):
            with write_atomically(path) as staged:
                yield staged
                meanwhile(b"five\n")

        monkeypatch.setattr(appended_lines, "_write_whole", write_late)
        monkeypatch.setattr(appended_lines, "write_atomically", replace_late)
        fail_after(file, b"two\n", lambda: file.append(b"four\n"))
    assert sorted(file.path.read_bytes().split()) == [b"five", b"four", b"three"]


def test_a_part_of_a_line_that_a_full_disk_leaves_is_removed(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space left"):
        append(path, b"two\n")
    assert path.read_bytes() == b"one\n"


def test_a_part_of_a_line_that_the_system_writes_without_an_error_is_removed(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6, hard))  # bytes of a file
    try:
        with pytest.raises(OSError, match="No space left"):
            append(path, b"two\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"one\n"
