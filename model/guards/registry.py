"""The guards by name, and the first one that fires.

query, question -> fires -> name of a guard, or none
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.guards.action import action_differs
from model.guards.answer_types.difference import answer_type_differs
from model.guards.entity import entity_differs
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
    "action": action_differs,
    "answer_type": answer_type_differs,
}
"""The guards by name, cheap ones first: functions of what is asked and what is known, symmetric but for one rule of
answer types. Each has a `Reason` of its own in `model.search.results`."""


def fires(query: str, question: str) -> str | None:
    """Return the name of the first guard that sees another question in ``question``, or None.

    Args:
        query: the text that a person asks.
        question: the text of a hit.
    """
    one, two = Reading(query), Reading(question)
    return next((name for name, differs in GUARDS.items() if differs(one, two)), None)
