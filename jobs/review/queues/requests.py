"""The queue of answered requests, from which `qpr certify` makes a certificate.

lines of `qpr answer --json`, seed -> RequestQueue -> Item
"""

from __future__ import annotations

import collections
import hashlib
import json
from typing import Any

from jobs.display.text_input import read_lines
from jobs.review.queues.interface import Item, Line, QueueIdentity
from schemas.artifacts import storage
from schemas.errors import QprError, UsageError
from schemas.text import hash64


class RequestQueue:
    """Requests with the answer that an index would give; those without any or word for word in the index are left out.

    Args:
        url: file of `qpr answer --json`, further keys of a line such as ``asked_at`` are kept.
        seed: of the order.

    Raises:
        UsageError: the file is no .jsonl file.
        QprError: the file cannot be read, or has no request to judge.
    """

    def __init__(self, url: str, seed: int) -> None:
        if not url.removesuffix(".gz").endswith(".jsonl"):
            raise UsageError(f"--requests {url}: must end in .jsonl, lines of `qpr answer --json`")
        self.rows = [_row(url, number, line) for number, line in enumerate(read_lines(url), 1) if line.strip()]
        times = collections.Counter[str]()
        self.names: list[str | None] = []
        for row in self.rows:
            asked = json.dumps([row.get(name) for name in ("request_id", "question", "asked_at", "answer_id")])
            times[asked] += 1
            judged = row.get("hit") is not None and row.get("reason") not in ("exact", "no_answer")
            self.names.append(f"a{hash64(f'{asked}:{times[asked]}') % 2**64:016x}" if judged else None)
        named = [(name, row) for name, row in zip(self.names, self.rows, strict=True) if name]
        if not named:
            raise QprError(f"{url}: has no answer to judge. Write it with `qpr answer --index INDEX --json`")
        self._order = sorted(named, key=lambda entry: (hash64(f"{seed}:{entry[0]}"), entry[0]))
        self.places = {name: place for place, (name, _) in enumerate(self._order)}
        digest = hashlib.sha256(storage.read_bytes(url)).hexdigest()
        self.source = QueueIdentity("requests", digest, seed, len(named), len(named), 1)

    def item(self, place: int) -> Item:
        """Return the request at a place: its question, and the answer of the best hit."""
        name, row = self._order[place]
        hit: dict[str, Any] = row["hit"]
        answer = hit.get("answer") or f"the answer to: {hit.get('text')}"
        strata = {"reason": str(row.get("reason"))}
        return Item(name, place, answer, (Line(None, row["question"]),), 1, strata, _filters(row))


def _filters(row: dict[str, Any]) -> dict[str, str]:
    """Return the values with which a request was answered; none in a line of an earlier release."""
    values = row.get("filters")
    return {str(name): str(value) for name, value in values.items()} if isinstance(values, dict) else {}


def _row(url: str, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise QprError(f"{url}: line {number} is no JSON. Write the file with `qpr answer --json`") from error
    hit = row.get("hit") if isinstance(row, dict) else 0
    if not isinstance(row, dict) or not isinstance(row.get("question"), str) or not isinstance(hit, dict | None):
        raise QprError(f"{url}: line {number} is no answer. Write the file with `qpr answer --json`")
    return row
