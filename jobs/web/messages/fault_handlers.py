"""Responses of an application to faults of requests.

FastAPI, Metrics -> add_faults -> handlers of exceptions
"""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from jobs.web.messages.faults import DEFECT, Fault, response
from jobs.web.metrics import Metrics


def add_faults(app: FastAPI, metrics: Metrics) -> None:
    """Respond to faults, unknown addresses and defects with a status and one sentence.

    Args:
        app: the application.
        metrics: count the faults by cause.
    """

    def refusal(fault: Fault) -> Response:
        metrics.rejects.labels(fault.cause).inc()
        return response(fault)

    @app.exception_handler(Fault)
    async def refused(_: Request, fault: Fault) -> Response:
        return refusal(fault)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            methods = _methods(app, request)
            return refusal(Fault(405, f"this address takes {methods} only", headers={"Allow": methods}))
        return refusal(Fault(error.status_code, "there is no such address", "not_found"))

    @app.exception_handler(Exception)
    async def defect(_: Request, __: Exception) -> Response:
        return refusal(DEFECT)  # the gate reports it

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return refusal(Fault(422, str(error)))


def _methods(app: FastAPI, request: Request) -> str:
    """Return the methods of an address; FastAPI names those of its first route only."""
    scope = {**request.scope, "app": app}
    routes = [
        route for route in app.router.routes if isinstance(route, Route) and route.matches(scope)[0] != Match.NONE
    ]
    methods = {method for route in routes for method in route.methods or ()}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))  # the gate passes HEAD on as GET
