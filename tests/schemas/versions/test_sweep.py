import datetime
import os
import time

import pytest

from schemas.artifacts import storage
from schemas.artifacts.output_lock.lock import held
from schemas.artifacts.output_lock.owner import Owner
from schemas.artifacts.writer import CHECKPOINTS, Output
from schemas.versions import history
from schemas.versions.leases import LEASE
from schemas.versions.sweep import removable, remove
from tests.support.small_versions import make_version

NOW = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=2)
DAY = datetime.timedelta(days=1)


def paths(w, **options):
    return [found.path for found in removable(w, grace=DAY, now=NOW, **options)]


def test_only_what_no_kept_version_names_is_removed(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    frozen = history.read_version(w, 1).dataset
    history.publish(w, make_version(w, "two", parent=1, test=frozen))
    history.publish(w, make_version(w, "three", parent=2, test=frozen))
    assert paths(w, keep=3) == []
    gone = ["models/one", "indexes/one", "splits/one", "reports/one"]
    assert paths(w, keep=2) == gone  # not the dataset, which is the frozen test set
    found = removable(w, keep=2, grace=DAY, now=NOW)
    assert {folder.bytes > 0 for folder in found} == {True}
    remove(w, found)
    assert not any(storage.exists(storage.join(w, path)) for path in gone)
    assert history.numbers(w) == [1, 2, 3]
    for number in (2, 3):
        for artefact, kind in history.read_version(w, number).artefacts.items():
            history.check_artefact(w, artefact, kind, version=str(number))


def test_what_a_rollback_has_made_current_meanwhile_stays(tmp_path):
    w = str(tmp_path)
    for number, name in enumerate(("one", "two", "three")):
        history.publish(w, make_version(w, name, parent=number or None))
    found = removable(w, keep=1, grace=DAY, now=NOW)
    number = history.roll_back(w, 2)
    remove(w, found)
    for artefact, kind in history.read_version(w, number).artefacts.items():
        history.check_artefact(w, artefact, kind, version=str(number))
    assert not storage.exists(storage.join(w, "indexes", "one"))


def test_a_file_that_another_folder_links_to_is_not_freed(tmp_path):
    w = str(tmp_path)
    for number, name in enumerate(("one", "two", "three")):
        history.publish(w, make_version(w, name, parent=number or None))
        files = [path for path in (tmp_path / "indexes" / name).rglob("*") if path.is_file()]
        alone = sum(path.stat().st_size for path in files)
    content = tmp_path / "indexes/one/shared"
    content.write_bytes(b"x" * 5000)
    (tmp_path / "indexes/two/shared").hardlink_to(content)

    def freed(keep):
        return {found.path: found.bytes for found in removable(w, grace=DAY, now=NOW, keep=keep)}

    assert freed(2)["indexes/one"] < alone + 100
    assert freed(1)["indexes/one"] > 5000  # both links go
    assert freed(1)["indexes/two"] < alone + 100


def test_what_is_younger_than_the_grace_time_stays(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    make_version(w, "under-way")
    assert len(paths(w, keep=1)) == 5
    now = datetime.datetime.now(datetime.UTC)
    assert removable(w, keep=1, grace=DAY, now=now) == []
    assert removable(w, keep=1, grace=datetime.timedelta(days=3), now=NOW) == []


def test_a_folder_with_a_younger_run_stays(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    folder = tmp_path / "indexes/other"
    (folder / "20200101T000000Z-000000").mkdir(parents=True)
    assert paths(w, keep=1) == ["indexes/other"]
    (folder / f"{NOW:%Y%m%dT%H%M%SZ}-000000").mkdir()
    assert paths(w, keep=1) == []


def test_a_removal_that_fails_leaves_no_manifest_of_missing_files(tmp_path, monkeypatch):
    w = str(tmp_path)
    for number, name in enumerate(("one", "two")):
        history.publish(w, make_version(w, name, parent=number or None))

    def fail(url):
        raise OSError(url)

    monkeypatch.setattr(storage, "delete", fail)
    found = [folder for folder in removable(w, keep=1, grace=DAY, now=NOW) if folder.path == "indexes/one"]
    with pytest.raises(OSError, match="indexes/one"):
        remove(w, found)
    assert not (tmp_path / "indexes/one/manifest.json").exists()


def test_checkpoints_of_a_killed_training_that_no_night_completes_are_removed(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    with Output(storage.join(w, "models", "killed"), "model") as output:
        checkpoint = storage.join(output.url, CHECKPOINTS, f"{output.run_id}-000001", "weights.safetensors")
        storage.write_bytes(checkpoint, b"weights")
    assert removable(w, keep=1, grace=DAY, now=datetime.datetime.now(datetime.UTC)) == []
    found = removable(w, keep=1, grace=DAY, now=NOW)
    assert found == [("models/killed", 7)]
    remove(w, found)
    assert storage.children(storage.join(w, "models")) == ["one"]


def test_a_refused_version_of_a_kept_parent_keeps_its_artefacts(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    history.keep_refused(w, make_version(w, "refused", parent=1, refused="MRR fell"))
    assert paths(w, keep=1) == []
    history.publish(w, make_version(w, "two", parent=1))
    assert {path.split("/")[1] for path in paths(w, keep=1)} == {"one", "refused"}


@pytest.mark.parametrize("published", [True, False])
def test_of_nights_that_were_refused_one_after_the_other_the_last_ones_keep_their_artefacts(tmp_path, published):
    w = str(tmp_path)
    parent = history.publish(w, make_version(w, "one")) if published else None
    for day, hour in ((1, 3), (2, 1), (3, 2)):  # the first was computed again after the others
        created = f"2026-11-24T0{hour}:00:00+00:00"
        night = make_version(w, f"refused{day}", date=f"2026-11-2{day}", parent=parent, refused="MRR fell")
        history.keep_refused(w, night.model_copy(update={"created": created}))
    assert {path.split("/")[1] for path in paths(w, keep=1)} == {"refused2", "refused3"}
    assert {path.split("/")[1] for path in paths(w, keep=2)} == {"refused2"}
    remove(w, removable(w, keep=1, grace=DAY, now=NOW))
    assert [str(version.date) for version in history.refused_versions(w)] == ["2026-11-21", "2026-11-22", "2026-11-23"]
    assert paths(w, keep=3) == []


def test_removable_folders_of_a_warehouse_over_http_have_the_sizes_of_the_disk(tmp_path, over_http):
    for number, name in enumerate(("one", "two")):
        history.publish(str(tmp_path), make_version(str(tmp_path), name, parent=number or None))
    found = removable(over_http, keep=1, grace=DAY, now=NOW)
    assert found == removable(str(tmp_path), keep=1, grace=DAY, now=NOW)
    assert len(found) > 3


def test_folders_that_a_kill_has_left_empty_are_removed_but_for_those_of_a_living_run(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    for name in ("empty", "locked", "writing"):
        (tmp_path / "indexes" / name).mkdir()
    dead = Owner(run_id="20251101T000000Z-abcdef", since="2025-11-01T00:00:00+00:00", host="here", process=7)
    (tmp_path / "indexes/locked/lock.json").write_bytes(dead.content())
    with held(storage.join(w, "indexes", "writing")) as lock:
        remove(w, [])
        assert storage.children(storage.join(w, "indexes")) == ["one", "writing"]
        assert lock.is_held()
    remove(w, [])
    assert storage.children(storage.join(w, "indexes")) == ["one"]
    for artefact, kind in history.read_version(w, 1).artefacts.items():
        history.check_artefact(w, artefact, kind, version="1")


def test_parts_of_records_that_a_kill_has_left_are_removed_but_for_those_of_a_living_process(tmp_path):
    w = str(tmp_path)
    history.publish(w, make_version(w, "one"))
    history.keep_refused(w, make_version(w, "refused", parent=1, refused="MRR fell"))
    (tmp_path / "leases").mkdir()
    old = time.time() - LEASE.total_seconds() - 1
    for folder, name in (("versions", "00000002"), ("versions/refused", "x"), ("leases", "x"), (".", "warehouse")):
        for token, at in (("00000000", old), ("11111111", time.time())):
            part = tmp_path / folder / f"{name}.json.{token}.partial"
            part.write_bytes(b"{")
            os.utime(part, (at, at))
    export = tmp_path / "export.00000001.partial"  # a folder, as a killed `qpr export` leaves
    export.mkdir()
    os.utime(export, (old, old))
    remove(w, [])
    export.rmdir()
    assert len([*tmp_path.rglob("*.partial")]) == 4
    assert not [*tmp_path.rglob("*.00000000.partial")]
    assert len([*tmp_path.glob("versions/*.json")]) == len([*tmp_path.glob("versions/refused/*.json")]) == 1
