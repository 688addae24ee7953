"""Requests that overlap with a block of an answer, or with the end of the server."""

import asyncio
import contextlib
import threading
import time

import pytest

from jobs.web import server
from jobs.web.auditing import Auditing
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions import lookups
from jobs.web.versions.leases import Versions
from jobs.workflows.warehouses.version_reading import Readable
from schemas.text import question_id
from tests.jobs.web.conftest import make_version


@pytest.fixture
def service(tmp_path):
    """Return a service with a state."""
    made = Service(Serving(log="none"), Versions(make_version()), State(str(tmp_path)))
    yield made
    made.batcher.close()


@pytest.mark.parametrize(("kind", "id_"), [("question", question_id("pay my bill")), ("cluster", 7)])
async def test_an_answer_that_is_blocked_while_it_is_looked_up_is_left_out(service, monkeypatch, kind, id_):
    is_read, goes_on, document = threading.Event(), threading.Event(), lookups.question_document

    def read_slowly(row, *, blocked):
        made = document(row, blocked=blocked)
        is_read.set()
        assert goes_on.wait(20)
        return made

    monkeypatch.setattr(lookups, "question_document", read_slowly)
    asked = asyncio.ensure_future(getattr(service, kind)(id_))
    await asyncio.to_thread(is_read.wait, 20)
    await service.block("pay")
    goes_on.set()
    found = await asked
    questions = found["questions"] if kind == "cluster" else [found]
    assert {(question["answer"], question["blocked"]) for question in questions} == {(None, True)}


@pytest.mark.parametrize("audit_id", [None, "drawn"])
def test_a_verdict_that_is_written_as_the_server_ends_is_written_before_another_server_may_use_the_state(
    tmp_path, monkeypatch, audit_id
):
    """The drain ran out, or a second signal came, so that nothing waits for the request."""
    events, is_writing = [], threading.Event()

    def write(*_, **__):
        is_writing.set()
        time.sleep(0.2)
        events.append("written")

    @contextlib.contextmanager
    def locked_state(folder):
        yield State(folder)
        events.append("released")

    class EndedServer:
        def __init__(self, gate, *_, **__):
            self.service = gate

        def run(self, _):
            asyncio.run(self.end())

        async def end(self):
            asked = [
                asyncio.ensure_future(
                    self.service.append_feedback({"audit_id": audit_id, "right": True, "question": str(number)})
                )
                for number in range(2)
            ]
            await asyncio.to_thread(is_writing.wait, 20)
            for request in asked:
                request.cancel()

    monkeypatch.setattr(State, "append_feedback", write)
    monkeypatch.setattr(Auditing, "_judge", write)
    monkeypatch.setattr(server, "locked_state", locked_state)
    monkeypatch.setattr(server, "open_version", lambda *_: make_version())
    monkeypatch.setattr(server, "create_app", lambda service, _: service)
    monkeypatch.setattr(server, "Gate", lambda service, **_: service)
    monkeypatch.setattr(server, "Server", EndedServer)
    server.serve(Readable("one"), Serving(log="none", port=0, state=str(tmp_path)), None, [])
    time.sleep(0.3)  # in which the other one would be written
    assert events == ["written", "released"]
