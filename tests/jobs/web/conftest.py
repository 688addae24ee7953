import contextlib
import dataclasses
import io
import json
import shutil
import subprocess
import sys
import threading

import httpx2
import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from jobs.web.app import create_app
from jobs.web.batching import Batcher
from jobs.web.protection.gate import Gate
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions.clusters import ClusterRows
from jobs.web.versions.leases import Canary, Version, Versions
from jobs.workflows.warehouses.version_reading import Readable
from model.search.results import Answer, Hit, Why
from schemas.tables import ANSWER_ID, ID_TABLE
from schemas.text import answer_key, question_id, tokens
from schemas.versions import history
from tests.support.browser import BROWSER
from tests.support.commands import run
from tests.support.small_versions import make_version as published_version

FLAGS = ("--no-sandbox", "--disable-gpu", "--renderer-process-limit=1")
"""Flags of the browser; a process of its own for each page takes longer to start than most tests take."""


@pytest.fixture(scope="module")
def chromium():
    """Return a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=[*FLAGS])
        yield browser
        browser.close()


@pytest.fixture
def threads():
    """Return the number of threads of ``batcher``; a test parametrizes it for more than one."""
    return 1


@pytest.fixture
def batcher(threads):
    """Return a batcher of the running test."""
    with contextlib.closing(Batcher(threads, lambda _: None)) as batcher:
        yield batcher


class FakeIndex:
    def __init__(self, rows):
        self.rows = sorted(rows, key=lambda row: row["question_id"])
        self.table = pa.Table.from_pylist(self.rows, schema=ID_TABLE.append(ANSWER_ID))

    def __len__(self):
        return len(self.rows)

    def questions(self, rows):
        return self.table.take(pa.array(np.asarray(rows, np.int64)))

    def live_rows(self, numbers):
        return numbers

    def row_batches(self, rows=2):
        return (np.arange(start, min(start + rows, len(self))) for start in range(0, len(self), rows))

    def tables(self):
        return map(self.questions, self.row_batches())

    def rows_of(self, ids):
        places = {row["question_id"]: place for place, row in enumerate(self.rows)}
        return np.array([places.get(int(number), -1) for number in ids], np.int64)


class FakeSearcher:
    """Ranks by shared words; searches wait for `gate`, and each call is recorded."""

    def __init__(self, rows):
        self.index = FakeIndex(rows)
        self.gate = threading.Event()
        self.gate.set()
        self.calls, self.depths = [], []

    def __len__(self):
        return len(self.index)

    modes = ("dense", "bm25")

    filter_values = {}  # noqa: RUF012

    certificate = None

    def part(self, filters=None):
        assert not filters
        return self.index

    def search_many(self, questions, k=10, *, mode=None, filters=None):
        self.calls.append(list(questions))
        self.depths.append(k)
        self.mode = mode
        assert self.gate.wait(20)
        return [self._search(question, k) for question in questions]

    def answer_many(self, questions, *, hits=0, filters=None):
        found = zip(questions, self.search_many(questions, hits or 1), strict=True)
        answers = [(self._answer(question, best[:1]), tuple(best) if hits else ()) for question, best in found]
        return [dataclasses.replace(answer, hits=best) for answer, best in answers]

    def without_answers(self, answer_ids):
        kept = [row for row in self.index.rows if answer_key(row["answer_id"], row["answer"]) not in answer_ids]
        searcher = FakeSearcher(kept)
        searcher.gate, searcher.calls, searcher.depths = self.gate, self.calls, self.depths
        return searcher

    def known(self, question):
        rows = [row for row in self.index.rows if row["question_id"] == question_id(question)]
        return self._answer(question, [Hit(1, **rows[0], why=Why())]) if rows else None

    def _search(self, question, k):
        if question == "fail":
            raise RuntimeError("secret question")
        asked = set(tokens(question.lower()))
        shared = [(len(asked & set(tokens(row["text"]))), -place) for place, row in enumerate(self.index.rows)]
        best = [(count, -place) for count, place in sorted(shared, reverse=True) if count]
        rows = [self.index.rows[place] for _, place in best[:k]]
        return [Hit(rank, **row, why=Why(dense_rank=1)) for rank, row in enumerate(rows, start=1)]

    @staticmethod
    def _answer(question, hits):
        if not hits:
            return Answer(question, False, "no_hit", None)
        exact = hits[0].question_id == question_id(question)
        return Answer(question, exact, "exact" if exact else "no_certificate", hits[0])


def row(text, answer=None, answer_id=None, cluster_id=None):
    return {
        "question_id": question_id(text),
        "text": text,
        "answer": answer,
        "cluster_id": cluster_id,
        "events": 1,
        "answer_id": answer_id,
    }


ROWS = [
    row("pay my bill", "in the app", "pay", 7),
    row("how do I pay a bill", "in the app", "pay", 7),
    row("cancel my flight", "by phone", "cancel", -8),
    row("change my flight", "At the  desk", None, -8),
    row("what is this"),
]


def make_version(name="one", rows=ROWS):
    searcher = FakeSearcher(rows)
    canaries = [Canary(rows[0]["text"], rows[0]["question_id"])]
    return Version(name, f"run-{name}", Readable(name), searcher, ClusterRows(searcher.index), canaries)


@pytest.fixture
def start(tmp_path):
    """Return a function that starts an application on fake questions and returns its client."""
    opened = []

    def started(*, version=None, token=None, state=True, exchange=None, **settings):
        serving = Serving(**{"log": "none"} | settings)
        (tmp_path / "state").mkdir(exist_ok=True)
        kept = State(str(tmp_path / "state") if state else None)
        service = Service(serving, Versions(version or make_version()), kept)
        app = create_app(service, exchange and exchange(service))
        gate = Gate(app, settings=serving, metrics=service.metrics, token=token)
        client = TestClient(gate, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
        client.service = service
        opened.append(client.__enter__())
        return client

    yield started
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture(scope="session")
def built_indexes(tmp_path_factory, make_model):
    """Return a function that builds an index of questions once, each a cluster of its own, and returns its folder."""
    folder = tmp_path_factory.mktemp("indexes")
    make_model(folder / "model", encoder="subword")
    folders = {}

    def build(questions):
        if questions not in folders:
            folders[questions] = folder / f"index-{len(folders)}"
            rows = [
                json.dumps({"question": text, "answer": f"about {text}", "cluster_id": number})
                for number, text in enumerate(questions)
            ]
            (folder / "faq.jsonl").write_text("\n".join(rows))
            given = ["--questions", folder / "faq.jsonl", "--model", folder / "model", "--output", folders[questions]]
            with contextlib.redirect_stderr(io.StringIO()):  # it warns that so few questions have no probabilities
                assert run("index", *given, "--shards", 2, "--quiet") == 0
        return folders[questions]

    return build


@pytest.fixture
def publish(tmp_path, built_indexes):
    """Return a function that publishes an index of questions at a path, in place of another one there."""

    def copy(questions, name="index"):
        source, target = built_indexes(tuple(questions)), tmp_path / name
        target.mkdir(parents=True, exist_ok=True)
        older = [path for path in target.iterdir() if path.is_dir()]
        for folder in source.iterdir():
            if folder.is_dir() and not (target / folder.name).exists():
                shutil.copytree(folder, target / folder.name)
        shutil.copy(source / "manifest.json", target / "manifest.new")
        (target / "manifest.new").replace(target / "manifest.json")
        for folder in older:
            if not (source / folder.name).exists():
                shutil.rmtree(folder)
        return target

    return copy


@pytest.fixture
def publish_version(publish, tmp_path):
    """Return a function that publishes the next version of a warehouse, with an index of questions."""

    def published(questions, damage=None, **others):
        w = tmp_path / "w"
        there = history.numbers(str(w))
        index = publish(questions, f"w/indexes/{len(there)}")
        version = published_version(str(w), str(len(there)), parent=there[-1] if there else None, **others)
        if damage:
            damage(index)
        history.publish(str(w), version)
        return str(w)

    return published


class Process:
    """A server in a process of its own; `errors` are the lines on its stderr."""

    def __init__(self, place, options, python, started_by):
        command = [
            *started_by,
            sys.executable,
            *python,
            "-m",
            "jobs",
            "serve",
            *place,
            "--port",
            0,
            "--log",
            "none",
            *options,
        ]
        self.popen = subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True)
        self.errors = []
        self.url = self._started()
        self.port = int(self.url.rpartition(":")[2])
        self.thread = threading.Thread(target=lambda: self.errors.extend(self.popen.stderr), daemon=True)
        self.thread.start()
        self.client = self.new_client()

    def _started(self):
        for line in self.popen.stderr:
            self.errors.append(line)
            if line.startswith("serving "):
                return line.split(" at ")[1].split(",")[0]
        raise AssertionError("".join(self.errors))

    def new_client(self):
        return httpx2.Client(base_url=self.url, timeout=60)

    def stop(self):
        self.popen.terminate()
        code = self.popen.wait(20)
        self.thread.join(20)
        return code


@pytest.fixture
def server():
    """Return a function that starts `qpr serve` on a free port; the process ends with the test."""
    processes = []

    def start(place, *options, python=(), option="--index", started_by=()):
        processes.append(Process((option, place), options, python, started_by))
        return processes[-1]

    yield start
    for process in processes:
        process.client.close()
        process.popen.kill()
        process.popen.wait()
        process.thread.join()
        process.popen.stderr.close()
