"""Requests that overlap with a block of an answer, or with the end of the server."""

import asyncio
import threading

import pytest

from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions import lookups
from jobs.web.versions.leases import Versions
from schemas.text import question_id
from tests.jobs.web.conftest import make_version


@pytest.fixture
def service(tmp_path):
    """Return a service with a state."""
    made = Service(Serving(log="none"), Versions(make_version()), State(str(tmp_path)))
    yield made
    made.batcher.close()


@pytest.mark.parametrize(("kind", "id_"), [("question", question_id("pay my bill")), ("cluster", 7)])
def test_an_answer_that_is_blocked_while_it_is_looked_up_is_left_out(service, monkeypatch, kind, id_):
    is_read, goes_on, document = threading.Event(), threading.Event(), lookups.question_document

    def read_slowly(row, *, blocked):
        made = document(row, blocked=blocked)
        is_read.set()
        assert goes_on.wait(20)
        return made

    monkeypatch.setattr(lookups, "question_document", read_slowly)

    async def scenario():
        asked = asyncio.ensure_future(getattr(service, kind)(id_))
        await asyncio.to_thread(is_read.wait, 20)
        await service.block("pay")
        goes_on.set()
        found = await asked
        questions = found["questions"] if kind == "cluster" else [found]
        assert {(question["answer"], question["blocked"]) for question in questions} == {(None, True)}

    asyncio.run(asyncio.wait_for(scenario(), 30))
