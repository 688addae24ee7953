import contextlib
import errno
import fcntl
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.atomic_files import lock_replacement
from schemas.artifacts.conditional_writes import ConflictError, create, refuse_existing, replace, write_result
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError


@pytest.fixture(params=["local", "memory", "s3"])
def url(request, tmp_path):
    if request.param == "local":
        return str(tmp_path / "new" / "file")
    return storage.join(request.getfixturevalue(request.param), "new", "file")


def test_what_is_there_is_not_created_again(url):
    create(url, b"one")
    with pytest.raises(ConflictError, match="file: exists"):
        create(url, b"two")
    assert storage.read_bytes(url) == b"one"
    create(url, b"one")  # as a library does that got no answer
    assert storage.children(url.rpartition("/")[0]) == ["file"]


def test_only_what_was_expected_is_replaced(url):
    create(url, b"one")
    replace(url, b"two", expected=b"one")
    with pytest.raises(ConflictError, match="no longer what it was"):
        replace(url, b"three", expected=b"one")
    assert storage.read_bytes(url) == b"two"
    storage.delete(url)
    with pytest.raises(ConflictError):
        replace(url, b"three", expected=b"two")
    assert not storage.exists(url)


@pytest.fixture
def threads_alternate():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("store", ["local", "memory"])
@pytest.mark.usefixtures("threads_alternate")
def test_of_many_threads_one_creates_and_one_replaces(request, tmp_path, store):
    url = str(tmp_path / "file") if store == "local" else storage.join(request.getfixturevalue("memory"), "file")
    for step in range(20):
        won, barrier = [], threading.Barrier(6)

        def write(number, *, url=f"{url}{step // 2}", step=step, won=won, barrier=barrier):
            barrier.wait()
            with contextlib.suppress(ConflictError):
                if step % 2:
                    replace(url, b"by %d" % number, expected=b"first")
                else:
                    create(url, b"%d" % number)
                won.append(number)

        if step % 2:
            storage.write_bytes(f"{url}{step // 2}", b"first")
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(write, range(6)))
        assert len(won) == 1
        assert storage.read_bytes(f"{url}{step // 2}").endswith(b"%d" % won[0])


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_system_without_links_creates_too(tmp_path, monkeypatch, number):
    monkeypatch.setattr(os, "link", Mock(side_effect=OSError(number, os.strerror(number))))
    create(str(tmp_path / "file"), b"one")
    with pytest.raises(ConflictError):
        create(str(tmp_path / "file"), b"two")
    assert (tmp_path / "file").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_that_was_made_though_its_answer_got_lost_is_ours(tmp_path, monkeypatch):
    real = os.link

    def link(source, target):
        real(source, target)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))

    monkeypatch.setattr(os, "link", link)
    create(str(tmp_path / "file"), b"one")
    assert os.listdir(tmp_path) == ["file"]


def test_s3_is_asked_again_after_two_writes_in_one_moment(memory, monkeypatch):
    answers = [conflict("ConditionalRequestConflict"), None, conflict("SlowDown")]
    real = MemoryFileSystem.pipe_file

    def pipe_file(self, path, value, **terms):
        if error := answers.pop(0):
            raise error
        real(self, path, value, **terms)

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", pipe_file)
    create(f"{memory}/file", b"one")
    with pytest.raises(QprError, match=r"file2: Input/output error"):
        create(f"{memory}/file2", b"one")


@pytest.fixture(params=["a server's error", "no connection", "a file of its own"])
def lost(request, memory, monkeypatch):
    """Write to the store in memory, then report an error, as where the answer to a request was lost."""
    reset = type("ConnectionClosedError", (Exception,), {"__module__": "botocore.exceptions"})("Connection was closed")
    errors = {"a server's error": conflict("InternalError"), "no connection": reset, "a file of its own": refusal()}
    real = MemoryFileSystem.pipe_file

    def pipe_file(self, path, value, **terms):
        real(self, path, value, **terms)
        raise errors[request.param]

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", pipe_file)
    return f"{memory}/file"


def test_a_write_that_succeeded_although_its_answer_was_lost_is_no_error(lost):
    create(lost, b"one")
    with pytest.raises(ConflictError):
        create(lost, b"two")
    replace(lost, b"two", expected=b"one")
    assert storage.read_bytes(lost) == b"two"


def test_a_store_that_does_not_name_the_failed_precondition_has_conflicts_too(memory, monkeypatch):
    real = MemoryFileSystem.pipe_file

    def pipe_file(self, path, value, mode="overwrite"):
        if mode == "create" and self.exists(path):
            raise refusal()
        real(self, path, value)

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", pipe_file)
    create(f"{memory}/file", b"one")
    with pytest.raises(ConflictError, match="file: exists"):
        create(f"{memory}/file", b"two")
    create(f"{memory}/file", b"one")


