import contextlib
import json
import os
import re

import pydantic
import pytest

from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.manifest import MANIFEST, REPORTS, Source, read_manifest, read_settings, read_verified
from schemas.artifacts.paths import RUN_FOLDER
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.tables import SCHEMA_VERSION
from tests.support.manifests import signed


@pytest.fixture(params=["local", "memory"])
def url(request, tmp_path, memory):
    return str(tmp_path / "dataset") if request.param == "local" else storage.join(memory, "dataset")


def publish(url, content=b"rows", *, kind="dataset", overwrite=False, run_id=None, names=("questions/a.parquet",)):
    output = Output(url, kind, overwrite=overwrite)
    output.run_id = run_id or output.run_id
    files = [output.write(name, content, table=name.split("/")[0], rows=1) for name in names]
    return output.publish(files, inputs=[], configuration={"shards": 1}, counters={"b": 2, "a": 1})


def change_manifest(url, **changes):
    place = storage.join(url, MANIFEST)
    storage.write_bytes(place, signed({**json.loads(storage.read_bytes(place)), **changes}).encode())


def test_a_published_run_is_read_back_and_verified(url):
    published = publish(url, names=("questions/b.parquet", "questions/a.parquet", "pairs/a.parquet"))
    found = read_manifest(url, "dataset")
    assert found == published
    assert list(found.counters) == ["a", "b"]
    assert [f.path.removeprefix(found.run_id) for f in found.of("questions")] == [
        "/questions/a.parquet",
        "/questions/b.parquet",
    ]
    assert [read_verified(url, f) for f in found.files] == [b"rows"] * 3


def test_one_flipped_bit_of_a_manifest_is_noticed_or_changes_nothing(tmp_path):
    url = str(tmp_path / "index")
    output = Output(url, "index")
    files = [output.write("ids/0", b"rows", table="ids", rows=1), output.write("r.html", b"x", table=REPORTS)]
    source = Source(url="gs://logs/é.jsonl", bytes=9, digest="0" * 64)
    configuration = {"modes": {"bm25": {"mrr": 0.7491, "median_ms": 1e-07, "k": [1, None, True, 2.0]}}, "a": "é"}
    distributions = {"confidence": {"auc": 0.8775}}
    about = {"inputs": [source], "configuration": configuration, "distributions": distributions}
    published = output.publish(files, counters={"a": 1, "c": 2**53 + 1}, **about)
    file = tmp_path / "index" / MANIFEST
    content, unnoticed = file.read_bytes(), 0
    assert read_manifest(url) == published
    with file.open("r+b") as opened:  # one byte is written: to write the whole file takes most of the time
        for place, byte in enumerate(content):
            for bit in range(8):
                os.pwrite(opened.fileno(), bytes([byte ^ 1 << bit]), place)
                with contextlib.suppress(QprError):
                    assert read_manifest(url) == published
                    unnoticed += 1
            os.pwrite(opened.fileno(), bytes([byte]), place)
    assert unnoticed == 1  # 1e-07 is 1E-07


def test_the_checksum_is_of_the_fields_and_not_of_their_layout(tmp_path):
    url, file = str(tmp_path / "dataset"), tmp_path / "dataset" / MANIFEST
    published = publish(url)
    fields = json.loads(file.read_text())
    assert [*fields][-1] == "checksum"
    assert file.read_text() == signed(fields)
    file.write_text(json.dumps(dict(reversed(fields.items())), indent=None))
    assert read_manifest(url) == published
    file.write_text(json.dumps(fields | {"seconds": fields["seconds"] + 1}))
    with pytest.raises(QprError, match=r"manifest\.json: does not match its own checksum, so it is damaged\. Make the"):
        read_manifest(url)


def test_a_manifest_of_an_earlier_release_has_no_checksum(tmp_path):
    url, file = str(tmp_path / "dataset"), tmp_path / "dataset" / MANIFEST
    published = publish(url)
    fields = json.loads(file.read_text())
    del fields["checksum"]
    file.write_text(json.dumps(fields))
    assert read_manifest(url) == published


def test_equal_content_has_an_equal_digest_whatever_the_run(tmp_path):
    one, two = publish(str(tmp_path / "one")), publish(str(tmp_path / "two"))
    assert one.run_id != two.run_id
    assert one.digest == two.digest
    assert publish(str(tmp_path / "other"), b"ROWS").digest != one.digest
    assert publish(str(tmp_path / "named"), names=("questions/z.parquet",)).digest != one.digest


