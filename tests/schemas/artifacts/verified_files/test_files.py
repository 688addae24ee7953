import hashlib
import os
import re
from pathlib import Path

import pytest

from schemas.artifacts import storage
from schemas.artifacts.manifest import File
from schemas.artifacts.verified_files import files
from schemas.artifacts.verified_files.files import VerifiedFiles
from schemas.errors import QprError

CONTENT = b"content of a file" * 500


@pytest.fixture(autouse=True)
def settled(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SETTLED_NS", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a").write_bytes(CONTENT)
    return file_of("run/a", CONTENT)


def file_of(path, content):
    return File(path=path, table="t", rows=0, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def opened(url, file, **options):
    files = VerifiedFiles(str(url), **options)
    content = files.read(file)
    files.remember()
    return content


def digests(monkeypatch):
    """Return a list that gets an entry for each digest computed from now on."""
    computed, compute = [], files._sha256
    monkeypatch.setattr(files, "_sha256", lambda opened: computed.append(1) or compute(opened))
    return computed


def test_a_file_is_verified_once_and_again_on_request(tmp_path, file, monkeypatch):
    computed = digests(monkeypatch)
    for count, options in enumerate([{}, {}, {"verify": True}, {}]):
        content = opened(tmp_path, file, **options)
        assert bytes(content) == CONTENT
        assert content.readonly
        assert len(computed) == [1, 1, 2, 2][count]


def resident_of_files():
    """Return the bytes of mapped files that are in the memory of this process."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the system does not report the memory of files")
    found = re.search(r"RssFile:\s+(\d+) kB", status.read_text())
    return int(found.group(1)) * 1024


@pytest.mark.parametrize(("by_rows", "count"), [(False, 1), (True, 2)])
def test_a_file_is_open_once_unless_its_rows_are_read(tmp_path, file, by_rows, count):
    content = VerifiedFiles(str(tmp_path)).read(file, by_rows=by_rows)
    links = (os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd"))
    targets = [os.readlink(link) for link in links if os.path.lexists(link)]
    assert targets.count(str(tmp_path / file.path)) == count
    assert content == CONTENT


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="the system does not list open files")
def test_a_file_that_nobody_needs_any_more_is_closed_after_the_first_opening(tmp_path, file):
    files = VerifiedFiles(str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    files.read(file)
    files.remember()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_digest_makes_no_page_of_the_file_resident(tmp_path):
    content = os.urandom(1 << 20) * 64
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "large").write_bytes(content)
    files, before = VerifiedFiles(str(tmp_path)), resident_of_files()
    mapped = files.read(file_of("run/large", content))
    assert resident_of_files() < before + len(content) // 4
    assert mapped == content  # reads all pages
    assert resident_of_files() > before + len(content) // 2


@pytest.mark.parametrize("place", [0, len(CONTENT) // 2, len(CONTENT) - 1])
def test_each_flipped_bit_is_noticed_at_the_first_opening_and_after_a_change(tmp_path, file, place):
    for known in (False, True):
        if known:
            opened(tmp_path, file)
        for bit in range(8):
            changed = bytearray(CONTENT)
            changed[place] ^= 1 << bit
            (tmp_path / "run" / "a").write_bytes(changed)
            with pytest.raises(QprError, match="run/a: does not match the manifest's sha256"):
                opened(tmp_path, file)
        (tmp_path / "run" / "a").write_bytes(CONTENT)


def test_a_changed_file_with_its_old_time_is_noticed(tmp_path, file):
    opened(tmp_path, file)
    path = tmp_path / "run" / "a"
    before = path.stat()
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(QprError, match="does not match"):
        opened(tmp_path, file)


def test_the_same_file_is_refused_for_another_digest(tmp_path, file):
    opened(tmp_path, file)
    with pytest.raises(QprError, match="does not match"):
        opened(tmp_path, file_of("run/a", CONTENT[::-1]))


def test_a_file_that_has_just_changed_is_not_remembered(tmp_path, file, monkeypatch):
    monkeypatch.setattr(files, "SETTLED_NS", 3600 * 10**9)
    computed = digests(monkeypatch)
    opened(tmp_path, file)
    opened(tmp_path, file)
    assert len(computed) == 2


def test_results_of_checks_are_remembered_by_content(tmp_path, file):
    calls = []
    for count, (check, options) in enumerate([("a-1", {}), ("a-1", {}), ("a-2", {}), ("a-2", {"verify": True})]):
        files = VerifiedFiles(str(tmp_path), **options)
        files.read(file)
        assert files.fact(check, [file], lambda: calls.append(1) or [1, "x"]) == [1, "x"]
        files.remember()
        assert len(calls) == [1, 1, 2, 3][count]
    (tmp_path / "run" / "a").write_bytes(CONTENT[::-1])
    other = file_of("run/a", CONTENT[::-1])
    files = VerifiedFiles(str(tmp_path))
    files.read(other)
    with pytest.raises(ZeroDivisionError):
        files.check("a-2", [other], lambda: 1 / 0)
    files.remember()
    again = VerifiedFiles(str(tmp_path))
    again.read(other)
    with pytest.raises(ZeroDivisionError):
        again.check("a-2", [other], lambda: 1 / 0)


def test_empty_missing_and_remote_files_are_read_as_before(tmp_path, memory):
    storage.write_bytes(f"{memory}/run/a", CONTENT)
    assert opened(memory, file_of("run/a", CONTENT)) == CONTENT
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "empty").write_bytes(b"")
    assert opened(tmp_path, file_of("run/empty", b"")) == b""
    with pytest.raises(QprError, match="run/none: is gone, though the manifest lists it"):
        opened(tmp_path, file_of("run/none", b"x"))
    (tmp_path / "run" / "long").write_bytes(b"xy")
    with pytest.raises(QprError, match="does not match"):
        opened(tmp_path, file_of("run/long", b"x"))
