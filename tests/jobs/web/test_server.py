"""The server as a process: start, exchange under load, the end, and starts that fail."""

import contextlib
import http.client
import json
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest

from jobs.web.state import locked_state
from schemas.versions import leases
from tests.support.csv_files import write_csv
from tests.support.waiting import wait_until

QUESTIONS = [f"how do I pay bill number {number}" for number in range(40)]


def search(client, question="pay bill", k=3):
    response = client.get("/search", params={"q": question, "k": k})
    assert response.status_code == 200, response.text
    return response.json()


def test_searches_of_one_and_of_a_thousand_questions_import_neither_torch_nor_beam(publish, server):
    process = server(publish(QUESTIONS), python=["-X", "importtime"])
    assert search(process.client)["results"][0]["hits"]
    client = process.client
    given = {"questions": [QUESTIONS[number % 40] for number in range(1000)], "k": 1}
    results = client.post("/search", json=given).json()["results"]
    assert [result["hits"][0]["text"] for result in results] == given["questions"]
    assert process.stop() == 0
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in process.errors if "import time:" in line}
    assert {"fastapi", "uvicorn", "uvloop", "httptools", "faiss"} <= imported
    assert not {"torch", "apache_beam", "sklearn", "transformers"} & imported


@pytest.mark.slow
def test_no_request_fails_while_the_index_is_exchanged(publish, server):
    versions = [QUESTIONS[: 20 + number] for number in range(6)]
    process = server(publish(versions[0]), "--threads", 2, "--poll", 0)
    failures, seen, stop = [], set(), threading.Event()
    asked = [0] * 4

    def load(place):
        connection = http.client.HTTPConnection("127.0.0.1", process.port, timeout=60)
        while asked[place] < 500 or not stop.is_set():
            question = QUESTIONS[asked[place] % 20]
            connection.request("GET", f"/search?k=1&q={question.replace(' ', '+')}")
            response = connection.getresponse()
            found = json.loads(response.read())
            if response.status != 200 or found["results"][0]["hits"][0]["text"] != question:
                failures.append(found)
            seen.add(found.get("version"))
            asked[place] += 1
        connection.close()

    threads = [threading.Thread(target=load, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for number, questions in enumerate(versions[1:], start=2):
        publish(questions)
        assert process.client.post("/reload").json() == {"reload": "swapped"}
        until = time.monotonic() + 20
        while len(seen) < number and time.monotonic() < until:
            time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sum(asked) >= 2000
    assert len(seen) == 6
    shown = process.client.get("/metrics").text.splitlines()
    assert 'qpr_swaps_total{result="swapped"} 5.0' in shown
    assert "qpr_open_versions 1.0" in shown


def test_no_request_fails_while_versions_of_a_warehouse_are_published(publish_version, server):
    warehouse = publish_version(QUESTIONS[:5])
    process = server(warehouse, "--poll", 0.1, option="--warehouse")
    sizes = [5]
    for number in (6, 7):
        publish_version(QUESTIONS[:number])
        until = time.monotonic() + 60
        while sizes[-1] != number:
            assert time.monotonic() < until
            sizes.append(len(search(process.client, QUESTIONS[0], 10)["results"][0]["hits"]))
    assert sizes == sorted(sizes)
    assert set(sizes) == {5, 6, 7}
    publish_version(QUESTIONS[:8], lambda index: (index / "manifest.json").unlink())
    while f"the new version was refused: {warehouse}/indexes/3" not in "".join(process.errors):
        assert len(search(process.client, QUESTIONS[0], 10)["results"][0]["hits"]) == 7
        assert time.monotonic() < until
    assert process.stop() == 0
    assert leases.leases(warehouse) == {}


def test_sighup_looks_for_a_new_version(publish, server):
    process = server(publish(QUESTIONS[:5]), "--poll", 0)
    publish(QUESTIONS[:6])
    process.popen.send_signal(signal.SIGHUP)
    wait_until(lambda: len(search(process.client, k=10)["results"][0]["hits"]) == 6)


SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
from jobs.web.versions import opening

def check_memory(*given):
    print("opening", file=sys.stderr, flush=True)
    time.sleep(SECONDS)

opening._check_memory = check_memory
from jobs.cli import main
main()
"""
"""A program whose server takes time to open a version."""


@contextlib.contextmanager
def opening(warehouse, state, seconds):
    """Yield a server that opens the version of a warehouse, on which it has a lease."""
    options = ["serve", "--warehouse", warehouse, "--port", 0, "--log", "none", "--state", state]
    program = SLOW.replace("SECONDS", str(seconds))
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, options)], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            while "opening" not in process.stderr.readline():
                assert process.poll() is None
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_the_first_version_is_opened_ends_the_server_and_its_lease(
    publish_version, tmp_path, number, code
):
    warehouse, state = publish_version(QUESTIONS[:5]), tmp_path / "state"
    with opening(warehouse, state, 60) as process:
        assert len(leases.leases(warehouse)) == 1
        process.send_signal(number)
        assert process.wait(20) == code
        assert "Traceback" not in process.stderr.read()
    assert leases.leases(warehouse) == {}
    assert [*state.iterdir()] == []


def test_sighup_while_the_first_version_is_opened_does_not_end_the_server(publish_version, tmp_path):
    warehouse = publish_version(QUESTIONS[:5])
    with opening(warehouse, tmp_path / "state", 0.5) as process:
        process.send_signal(signal.SIGHUP)
        while not process.stderr.readline().startswith("serving "):
            assert process.poll() is None
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert leases.leases(warehouse) == {}


LOADING = """
import os, signal
from jobs.machine import libraries
libraries.set_up_libraries = lambda _: os.kill(os.getpid(), signal.SIGHUP)
from jobs.cli import main
main()
"""
"""A program that gets SIGHUP while its modules are loaded."""


def test_sighup_while_modules_are_loaded_does_not_end_the_server(tmp_path):
    command = [sys.executable, "-c", LOADING, "serve", "--index", str(tmp_path / "missing"), "--port", "0"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    assert "missing" in ended.stderr


def test_sigterm_finishes_requests_that_run_and_takes_no_others(publish, server):
    process = server(publish(QUESTIONS))
    with socket.create_connection(("127.0.0.1", process.port)) as slow:
        body = json.dumps({"questions": QUESTIONS}).encode()
        head = "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        slow.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
        time.sleep(0.2)
        process.popen.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", process.port))
        slow.sendall(body[10:])
        answer = slow.recv(100)
        assert answer.startswith(b"HTTP/1.1 200"), answer
    assert process.popen.wait(20) == 0
    assert "Traceback" not in "\n".join(process.errors)


def test_no_browser_guesses_a_type_keeps_a_response_or_loads_one_into_a_page_of_another_site(publish, server):
    client = server(publish(QUESTIONS)).client
    for path in ("/", "/docs", "/search?q=pay", "/metrics", "/nothing"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers.get_list("cache-control") == ["no-store"]


def test_another_loopback_address_is_served(publish, server):
    process = server(publish(QUESTIONS[:2]), "--host", "127.0.0.2")
    assert process.url.startswith("http://127.0.0.2:")
    assert search(process.client)


def test_more_connections_than_the_usual_limit_of_open_files_are_served(publish, server):
    process = server(publish(QUESTIONS), started_by=("sh", "-c", 'ulimit -S -n 500; exec "$@"', "sh"))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))  # this process has files of other tests
    try:
        with contextlib.ExitStack() as open_ones:
            for _ in range(700):
                open_ones.enter_context(socket.create_connection(("127.0.0.1", process.port), timeout=20))
            process.client.timeout = 5
            assert search(process.client)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_body_that_never_ends_is_refused_and_the_connection_closed(publish, server):
    process = server(publish(QUESTIONS), "--max-body-kb", 10)
    with socket.create_connection(("127.0.0.1", process.port), timeout=20) as endless:
        head = "POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        endless.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
        received = b""
        for _ in range(100):
            try:
                endless.sendall(chunk)
            except OSError:
                break
        while part := _received(endless):
            received += part
    assert received.startswith(b"HTTP/1.1 413")
    assert search(process.client)


def _received(connection):
    try:
        return connection.recv(4096)
    except ConnectionResetError:
        return b""


def test_a_server_goes_on_where_its_stderr_is_closed(publish, tmp_path):
    command = [sys.executable, "-m", "jobs", "serve", "--index", publish(QUESTIONS[:5]), "--port", 0, "--poll", 0.1]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as process:
        try:
            greeting = next(line for line in process.stderr if line.startswith("serving "))
            process.stderr.close()
            connection = http.client.HTTPConnection(greeting.split("//")[1].split(",")[0], timeout=20)
            connection.connect()
            connection.auto_open = False  # all requests are on one connection
            for _ in range(3):
                assert _hits(connection) == 5
            (tmp_path / "index/manifest.json").rename(tmp_path / "manifest.json")
            wait_until(lambda: 'qpr_swaps_total{result="refused"} 0.0' not in _read(connection, "/metrics"))
            publish(QUESTIONS[:6])
            wait_until(lambda: _hits(connection) == 6)
        finally:
            process.terminate()
        assert process.wait(20) == 0


def _read(connection, path):
    connection.request("GET", path)
    return connection.getresponse().read().decode()


def _hits(connection):
    return len(json.loads(_read(connection, "/search?q=pay+bill&k=9"))["results"][0]["hits"])


def test_the_state_outlives_the_process(publish, server, tmp_path):
    index = publish(QUESTIONS)
    for number in range(2):
        process = server(index, "--state", tmp_path / "state")
        hits = search(process.client, QUESTIONS[0], 100)["results"][0]["hits"]
        assert len(hits) == 40 - number
        process.client.delete(f"/answers/{hits[0]['answer_id']}")
        process.popen.kill()
        process.popen.wait()


def test_others_cannot_read_a_state_that_the_server_makes_and_permissions_of_one_that_is_there_stay(tmp_path):
    given = tmp_path / "given"
    given.mkdir(mode=0o755)
    for path, mode in ((tmp_path / "made", 0o700), (given, 0o755)):
        with locked_state(str(path)) as state:
            state.append_feedback({"question": "how do I pay"})
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_state_has_one_server_at_a_time_and_a_killed_one_leaves_it(publish, server, qpr, tmp_path):
    index, state = publish(QUESTIONS[:2]), tmp_path / "state"
    first = server(index, "--state", state)
    code, _, err = qpr("serve", "--index", index, "--port", 0, "--state", state)
    assert (code, err.count("\n")) == (1, 1)
    assert f"{state}: another server keeps its state there" in err
    assert f"process {first.popen.pid}" in err
    assert "give another --state" in err
    first.popen.kill()
    first.popen.wait()
    second = server(index, "--state", state)
    [hit] = search(second.client, QUESTIONS[0], 1)["results"][0]["hits"]
    assert second.client.delete(f"/answers/{hit['answer_id']}").status_code == 200
    assert second.stop() == 0
    assert [path.name for path in state.iterdir()] == ["blocked.json"]


def test_an_id_is_decoded_once(server, qpr, make_model, tmp_path):
    ids = ["a/b", "a%2Fb", "größe 1", "%25"]
    rows = [{"question": f"pay bill {number}", "answer": "x", "answer_id": name} for number, name in enumerate(ids)]
    make_model(tmp_path / "model", encoder="subword")
    files = ("--questions", write_csv(tmp_path / "faq.csv", rows), "--model", tmp_path / "model")
    assert qpr("index", *files, "--output", tmp_path / "index").code == 0
    client = server(tmp_path / "index", "--state", tmp_path / "state").client
    for number, name in enumerate(ids):
        assert client.delete("/answers/" + urllib.parse.quote(name, safe="")).json() == {"blocked": name}
        left = {hit["answer_id"] for hit in search(client, "pay bill", 9)["results"][0]["hits"]}
        assert left == {*ids[number + 1 :]}


def test_an_address_in_use_is_one_line(qpr, publish):
    index = publish(QUESTIONS[:2])
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, err = qpr("serve", "--index", index, "--port", taken.getsockname()[1])
    assert code == 1
    assert "Address already in use. Give another --host or --port" in err


def test_a_missing_or_damaged_index_or_a_model_is_one_line(qpr, publish, tmp_path):
    code, _, err = qpr("serve", "--index", tmp_path / "none", "--port", 0)
    assert (code, err.count("\n")) == (1, 1)
    assert "does not exist" in err
    index = publish(QUESTIONS[:2])
    shard = next(index.glob("*/ids/*"))
    shard.write_bytes(shard.read_bytes()[:-1])
    code, _, err = qpr("serve", "--index", index, "--port", 0)
    assert (code, err.count("\n")) == (1, 1)
    assert "does not match the manifest" in err
    shard.unlink()
    code, _, err = qpr("serve", "--index", index, "--port", 0)
    assert (code, err.count("\n")) == (1, 1)
    model = next(index.glob("*/model"))
    code, _, err = qpr("serve", "--index", model, "--port", 0)
    assert code == 1
    assert "holds a model, not an index" in err


@pytest.mark.parametrize(("options", "code", "message"), [
    (("--host", "0.0.0.0"), 2, "--token-file"),
    (("--token-file", "/nowhere/token"), 1, "No such file"), (("--port", 70_000), 2, "--port"),
    (("--certificate", "/nowhere"), 1, "not a certificate"),
    (("--max-k", 0), 2, "--max-k"), (("--rate", 0), 2, "--rate"),
    (("--drain", "inf"), 2, "--drain"), (("--timeout", "nan"), 2, "--timeout"), (("--rate", "inf"), 2, "--rate"),
    (("--poll", "inf"), 2, "--poll"), (("--audits", 5), 2, "--audits: are drawn into the folder of --state"),
])  # fmt: skip
def test_wrong_options_are_refused(qpr, publish, options, code, message):
    outcome = qpr("serve", "--index", publish(QUESTIONS[:2]), "--port", 0, *options)
    assert outcome.code == code
    assert message in outcome.err


def test_a_state_that_is_damaged_or_cannot_be_written_is_refused(qpr, publish, tmp_path):
    index = publish(QUESTIONS[:2])
    (tmp_path / "file").write_text("")
    code, _, err = qpr("serve", "--index", index, "--port", 0, "--state", tmp_path / "file")
    assert (code, "cannot be made" in err) == (1, True)
    (tmp_path / "state").mkdir()
    for content in ("", "{}", '["a"', "[1]"):
        (tmp_path / "state/blocked.json").write_text(content)
        code, _, err = qpr("serve", "--index", index, "--port", 0, "--state", tmp_path / "state")
        assert (code, "is no list of blocked answers" in err) == (1, True)
