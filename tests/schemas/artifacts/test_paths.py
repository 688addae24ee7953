import hashlib
import json
import os

import pytest

from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, read_manifest, read_verified
from schemas.artifacts.paths import check_place, checked_path, delete_unlisted
from schemas.artifacts.writer import Output
from schemas.errors import QprError

RUN = "20240101T000000Z-0123ab"

ODD_PATHS = [
    "/etc/passwd",
    "../x",
    f"{RUN}/../../x",
    f"{RUN}/./x",
    f"{RUN}//x",
    f"{RUN}/",
    f"{RUN}/.. /x",
    f"{RUN}/a\0b",
    f"{RUN}/a\nb",
    f"{RUN}/a\x1b[2Jb",
    f"{RUN}/a\u202eb",
    f"{RUN}\\..\\x",
    f"{RUN}/C:x",
    "C:/x",
    "file:///etc/passwd",
    f"{RUN}/x::memory://y",
    f"{RUN}/%2e%2e/x",
    f"{RUN}/*",
    f"{RUN}/x?y",
    "~/x",
    RUN,
    "",
    f"{RUN}/{'x' * 1_000}",
]


@pytest.fixture
def artefact(tmp_path):
    output = Output(str(tmp_path / "artefact"), "model")
    file = output.write("config.json", b"{}", table="model")
    output.publish([file], inputs=[], configuration={}, counters={})
    return tmp_path / "artefact"


def changed(artefact, **changes):
    """Change fields of the only file in the manifest."""
    content = json.loads((artefact / MANIFEST).read_text())
    content["files"][0].update(changes)
    (artefact / MANIFEST).write_text(json.dumps(content))
    return content


@pytest.mark.parametrize("path", ODD_PATHS, ids=ascii)
def test_a_path_that_is_no_plain_name_in_a_folder_is_refused_before_anything_is_opened(path, artefact, monkeypatch):
    with pytest.raises(ValueError, match="a path "):
        checked_path(path)
    changed(artefact, path=path)
    opened = []
    read = storage.read_bytes
    monkeypatch.setattr(storage, "read_bytes", lambda url: opened.append(url) or read(url))
    with pytest.raises(
        QprError, match=r"manifest\.json: damaged \(files\.0\.path: .*\)\. Make the model again"
    ) as error:
        read_manifest(str(artefact), "model")
    assert str(error.value).isprintable()
    assert opened == [f"{artefact}/{MANIFEST}"]


@pytest.mark.parametrize(
    "path",
    [
        f"{RUN}/config.json",
        f"{RUN}/questions/00000-of-00001.parquet",
        f"{RUN}/model/{RUN}/transformer/1_Pooling/config.json",
        f"{RUN}/model/manifest.json",
        f"{RUN}/transformer/.gitattributes",
        f"{RUN}/..name",
        f"{RUN}-000001/weights.safetensors",
        f"{RUN}/Wörter 1+2.txt",
    ],
)
def test_paths_that_runs_write_are_accepted(path):
    assert checked_path(path) == path


def test_what_is_not_listed_is_removed_from_a_folder(tmp_path):
    listed = {"run/a/1", "other/1", "running/1"}
    for path in (*listed, "run/a/2", "run/b/1", "ru/1"):
        storage.write_bytes(str(tmp_path / path), b"x")
    for folder in ("run", "ru", "other", "other/1"):
        delete_unlisted(str(tmp_path), folder, listed)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == listed
    assert not (tmp_path / "run/b").exists()
    assert not (tmp_path / "ru").exists()


def test_a_file_of_another_run_or_another_table_or_a_file_twice_is_refused(artefact):
    content = changed(artefact)
    file = content["files"][0]
    for files, fault in [
        ([{**file, "path": f"{RUN}/config.json"}], "is not in the run's folder"),
        ([{**file, "table": "questions"}], "is of table 'questions', not of model, reports"),
        ([file, file], "is there twice"),
    ]:
        (artefact / MANIFEST).write_text(json.dumps({**content, "files": files}))
        with pytest.raises(QprError, match=rf"manifest\.json: damaged \(files: .*{fault}"):
            read_manifest(str(artefact))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bytes", -1),
        ("rows", -1),
        ("bytes", "many"),
        ("sha256", "0" * 63),
        ("sha256", "A" * 64),
        ("sha256", "0" * 64 + "\n"),
        ("sha256", None),
    ],
)
def test_sizes_and_digests_that_cannot_be_are_refused_by_field(artefact, field, value):
    changed(artefact, **{field: value})
    with pytest.raises(QprError, match=rf"manifest\.json: damaged \(files\.0\.{field}: "):
        read_manifest(str(artefact))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("run_id", "../x"),
        ("run_id", ""),
        ("run_id", f"{RUN}\n"),
        ("run_id", "٢٠٢٤٠١٠١T000000Z-0123ab"),
        ("schema_version", 0),
        ("seconds", float("nan")),
        ("seconds", -1),
        ("distributions", {"size": {"minimum": float("inf")}}),
    ],
)
def test_odd_values_of_a_manifest_are_refused_by_field(artefact, field, value):
    content = json.loads((artefact / MANIFEST).read_text())
    (artefact / MANIFEST).write_text(json.dumps({**content, field: value}))
    with pytest.raises(QprError, match=rf"manifest\.json: damaged \({field}"):
        read_manifest(str(artefact))


