import datetime
import errno
import fcntl
import os
import signal
import subprocess
import sys
from unittest.mock import Mock

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.manifest import MANIFEST, read_manifest, read_verified
from schemas.artifacts.output_lock import lease
from schemas.artifacts.output_lock.lock import LEASES, LOCK
from schemas.artifacts.output_lock.owner import LockedError, Owner
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from tests.support.waiting import wait_until

NOW = datetime.datetime.now(datetime.UTC)
ELSEWHERE = Owner(run_id="20200101T000000Z-aaaaaa", since="2020-01-01T00:00:00+00:00", host="other", process=7)


@pytest.fixture(params=["local", "memory", "no locks"])
def url(request, tmp_path, memory, monkeypatch):
    if request.param == "no locks":

        def flock(*_):  # a Mock would keep its error, and with it the outputs
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(fcntl, "flock", flock)
    return storage.join(memory, "dataset") if request.param == "memory" else str(tmp_path / "dataset")


@pytest.fixture
def remote(memory):
    return storage.join(memory, "dataset")


def publish(output, content=b"rows"):
    file = output.write("questions/a.parquet", content, table="questions", rows=1)
    return output.publish([file], inputs=[], configuration={}, counters={})


def rows(url):
    return [read_verified(url, file) for file in read_manifest(url).files]


def locked_by(url, owner):
    storage.write_bytes(storage.join(url, LEASES, "00000001.json"), owner.content())


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_second_run_is_refused_at_its_start_and_the_first_publishes(url, overwrite):
    if overwrite:
        publish(Output(url, "dataset"), b"old")
    first = Output(url, "dataset", overwrite=overwrite)
    message = rf"dataset: another run is writing there: run {first.run_id}, since 20\S+, process {os.getpid()} on \S+\."
    with pytest.raises(LockedError, match=rf"{message} Wait until it ends or stop it, then run this again; or choose"):
        Output(url, "dataset", overwrite=overwrite)
    published = publish(first)
    assert read_manifest(url) == published
    assert rows(url) == [b"rows"]
    assert storage.children(url) == [first.run_id, MANIFEST]


def test_a_run_that_changes_an_artefact_is_not_advised_to_write_elsewhere(url):
    publish(Output(url, "dataset"))
    first = Output(url, "dataset", change=True)
    with pytest.raises(LockedError, match=r"then run this again($|\. The lock of a killed run)") as refused:
        Output(url, "dataset", change=True)
    storage.write_bytes(storage.join(url, MANIFEST), b"of another run")
    with pytest.raises(QprError, match=r"another run has changed it .* discarded\. Run this again$") as lost:
        publish(first)
    assert not any(option in str(error.value) for error in (refused, lost) for option in ("--output", "--overwrite"))


@pytest.mark.parametrize("end", ["abandon", "release"])
def test_a_run_that_ends_removes_its_lock(url, end):
    output = Output(url, "dataset")
    getattr(output, end)()
    assert not storage.exists(url)
    publish(Output(url, "dataset"))
    output.abandon()  # a second end takes nothing from the run that came after it
    assert rows(url) == [b"rows"]


