import contextlib
import datetime
import json
import multiprocessing
import threading
import time
from unittest.mock import Mock

import pytest

from schemas.artifacts import storage
from schemas.errors import QprError
from schemas.versions import history, leases
from schemas.versions.leases import LEASE, Lease, leased, leased_paths, remove_expired
from schemas.versions.sweep import removable, remove, spared
from tests.support.small_versions import make_version
from tests.support.waiting import wait_until

DAY = datetime.timedelta(days=1)


def now():
    return datetime.datetime.now(datetime.UTC)


@pytest.fixture
def warehouse(tmp_path):
    w = str(tmp_path / "w")
    history.publish(w, make_version(w, "one"))
    history.publish(w, make_version(w, "two", parent=1))
    return w


def swept(w):
    return {found.path for found in removable(w, keep=1, grace=-DAY, now=now())}


def test_what_a_reader_has_open_stays_until_it_ends(warehouse):
    version = history.read_version(warehouse, 1)
    assert "indexes/one" in swept(warehouse)
    with leased(warehouse, 1, version):
        assert swept(warehouse) == set()
        [lease] = spared(warehouse, keep=1, now=now())
        assert lease.version == 1
        assert spared(warehouse, keep=2, now=now()) == []  # it would stay anyway
        [content] = [storage.read_bytes(url) for url in leases.leases(warehouse)]
        assert "indexes/one" in json.loads(content)["paths"]
    assert storage.children(storage.join(warehouse, "leases")) == []
    assert "indexes/one" in swept(warehouse)


def test_a_reader_that_comes_after_the_list_was_made_keeps_its_folders(warehouse):
    found = removable(warehouse, keep=1, grace=-DAY, now=now())
    with leased(warehouse, 1, history.read_version(warehouse, 1)):
        remove(warehouse, found)
        assert storage.exists(storage.join(warehouse, "indexes/one", "manifest.json"))
    remove(warehouse, found)
    assert not storage.exists(storage.join(warehouse, "indexes/one"))


def test_a_lease_is_renewed_and_else_expires(warehouse, monkeypatch):
    monkeypatch.setattr(leases, "PERIOD_S", 0.05)
    with leased(warehouse, 1, history.read_version(warehouse, 1)):
        [(url, first)] = leases.leases(warehouse).items()
        wait_until(lambda: leases.leases(warehouse)[url].expires != first.expires)
        renewed = leases.leases(warehouse)[url]
    assert first.expires < renewed.expires <= now() + LEASE
    assert first.is_valid(first.expires - datetime.timedelta(seconds=1))
    assert not first.is_valid(first.expires)
    elsewhere = renewed.model_copy(
        update={"owner": renewed.owner.model_copy(update={"host": "elsewhere", "kernel": "another"})}
    )
    storage.write_bytes(url, elsewhere.model_dump_json().encode())  # of a reader that was killed on another machine
    assert "indexes/one" in leased_paths(warehouse, now())
    assert leased_paths(warehouse, now() + LEASE) == {}
    assert remove_expired(warehouse, now()) == 0
    assert remove_expired(warehouse, now() + LEASE) == 1
    assert leases.leases(warehouse) == {}


def test_a_lease_is_renewed_after_the_store_did_not_answer_for_a_time(warehouse, monkeypatch):
    write, errors = storage.write_bytes, [OSError("no answer"), QprError("no answer"), PermissionError("no answer")]

    def fail(url, content):
        if errors:
            raise errors.pop()
        write(url, content)

    monkeypatch.setattr(leases, "PERIOD_S", 0.02)
    with leased(warehouse, 1, history.read_version(warehouse, 1)):
        [(url, first)] = leases.leases(warehouse).items()
        monkeypatch.setattr(storage, "write_bytes", fail)
        wait_until(lambda: not errors and leases.leases(warehouse)[url].expires > first.expires)


@pytest.mark.parametrize("error", [OSError, QprError])
def test_a_lease_that_cannot_be_deleted_ends_no_reader_with_an_error_and_expires(warehouse, monkeypatch, error):
    with monkeypatch.context() as patched:
        patched.setattr(storage, "delete_file", Mock(side_effect=error("no answer")))
        with leased(warehouse, 1, history.read_version(warehouse, 1)):
            pass
    [lease] = leases.leases(warehouse).values()
    assert now() < lease.expires <= now() + LEASE
    assert remove_expired(warehouse, now() + LEASE) == 1


def renewing():
    return [thread for thread in threading.enumerate() if thread.name.startswith("lease ")]


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_the_end_of_a_lease_does_not_wait_for_its_next_renewal(warehouse, error):
    began = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt), leased(warehouse, 1, history.read_version(warehouse, 1)):
        assert len(renewing()) == 1
        if error is not None:
            raise error
    assert time.monotonic() - began < leases.PERIOD_S / 4
    assert renewing() == []
    assert leases.leases(warehouse) == {}


def _read(warehouse, opened, ended):
    with leased(warehouse, 1, history.read_version(warehouse, 1)):
        opened.set()
        ended.wait(60)


def test_a_killed_reader_on_this_machine_keeps_nothing(warehouse):
    context = multiprocessing.get_context("fork")
    opened, ended = context.Event(), context.Event()
    process = context.Process(target=_read, args=(warehouse, opened, ended))
    process.start()
    assert opened.wait(60)
    assert swept(warehouse) == set()
    process.kill()
    process.join()
    assert len(leases.leases(warehouse)) == 1
    assert "indexes/one" in swept(warehouse)
    remove(warehouse, removable(warehouse, keep=1, grace=-DAY, now=now()))
    assert leases.leases(warehouse) == {}


@pytest.mark.parametrize("content", [b"", b"{}", b'{"owner": null}'])
def test_a_damaged_lease_stops_every_removal(warehouse, content):
    found = removable(warehouse, keep=1, grace=-DAY, now=now())
    storage.write_bytes(storage.join(warehouse, "leases", "a.json"), content)
    message = r"leases/a\.json: damaged lease.*Delete the file if no reader is older than 10 minutes"
    with pytest.raises(QprError, match=message):
        swept(warehouse)
    with pytest.raises(QprError, match=message):
        remove(warehouse, found)
    assert storage.exists(storage.join(warehouse, "indexes/one", "manifest.json"))


def test_other_names_among_the_leases_are_ignored(warehouse):
    storage.write_bytes(storage.join(warehouse, "leases", ".tmp-1"), b"half")
    assert leases.leases(warehouse) == {}


def test_a_lease_names_its_reader():
    owner = {"run_id": "r", "since": "2026-11-20T00:00:00+00:00", "host": "web-1", "process": 7}
    lease = Lease(owner=owner, version=3, paths=["indexes/a"], expires=now())
    assert lease.reader == "process 7 on web-1, since 2026-11-20T00:00:00+00:00"