def test_nothing_is_removed_once_another_run_has_published(tmp_path, monkeypatch):
    url = str(tmp_path / "dataset")
    first, before = publish(url), storage.read_bytes(storage.join(url, MANIFEST))
    replace = conditional_writes.replace

    def replace_twice(place, content, *, expected):
        replace(place, content, expected=expected)
        replace(place, before, expected=content)

    monkeypatch.setattr(conditional_writes, "replace", replace_twice)
    publish(url, b"ROWS", overwrite=True)
    assert [read_verified(url, file) for file in first.files] == [b"rows"]


def test_files_about_a_run_and_names_of_runs_are_no_content(tmp_path):
    def digest(name, report, inner):
        output = Output(str(tmp_path / name), "index")
        files = [output.write("report.txt", report, table=REPORTS)]
        files.append(output.write(f"model/{inner}/weights", b"weights", table="model"))
        return output.publish(files, inputs=[], configuration={}, counters={}).digest

    one = digest("one", b"3 s", "20240101T000000Z-0123ab")
    assert one == digest("two", b"4 s", "20250101T000000Z-0123ab")
    assert one != digest("three", b"3 s", "elsewhere")


def test_an_output_that_exists_is_refused_without_overwrite(url):
    before = publish(url)
    with pytest.raises(QprError, match=r"dataset: exists\. Choose another --output or add --overwrite"):
        Output(url, "dataset")
    assert read_manifest(url) == before


def test_the_old_version_stays_readable_until_the_new_one_is_published(url):
    old = publish(url, b"old", run_id="20200101T000000Z-aaaaaa")
    output = Output(url, "dataset", overwrite=True)
    file = output.write("questions/a.parquet", b"new", table="questions", rows=1)
    assert read_manifest(url) == old
    assert read_verified(url, old.files[0]) == b"old"
    output.publish([file], inputs=[], configuration={}, counters={})
    assert [read_verified(url, f) for f in read_manifest(url).files] == [b"new"]
    assert storage.children(url) == [output.run_id, MANIFEST]


def test_a_run_that_is_abandoned_leaves_what_was_there(url):
    old = publish(url)
    output = Output(url, "dataset", overwrite=True)
    output.write("questions/a.parquet", b"new", table="questions", rows=1)
    output.abandon()
    assert read_manifest(url) == old
    assert storage.children(url) == [old.run_id, MANIFEST]


def test_publishing_removes_older_run_folders_and_nothing_else(url):
    publish(url, run_id="20200101T000000Z-aaaaaa")
    for name in ("20190101T000000Z-aaaaaa", "20990101T000000Z-aaaaaa"):  # a dead run; one that still goes on
        storage.write_bytes(storage.join(url, name, "file"), b"x")
    storage.write_bytes(storage.join(url, "NOTES.md"), b"x")
    publish(url, overwrite=True, run_id="20210101T000000Z-aaaaaa")
    assert storage.children(url) == ["20210101T000000Z-aaaaaa", "20990101T000000Z-aaaaaa", "NOTES.md", MANIFEST]


def test_the_remains_of_a_dead_run_do_not_stand_in_the_way(url):
    storage.write_bytes(storage.join(url, "20190101T000000Z-aaaaaa", "file"), b"x")
    publish(url)
    assert len(storage.children(url)) == 2


def test_a_folder_with_other_things_is_refused_even_with_overwrite(url):
    storage.write_bytes(storage.join(url, "thesis.docx"), b"x")
    for overwrite in (False, True):
        with pytest.raises(QprError, match=r"the folder holds other things \(thesis\.docx\)"):
            Output(url, "dataset", overwrite=overwrite)
    assert storage.children(url) == ["thesis.docx"]


def test_a_file_in_the_place_of_the_output_is_refused(url):
    storage.write_bytes(url, b"x")
    with pytest.raises(QprError, match="is a file, not a folder"):
        Output(url, "dataset")


def test_an_artefact_of_another_kind_is_refused(url):
    publish(url, kind="model", names=("model/weights",))
    with pytest.raises(QprError, match=r"holds a model, not a dataset\. Make one with `qpr clusters`"):
        read_manifest(url, "dataset")
    with pytest.raises(QprError, match=r"holds a model, not a dataset\. Choose another --output$"):
        Output(url, "dataset", overwrite=True)
    assert read_manifest(url).kind == "model"


