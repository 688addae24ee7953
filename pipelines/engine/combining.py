"""Combination of values by a function, with few of them in memory.

function of several values -> StepwiseCombine -> CombineGlobally
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import apache_beam as beam

VALUES: Final = 8
"""Number of values that wait for the next call: with more of them memory grows, with fewer the number of calls."""


class StepwiseCombine(beam.CombineFn):
    """Combine values by an associative and commutative function of several, of which few are in memory at a time.

    Beam's own combination by a function passes to it the values of all workers at once.

    Args:
        function: returns one value of any number of values, also of none; values and results are of one type.
    """

    def __init__(self, function: Callable[[Iterable[Any]], Any]) -> None:
        self._function = function

    def create_accumulator(self) -> list[Any]:
        """Return no values."""
        return []

    def add_input(self, values: list[Any], element: Any) -> list[Any]:
        """Return the values with one more, which are one if there are too many."""
        values.append(element)
        return self.compact(values) if len(values) > VALUES else values

    def merge_accumulators(self, accumulators: Iterable[list[Any]]) -> list[Any]:
        """Return the values of several lists, which are read one after the other."""
        merged = self.create_accumulator()
        for accumulator in accumulators:
            for value in accumulator:
                merged = self.add_input(merged, value)
        return merged

    def compact(self, values: list[Any]) -> list[Any]:
        """Return one value, before the list is sent."""
        return [self._function(values)] if len(values) > 1 else values

    def extract_output(self, values: list[Any]) -> Any:
        """Return the result."""
        return self._function(values)
