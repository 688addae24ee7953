"""Brackets in arithmetic: (8 - 2) * 3 and 8 - (2 * 3).

folded text -> term -> value -> conflict
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, Final

from model.guards.signs.codes import ASCII_SIGNS, with_operators

_TERM: Final = re.compile(r"(?:\d+(?:\.\d+)?|(?<![^\W\d_])[b-z](?![^\W\d_])|(?<![^\W\d_])a(?= ?[*/+^)-])|[ ()*/+^-])+")
_LONGEST: Final = 80
"""Characters of a term that is read: a longer one is no question."""
_PRODUCT: Final = re.compile(r"(?<=[\d)a-z]) ?(?=\()|(?<=\)) ?(?=[\da-z(])|(?<=\d)(?=[a-z])")
_BRACKETS: Final = str.maketrans("", "", "() ")
_OPERATIONS: Final[dict[type[ast.AST], Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_TOLERANCE: Final = 1e-9


def terms_differ(one: str, two: str) -> bool:
    """Return whether two folded texts have a term of the same signs with other brackets, and another value.

    "3 + (4 * 5)" is "3 + 4 * 5", and a letter stands for any number.
    """
    if not ("(" in one or "(" in two):
        return False
    first, second = _term(one), _term(two)
    if first.translate(_BRACKETS) != second.translate(_BRACKETS) or first == second:
        return False
    left, right = _value(first), _value(second)
    return left is not None and right is not None and abs(left - right) > _TOLERANCE * max(abs(left), abs(right))


def _term(text: str) -> str:
    """Return the longest term of a text, or the empty text."""
    found = _TERM.findall(with_operators(text).translate(ASCII_SIGNS))
    return max((term.strip().rstrip("+-*/^ ") for term in found), key=len, default="")


def _value(term: str) -> float | None:
    """Return the value of a term, with a number of its own for each letter; None if it is not complete."""
    if len(term) > _LONGEST:
        return None
    try:
        value = _of(ast.parse(_PRODUCT.sub("*", term.replace("^", "**")), mode="eval").body)
    except (ArithmeticError, KeyError, SyntaxError, TypeError, ValueError):
        return None
    return value if isinstance(value, float) else None


def _of(node: ast.AST) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name):
        return 1 + ord(node.id) % 31 / 7
    if isinstance(node, ast.UnaryOp):
        return _OPERATIONS[type(node.op)](_of(node.operand))
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_of(node.left), _of(node.right))
    raise ValueError(node)