def test_a_folder_without_manifest_is_no_artefact(url):
    with pytest.raises(QprError, match="does not exist"):
        read_manifest(url, "dataset")
    storage.write_bytes(storage.join(url, "x"), b"x")
    with pytest.raises(QprError, match=r"has no manifest\.json, so no run has completed there"):
        read_manifest(url, "dataset")
    storage.write_bytes(storage.join(url, "warehouse.json"), b"{}")
    advice = rf"or give the index of a version N, which `qpr versions --warehouse {re.escape(url)} --at N` shows$"
    with pytest.raises(QprError, match=rf"{re.escape(url)}: a warehouse, not an index\. .+, {advice}"):
        read_manifest(url, "index")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"kind": "sculpture"}'])
def test_a_damaged_manifest_is_named(url, content):
    storage.write_bytes(storage.join(url, MANIFEST), content)
    with pytest.raises(QprError, match=r"manifest\.json: damaged \(.+\)\. Make the dataset again"):
        read_manifest(url, "dataset")


def test_a_manifest_of_a_newer_release_is_refused(url):
    publish(url)
    change_manifest(url, schema_version=SCHEMA_VERSION + 1)
    with pytest.raises(QprError, match="written by a newer release"):
        read_manifest(url)


def test_a_newer_manifest_with_unknown_fields_is_newer_not_damaged(url):
    publish(url)
    change_manifest(url, schema_version=SCHEMA_VERSION + 1, licence="CC0")
    with pytest.raises(QprError, match="written by a newer release"):
        read_manifest(url)


def test_a_field_or_a_table_that_this_release_does_not_have_may_be_of_a_newer_one(url):
    files = [file.model_dump() for file in publish(url).files]
    content = storage.read_bytes(storage.join(url, MANIFEST))
    for change in ({"licence": "CC0"}, {"kind": "sculpture"}, {"files": [{**files[0], "table": "ranks"}]}):
        storage.write_bytes(storage.join(url, MANIFEST), content)
        change_manifest(url, **change)
        with pytest.raises(QprError, match="Make the artefact again or, if a newer release wrote it, upgrade"):
            read_manifest(url)


class Settings(pydantic.BaseModel, extra="forbid"):
    shards: int


def test_a_configuration_with_a_field_that_this_release_does_not_have_may_be_of_a_newer_one(url):
    publish(url)
    assert read_settings(url, read_manifest(url), Settings, again="Build it again") == Settings(shards=1)
    for configuration, advice in (
        ({"shards": 1, "built_from": []}, "Build it again or, if a newer release wrote it, upgrade question-"),
        ({"shards": "few"}, "Build it again$"),
    ):
        change_manifest(url, configuration=configuration)
        with pytest.raises(QprError, match=rf"manifest\.json: configuration: .*\. {advice}"):
            read_settings(url, read_manifest(url), Settings, again="Build it again")


@pytest.mark.parametrize(
    "change", [lambda b: bytes([b[0] ^ 1]) + b[1:], lambda b: b[:-1], lambda b: b + b"\0", lambda b: b""]
)
def test_a_flipped_bit_and_a_lost_or_added_byte_are_found(url, change):
    file = publish(url).files[0]
    storage.write_bytes(storage.join(url, file.path), change(b"rows"))
    with pytest.raises(QprError, match=r"questions/a\.parquet: does not match the manifest's sha256"):
        read_verified(url, file)


def test_a_missing_file_is_found(url):
    file = publish(url).files[0]
    storage.delete(storage.join(url, file.path))
    with pytest.raises(QprError, match=r"a\.parquet: is gone, though the manifest lists it\. Make it again"):
        read_verified(url, file)


def test_a_file_that_changes_during_the_run_is_not_published(url):
    output = Output(url, "dataset")
    file = output.write("questions/a.parquet", b"rows", table="questions", rows=1)
    storage.write_bytes(storage.join(url, file.path), b"other rows")
    with pytest.raises(QprError, match="changed while the run went on"):
        output.publish([file], inputs=[], configuration={}, counters={})
    assert not storage.exists(url)
    output = Output(url, "dataset")
    file = output.write("questions/a.parquet", b"rows", table="questions", rows=1)
    storage.delete(storage.join(url, file.path))
    with pytest.raises(QprError, match=r"a\.parquet: was removed while the run went on"):
        output.publish([file], inputs=[], configuration={}, counters={})
    assert not storage.exists(storage.join(url, MANIFEST))


