"""The addresses of the review page.

Review -> create_review_app -> ASGI application
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import pydantic
from fastapi import FastAPI, Request
from starlette.responses import RedirectResponse, Response

from jobs.review.checks import MOST_NOTE
from jobs.review.people import person_name
from jobs.review.report import end_text, progress_text
from jobs.review.session import Review, Task
from jobs.web.messages.bodies import read_json
from jobs.web.messages.fault_handlers import add_faults
from jobs.web.messages.faults import Fault, json_response
from jobs.web.messages.known_names import Body
from jobs.web.metrics import Metrics
from jobs.web.review.page import review_page
from jobs.web.settings import Limits
from schemas.errors import QprError

LIMITS = Limits(max_body_kb=256)
"""Limits of a request: names of `MOST_STRAYS` questions, of 17 characters each, take 200 kB."""

MOST_STRAYS = 10_000
"""Maximum number of questions that a verdict marks as strays."""

_Result = TypeVar("_Result")

_Name = Annotated[str, pydantic.StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class Person(Body, frozen=True):
    """A person and the browser window that shows an item."""

    reviewer: Annotated[str, pydantic.AfterValidator(person_name)]
    session: _Name


class Judged(Person, frozen=True):
    """A verdict of a person.

    Attributes:
        verdict_id: random name from the browser, so that a verdict that is sent twice is stored once.
        number: that of the item as it was shown, so that a copy of the window adds no second verdict.
    """

    item: _Name
    verdict: _Name
    strays: list[_Name] = pydantic.Field(default=[], max_length=MOST_STRAYS)
    note: str = pydantic.Field(default="", max_length=MOST_NOTE)
    verdict_id: str = pydantic.Field(pattern="^[0-9a-f]{32}$")
    number: int | None = pydantic.Field(default=None, ge=1)


class Undone(Person, frozen=True):
    """An undo of a verdict.

    Attributes:
        verdict_id: of the verdict, so that an undo that is sent twice undoes one; None: the one stored last.
    """

    verdict_id: str | None = None


def create_review_app(review: Review, metrics: Metrics, *, reviewer: str) -> FastAPI:
    """Return the application that serves a review, without the gate in front of it.

    Args:
        review: the queue and its verdicts.
        metrics: of the server.
        reviewer: name that stands in the page at first.
    """
    app = FastAPI(title="qpr review", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    add_faults(app, metrics)
    html, policy = review_page(review.queue.source.kind, reviewer=reviewer)

    @app.get("/")
    async def start() -> Response:
        return RedirectResponse("/review")

    @app.get("/review")
    async def page() -> Response:
        return Response(html, media_type="text/html", headers={"Content-Security-Policy": policy})

    @app.get("/healthz")
    async def health() -> Response:
        return json_response({"alive": True})

    @app.post("/review/next")
    async def following(request: Request) -> Response:
        person = await read_json(request, Person, LIMITS, most_listed=0)
        return await _respond(review, person)

    @app.post("/review/verdicts")
    async def judge(request: Request) -> Response:
        given = await read_json(request, Judged, LIMITS, most_listed=MOST_STRAYS)
        stored = await _in_thread(
            lambda: review.judge(
                given.item,
                given.verdict,
                reviewer=given.reviewer,
                strays=given.strays,
                note=given.note,
                verdict_id=given.verdict_id,
                number=given.number,
            )
        )
        return await _respond(review, given, stored=stored)

    @app.post("/review/undo")
    async def undo(request: Request) -> Response:
        given = await read_json(request, Undone, LIMITS, most_listed=0)
        undone = await _in_thread(lambda: review.undo(given.reviewer, given.session, given.verdict_id))
        before = undone and {name: getattr(undone, name) for name in ("item", "verdict", "strays", "note")}
        return await _respond(review, given, undone=undone is not None, before=before)

    return app


async def _respond(review: Review, person: Person, **more: Any) -> Response:
    """Return the next item of a person and the progress."""
    task = await _in_thread(lambda: review.next_task(person.reviewer, person.session))
    progress = await _in_thread(lambda: review.progress(person.reviewer))
    text = progress_text(progress, review.queue.source.kind)
    state = {name: getattr(progress, name) for name in ("mine", "last", "judged", "items")} | {"text": text}
    end = {} if task else {"end": end_text(progress, "you")}
    return json_response({"task": task and _document(task), "progress": state, **end, **more})


def _document(task: Task) -> dict[str, Any]:
    """Return an item as JSON: nothing in it depends on split, score or earlier verdicts."""
    item = task.item
    lines = [line._asdict() for line in item.lines]
    shown = {"answer": item.answer, "lines": lines, "filters": item.asked_for}
    return {"item": item.name, "number": task.number, **shown}


async def _in_thread(work: Callable[[], _Result]) -> _Result:
    """Return the result of work that waits for the disk.

    Raises:
        Fault: the verdict does not fit, or the database cannot be read or written.
    """
    try:
        return await asyncio.to_thread(work)
    except QprError as error:
        raise Fault(422, str(error)) from error
