import os
import stat

import pytest

from schemas.artifacts.verified_files import verification_cache
from schemas.artifacts.verified_files.verification_cache import Records, Stamp, read_records, write_records

STAMP = Stamp(3, 4, 5, 6, 7)
RECORDS = Records(files={"a/b": (STAMP, "0" * 64)}, facts={"x 1": [1, "2"]})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "qpr" / "verified"


def test_records_are_read_back_and_only_the_user_can_read_them(cache, tmp_path):
    assert read_records(str(tmp_path / "index")) == Records()
    write_records(str(tmp_path / "index"), RECORDS)
    assert read_records(str(tmp_path / "index")) == RECORDS
    assert read_records(str(tmp_path / "other")) == Records()
    [file] = cache.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_two_names_of_a_folder_are_one_artefact(cache, tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "index")
    write_records(str(tmp_path / "link"), RECORDS)
    assert read_records(str(tmp_path / "index")) == RECORDS


@pytest.mark.parametrize("content", [b"", b"{", b'{"files": 1}', b"[]", b"\xff"])
def test_a_damaged_cache_is_an_empty_one(cache, content):
    write_records("i", RECORDS)
    [file] = cache.iterdir()
    file.write_bytes(content)
    assert read_records("i") == Records()


def test_a_cache_that_others_can_write_is_not_trusted(cache):
    write_records("i", RECORDS)
    [file] = cache.iterdir()
    file.chmod(0o666)
    assert read_records("i") == Records()
    file.unlink()
    cache.chmod(0o777)
    write_records("i", RECORDS)
    assert list(cache.iterdir()) == []


def test_a_link_in_the_cache_is_not_followed(cache, tmp_path):
    write_records("i", RECORDS)
    [file] = cache.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert read_records("i") == Records()


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", "/dev/null/x", "/proc/nothing"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(place))
        write_records("i", RECORDS)
        assert read_records("i") == Records()


def test_a_relative_folder_is_ignored_and_a_user_without_a_folder_has_no_cache(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_records("i", RECORDS)
    assert [*(tmp_path / "home" / ".cache" / "qpr" / "verified").iterdir()]
    assert not (tmp_path / "relative").exists()


def test_the_oldest_artefacts_are_forgotten(cache, monkeypatch):
    monkeypatch.setattr(verification_cache, "MOST_ARTEFACTS", 2)
    for number in range(3):
        write_records(f"i{number}", RECORDS)
        for age, file in enumerate(sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime_ns)):
            os.utime(file, ns=(age, age))
    assert [read_records(f"i{number}") == RECORDS for number in range(3)] == [False, True, True]


def test_a_cache_of_somebody_else_is_not_trusted(cache, monkeypatch):
    write_records("i", RECORDS)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert read_records("i") == Records()