def test_the_name_of_a_run_contains_its_start_time(url):
    assert RUN_FOLDER.fullmatch(Output(url, "dataset").run_id)


def test_what_a_killed_process_left_of_a_manifest_stands_in_no_ones_way_and_goes(url):
    left = f"{MANIFEST}.0123abcd.partial"
    storage.write_bytes(storage.join(url, left), b"{")
    published = publish(url)
    assert storage.children(url) == [published.run_id, MANIFEST]
    storage.write_bytes(storage.join(url, left), b"{")
    assert read_manifest(url) == published


def test_a_run_that_is_published_cannot_be_abandoned(url):
    output = Output(url, "dataset")
    file = output.write("questions/a.parquet", b"rows", table="questions", rows=1)
    published = output.publish([file], inputs=[], configuration={}, counters={})
    output.abandon()
    assert read_verified(url, read_manifest(url).files[0]) == b"rows"
    assert read_manifest(url) == published


def changed(url, *, keep, run_id):
    """Publish a run that keeps some files of an older one."""
    output = Output(url, "index", overwrite=True)
    output.run_id = run_id
    new = output.write("segments/0001/shards/a.faiss", b"new", table="shards", rows=1)
    return output.publish([*keep, new], inputs=[], configuration={}, counters={})


def first_segment(url, run_id, *, lexical=b"words"):
    output = Output(url, "index")
    output.run_id = run_id
    files = [output.write(f"shards/{name}.faiss", name.encode(), table="shards", rows=1) for name in "ab"]
    files.append(output.write("lexical/terms.bin", lexical, table="lexical"))
    return output.publish(files, inputs=[], configuration={}, counters={})


OLD, LATER, LAST = "20200101T000000Z-aaaaaa", "20210101T000000Z-aaaaaa", "20220101T000000Z-aaaaaa"


def test_a_change_of_an_index_keeps_the_older_files_that_it_lists_and_no_other(url):
    first = first_segment(url, OLD)
    storage.write_bytes(storage.join(url, "20200202T000000Z-aaaaaa", "killed"), b"x")
    manifest = changed(url, keep=first.of("shards"), run_id=LATER)
    assert read_manifest(url) == manifest
    assert [read_verified(url, file) for file in manifest.of("shards")] == [b"a", b"b", b"new"]
    assert storage.children(url) == [OLD, LATER, MANIFEST]
    assert storage.children(storage.join(url, OLD)) == ["shards"]
    again = changed(url, keep=first.of("shards")[:1], run_id=LAST)
    assert [storage.children(storage.join(url, run, "shards")) for run in (OLD, LATER)] == [["a.faiss"], []]
    assert [read_verified(url, file) for file in again.files] == [b"a", b"new"]


def test_files_of_older_runs_count_in_a_digest_and_the_names_of_runs_do_not(tmp_path):
    def digest(name, runs, **given):
        first = first_segment(f"{tmp_path}/{name}", runs[0], **given)
        return changed(f"{tmp_path}/{name}", keep=first.files, run_id=runs[1]).digest

    one = digest("one", (OLD, LATER))
    assert one == digest("two", (LATER, LAST))
    assert one != digest("three", (OLD, LATER), lexical=b"other words")


def test_a_change_that_fails_leaves_the_old_version_whole(url):
    first = first_segment(url, OLD)
    output = Output(url, "index", overwrite=True)
    output.write("segments/0001/shards/a.faiss", b"new", table="shards", rows=1)
    storage.delete(storage.join(url, OLD, "shards", "b.faiss"))
    with pytest.raises(QprError, match=r"b\.faiss: was removed while the run went on"):
        output.publish(first.files, inputs=[], configuration={}, counters={})
    assert read_manifest(url) == first
    assert storage.children(url) == [OLD, MANIFEST]
    assert read_verified(url, first.of("shards")[0]) == b"a"


def test_only_an_index_lists_files_of_older_runs(url):
    first = publish(url)
    output = Output(url, "dataset", overwrite=True)
    with pytest.raises(ValueError, match="is not in the run's folder"):
        output.publish(first.files, inputs=[], configuration={}, counters={})
    assert read_manifest(url) == first
