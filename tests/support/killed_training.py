"""A training that is killed between two steps.

kill_after -> recorded_steps -> steps that were done, function for `on_step`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Killed(BaseException):
    """The end of a training between two steps."""


def recorded_steps(kill_after: int | None = None) -> tuple[list[Any], Callable[[Any], None]]:
    """Return a list, and a function that adds each step to it and kills the training after one of them."""
    steps: list[Any] = []

    def on_step(step: Any) -> None:
        steps.append(step)
        if len(steps) == kill_after:
            raise Killed

    return steps, on_step
