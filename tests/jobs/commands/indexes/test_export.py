import contextlib
import dataclasses
import errno
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.workflows import exporting
from model.exports.vector_tables import vector_tables
from model.search.opening import open_index
from tests.support.csv_files import write_csv

TEXTS = ["how do i pay my bill", "where is my flight", "c# or c++"]


@pytest.fixture
def index(folder, tmp_path, qpr, make_model):
    kept = folder / "index"
    if not kept.exists():
        make_model(folder / "model")
        (folder / "q.csv").write_text("question,answer\n" + "".join(f"{text},a {text}\n" for text in TEXTS))
        given = ("--questions", folder / "q.csv", "--model", folder / "model", "--output", kept)
        assert qpr("index", *given, "--shards", "2").code == 0
    return shutil.copytree(kept, tmp_path / "index")


@pytest.fixture
def refusing_server():
    """Return a function that starts a server which gives each request the same status, and returns its address."""
    servers = []

    def start(status):
        class Refuse(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass

        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuse))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_parquet_file_has_every_question_with_the_vector_that_searches_use(qpr, index, tmp_path):
    outcome = qpr("export", "--index", index, "--output", tmp_path / "q.parquet", "--json")
    told = json.loads(outcome.out)
    table = pq.read_table(tmp_path / "q.parquet")
    opened = open_index(str(index))
    assert (told["questions"], told["dimension"]) == (3, opened.settings.dimension)
    assert sorted(table["text"].to_pylist()) == sorted(TEXTS)
    assert set(table["answer"].to_pylist()) == {f"a {text}" for text in TEXTS}
    vectors = np.stack(table["vector"].to_numpy(zero_copy_only=False))
    ranking = opened.rank_vectors(vectors, 1)
    np.testing.assert_array_equal(ranking.ids[:, 0], table["question_id"].to_numpy())
    np.testing.assert_array_equal(ranking.scores, 0)


@pytest.mark.parametrize(
    ("factory", "is_stored"), [("Flat", True), ("IVF1,SQ8,RFlat", True), ("IVF1,SQ8", False), ("IVF1,Flat", False)]
)
def test_vectors_that_the_shards_store_as_they_are_are_not_encoded_again(qpr, tmp_path, make_model, factory, is_stored):
    make_model(tmp_path / "model")
    rows = [f"how do i pay bill {number}" for number in range(60)]
    write_csv(tmp_path / "q.csv", [{"question": text} for text in rows])
    given = ("--questions", tmp_path / "q.csv", "--model", tmp_path / "model", "--factory", factory, "--shards", 3)
    assert qpr("index", *given, "--output", tmp_path / "index").code == 0
    write_csv(tmp_path / "new.csv", [{"question": "where is my flight"}, {"question": "cancel bill 70"}])
    write_csv(tmp_path / "old.csv", [{"question": text} for text in rows[:20]])
    changes = ("--add", tmp_path / "new.csv", "--delete", tmp_path / "old.csv")
    assert qpr("index", "--output", tmp_path / "index", *changes).code == 0
    opened = open_index(str(tmp_path / "index"))
    without = dataclasses.replace(opened, encoder=None)
    if is_stored:
        table = pa.concat_tables(vector_tables(without))
    else:
        with pytest.raises(AttributeError, match="encode"):
            next(vector_tables(without))
        table = pa.concat_tables(vector_tables(opened))
    assert sorted(table["text"].to_pylist()) == sorted([*rows[20:], "where is my flight", "cancel bill 70"])
    vectors = np.stack(table["vector"].to_numpy(zero_copy_only=False))
    np.testing.assert_array_equal(vectors, opened.encoder.encode(table["text"].combine_chunks()))


def test_a_local_folder_of_qdrant_is_filled(qpr, index, tmp_path):
    qdrant_client = pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    given = ("export", "--index", index, "--to", "qdrant", "--output", tmp_path / "qdrant", "--collection", "faq")
    told = json.loads(qpr(*given, "--json").out)
    client = qdrant_client.QdrantClient(path=str(tmp_path / "qdrant"))
    assert client.count("faq").count == client.count(told["collection"]).count == 3
    outcome = qpr(*given)
    client.close()
    assert outcome.code == 1
    assert "cannot be opened as a folder of Qdrant" in outcome.err
    assert outcome.err.endswith("Give a new folder, or end the program that uses it\n")


def test_an_index_that_changes_during_an_export_is_exported_again_by_the_next(qpr, index, tmp_path, monkeypatch):
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    (tmp_path / "more.csv").write_text("question\nwhere is my card\n")

    def changed_meanwhile(*given, **named):
        opened = open_index(*given, **named)
        assert qpr("index", "--output", index, "--add", tmp_path / "more.csv").code == 0
        return opened

    given = ("export", "--index", index, "--to", "qdrant", "--output", tmp_path / "qdrant", "--overwrite", "--json")
    with monkeypatch.context() as patch:
        patch.setattr(exporting, "open_index", changed_meanwhile)
        before = json.loads(qpr(*given).out)
    after = json.loads(qpr(*given).out)
    assert (before["questions"], after["questions"]) == (3, 4)
    assert before["collection"] != after["collection"]


def test_a_damaged_folder_of_qdrant_is_named(qpr, index, tmp_path):
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    folder = tmp_path / "qdrant"
    given = ("export", "--index", index, "--to", "qdrant", "--output", folder)
    assert qpr(*given).code == 0
    (folder / "meta.json").write_text('{"collections": {')
    outcome = qpr(*given)
    assert outcome.code == 1
    assert f"{folder}: cannot be opened as a folder of Qdrant" in outcome.err


