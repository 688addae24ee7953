"""Logs whose paraphrases are known, to learn from: help desks of other trades than the ones that labels are scored on.

name, seed -> learning_log -> KnownLog
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.labels.known_logs import HERE, KnownLog, with_wrong_answers

DOMAINS = ("telecom", "airline", "insurance", "university", "streaming")
WRONG_PERCENT = (2, 5)
"""Percent of the rows that get another row's answer in `intents-…-wrong-2` and `intents-…-wrong-5`."""

SHARED_PAIRS = 4
"""Pairs of neighbouring intents with one answer in `intents-…-shared`."""


def learning_log(name: str, *, seed: int = 0) -> KnownLog:
    """Return a log by its name in `LOGS`."""
    return LOGS[name](seed)


def _intents(domain: str, seed: int, *, name: str, wrong: float = 0.0, pairs: int = 0) -> KnownLog:
    """Return the requests to a help desk; an answer is an intent, or two of them for ``pairs`` drawn intents.

    The next intent of the file is close to the one before, so the intents of a pair are easily confused.
    """
    generator = np.random.default_rng(seed)
    intents = _data("learning_intents.json")[domain]
    answers = list(intents)
    for first in 2 * generator.permutation(len(answers) // 2)[:pairs]:
        answers[first + 1] = answers[first]
    placed = [
        (text, answer, number) for number, answer in enumerate(answers) for text in list(intents.values())[number]
    ]
    rows = [(text, answer) for text, answer, _ in placed]
    return with_wrong_answers(name, rows, [group for *_, group in placed], wrong, generator)


@functools.cache
def _data(name: str) -> Any:
    return json.loads((HERE / name).read_text("utf-8"))


def _versions(domain: str) -> dict[str, Callable[[int], KnownLog]]:
    """Return the logs of a domain by name: as written, with wrong answers, and with answers of two intents."""
    options: dict[str, dict[str, Any]] = {f"intents-{domain}": {}, f"intents-{domain}-shared": {"pairs": SHARED_PAIRS}}
    options |= {f"intents-{domain}-wrong-{percent}": {"wrong": percent / 100} for percent in WRONG_PERCENT}
    return {name: functools.partial(_intents, domain, name=name, **chosen) for name, chosen in options.items()}


LOGS: dict[str, Callable[[int], KnownLog]] = {
    name: make for domain in DOMAINS for name, make in _versions(domain).items()
}
"""How each log is made of a seed."""