def test_control_characters_of_a_manifest_do_not_reach_the_terminal(artefact):
    content = json.loads((artefact / MANIFEST).read_text())
    (artefact / MANIFEST).write_text(json.dumps({**content, "\x1b[2Jodd": 1}))
    with pytest.raises(QprError, match=r"damaged \(\?\[2Jodd: Extra inputs") as error:
        read_manifest(str(artefact))
    assert str(error.value).isprintable()


def linked_file(artefact, outside):
    place = next(artefact.glob("*/config.json"))
    place.rename(outside / "config.json")
    place.symlink_to(outside / "config.json")


def linked_folder(artefact, outside):
    place = next(artefact.glob("*/config.json")).parent
    place.rename(outside / "run")
    place.symlink_to(outside / "run")


def linked_relatively(artefact, outside):
    place = next(artefact.glob("*/config.json"))
    place.rename(outside / "config.json")
    place.symlink_to(os.path.relpath(outside / "config.json", place.parent))


@pytest.mark.parametrize("link", [linked_file, linked_folder, linked_relatively])
def test_a_link_out_of_an_artefact_is_refused(link, artefact, tmp_path):
    (tmp_path / "outside").mkdir()
    link(artefact, tmp_path / "outside")
    manifest = read_manifest(str(artefact))
    with pytest.raises(QprError, match=r"is a link that leads out of .*artefact\. Put the file itself there"):
        read_verified(str(artefact), manifest.files[0])


def test_files_behind_a_link_out_of_an_artefact_are_not_removed(tmp_path):
    run, others = tmp_path / "dataset" / "20261130T000000Z-aaaaaa", tmp_path / "others"
    run.mkdir(parents=True)
    others.mkdir()
    for name in ("listed", "precious"):
        (others / name).write_text(name)
    (run / "x").symlink_to(others)
    with pytest.raises(QprError, match=r"x: is a link that leads out of .*dataset\. Put the file itself there"):
        delete_unlisted(str(tmp_path / "dataset"), run.name, {f"{run.name}/x/listed"})
    assert sorted(path.name for path in others.iterdir()) == ["listed", "precious"]


def test_a_manifest_that_is_a_link_out_of_the_artefact_is_refused(artefact, tmp_path):
    (artefact / MANIFEST).rename(tmp_path / MANIFEST)
    (artefact / MANIFEST).symlink_to(tmp_path / MANIFEST)
    with pytest.raises(QprError, match=r"manifest\.json: is a link that leads out of"):
        read_manifest(str(artefact))


def test_links_within_an_artefact_and_to_the_artefact_are_followed(artefact, tmp_path):
    place = next(artefact.glob("*/config.json"))
    place.rename(artefact / "real.json")
    place.symlink_to("../real.json")
    (tmp_path / "link").symlink_to(artefact)
    manifest = read_manifest(str(tmp_path / "link"))
    assert read_verified(str(tmp_path / "link"), manifest.files[0]) == b"{}"


def test_a_pipe_is_refused_and_not_waited_for(artefact):
    place = next(artefact.glob("*/config.json"))
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(QprError, match="is a pipe or a device, not a file"):
        read_verified(str(artefact), read_manifest(str(artefact)).files[0])
    with pytest.raises(QprError, match="is a folder, not a file"):
        check_place(str(artefact.parent), artefact.name)


def test_a_file_larger_than_in_the_manifest_is_not_read(artefact):
    manifest = read_manifest(str(artefact))
    place = next(artefact.glob("*/config.json"))
    with place.open("wb") as file:
        file.truncate(2**40)
    empty = manifest.files[0].model_copy(update={"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()})
    for file in (manifest.files[0], empty):
        with pytest.raises(QprError, match="does not match the manifest's sha256"):
            read_verified(str(artefact), file)