def test_the_error_of_a_failed_write_is_reported_if_the_store_does_not_answer_any_more(memory, monkeypatch):
    storage.write_bytes(f"{memory}/file", b"one")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def silent(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", full)
    with pytest.raises(QprError, match="No space left on device"):
        replace(f"{memory}/file", b"two", expected=b"one")
    monkeypatch.setattr(MemoryFileSystem, "cat_file", silent)
    with pytest.raises(QprError, match="No space left on device"):
        create(f"{memory}/new", b"one")


def refusal():
    """Return s3fs's error for an answer of MinIO to `If-None-Match`, which does not name the condition."""
    error = OSError(errno.EINVAL, "At least one of the pre-conditions you specified did not hold")
    error.__cause__ = conflict("PreconditionFailed").__cause__
    return error


def conflict(code):
    cause = Exception()
    cause.response = {"Error": {"Code": code}}
    error = OSError(errno.EIO, os.strerror(errno.EIO))
    error.__cause__ = cause
    return error


def test_a_result_replaces_what_appeared_only_with_overwrite(url):
    conditional_writes.refuse_existing(url, overwrite=False)
    storage.write_bytes(url, b"theirs")
    with pytest.raises(QprError, match=r"was written by another process while this command ran; it stays"):
        write_result(url, b"ours", overwrite=False)
    assert storage.read_bytes(url) == b"theirs"
    with pytest.raises(QprError, match=r"exists\. Choose another --output or add --overwrite"):
        conditional_writes.refuse_existing(url, overwrite=False)
    conditional_writes.refuse_existing(url, overwrite=True)
    write_result(url, b"ours", overwrite=True)
    assert storage.read_bytes(url) == b"ours"


def test_a_file_of_an_artefact_is_never_replaced(tmp_path):
    output = Output(str(tmp_path / "d"), "dataset", overwrite=False)
    output.publish(
        [output.write("rejected/0.csv", b"a", table="rejected", rows=0)], inputs=[], configuration={}, counters={}
    )
    manifest = read_manifest(str(tmp_path / "d"))
    for place in ("manifest.json", manifest.files[0].path):
        with pytest.raises(
            QprError, match=r"is a file of an artefact, which would be damaged\. Choose another --output"
        ):
            refuse_existing(str(tmp_path / "d" / place), overwrite=True)
    for place in ("new.csv", f"{manifest.run_id}/new.csv"):
        refuse_existing(str(tmp_path / "d" / place), overwrite=True)
    (tmp_path / "d" / "mine.csv").write_bytes(b"a")
    refuse_existing(str(tmp_path / "d" / "mine.csv"), overwrite=True)


def counted_up(content):
    number = int(content or 0) + 1
    return b"%d" % number, number


def test_a_file_is_changed_from_its_present_content_or_from_none(url):
    assert conditional_writes.change(url, counted_up) == 1
    assert conditional_writes.change(url, counted_up) == 2
    assert storage.read_bytes(url) == b"2"


@pytest.mark.parametrize("before", [None, b"7"])
@pytest.mark.parametrize("changes", [0, 4, 5])
def test_a_change_is_made_again_if_another_process_was_first_and_given_up_at_the_fifth_time(url, before, changes):
    if before is not None:
        storage.write_bytes(url, before)
    contents = []

    def changed(content):
        contents.append(content)
        if len(contents) <= changes:
            storage.write_bytes(url, b"%d" % (10 * len(contents)))  # the other process
        return counted_up(content)

    if changes == 5:
        with pytest.raises(ConflictError, match=r"file: other processes change it all the time\. Run this again"):
            conditional_writes.change(url, changed)
    else:
        last = 40 if changes else int(before or 0)
        assert conditional_writes.change(url, changed) == last + 1
        assert storage.read_bytes(url) == b"%d" % (last + 1)
    assert contents == [before, b"10", b"20", b"30", b"40"][: changes + 1]


def test_equal_content_is_not_written(tmp_path, monkeypatch):
    storage.write_bytes(str(tmp_path / "file"), b"same")
    monkeypatch.setattr(os, "replace", None)
    assert conditional_writes.change(str(tmp_path / "file"), lambda content: (content, "result")) == "result"


@pytest.mark.parametrize(
    ("url", "one_operation"),
    [("folder/file", True), ("memory://file", True), ("s3://bucket/file", True), ("http://host/file", False)],
)
def test_stores_that_create_a_file_in_one_operation(url, one_operation):
    pytest.importorskip({"s3": "s3fs", "http": "aiohttp"}.get(url.partition(":")[0], "fsspec"))
    assert conditional_writes.is_conditional(url) == one_operation


def test_only_an_answer_of_two_writes_in_one_moment_is_tried_again_and_five_times_at_most(memory, monkeypatch):
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    fail = Mock(side_effect=conflict("ConditionalRequestConflict"))
    monkeypatch.setattr(MemoryFileSystem, "pipe_file", fail)
    with pytest.raises(QprError, match="file: Input/output error"):
        create(f"{memory}/file", b"one")
    assert fail.call_count == 5
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8])


@pytest.mark.parametrize("store", ["local", "memory"])
def test_a_second_replacement_waits_until_the_first_has_written(request, tmp_path, monkeypatch, store):
    folder = str(tmp_path) if store == "local" else request.getfixturevalue("memory")
    url, real, errors = storage.join(folder, "file"), storage.write_bytes, []
    real(url, b"one")

    def second():
        try:
            replace(url, b"second", expected=b"one")
        except ConflictError as error:
            errors.append(error)

    other = threading.Thread(target=second)

    def write_bytes(url, content):
        if content == b"first":
            other.start()
            other.join(0.3)  # without the lock it ends here
        real(url, content)

    monkeypatch.setattr(storage, "write_bytes", write_bytes)
    replace(url, b"first", expected=b"one")
    other.join()
    assert (storage.read_bytes(url), len(errors)) == (b"first", 1)


def test_a_file_system_without_locks_replaces_too(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"one")
    monkeypatch.setattr(fcntl, "flock", Mock(side_effect=OSError(errno.ENOLCK, "No locks available")))
    replace(str(tmp_path / "file"), b"two", expected=b"one")
    assert (tmp_path / "file").read_bytes() == b"two"


def test_a_child_that_was_forked_during_a_replacement_does_not_keep_the_lock(tmp_path):
    path = str(tmp_path / "file")
    storage.write_bytes(path, b"one")
    end, ended = os.pipe()
    with lock_replacement(path):
        child = os.fork()
        if not child:
            os.close(ended)
            os.read(end, 1)  # until the parent closes the pipe
            os._exit(0)
    with open(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(ended)
    assert os.waitpid(child, 0)[1] == 0
    os.close(end)