@pytest.mark.parametrize("is_link", [False, True])
def test_an_export_that_is_killed_leaves_no_folder_of_qdrant_and_can_be_repeated(qpr, index, tmp_path, is_link):
    qdrant_client = pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    killed = """if True:
        import os, signal, sys
        from qdrant_client.local.local_collection import LocalCollection
        LocalCollection.upsert = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        from jobs.cli import main
        main(sys.argv[1:])
    """
    (tmp_path / "out").mkdir()
    folder = tmp_path / "out" / "qdrant"
    if is_link:
        (tmp_path / "link").symlink_to(folder)
    given = ("export", "--index", index, "--to", "qdrant", "--output", tmp_path / "link" if is_link else folder)
    command = [sys.executable, "-c", killed, *map(str, given)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == -signal.SIGKILL
    [left] = folder.parent.iterdir()
    assert (left / "collection").is_dir()
    assert qpr(*given).code == 0
    assert list(folder.parent.iterdir()) == [folder]
    with contextlib.closing(qdrant_client.QdrantClient(path=str(folder))) as client:
        assert client.count("questions").count == 3


def test_an_export_that_fails_leaves_a_folder_of_qdrant_as_it_was(qpr, index, tmp_path, monkeypatch):
    local = pytest.importorskip("qdrant_client.local.local_collection", reason="needs the extra qdrant")
    error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(local.LocalCollection, "upsert", Mock(side_effect=error))
    (tmp_path / "empty").mkdir()
    for name, is_there in (("new", False), ("empty", True)):
        outcome = qpr("export", "--index", index, "--to", "qdrant", "--output", tmp_path / name)
        assert (outcome.code, (tmp_path / name).exists()) == (1, is_there)
        assert f"{name}: Qdrant did not take the questions: [Errno 28] No space left on device" in outcome.err
        assert list(tmp_path.glob("*.partial")) == []


def test_a_warning_of_qdrant_is_one_line_without_its_place_in_the_source(qpr, index, tmp_path, monkeypatch):
    local = pytest.importorskip("qdrant_client.local.local_collection", reason="needs the extra qdrant")
    monkeypatch.setattr(local.LocalCollection, "LARGE_DATA_THRESHOLD", 1)
    outcome = qpr("export", "--index", index, "--to", "qdrant", "--output", tmp_path / "qdrant")
    [line] = [line for line in outcome.err.splitlines() if "not recommended" in line]
    assert line.startswith("warning: Local mode is not recommended for collections with more than ")
    assert "UserWarning" not in outcome.err


def test_qdrant_writes_into_no_artefact(qpr, index):
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    before = sorted(index.rglob("*"))
    outcome = qpr("export", "--index", index, "--to", "qdrant", "--output", index)
    assert (outcome.code, sorted(index.rglob("*"))) == (1, before)
    assert "holds an artefact of qpr" in outcome.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--output", "q.csv"), 2, "q.csv: --to parquet needs a file name that ends in .parquet"),
        (("--output", "taken.parquet"), 1, "taken.parquet: exists. Choose another --output or add --overwrite"),
        (
            ("--output", "http://127.0.0.1:9", "--to", "qdrant"),
            1,
            "Connection refused. Check that it runs, and its address",
        ),
        (("--output", "q.parquet", "--to", "csv"), 2, "'csv'"),
        (("--output", "q.parquet", "--collection", "zz"), 2, "--collection zz: is of --to qdrant. Leave it out"),
        (("--output", "memory://q.parquet"), 2, "is in this command's memory"),
    ],
)
def test_bad_places_are_refused(qpr, index, tmp_path, monkeypatch, options, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.parquet").write_bytes(b"x")
    outcome = qpr("export", "--index", index, *options)
    assert (outcome.code, message in outcome.err.replace("\n", " ")) == (code, True), outcome.err
    assert (tmp_path / "taken.parquet").read_bytes() == b"x"


def test_a_model_is_no_index(qpr, index, tmp_path):
    outcome = qpr("export", "--index", tmp_path / "model", "--output", tmp_path / "q.parquet")
    assert outcome.code == 1
    assert not (tmp_path / "q.parquet").exists()


@pytest.mark.parametrize("address", ["http://[::1", "http://localhost:99999", "http://a b"])
def test_an_address_that_names_no_server_is_wrong_usage(qpr, index, address):
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    outcome = qpr("export", "--index", index, "--to", "qdrant", "--output", address)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"{address}: no address of a server (Failed to parse: " in outcome.err
    assert "Give a local folder, or a server such as http://localhost:6333" in outcome.err


def test_a_folder_of_qdrant_may_be_a_url_and_another_store_is_refused(qpr, index, tmp_path, monkeypatch):
    qdrant_client = pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    given = ("export", "--index", index, "--to", "qdrant", "--output")
    pytest.importorskip("s3fs", reason="reads s3:// URLs")
    outcome = qpr(*given, "s3://bucket/qdrant")
    assert (outcome.code, sorted(tmp_path.iterdir())) == (2, before), outcome.err
    assert "--to qdrant writes to no other store. Give a local folder, or a server" in outcome.err
    assert qpr(*given, f"file://{tmp_path}/qdrant").code == 0
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "qdrant"])
    client = qdrant_client.QdrantClient(path=str(tmp_path / "qdrant"))
    assert client.count("questions").count == 3
    client.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_refuses_the_key_is_named_with_the_variable(qpr, index, refusing_server, status):
    pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    outcome = qpr("export", "--index", index, "--to", "qdrant", "--output", refusing_server(status))
    assert outcome.code == 1
    assert outcome.err.endswith("Set the environment variable QDRANT_API_KEY to a key that may write\n")