def test_a_run_that_fails_or_is_collected_releases_its_lock(url):
    def fail():
        with Output(url, "dataset") as output:
            output.write("questions/a.parquet", b"half", table="questions", rows=1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not storage.exists(url)
    forgotten = Output(url, "dataset")
    del forgotten
    Output(url, "dataset").release()


def test_files_of_a_released_run_stay(url):
    with Output(url, "dataset") as output:
        output.write("rejected/a.parquet", b"why", table="rejected", rows=1)
        output.release()
    assert storage.children(url) == [output.run_id]


def test_an_abandoned_run_does_not_remove_the_folder_of_the_next(url):
    first = Output(url, "dataset")
    first.release()
    second = Output(url, "dataset")
    first.abandon()
    publish(second)
    assert rows(url) == [b"rows"]


def run_elsewhere(url, then):
    code = f"import os, signal; from schemas.artifacts.writer import Output; held = Output({url!r}, 'dataset'); {then}"
    return subprocess.run([sys.executable, "-c", code], check=False, timeout=60)


def test_the_lock_of_a_killed_process_is_taken_over_at_once(tmp_path):
    url = str(tmp_path / "dataset")
    done = run_elsewhere(url, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == -signal.SIGKILL
    assert storage.children(url) == [LOCK]
    publish(Output(url, "dataset"))
    assert storage.children(url) == [read_manifest(url).run_id, MANIFEST]


def test_a_process_that_exits_releases_its_lock(tmp_path):
    assert run_elsewhere(str(tmp_path / "dataset"), "raise SystemExit(3)").returncode == 3
    assert list(tmp_path.iterdir()) == []


def test_a_forked_child_neither_keeps_nor_releases_the_lock(tmp_path):
    url, told = str(tmp_path / "dataset"), tmp_path / "child"
    for waits in ("os.execvp('sleep', ['sleep', '60'])", "signal.pause()"):
        forks = f"child = os.fork() or {waits}; open({str(told)!r}, 'w').write(str(child))"
        run_elsewhere(url, f"{forks}; os.kill(os.getpid(), signal.SIGKILL)")
        child = int(told.read_text())
        try:
            Output(url, "dataset").release()
        finally:
            os.kill(child, signal.SIGKILL)
    output = Output(url, "dataset")
    if (child := os.fork()) == 0:
        output.release()
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(LockedError):
        Output(url, "dataset")
    publish(output)


@pytest.mark.parametrize("target", ["a file", "nothing"])
def test_a_link_in_place_of_the_lock_is_refused_and_its_target_stays(tmp_path, target):
    precious = tmp_path / "precious"
    if target == "a file":
        precious.write_text("precious")
    url = tmp_path / "dataset"
    url.mkdir()
    (url / LOCK).symlink_to(precious)
    with pytest.raises(QprError, match=r"dataset/lock\.json: is a link, not the file of a lock\. Remove it$"):
        Output(str(url), "dataset")
    assert (url / LOCK).is_symlink()
    assert precious.read_text() == "precious" if target == "a file" else not precious.exists()


def test_a_lock_ends_when_its_folder_is_removed(tmp_path):
    url = str(tmp_path / "dataset")
    first = Output(url, "dataset")
    storage.delete(url)
    second = publish(Output(url, "dataset"), b"second")
    with pytest.raises(QprError, match=r"has taken this place since this run began\. What this run made is discarded"):
        publish(first)
    assert read_manifest(url) == second
    assert rows(url) == [b"second"]


def test_the_lease_of_another_machine_is_valid_until_it_expires(remote, monkeypatch):
    locked_by(remote, ELSEWHERE)
    with pytest.raises(LockedError, match=r"process 7 on other.*expires after 120 s, here in 1[12]\d s"):
        Output(remote, "dataset")
    monkeypatch.setattr(lease, "LEASE_S", 0.0)
    assert publish(Output(remote, "dataset"))
    assert storage.children(remote) == [read_manifest(remote).run_id, MANIFEST]


def test_on_a_store_without_times_the_owner_s_own_time_counts(remote, monkeypatch):
    monkeypatch.setattr(MemoryFileSystem, "modified", Mock(side_effect=NotImplementedError))
    locked_by(remote, ELSEWHERE.renew())
    with pytest.raises(LockedError):
        Output(remote, "dataset")
    locked_by(remote, ELSEWHERE)
    Output(remote, "dataset").release()


@pytest.mark.parametrize(("change", "free"), [({}, False), ({"born": "1"}, True), ({"kernel": "other"}, False)])
def test_a_lease_of_this_machine_is_valid_while_its_process_lives(remote, change, free):
    locked_by(remote, Owner.here("20200101T000000Z-aaaaaa", NOW).model_copy(update=change))
    if free:
        Output(remote, "dataset").release()
        assert not storage.exists(remote)
    else:
        with pytest.raises(LockedError):
            Output(remote, "dataset")


def test_a_process_that_ended_is_dead():
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    here = Owner.here("20200101T000000Z-aaaaaa", NOW)
    assert not here.is_dead
    assert here.model_copy(update={"process": done.pid}).is_dead


def test_an_unreadable_lease_is_valid_until_it_expires(remote, monkeypatch):
    storage.write_bytes(storage.join(remote, LEASES, "00000001.json"), b"{")
    with pytest.raises(LockedError, match="a run that cannot be identified"):
        Output(remote, "dataset")
    monkeypatch.setattr(lease, "LEASE_S", 0.0)
    Output(remote, "dataset").release()
    assert not storage.exists(remote)


def test_a_run_whose_lease_expired_publishes_nothing_and_names_the_next_owner(remote, monkeypatch):
    publish(Output(remote, "dataset"), b"old")
    first = Output(remote, "dataset", overwrite=True)
    monkeypatch.setattr(lease, "LEASE_S", -1.0)
    second = Output(remote, "dataset", overwrite=True)
    with pytest.raises(QprError, match=f"run {second.run_id}, process .* has taken this place since this run began"):
        publish(first)
    assert rows(remote) == [b"old"]
    publish(second, b"new")
    assert rows(remote) == [b"new"]
    assert storage.children(remote) == [second.run_id, MANIFEST]


def test_a_lease_is_renewed_until_it_ends_and_not_after_another_run_has_it(remote, monkeypatch):
    monkeypatch.setattr(lease, "PERIOD_S", 0.01)
    output = Output(remote, "dataset")
    place = storage.join(remote, LEASES, "00000001.json")
    wait_until(lambda: Owner.parse(storage.read_if_there(place)).renewed)
    locked_by(remote, ELSEWHERE)
    thread = output._lock._thread
    wait_until(lambda: not thread.is_alive())
    output.release()
    assert storage.read_bytes(place) == ELSEWHERE.content()


def test_where_removal_is_forbidden_the_lease_is_marked_as_released(remote, monkeypatch):
    def forbid(url):
        raise QprError(f"{url}: permission denied")

    with monkeypatch.context() as forbidding:
        forbidding.setattr(storage, "delete_file", forbid)
        Output(remote, "dataset").release()
        publish(Output(remote, "dataset"))
        assert storage.children(storage.join(remote, LEASES)) == ["00000001.json", "00000002.json"]
    publish(Output(remote, "dataset", overwrite=True))
    assert storage.children(remote) == [read_manifest(remote).run_id, MANIFEST]


def test_where_removal_is_forbidden_the_lease_of_a_killed_run_expires(remote, monkeypatch):
    def forbid(url):
        raise QprError(f"{url}: permission denied")

    locked_by(remote, ELSEWHERE)
    monkeypatch.setattr(storage, "delete_file", forbid)
    with pytest.raises(LockedError, match="The lock of a killed run expires after 120 s"):
        Output(remote, "dataset")
    monkeypatch.setattr(lease, "LEASE_S", -1.0)
    publish(Output(remote, "dataset"))
    assert rows(remote) == [b"rows"]


@pytest.mark.parametrize("old", [False, True])
def test_a_manifest_that_changed_since_the_lock_is_not_replaced(url, old):
    if old:
        publish(Output(url, "dataset"), b"old")
    output = Output(url, "dataset", overwrite=old)
    storage.write_bytes(storage.join(url, MANIFEST), b"by hand")
    with pytest.raises(QprError, match="another run has taken this place since this run began"):
        publish(output)
    assert storage.read_bytes(storage.join(url, MANIFEST)) == b"by hand"
    assert not storage.exists(output.run_url)


def test_publishing_keeps_files_that_appeared_after_the_lock(url):
    publish(Output(url, "dataset"))
    output = Output(url, "dataset", overwrite=True)
    later = output.run_id[:-6] + "aaaaaa"  # of the same second, so its name does not order them
    storage.write_bytes(storage.join(url, later, "file"), b"x")
    publish(output)
    assert storage.children(url) == sorted([later, output.run_id, MANIFEST])


def test_a_folder_of_other_files_is_not_locked(tmp_path):
    (tmp_path / "thesis.docx").write_bytes(b"x")
    seen = []
    sys.addaudithook(lambda event, given: seen.append(given[0]) if event == "open" else None)
    with pytest.raises(QprError, match="holds other things"):
        Output(str(tmp_path), "dataset")
    assert not any(LOCK in str(path) for path in seen)


@pytest.fixture
def plain(remote, monkeypatch):
    """The URL of an output on a store without conditional writes."""
    monkeypatch.setattr(conditional_writes, "is_conditional", lambda _: False)
    return remote


def test_a_damaged_flag_is_named_and_expires(plain, monkeypatch):
    flag = storage.join(plain, LEASES, "20261120T000000Z-aaaaaa.flag")
    storage.write_bytes(flag, b"{")
    monkeypatch.setattr(lease, "_TRIES", 2)
    with pytest.raises(QprError, match=rf"lock it again and again\. .*delete {flag} if no run writes there"):
        Output(plain, "dataset")
    monkeypatch.setattr(lease, "age_s", lambda *_, **__: lease.LEASE_S + 1)
    publish(Output(plain, "dataset"))


def test_a_damaged_flag_on_a_store_without_times_is_named(plain, monkeypatch):
    flag = storage.join(plain, LEASES, "20261120T000000Z-aaaaaa.flag")
    storage.write_bytes(flag, b"")
    monkeypatch.setattr(lease, "age_s", Mock(side_effect=NotImplementedError))
    monkeypatch.setattr(lease, "_TRIES", 2)
    with pytest.raises(QprError, match=f"delete {flag}"):
        Output(plain, "dataset")
    storage.delete_file(flag)
    publish(Output(plain, "dataset"))


def test_a_run_that_ends_removes_what_was_killed_between_two_requests_but_nothing_of_living_runs(remote):
    left = [storage.join(remote, LEASES, name) for name in ("now-00000000", "20261120T000000Z-aaaaaa.flag")]
    for old in left:
        storage.write_bytes(old, b"")
    publish(Output(remote, "dataset"))
    assert all(map(storage.exists, left))  # too young
    file_system, _ = storage.locate(remote)
    for old in left:
        file_system.store[storage.locate(old)[1]].modified -= datetime.timedelta(seconds=lease.LEASE_S + 1)
    young = storage.join(remote, LEASES, "now-11111111")
    storage.write_bytes(young, b"")
    publish(Output(remote, "dataset", overwrite=True))
    assert storage.children(storage.join(remote, LEASES)) == ["now-11111111"]
