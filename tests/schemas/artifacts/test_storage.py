import errno
import os
import stat
import subprocess
import sys
from unittest.mock import Mock

import fsspec
import pytest

from schemas.artifacts import storage
from schemas.artifacts.io_errors import url_fault
from schemas.artifacts.output_lock.lease import age_s
from schemas.errors import QprError, UsageError


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path, memory):
    return str(tmp_path / "store") if request.param == "local" else memory


def test_what_is_written_is_read_and_listed_and_deleted(folder):
    url = storage.join(folder, "deep", "file.bin")
    assert not storage.exists(url)
    storage.write_bytes(url, b"\x00one")
    assert storage.exists(url)
    assert storage.exists(folder)
    assert storage.read_bytes(url) == b"\x00one"
    storage.write_bytes(url, b"two")
    assert storage.read_bytes(url) == b"two"
    assert (storage.read_start(url, 2), storage.read_start(url, 9)) == (b"tw", b"two")
    assert storage.children(folder) == ["deep"]
    assert storage.children(storage.join(folder, "deep")) == ["file.bin"]
    storage.delete(folder)
    assert not storage.exists(folder)
    storage.delete(folder)  # nothing there, nothing happens


def test_a_folder_that_is_not_there_has_no_children(folder):
    assert storage.children(storage.join(folder, "nowhere")) == []


def test_a_file_is_not_a_folder(folder):
    url = storage.join(folder, "file")
    storage.write_bytes(url, b"x")
    with pytest.raises(QprError, match=r"file: is a file, not a folder"):
        storage.children(url)


def test_reading_what_is_missing_names_it(folder):
    with pytest.raises(QprError, match=r"gone\.parquet: no such file"):
        storage.read_bytes(storage.join(folder, "gone.parquet"))


