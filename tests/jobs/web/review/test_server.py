"""The review page as a process: start, a verdict, the end."""

import signal
import subprocess
import sys
import uuid

import httpx2
import pytest

from jobs.review.store import VerdictStore


@pytest.fixture
def start(make_dataset, tmp_path):
    """Return a function that starts `qpr review --serve` on a free port and returns the process and its URL."""
    make_dataset(tmp_path / "data", [[f"how do I pay {n} {word}" for word in "ab"] for n in range(12)])
    processes = []

    def run(*options):
        named = ("--dataset", tmp_path / "data", "--database", tmp_path / "review.db", "--reviewer", "Ada", "--port", 0)
        command = [sys.executable, "-m", "jobs", "review", "--serve", *named, *options]
        processes.append(subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True))
        lines = []
        for line in processes[-1].stderr:
            lines.append(line)
            if line.startswith("review at "):
                return processes[-1], line.split()[2].removesuffix(",")
        raise AssertionError("".join(lines))

    yield run
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


def test_a_verdict_is_on_the_disk_when_the_process_is_killed_and_a_signal_ends_it(start, tmp_path):
    process, url = start()
    with httpx2.Client(timeout=60) as client:
        assert 'value="Ada"' in client.get(url).text
        person = {"reviewer": "Bob", "session": "s"}
        task = client.post(f"{url}/next", json=person).json()["task"]
        verdict = {**person, "item": task["item"], "verdict": "right", "verdict_id": uuid.uuid4().hex}
        assert client.post(f"{url}/verdicts", json=verdict).status_code == 200
    process.kill()
    process.wait()
    with VerdictStore(str(tmp_path / "review.db")) as store:
        assert [(one.reviewer, one.item) for one in store.verdicts()] == [("Bob", task["item"])]
    process, _ = start()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


def test_with_a_token_the_name_of_this_user_is_not_shown(start, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef")
    (tmp_path / "token").chmod(0o600)
    _, url = start("--token-file", tmp_path / "token")
    with httpx2.Client(timeout=60) as client:
        assert "Ada" not in client.get(url).text
        assert client.post(f"{url}/next", json={"reviewer": "Bob", "session": "s"}).status_code == 401
