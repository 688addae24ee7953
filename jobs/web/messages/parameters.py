"""Parameters of addresses, read and checked.

address of a request -> read_query, read_parameters, read_id -> question, number of hits, way of searching, values, id
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args
from urllib.parse import parse_qsl

from starlette.requests import Request

from jobs.web.messages.bodies import checked_length
from jobs.web.messages.faults import Fault
from jobs.web.messages.known_names import unknown_name
from jobs.web.settings import Limits
from model.choices import Mode


def read_query(
    request: Request, limits: Limits, columns: tuple[str, ...]
) -> tuple[str, int, Mode | None, dict[str, str]]:
    """Return question, number of hits, way of searching and values of ``GET /search?q=…&k=…&mode=…&locale=…``.

    Raises:
        Fault: a parameter is missing, unknown, given twice or out of bounds (422).
    """
    values = read_parameters(request, ["q", "k", "mode", *columns])
    if "q" not in values:
        raise Fault(422, "q: the question is missing")
    try:
        question = checked_length(values["q"], limits.max_characters)
    except ValueError as error:
        raise Fault(422, f"q: {error}") from error
    k = values.get("k", str(limits.default_k))  # int() fails on 4,301 digits
    if not (k.isascii() and k.isdigit() and len(k) <= 9 and 1 <= int(k) <= limits.most_k):
        raise Fault(422, f"k: has to be a number from 1 to {limits.most_k:,}")
    modes: tuple[Mode, ...] = get_args(Mode)
    mode = next((mode for mode in modes if mode == values.get("mode")), None)
    if "mode" in values and mode is None:
        raise Fault(422, f"mode: has to be one of {', '.join(modes)}")
    return question, int(k), mode, {name: values[name] for name in columns if name in values}


def read_parameters(request: Request, known: Sequence[str]) -> dict[str, str]:
    """Return the parameters of an address, which has no others than the known ones.

    Raises:
        Fault: one is unknown, given twice or no UTF-8 (422).
    """
    query = request.scope["query_string"].decode("latin-1")
    try:
        given = parse_qsl(query, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:  # another encoding would be searched as U+FFFD, and find nothing
        raise Fault(422, "a parameter is no UTF-8") from error
    values = dict(given)
    if unknown := unknown_name(values.keys(), known, "parameter"):
        raise Fault(422, unknown)
    if len(values) < len(given):
        raise Fault(422, "a parameter is given twice")
    return values


def read_id(request: Request, noun: str) -> int:
    """Return the 64-bit id in an address.

    Raises:
        Fault: it is none, so that nothing can have it (404).
    """
    text = request.path_params["id"]
    if text.removeprefix("-").isdigit() and text.isascii() and len(text) <= 20:  # -2**63 has 20
        value = int(text)
        if -(2**63) <= value < 2**63:
            return value
    raise Fault(404, f"no {noun} has this id", "not_found")
