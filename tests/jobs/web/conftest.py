import dataclasses
import threading

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from jobs.web.app import create_app
from jobs.web.protection.gate import Gate
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions.clusters import ClusterRows
from jobs.web.versions.leases import Version, Versions
from schemas.tables import ANSWER_ID, ID_TABLE
from schemas.text import question_id, tokens


@dataclasses.dataclass(frozen=True)
class FakeWhy:
    shared_words: tuple = ()
    dense_rank: int | None = 1
    lexical_rank: int | None = None
    contributions: dict = dataclasses.field(default_factory=dict)
    guard: str | None = None


@dataclasses.dataclass(frozen=True)
class FakeHit:
    rank: int
    question_id: int
    text: str
    answer: str | None
    answer_id: str | None
    cluster_id: int | None
    events: int | None
    probability: float | None = None
    why: FakeWhy = FakeWhy()


@dataclasses.dataclass(frozen=True)
class FakeAnswer:
    question: str
    answered: bool
    reason: str
    hit: FakeHit | None
    certificate: str | None = None


class FakeIndex:
    def __init__(self, rows):
        self.rows = sorted(rows, key=lambda row: row["question_id"])
        self.table = pa.Table.from_pylist(self.rows, schema=ID_TABLE.append(ANSWER_ID))

    def __len__(self):
        return len(self.rows)

    def questions(self, rows):
        return self.table.take(pa.array(np.asarray(rows, np.int64)))

    def rows_of(self, ids):
        places = {row["question_id"]: place for place, row in enumerate(self.rows)}
        return np.array([places.get(int(number), -1) for number in ids], np.int64)


class FakeSearcher:
    """Ranks by shared words; searches wait for `gate`, and each call is recorded."""

    def __init__(self, rows):
        self.index = FakeIndex(rows)
        self.gate = threading.Event()
        self.gate.set()
        self.calls = []

    def __len__(self):
        return len(self.index)

    def search_many(self, questions, k=10):
        self.calls.append(list(questions))
        assert self.gate.wait(20)
        return [self._search(question, k) for question in questions]

    def answer_many(self, questions):
        return [
            self._answer(question, hits)
            for question, hits in zip(questions, self.search_many(questions, 1), strict=True)
        ]

    def _search(self, question, k):
        if question == "fail":
            raise RuntimeError("secret question")
        asked = set(tokens(question.lower()))
        shared = [(len(asked & set(tokens(row["text"]))), -place) for place, row in enumerate(self.index.rows)]
        best = [(count, -place) for count, place in sorted(shared, reverse=True) if count]
        rows = [self.index.rows[place] for _, place in best[:k]]
        return [FakeHit(rank, **row) for rank, row in enumerate(rows, start=1)]

    @staticmethod
    def _answer(question, hits):
        if not hits:
            return FakeAnswer(question, False, "no_hit", None)
        exact = hits[0].question_id == question_id(question)
        return FakeAnswer(question, exact, "exact" if exact else "no_certificate", hits[0])


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
    canaries = [(rows[0]["text"], rows[0]["question_id"])]
    return Version(name, f"run-{name}", searcher, ClusterRows(searcher.index), canaries)


@pytest.fixture
def start(tmp_path):
    """Return a function that starts an application on fake questions and returns its client."""
    opened = []

    def started(*, version=None, token=None, state=True, exchange=None, **settings):
        serving = Serving(**{"log": "none"} | settings)
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
