import contextlib
import datetime
import json
import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import fsspec
import pytest

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.conditional_writes import ConflictError
from schemas.artifacts.output_lock.lock import acquire
from schemas.artifacts.output_lock.owner import Owner
from schemas.errors import QprError, UsageError
from schemas.versions import history
from schemas.versions.layout import read_layout, write_layout
from schemas.versions.leases import leased, leases
from schemas.versions.version import stamp
from tests.support.small_versions import make_version


@pytest.fixture(params=["local", "memory", "s3"])
def warehouse(request, tmp_path):
    return (
        str(tmp_path / "w") if request.param == "local" else storage.join(request.getfixturevalue(request.param), "w")
    )


def test_the_highest_number_is_current_and_records_are_read_as_they_were_written(warehouse):
    assert history.current(warehouse) is None
    first = make_version(warehouse, "one")
    assert history.publish(warehouse, first) == 1
    second = make_version(warehouse, "two", parent=1, date="2026-11-21", metrics={"mrr": 0.5})
    assert history.publish(warehouse, second) == 2
    assert history.numbers(warehouse) == [1, 2]
    assert history.current(warehouse) == (2, second)
    assert history.read_version(warehouse, 1) == first


def test_a_version_whose_parent_is_not_the_current_one_is_not_published(warehouse):
    first = make_version(warehouse, "one")
    history.publish(warehouse, first)
    late = first.model_copy(update=stamp())
    with pytest.raises(ConflictError, match="version 1 was published by another command meanwhile"):
        history.publish(warehouse, late)
    assert history.current(warehouse) == (1, first)


def test_versions_are_found_by_number_and_by_date(tmp_path):
    w = str(tmp_path)
    for number, date in enumerate(["2026-11-18", "2026-11-20", "2026-11-20"], 1):
        history.publish(w, make_version(w, f"v{number}", parent=number - 1 or None, date=date))
    assert history.version_at(w, "2")[0] == 2
    assert history.version_at(w, "2026-11-19")[0] == 1
    assert history.version_at(w, "2026-12-01")[0] == 3
    with pytest.raises(QprError, match="no version of 2026-11-17 or before"):
        history.version_at(w, "2026-11-17")
    with pytest.raises(QprError, match=r"has no version 9\. There are 1 to 3"):
        history.version_at(w, "9")
    with pytest.raises(UsageError, match="neither the number of a version nor a date"):
        history.version_at(w, "yesterday")


def test_a_rollback_is_a_new_version_that_equals_an_old_one(tmp_path):
    w = str(tmp_path)
    first = make_version(w, "one", metrics={"mrr": 0.5})
    history.publish(w, first)
    second = make_version(w, "two", parent=1)
    history.publish(w, second)
    assert history.roll_back(w, 1) == 3
    number, version = history.current(w)
    assert (number, version.parent, version.rollback_of) == (3, 2, 1)
    assert (version.dataset, version.model, version.index) == (first.dataset, first.model, first.index)
    assert version.splits == second.splits
    assert version.metrics == first.metrics
    with pytest.raises(QprError, match=r"version 3 is the current one already\. Give the number of an older one"):
        history.roll_back(w, 3)