def test_reading_a_folder_names_it(tmp_path):
    with pytest.raises(QprError, match="is a folder"):
        storage.read_bytes(str(tmp_path))


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    storage.write_bytes(str(path), b"old")
    monkeypatch.setattr(os, step, Mock(side_effect=OSError(28, "No space left on device")))
    with pytest.raises(QprError, match="No space left on device"):
        storage.write_bytes(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_that_is_interrupted_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "file"
    storage.write_bytes(str(path), b"old")
    monkeypatch.setattr(os, "fsync", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        storage.write_bytes(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_synchronised_does_not_spoil_the_file_in_it(tmp_path, monkeypatch):
    real, asked = os.fsync, []

    def fsync(opened):
        asked.append(stat.S_ISDIR(os.fstat(opened).st_mode))
        if asked[-1]:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(opened)

    monkeypatch.setattr(os, "fsync", fsync)
    storage.write_bytes(str(tmp_path / "file"), b"x")
    assert asked == [False, True]
    assert (tmp_path / "file").read_bytes() == b"x"


def test_only_an_empty_folder_is_removed(folder):
    storage.write_bytes(storage.join(folder, "in", "file"), b"x")
    for name in ("in", "none"):
        storage.delete_if_empty(storage.join(folder, name))
    assert storage.read_if_there(storage.join(folder, "in", "file")) == b"x"
    for _ in range(2):
        storage.delete_file(storage.join(folder, "in", "file"))
    assert storage.read_if_there(storage.join(folder, "in", "file")) is None
    storage.delete_if_empty(storage.join(folder, "in"))
    assert storage.children(folder) == []


def test_the_age_of_a_file_is_measured_by_its_store(folder):
    url, probe = storage.join(folder, "file"), storage.join(folder, "probe")
    assert age_s(url, probe=probe) is None
    storage.write_bytes(url, b"x")
    assert 0 <= age_s(url, probe=probe) < 60
    assert storage.children(folder) == ["file"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(QprError, match="permission denied"):
        storage.write_bytes(str(tmp_path / "file"), b"x")


def test_an_unknown_kind_of_url_is_an_error_for_the_user():
    with pytest.raises(QprError, match="nosuch://x: cannot open this kind of path"):
        storage.locate("nosuch://x")


@pytest.mark.parametrize(("url", "message"), [("", "empty"), (" ", "empty"), ("caf\udce9", r"'caf\\udce9'.*not UTF-8")])
def test_a_path_that_is_none_is_wrong_usage(url, message):
    with pytest.raises(UsageError, match=message):
        storage.locate(url)


@pytest.mark.parametrize(
    ("url", "shown", "setting"),
    [
        ("sftp://jo:geheim@host/logs/a.csv", "sftp://jo@host/logs/a.csv", 'FSSPEC_SFTP=\'{"password": "…"}\''),
        ("s3://KEY:geheim@bucket/a.csv", "s3://bucket/a.csv", 'FSSPEC_S3=\'{"key": "…", "secret": "…"}\''),
        ("s3://KEY:ge/heim@bucket/a.csv", "s3://bucket/a.csv", "FSSPEC_S3="),
        ("s3://arn:ge/heim@bucket/a.csv", "s3://bucket/a.csv", "FSSPEC_S3="),
        ("sftp://arn:geheim@host/a.csv", "sftp://arn@host/a.csv", "FSSPEC_SFTP="),
        ("sftp://jo:ge@heim@host/a.csv", "sftp://jo@host/a.csv", "FSSPEC_SFTP="),
        ("ftp://jo@here.org:geheim@host/a.csv", "ftp://jo@here.org@host/a.csv", "FSSPEC_FTP="),
        (
            "zip://a.csv::https://jo:geheim@host/a.zip",
            "zip://a.csv::https://jo@host/a.zip",
            'FSSPEC_HTTPS=\'{"headers"',
        ),
        (
            "ftp://jo:geheim@host/a.csv::s3://KEY:ge/heim@b/c::sftp://al:geheim@host/d",
            "ftp://jo@host/a.csv::s3://b/c::sftp://al@host/d",
            "FSSPEC_FTP=",
        ),
    ],
)
@pytest.mark.parametrize("look", [storage.locate, storage.local_path, storage.read_bytes])
def test_a_password_in_a_url_is_refused_and_not_shown(url, shown, setting, look):
    with pytest.raises(UsageError) as raised:
        look(url)
    assert str(raised.value).startswith(f"{shown}: ")
    assert setting in str(raised.value)
    assert "heim" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "gs://b/a:b@c",
        "/logs/a:b@c",
        "http://host:80/@a",
        "abfs://c@account/x",
        "github://org:repo@main/a.csv",
        "s3://b/a:b@c",
        "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/logs/a@b.csv",
        "s3://arn:aws-cn:s3:cn-north-1:123456789012:accesspoint:logs@b.csv",
    ],
)
def test_other_signs_in_a_url_are_no_password(url):
    assert url_fault(url) is None


@pytest.mark.parametrize("url", ["http://[bad", "https://host:port/a", "zip://a.csv::HTTP://[::1/a.zip"])
@pytest.mark.parametrize("look", [storage.locate, storage.local_path, storage.exists])
def test_a_web_address_that_cannot_be_parsed_is_refused(url, look):
    with pytest.raises(UsageError, match=r"is no valid address \(.+\)\. Check its host, port and brackets$"):
        look(url)


def test_a_locale_without_utf_8_is_named_and_not_the_path():
    program = "import sys; from schemas.artifacts.storage import local_path; local_path(sys.argv[1])"
    environment = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        [sys.executable, "-c", program, "größe"], env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert "the path is UTF-8, which this locale, with ascii, does not have. Set LC_ALL=C.UTF-8" in ended.stderr


@pytest.mark.parametrize("look", [storage.exists, storage.is_folder])
@pytest.mark.parametrize(("number", "advice"), [(errno.ESTALE, "mount"), (errno.EACCES, ""), (errno.EIO, "Check")])
def test_a_disk_that_does_not_answer_is_not_a_missing_file(tmp_path, monkeypatch, look, number, advice):
    assert not look(str(tmp_path / "none"))
    assert not look(f"{tmp_path}/zero\0byte")

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", fail)
        with pytest.raises(QprError, match=rf"folder: .*{advice}"):
            look(str(tmp_path / "folder"))


def test_a_path_through_a_file_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(QprError, match=r"file/x: a part of this path is a file"):
        storage.write_bytes(str(tmp_path / "file" / "x"), b"")


def remote_error(module):
    return type("NoCredentialsError", (Exception,), {"__module__": module})("Unable to locate credentials")


@pytest.mark.parametrize("look", [storage.exists, storage.children, storage.read_bytes, storage.delete])
def test_an_error_of_a_remote_file_system_names_the_url(monkeypatch, memory, look):
    fail = Mock(side_effect=remote_error("botocore.exceptions"))
    for operation in ("info", "ls", "cat_file", "rm"):
        monkeypatch.setattr(fsspec.implementations.memory.MemoryFileSystem, operation, fail)
    with pytest.raises(QprError, match=f"{memory}/x: NoCredentialsError: Unable to locate credentials. Check the URL"):
        look(f"{memory}/x")


def test_an_error_of_ours_is_not_handled_as_one_of_a_file_system():
    with pytest.raises(Exception, match="Unable") as raised, storage.explained("x"):
        raise remote_error("schemas.artifacts.storage")
    assert not isinstance(raised.value, QprError)


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    storage.write_bytes("~/file", b"x")
    assert (tmp_path / "file").read_bytes() == b"x"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [(("a", "b"), "a/b"), (("a/", "b", "c"), "a/b/c"), (("/", "b"), "//b"), (("memory://a/", "b"), "memory://a/b")],
)
def test_joining_puts_one_slash_between_two_parts(parts, expected):
    assert storage.join(*parts) == expected


def test_a_file_of_another_process_is_found_after_a_listing_and_gone_after_its_removal(s3):
    file_system = fsspec.filesystem("s3", skip_instance_cache=True)  # that of another process
    storage.write_bytes(f"{s3}/folder/one", b"1")
    for name in ("two", "three"):
        assert name not in storage.children(f"{s3}/folder")
        file_system.pipe_file(f"bucket/folder/{name}", b"theirs")
        assert storage.read_if_there(f"{s3}/folder/{name}") == b"theirs"
        assert storage.exists(f"{s3}/folder/{name}")
    storage.children(f"{s3}/folder")
    file_system.rm_file("bucket/folder/two")
    assert not storage.exists(f"{s3}/folder/two")


def test_a_missing_bucket_is_an_error_that_names_it_and_not_a_missing_folder(s3):
    assert storage.exists(s3)
    for look in (storage.exists, storage.children):
        for url in ("s3://bukcet", "s3://bukcet/", "s3://bukcet/folder"):
            with pytest.raises(QprError, match=rf"^{url}: there is no such bucket\. Create it, or correct the URL$"):
                look(url)


def test_a_file_that_was_listed_is_read_without_a_request_for_its_size(s3, monkeypatch):
    storage.write_bytes(f"{s3}/folder/one", b"1")
    storage.children(f"{s3}/folder")
    storage.children(s3)
    methods, call = [], fsspec.get_filesystem_class("s3")._call_s3

    async def counted(system, method, *arguments, **options):
        methods.append(method)
        return await call(system, method, *arguments, **options)

    monkeypatch.setattr(fsspec.get_filesystem_class("s3"), "_call_s3", counted)
    file_system, path = storage.locate(f"{s3}/folder/one")
    with file_system.open(path) as file:
        assert file.read() == b"1"
    assert methods == ["get_object"]
    assert storage.is_folder(f"{s3}/folder")
    assert methods == ["get_object"]


def test_a_file_that_was_replaced_after_it_was_listed_is_no_mix_of_both(s3):
    file = f"{s3}/folder/one"
    storage.write_bytes(file, b"1")
    storage.children(f"{s3}/folder")
    other = fsspec.get_filesystem_class("s3")(skip_instance_cache=True)  # as of another process
    other.pipe_file("bucket/folder/one", b"23")
    file_system, path = storage.locate(file)
    with pytest.raises(QprError, match=r"[^.]\. It .* was replaced\. Run this again$"), storage.explained(file):
        file_system.open(path).read()
    assert storage.read_bytes(file) == b"23"


def test_files_that_a_bulk_deletion_leaves_are_removed_one_by_one(s3, monkeypatch):
    system = fsspec.get_filesystem_class("s3")
    for name in ("one", "deep/two"):
        storage.write_bytes(f"{s3}/folder/{name}", b"1")

    async def leaves_all(*_):  # with status 200 and a list of errors, which s3fs does not read
        return []

    def fails(path):
        raise PermissionError(path)

    monkeypatch.setattr(system, "_bulk_delete", leaves_all)
    with monkeypatch.context() as patched:
        patched.setattr(fsspec.filesystem("s3"), "rm_file", fails)
        with pytest.raises(QprError, match="folder: permission denied"):
            storage.delete(f"{s3}/folder")
    storage.delete(f"{s3}/folder")
    assert not storage.exists(f"{s3}/folder")


def test_the_object_that_stands_for_a_folder_is_not_in_it(s3):
    file_system = fsspec.filesystem("s3")
    file_system.pipe_file("bucket/folder/", b"")  # as the web console makes a folder
    assert storage.children(f"{s3}/folder") == []
    storage.write_bytes(f"{s3}/folder/folder", b"1")
    assert storage.children(f"{s3}/folder/") == ["folder"]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("a/b/", "{here}/a/b"),
        ("/", "/"),
        ("/a//", "/a"),
        ("file:///a/b", "/a/b"),
        ("local://a/b", "{here}/a/b"),
        ("memory://a/b", None),
        ("a:b", "{here}/a:b"),
    ],
)
def test_the_path_of_a_local_file_is_absolute(tmp_path, monkeypatch, url, path):
    monkeypatch.chdir(tmp_path)
    assert storage.local_path(url) == (path and path.format(here=tmp_path))


