"""Lines are appended as a whole, or not at all."""

import os

import pytest

from jobs.web.appended_lines import appending


def append(path, lines):
    with appending(path, lines):
        pass


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
    with pytest.raises(KeyError), appending(path, b"two\n"):
        raise KeyError(path.read_bytes())
    assert path.read_bytes() == b"one\nhal"


def test_a_part_of_a_line_that_a_full_disk_leaves_is_removed(tmp_path, monkeypatch):
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        append(path, b"two\n")
    assert path.read_bytes() == b"one\n"
