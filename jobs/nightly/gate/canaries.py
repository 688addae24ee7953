"""Canaries: questions that every index has to answer as stated.

file -> read_canaries -> Canary rows; index, canaries -> first_missed -> the first that is not found, or None
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from model.search.results import Hit
from model.search.searcher import Searcher
from pipelines.clusters.reviewed import read_name
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import only_file
from schemas.errors import QprError
from schemas.text import fold

COLUMNS: Final = (
    Column("question", pa.string()),
    Column("answer", pa.string(), required=False),
    Column("answer_id", pa.string(), required=False),
    Column("question_id", pa.string(), required=False),
)
"""Columns of a file of canaries; others are not read."""

SHOWN: Final = 60
"""Characters of a question or answer in the reason of a refused night, which names it by `shown`."""

_BATCH: Final = 256
"""Canaries that are searched together; it bounds the memory of their hits."""


class Canary(NamedTuple):
    """A question and the hit that it has to have; each of the three that is not None has to fit.

    Attributes:
        row: number in the file, from 1.
        question: as it is asked.
        answer: of the hit; compared without case, accents of width and outer white space.
        answer_id: of the hit, as `qpr answer --json` prints it; compared without outer white space.
        question_id: of the hit.
    """

    row: int
    question: str
    answer: str | None
    answer_id: str | None
    question_id: int | None

    def fits(self, hit: Hit) -> bool:
        """Return whether a hit is the expected one."""
        return (
            (self.answer is None or (hit.answer is not None and fold(hit.answer) == fold(self.answer)))
            and (self.answer_id is None or hit.judged_id.strip() == self.answer_id)
            and (self.question_id is None or hit.question_id == self.question_id)
        )

    @property
    def expected(self) -> str:
        """Return the expected hit for a message."""
        parts = ("answer", self.answer), ("answer_id", self.answer_id), ("question_id", self.question_id)
        return ", ".join(f"{name} {shown(str(value))}" for name, value in parts if value is not None)


class Missed(NamedTuple):
    """A canary without its hit, and the number of canaries and of those without.

    Attributes:
        canary: the first one.
        found: answer of the first hit; None without a hit.
        missed: number of canaries without their hit.
        all: number of canaries.
    """

    canary: Canary
    found: str | None
    missed: int
    all: int


def shown(text: str) -> str:
    """Return the beginning of a text as a literal of Python, in which control characters are escaped.

    An ellipsis after the literal, which an erasure reads again, marks a text that is cut off.
    """
    return repr(text[:SHOWN]) + ("…" if len(text) > SHOWN else "")


def read_canaries(file: str) -> list[Canary]:
    """Return the canaries of a file: CSV, TSV, JSON Lines or Parquet.

    Raises:
        QprError: the file cannot be read, is empty, or a row has no question or names no hit.
    """
    source = only_file(file, option="--canaries")
    canaries = [_canary(file, number, row) for number, row in numbered_rows(source, COLUMNS) if any(row.values())]
    if not canaries:
        raise QprError(f"{file}: has no canary. Write rows with a question and its answer")
    return canaries


def first_missed(searcher: Searcher, canaries: Sequence[Canary], k: int) -> Missed | None:
    """Return the first canary whose hit is not among the first k, or None.

    Args:
        searcher: of the index.
        canaries: at least one.
        k: number of hits to look at.
    """
    missed: list[tuple[Canary, str | None]] = []
    for start in range(0, len(canaries), _BATCH):
        part = canaries[start : start + _BATCH]
        for canary, hits in zip(part, searcher.search_many([c.question for c in part], k), strict=True):
            if not any(canary.fits(hit) for hit in hits):
                missed.append((canary, hits[0].answer or hits[0].text if hits else None))
    return Missed(*missed[0], len(missed), len(canaries)) if missed else None


def _canary(file: str, number: int, row: dict[str, str | None]) -> Canary:
    texts = {name: (row[name] or "").strip() or None for name in ("question", "answer", "answer_id", "question_id")}
    question, name = texts["question"], texts["question_id"]
    if question is None:
        raise QprError(f"{file}: row {number} has no question. Complete it or leave it out")
    if not (texts["answer"] or texts["answer_id"] or name):
        raise QprError(f"{file}: row {number} expects nothing. Fill in answer, answer_id or question_id")
    try:
        identity = None if name is None else int(name) if re.fullmatch(r"-?\d{1,19}", name) else read_name(name)
    except ValueError as error:
        raise QprError(f"{file}: row {number}: {error}, and no whole number. Correct the row") from error
    return Canary(number, question, texts["answer"], texts["answer_id"], identity)