def test_a_folder_is_neither_a_file_nor_missing(folder):
    storage.write_bytes(storage.join(folder, "in", "file"), b"x")
    places = ("in", "in/file", "none")
    assert [storage.is_folder(storage.join(folder, place)) for place in places] == [True, False, False]


def test_the_names_of_a_folder_are_sorted(folder):
    for name in ("b", "c/d", "a"):
        storage.write_bytes(storage.join(folder, name), b"x")
    assert storage.children(folder) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("protocol", "made"), [("file", 1), (("memory",), 1), (("s3", "s3a"), 0), ("gs", 0), ("az", 0)]
)
def test_no_bucket_is_made(protocol, made):
    file_system = Mock(protocol=protocol)
    storage.make_parent(file_system, "bucket/file")
    assert file_system.makedirs.call_count == made


def test_a_local_file_is_read_without_fsspec(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    program = (
        "import sys; from schemas.artifacts import storage; path = sys.argv[1];"
        "print(storage.read_bytes(path), storage.exists(path), storage.is_folder(path), 'fsspec' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "file")], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "b'x' True False False\n"


def test_the_start_of_an_empty_object_is_empty(s3):
    storage.write_bytes(f"{s3}/x", b"")
    assert storage.read_start(f"{s3}/x", 4) == storage.read_bytes(f"{s3}/x") == b""


@pytest.mark.parametrize("read", [storage.read_bytes, lambda url: storage.read_start(url, 4)])
def test_a_missing_object_and_a_missing_bucket_are_named(s3, read):
    with pytest.raises(QprError, match=r"bucket/x: no such file\. Check the path"):
        read(f"{s3}/x")
    with pytest.raises(QprError, match="there is no such bucket"):
        read("s3://nowhere/x")
    assert storage.read_if_there(f"{s3}/x") is None
