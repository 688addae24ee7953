import errno
import json
import os
import socket
import threading

import fsspec
import pytest

from schemas.artifacts import storage
from schemas.artifacts.io_errors import connection_fault, io_fault, system_fault
from schemas.errors import QprError
from tests.support.waiting import wait_until


@pytest.fixture
def refusing():
    """Give the address of a server that listens to nobody; its port stays taken, so that no other program gets it."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{one.getsockname()[1]}"


@pytest.mark.parametrize("look", [storage.exists, storage.read_bytes, storage.children])
def test_http_without_a_server_is_no_missing_file(look, refusing):
    pytest.importorskip("aiohttp", reason="fsspec reads HTTP with aiohttp")
    with pytest.raises(QprError) as raised:
        look(f"http://{refusing}/x.jsonl")
    told = f"http://{refusing}/x.jsonl: cannot connect to {refusing} (connection refused). Check the address, that the"
    assert str(raised.value).startswith(told)


@pytest.fixture
def s3_at(monkeypatch):
    """Return a function that makes a server the S3 store, each request to which is tried once by botocore."""
    s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")

    def use(server):
        terms = {"ENDPOINT_URL": f"http://{server}", "MAX_ATTEMPTS": "1", "DEFAULT_REGION": "us-east-1"}
        for name, value in (terms | dict.fromkeys(("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"), "testing")).items():
            monkeypatch.setenv(f"AWS_{name}", value)
        return s3fs.S3FileSystem

    s3fs.S3FileSystem.clear_instance_cache()
    yield use
    s3fs.S3FileSystem.clear_instance_cache()


def test_s3_without_a_server_names_the_endpoint(monkeypatch, s3_at, refusing):
    monkeypatch.setattr(s3_at(refusing), "retries", 1)
    with pytest.raises(QprError, match=rf"s3://bucket/x: cannot connect to {refusing} \(connection refused\)\. Check"):
        storage.exists("s3://bucket/x")


def test_s3_that_does_not_answer_is_tried_five_times_for_the_time_that_variables_choose(monkeypatch, s3_at):
    configuration = {}
    terms = json.dumps({"config_kwargs": {"read_timeout": 0.2}})
    fsspec.config.set_conf_env(configuration, {"FSSPEC_S3": terms})
    monkeypatch.setitem(fsspec.config.conf, "s3", configuration["s3"])
    connections = []

    def accept(listening):
        while True:
            try:
                connections.append(listening.accept())
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
        s3_at(f"127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(
            QprError, match=r"s3://bucket/x: cannot connect to .* \(Timeout on reading data from socket\)"
        ):
            storage.read_bytes("s3://bucket/x")
        wait_until(lambda: len(connections) >= 5)  # the last one may not have been accepted yet
        listening.shutdown(socket.SHUT_RDWR)
    for connection, _ in connections:
        connection.close()
    assert len(connections) == 5


def test_a_name_without_an_address_and_a_socket_that_gives_up_are_connections_too():
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    assert connection_fault(unknown).startswith("cannot connect to the server (Name or service not known)")
    assert "(timed out)" in connection_fault(TimeoutError("timed out"))


def test_a_status_that_fsspec_takes_for_a_missing_file_is_shown():
    def missing(status):
        answer = type("ClientResponseError", (Exception,), {"status": status, "message": "Service Unavailable"})()
        error = FileNotFoundError("x")
        error.__cause__ = answer
        return connection_fault(error)

    assert missing(503) == "the server answered 503 Service Unavailable. Check the URL and your access to it"
    assert missing(404) is None


def test_a_status_of_a_refused_write_is_shown_without_the_url_again():
    refusal = type("ClientResponseError", (Exception,), {"status": 501, "message": "Unsupported method ('PUT')"})()
    fault = "the server answered 501 Unsupported method ('PUT'). Check the URL and your access to it"
    assert connection_fault(refusal) == fault


@pytest.mark.parametrize(
    "error", [FileNotFoundError("x"), PermissionError("x"), OSError(errno.ENOSPC, "full"), BrokenPipeError()]
)
def test_other_errors_are_no_matter_of_connections(error):
    assert connection_fault(error) is None


@pytest.mark.parametrize(
    ("kind", "status", "code", "advice"),
    [
        (PermissionError, 403, "InvalidAccessKeyId", "Check the URL, the credentials and what they permit"),
        (OSError, 400, "InvalidBucketName", "Check the URL, the credentials and what they permit"),
        (OSError, 429, "TooManyRequests", "Run this again later"),
        (OSError, 500, "InternalError", "Run this again later"),
        (OSError, 503, "SlowDown", "Run this again later"),
    ],
)
def test_the_words_of_a_store_that_refuses_a_request_are_shown(kind, status, code, advice):
    error = kind("No such key.")
    error.__cause__ = Exception()
    error.__cause__.response = {
        "Error": {"Code": code, "Message": "No such key."},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    with pytest.raises(QprError) as raised, storage.explained("s3://b/x"):
        raise error
    assert str(raised.value) == f"s3://b/x: the store answered {code}: No such key. {advice}"


def test_an_answer_that_was_cut_off_is_no_matter_of_access():
    cut = type("ClientPayloadError", (Exception,), {"__module__": "aiohttp.client_exceptions"})("not completed")
    assert io_fault(cut) == "the server's answer was cut off. Check the network, then run this again"


def test_an_object_that_a_store_does_not_have_is_a_missing_file():
    error = FileNotFoundError("The specified key does not exist.")
    error.__cause__ = Exception()
    error.__cause__.response = {"Error": {"Code": "NoSuchKey", "Message": "The specified key does not exist."}}
    assert io_fault(error) == "no such file. Check the path"


def test_a_file_beyond_the_limit_of_the_shell_has_an_advice():
    error = OSError(errno.EFBIG, os.strerror(errno.EFBIG), "pairs.parquet")
    assert io_fault(error) == "File too large. Raise the limit of file sizes, such as by `ulimit -f unlimited`"


def test_without_a_folder_of_temporary_files_the_variable_that_names_one_is_the_advice():
    error = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp', '/']")
    advice = "no folder of temporary files can be written. Name one in the environment variable TMPDIR"
    assert (io_fault(error), system_fault(error)) == (advice, advice)


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, ". Free some space, or name a folder with more"),
        (errno.EDQUOT, ". Free some space, or name a folder with more"),
        (errno.EROFS, ". Name a folder that can be written"),
        (errno.ESTALE, ". Run this again; if that fails too, mount the folder again"),
        (errno.ENOTCONN, ". Run this again; if that fails too, mount the folder again"),
        (errno.EIO, ". Check the disk or the store, then run this again"),
        (errno.EMFILE, ". Raise the limit of open files, such as by `ulimit -n 4096`"),
        (errno.EINVAL, ""),
    ],
)
def test_a_fault_of_the_system_has_its_message_and_an_advice(number, advice):
    error = OSError(number, os.strerror(number))
    assert system_fault(error) == io_fault(error) == f"{os.strerror(number)}{advice}"


def of_library(name, module, *args, **fields):
    return type(name, (Exception,), {"__module__": module, **fields})(*args)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (IsADirectoryError("x"), "is a folder, not a file"),
        (PermissionError("x"), "permission denied"),
        (FileExistsError("x"), "a part of this path is a file, not a folder"),
        (NotADirectoryError("x"), "a part of this path is a file, not a folder"),
        (OSError("no number"), "no number"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "Broken pipe"),
        (of_library("NoHost", "google.auth", "none"), "NoHost: none. Check the URL and your access to it"),
        (of_library("NoHost", "gcsfs.retry", "none"), "NoHost: none. Check the URL and your access to it"),
        (of_library("NoHost", "azure.core", "none"), "NoHost: none. Check the URL and your access to it"),
        (of_library("NoHost", "fsspec", "none"), "NoHost: none. Check the URL and your access to it"),
        (of_library("NoHost", "botocore", "no\nhost"), "NoHost: no host. Check the URL and your access to it"),
        (of_library("NoHost", "pyarrow", "none"), None),
        (ValueError("x"), None),
    ],
)
def test_each_kind_of_error_has_a_fault_and_others_have_none(error, fault):
    assert io_fault(error) == fault


@pytest.mark.parametrize("name", ["ClientPayloadError", "IncompleteReadError", "ResponseStreamingError"])
def test_a_body_that_is_too_short_is_cut_off(name):
    assert connection_fault(of_library(name, "any")) == (
        "the server's answer was cut off. Check the network, then run this again"
    )


@pytest.mark.parametrize(
    ("error", "beginning"),
    [
        (
            of_library("ClientConnectorError", "aiohttp.x", "m", host="h", port=8),
            "cannot connect to h:8 (m). Check the",
        ),
        (
            of_library("ConnectError", "botocore", "m", kwargs={"endpoint_url": "http://e"}),
            "cannot connect to http://e (m)",
        ),
        (of_library("ConnectTimeout", "requests", host="h"), "cannot connect to the server (ConnectTimeout)"),
        (of_library("ConnectTimeout", "others", "m"), None),
        (of_library("ClientResponseError", "aiohttp", status=410), None),
        (of_library("ClientResponseError", "aiohttp", status=403), "the server answered 403. Check the URL"),
        (of_library("OtherError", "aiohttp", status=403), None),
    ],
)
def test_the_server_is_named_as_its_library_does(error, beginning):
    fault = connection_fault(error)
    assert fault is None if beginning is None else fault.startswith(beginning)


@pytest.mark.parametrize(
    ("kind", "answer", "fault"),
    [
        (OSError, {"Code": "NoSuchBucket"}, "there is no such bucket. Create it, or correct the URL"),
        (
            FileNotFoundError,
            {"Code": "NoSuchBucket", "Message": "m"},
            "there is no such bucket. Create it, or correct the URL",
        ),
        (
            FileExistsError,
            {"Code": "PreconditionFailed", "Message": "m"},
            "a part of this path is a file, not a folder",
        ),
        (OSError, {"Code": "X"}, "no number"),
        (
            OSError,
            {"Code": "X", "Message": "m"},
            "the store answered X: m. Check the URL, the credentials and what they permit",
        ),
    ],
)
def test_an_answer_of_a_store_about_a_bucket_or_an_object(kind, answer, fault):
    error = kind("no number")
    error.__cause__ = of_library("ClientError", "botocore", response={"Error": answer})
    assert io_fault(error) == fault
