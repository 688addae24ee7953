"""Distinct questions about two things each, as many as an index is to hold, without a log.

number, seed -> distinct_questions -> string arrays
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from pipelines.simulation.entities import names
from pipelines.simulation.templates import Templates, render

RELATIONS: Final[tuple[tuple[str, str, tuple[str, str, str, str]], ...]] = (
    ("person", "company", ("When did {a} join {b}?", "In which year did {a} start to work for {b}?",
                           "Since when is {a} at {b}?", "{a} first day {b}")),
    ("person", "city", ("Did {a} ever live in {b}?", "Was {b} once the home of {a}?",
                        "Which years did {a} spend in {b}?", "{a} former house {b}")),
    ("company", "city", ("Where is the office of {a} in {b}?", "What is the address of {a} in {b}?",
                         "How do I find the {b} branch of {a}?", "{a} {b} opening hours and street")),
    ("film", "person", ("What part did {a} give to {b}?", "Which character does {b} play in {a}?",
                        "Who is {b} supposed to be in {a}?", "{b} role {a}")),
    ("book", "person", ("What did {b} write about {a}?", "How did {b} review {a}?",
                        "Is there a review of {a} by {b}?", "{b} opinion on the novel {a}")),
    ("song", "person", ("Has {b} ever sung {a}?", "Is there a recording of {a} by {b}?",
                        "When did {b} perform {a} on stage?", "{a} cover version {b}")),
    ("dish", "city", ("Where can I eat {a} in {b}?", "Which restaurant in {b} serves {a}?",
                      "What does {a} cost in {b}?", "best {a} {b}")),
    ("medicine", "company", ("Does {b} make {a}?", "Is {a} a product of {b}?",
                             "Who sells {a} for {b}?", "{b} {a} package leaflet")),
    ("landmark", "date", ("Was {a} open on {b}?", "Could visitors see {a} on {b}?",
                          "What happened at {a} on {b}?", "{a} visitors {b}")),
    ("team", "date", ("Who did {a} play on {b}?", "What was the score of {a} on {b}?",
                      "Did {a} win their match on {b}?", "{a} result {b}")),
)  # fmt: skip
"""Kinds of the two things, and four wordings of the question about them."""

_STRIDE: Final = 1_000_003  # a prime that divides no number of pairs, so that its multiples reach each pair once
_ROWS: Final = 250_000


def distinct_questions(count: int, *, seed: int = 0) -> Iterator[pa.Array]:
    """Yield ``count`` different questions, four wordings of each fact; the kinds of facts take turns.

    The facts of a kind are pairs at a fixed stride among all of its pairs, so that both things vary from fact to fact,
    and no fact comes twice.

    Args:
        count: of questions.
        seed: place of the first pair.

    Raises:
        ValueError: there are not as many.
    """
    pools = names()
    sizes = np.array([pools.count[first] * pools.count[second] for first, second, _ in RELATIONS])
    wordings = len(RELATIONS[0][2])
    if count > (maximum := int(sizes.min()) * wordings * len(RELATIONS)):
        raise ValueError(f"{count:,} questions are asked for, there are {maximum:,} different ones")
    starts = (
        np.array([pools.start[first] for first, _, _ in RELATIONS]),
        np.array([pools.start[second] for _, second, _ in RELATIONS]),
    )
    seconds = np.array([pools.count[second] for _, second, _ in RELATIONS])
    templates = Templates.compile([text for *_, texts in RELATIONS for text in texts])
    assert all(math.gcd(_STRIDE, size) == 1 for size in sizes.tolist())
    for begin in range(0, count, _ROWS):
        numbers = np.arange(begin, min(count, begin + _ROWS))
        facts, wording = np.divmod(numbers, wordings)
        turn, relation = np.divmod(facts, len(RELATIONS))
        pairs = (turn * _STRIDE + seed) % sizes[relation]
        a, b = np.divmod(pairs, seconds[relation])
        filling = np.stack([np.zeros_like(a), starts[0][relation] + a, starts[1][relation] + b, np.zeros_like(a)])
        yield render(templates, relation * wordings + wording, names=pools.pool, filling=filling)