def test_a_rollback_is_not_the_version_of_the_date_that_it_replaced(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one", date="2026-11-19"))
    history.publish(w, make_version(w, "two", parent=1, date="2026-11-20"))
    assert history.roll_back(w, 1) == 3
    assert history.version_at(w, "2026-11-20")[0] == 2
    assert history.version_at(w, "2026-11-25")[0] == 2
    assert history.version_at(w, "2026-11-19")[0] == 1
    assert history.version_at(w, None)[0] == 3
    storage.delete(history.file_of(w, 1))
    assert history.version_at(w, "2026-11-19")[0] == 3


def test_the_version_that_a_night_began_with_is_found_behind_rollbacks_and_certificates(tmp_path):
    w = str(tmp_path)
    first, second = make_version(w, "one"), make_version(w, "two", parent=1)
    history.publish(w, first)
    history.publish(w, second)
    history.roll_back(w, 1)
    history.roll_back(w, 2)
    history.publish(w, second.model_copy(update={"parent": 4}))  # as with a new certificate
    versions = [history.read_version(w, number) for number in range(1, 6)]
    assert [history.made_after(w, version) for version in versions] == [None, (1, first), None, (1, first), (1, first)]


def test_no_rollback_to_a_version_with_a_missing_or_changed_artefact(tmp_path):
    w = str(tmp_path)
    first = make_version(w, "one")
    history.publish(w, first)
    history.publish(w, make_version(w, "two", parent=1))
    storage.delete(storage.join(w, "models", "one"))
    with pytest.raises(QprError, match=r"version 1 names models/one, which cannot be used: .*does not exist"):
        history.roll_back(w, 1)
    replaced = first.model_copy(update={"model": first.model.model_copy(update={"path": "models/two"})})
    with pytest.raises(QprError, match=r"names models/two with digest .* but its digest is"):
        history.check_artefact(w, replaced.model, "model", version="version 1")
    assert history.numbers(w) == [1, 2]


def test_a_damaged_record_and_one_of_a_newer_layout_are_refused(tmp_path):
    w = str(tmp_path)
    version = make_version(w, "one")
    history.publish(w, version)
    newer = version.model_copy(update={"layout": 3}).model_dump_json()
    storage.write_bytes(history.file_of(w, 1), newer.encode())
    with pytest.raises(QprError, match=r"00000001.json: record of layout 3, this code reads up to 2\. Upgrade"):
        history.current(w)
    older = version.model_copy(update={"layout": 1}).model_dump(mode="json", exclude={"uncertified"})
    storage.write_bytes(history.file_of(w, 1), json.dumps(older).encode())
    assert history.current(w)[1].layout == 1
    for content in (b"", b"{}", version.model_dump_json().replace("datasets/one", "../one").encode()):
        storage.write_bytes(history.file_of(w, 1), content)
        with pytest.raises(QprError, match=r"00000001.json: no version record of layout 2 \("):
            history.current(w)


def test_a_full_disk_publishes_nothing_and_the_next_try_succeeds(tmp_path, monkeypatch):
    w = str(tmp_path)
    version = make_version(w, "one")
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(QprError, match=r"(?i)no space left"):
            history.publish(w, version)
    assert history.numbers(w) == []
    assert history.publish(w, version) == 1


def test_without_conditional_writes_the_second_of_two_writers_is_refused(memory, monkeypatch):
    monkeypatch.setattr(conditional_writes, "is_conditional", lambda _: False)
    w = storage.join(memory, "w")
    version = make_version(w, "one")
    lock = acquire(
        storage.join(w, "versions"), Owner.here("20261120T000000Z-000000", datetime.datetime.now(datetime.UTC))
    )
    with pytest.raises(QprError, match="another run is writing there"):
        history.publish(w, version)
    lock.release()
    assert history.publish(w, version) == 1


def test_without_conditional_writes_one_of_several_writers_at_once_wins(memory, monkeypatch):
    def write_over(file_system, path, content, **_):
        time.sleep(0.001)  # between the look for the file and the write
        file_system.pipe_file(path, content)

    monkeypatch.setattr(conditional_writes, "is_conditional", lambda _: False)
    monkeypatch.setattr(conditional_writes, "_pipe", write_over)
    monkeypatch.setattr(conditional_writes, "_alone", lambda *_: contextlib.nullcontext())
    w = storage.join(memory, "w")
    version = make_version(w, "one")
    published = 0
    for _ in range(8):
        record = version.model_copy(update={"parent": published or None})
        barrier = threading.Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            ends = [pool.submit(_publish_at_once, w, record, barrier) for _ in range(4)]
        won = [end.result() for end in ends if end.result() is not None]
        assert len(won) <= 1
        if won:
            published += 1
            assert history.read_version(w, published).writer == won[0]
        assert history.numbers(w) == list(range(1, published + 1))
    assert published > 0


def _publish_at_once(warehouse, version, barrier):
    record = version.model_copy(update=stamp())
    barrier.wait()
    with contextlib.suppress(QprError):
        history.publish(warehouse, record)
        return record.writer


def test_a_full_disk_leaves_no_half_lease_or_layout(tmp_path, monkeypatch):
    w = str(tmp_path)
    version = make_version(w, "one")
    history.publish(w, version)
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(QprError, match=r"(?i)no space left"):
            write_layout(w)
        with pytest.raises(QprError, match=r"(?i)no space left"), leased(w, 1, version):
            pass
        with pytest.raises(QprError, match=r"(?i)no space left"):
            history.keep_refused(w, version)
    assert (read_layout(w), leases(w), history.refused_versions(w)) == (None, {}, [])


@pytest.mark.parametrize(
    ("url", "conditional"), [("/tmp/w", True), ("memory://w", True), ("github://a:b@w/", False), ("ftp://w", False)]
)
def test_stores_that_create_in_one_operation_are_known(url, conditional, monkeypatch):
    classes = {"github": fsspec.get_filesystem_class("github"), "ftp": fsspec.get_filesystem_class("ftp")}
    protocol = url.partition("://")[0]
    if protocol in classes:
        bare = object.__new__(classes[protocol])
        monkeypatch.setattr(storage, "locate", lambda _: (bare, "w"))
    assert conditional_writes.is_conditional(url) is conditional


def _race(warehouse, version, barrier, won, number):
    barrier.wait()
    with contextlib.suppress(ConflictError):
        history.publish(warehouse, version.model_copy(update=stamp() | {"metrics": {"writer": float(number)}}))
        won.append(number)


@pytest.mark.parametrize("warehouse", ["local", "memory"], indirect=True)  # S3: `tests.faults.version_races`
def test_of_writers_that_race_one_wins_each_number(warehouse):
    version = make_version(warehouse, "one")
    for parent in range(20):
        won, barrier = [], threading.Barrier(4)
        record = version.model_copy(update={"parent": parent or None})
        with ThreadPoolExecutor(4) as pool:
            ended = [pool.submit(_race, warehouse, record, barrier, won, number) for number in range(4)]
        assert [end.exception() for end in ended] == [None] * 4
        assert len(won) == 1
        assert history.read_version(warehouse, parent + 1).metrics["writer"] == won[0]
    assert history.numbers(warehouse) == list(range(1, parent + 2))


def _publish_from_a_process(warehouse, record, results, number):
    try:
        history.publish(warehouse, record.model_copy(update=stamp()))
        results.put(number)
    except ConflictError:
        results.put(None)


def test_of_processes_that_race_one_wins(tmp_path):
    record, context = make_version(str(tmp_path), "one"), multiprocessing.get_context("fork")
    results = context.Queue()
    running = [
        context.Process(target=_publish_from_a_process, args=(str(tmp_path), record, results, n)) for n in range(4)
    ]
    for process in running:
        process.start()
    ends = [results.get(timeout=60) for _ in running]
    for process in running:
        process.join()
    assert len([end for end in ends if end is not None]) == 1
