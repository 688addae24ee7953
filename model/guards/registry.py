"""The guards by name, and the first one that fires.

query, question -> fires -> name of a guard, or none
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.guards.entity import Share, entity_differs
from model.guards.negation import negation_differs
from model.guards.numbers import numbers_differ
from model.guards.order import order_differs
from model.guards.reading import Reading
from model.guards.symbols import symbols_differ

GUARDS: Final[dict[str, Callable[[Reading, Reading], bool]]] = {
    "symbols": symbols_differ,
    "numbers": numbers_differ,
    "negation": negation_differs,
    "order": order_differs,
    "entity": entity_differs,
}
"""The guards by name, cheap ones first: functions of two readings, all symmetric."""


def fires(query: str, question: str, *, share: Share | None = None) -> str | None:
    """Return the name of the first guard that sees another question in ``question``, or None.

    Args:
        query: the text that a person asks.
        question: the text of a hit.
        share: share of an index's questions that contain a word, for names that no list holds; none without it.
    """
    one, two = Reading(query), Reading(question)
    for name, differs in GUARDS.items():
        if entity_differs(one, two, share) if name == "entity" else differs(one, two):
            return name
    return None
