"""The addresses of the server.

Service -> create_app -> ASGI application
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import Response

from jobs.web.docs_page import docs_page
from jobs.web.exchange import Exchange
from jobs.web.messages.bodies import asked_model, feedback_model, read_json
from jobs.web.messages.descriptions import (
    DESCRIPTION,
    body_schema,
    describe_modes,
    id_parameter,
    route,
    search_parameters,
)
from jobs.web.messages.direct import DirectApp
from jobs.web.messages.documents import AnswersDocument, ClusterDocument, QuestionDocument, SearchDocument
from jobs.web.messages.fault_handlers import add_faults
from jobs.web.messages.faults import Fault, json_response
from jobs.web.messages.parameters import read_id, read_parameters, read_query
from jobs.web.metrics import TYPE
from jobs.web.search_page import search_page
from jobs.web.service import Service
from jobs.web.settings import Serving
from schemas import __version__

_OF_BODY = (400, 413, 415)
"""Statuses of a body that cannot be read."""


def create_app(service: Service, exchange: Exchange | None = None) -> FastAPI:
    """Return the application that serves an index, without the gate in front of it.

    Args:
        service: the index that answers.
        exchange: watches for new versions of it; None: there are none.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.versions.current.attach(service.batcher.plan)
        await service.auditing.refresh()
        watching = [asyncio.create_task(service.auditing.watch())]
        if exchange is not None:
            watching.append(asyncio.create_task(exchange.watch()))
        yield
        for task in watching:
            task.cancel()
        await service.auditing.refresh()
        service.batcher.close()
        await asyncio.to_thread(service.versions.close)

    app = DirectApp(
        title="qpr",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a redirect would name http:// behind a proxy with TLS
    )
    app.state.service = service
    add_faults(app, service.metrics)
    _add_searches(app, service)
    _add_lookups(app, service)
    _add_operations(app, service)
    _add_search_page(app, service)
    _add_docs_page(app, with_token=service.settings.token_file is not None)
    if exchange is not None:
        _add_exchange(app, exchange, service.settings)
    document = app.openapi

    def described() -> dict[str, Any]:
        return describe_modes(document(), service.versions.current.searcher.modes)

    app.openapi = described  # type: ignore[method-assign]  # as FastAPI recommends it
    return app


def _add_searches(app: FastAPI, service: Service) -> None:
    limits = service.settings.limits
    add = functools.partial(route, app, service.settings)
    columns = service.columns
    searched, answered = (asked_model(limits, columns, of=kind) for kind in ("hits", "answers"))
    unknown = (404,) if columns else ()  # a value that no question has
    of_address = search_parameters(limits, columns)
    several, answering = body_schema(searched, columns, k=min(3, limits.most_k)), body_schema(answered, columns)

    @add("GET /search", "Hits of one question.", *unknown, returns=SearchDocument, parameters=of_address)
    async def search_one(request: Request) -> Response:
        question, k, mode, values = read_query(request, limits, columns)
        _log(request, [question])
        return json_response(await service.search([question], k, mode, values))

    @add("POST /search", "Hits of questions.", *_OF_BODY, *unknown, returns=SearchDocument, body=several)
    async def search(request: Request) -> Response:
        body: Any = await read_json(request, searched, limits, most_listed=limits.max_questions)
        _log(request, body.texts)
        return json_response(await service.search(body.texts, body.k, body.mode, body.values))

    @add("POST /answer", "Answers, or abstentions.", *_OF_BODY, *unknown, returns=AnswersDocument, body=answering)
    async def answer(request: Request) -> Response:
        body: Any = await read_json(request, answered, limits, most_listed=limits.max_questions)
        _log(request, body.texts)
        return json_response(await service.answer(body.texts, body.k, body.values))


def _add_lookups(app: FastAPI, service: Service) -> None:
    columns, add = service.columns, functools.partial(route, app, service.settings)
    of_question, of_cluster = id_parameter("question", columns), id_parameter("cluster", columns)

    @add("GET /questions/{id}", "A question of the index.", 404, returns=QuestionDocument, parameters=of_question)
    async def question(request: Request) -> Response:
        return json_response(await service.question(read_id(request, "question"), read_parameters(request, columns)))

    @add("GET /clusters/{id}", "The questions of a cluster.", 404, returns=ClusterDocument, parameters=of_cluster)
    async def cluster(request: Request) -> Response:
        return json_response(await service.cluster(read_id(request, "cluster"), read_parameters(request, columns)))


def _add_operations(app: FastAPI, service: Service) -> None:
    limits = service.settings.limits
    add = functools.partial(route, app, service.settings)
    verdict = feedback_model(limits)
    kept, given = dict[str, bool], body_schema(verdict, right=True)

    @add("POST /feedback", "Keep a verdict on an answer.", *_OF_BODY, 404, 409, 503, returns=kept, body=given)
    async def feedback(request: Request) -> Response:
        await service.append_feedback((await read_json(request, verdict, limits, most_listed=0)).model_dump())
        return json_response({"kept": True})

    @add(
        "DELETE /answers/{id:text}",
        "Block an answer at once; a blocked one stays so.",
        404,
        409,
        503,
        returns=dict[str, str],
        parameters=id_parameter("answer"),
    )
    async def block(request: Request) -> Response:
        answer_id = request.path_params["id"]
        await service.block(answer_id)
        return json_response({"blocked": answer_id})

    @add("GET /healthz", "The process runs.", returns=dict[str, bool])
    async def health() -> Response:
        return json_response({"alive": True})

    @add("GET /readyz", "A question of the index finds itself.", returns=dict[str, bool | str])
    async def ready() -> Response:
        able = await service.ready()
        return json_response({"ready": able, "version": service.versions.current.name}, 200 if able else 503)

    @add("GET /metrics", "Metrics in the format of Prometheus.")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=TYPE)


def _add_search_page(app: FastAPI, service: Service) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        searcher = service.versions.current.searcher
        is_open = service.settings.token_file is None  # the page needs no token, and the names of tenants may
        html, policy = search_page(
            questions=len(searcher),
            modes=searcher.modes,
            k=service.settings.limits.default_k,
            filters={name: of if is_open else () for name, of in searcher.filter_values.items()},
        )
        return Response(html, media_type="text/html", headers={"Content-Security-Policy": policy})


def _add_docs_page(app: FastAPI, *, with_token: bool) -> None:
    @app.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:  # FastAPI's own page loads scripts from another site
        policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
        html = docs_page(app.openapi(), request.headers.get("host", ""), with_token=with_token)
        return Response(html, media_type="text/html", headers={"Content-Security-Policy": policy})


def _add_exchange(app: FastAPI, exchange: Exchange, settings: Serving) -> None:
    @route(app, settings, "POST /reload", "Look for a new version now.", 409, returns=dict[str, str])
    async def reload() -> Response:
        outcome = await exchange.reload()
        if outcome.startswith("refused"):
            raise Fault(409, f"the new version was {outcome}", "reload")
        return json_response({"reload": outcome})


def _log(request: Request, questions: list[str]) -> None:
    request.scope["state"]["log"] = {"asked": len(questions), "questions": questions}
