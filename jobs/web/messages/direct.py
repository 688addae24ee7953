"""Routes of an application whose endpoints check their requests themselves.

request -> DirectApp -> endpoint of its method and path -> response, past the layers of FastAPI
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute
from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jobs.web.messages.faults import Fault

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class TextConvertor(Convertor[str]):
    """Any text as the last part of an address, written ``{id:text}``: ids can contain slashes and line breaks."""

    regex = "(?s:.+)"

    def convert(self, value: str) -> str:
        """Return the text."""
        return value

    def to_string(self, value: str) -> str:
        """Return the text."""
        return value


register_url_convertor("text", TextConvertor())


class DirectRoute(APIRoute):
    """A route that calls its endpoint with the request alone, which all endpoints here check themselves.

    FastAPI would look for parameters, and open two stacks of contexts, in each request.
    """

    def get_route_handler(self) -> Endpoint:
        """Return the function from request to response."""
        endpoint: Callable[..., Coroutine[Any, Any, Response]] = self.endpoint
        if inspect.signature(endpoint).parameters:
            return endpoint

        async def answer(_: Request) -> Response:
            return await endpoint()

        return answer


class DirectApp(FastAPI):
    """An application that looks up the addresses without parameters in a dict.

    FastAPI would pass each of their requests through three layers and match it with one expression after the other: a
    third of the CPU time of a question that is in the index.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.router.route_class = DirectRoute

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        endpoint = self._endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if endpoint is None:
            await super().__call__(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            answer = await endpoint(request)
        except Fault as fault:
            answer = await self._answer_to(request, fault)
        await answer(scope, receive, send)

    @functools.cached_property
    def _answer_to(self) -> Callable[[Request, Fault], Coroutine[Any, Any, Response]]:
        """Return the handler of faults."""
        return cast(Callable[[Request, Fault], Coroutine[Any, Any, Response]], self.exception_handlers[Fault])

    @functools.cached_property
    def _endpoints(self) -> Mapping[tuple[str, str], Endpoint]:
        """Return the endpoint of each method and path; all routes are added before the first request."""
        direct = [route for route in self.routes if isinstance(route, DirectRoute) and not route.param_convertors]
        return {(method, route.path): route.get_route_handler() for route in direct for method in route.methods or ()}
