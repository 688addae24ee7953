"""Coroutine functions of functions that take their time.

method of an adapter -> in_thread -> a method that can be awaited
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def in_thread(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, Coroutine[Any, Any, _Result]]:
    """Return a coroutine function with the arguments of a function, which it calls in a thread."""

    @functools.wraps(function)
    async def call(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return await asyncio.to_thread(function, *arguments, **named)

    return call
