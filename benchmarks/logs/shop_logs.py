"""Requests to a shop in four languages, as people type them: an answer is one intent about one thing.

number of rows, seed -> shop_log -> rows of questions with their answers
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data" / "shop.json"

LANGUAGES = {"English": 0.55, "German": 0.35, "Turkish": 0.06, "Thai": 0.04}
"""Languages with their shares of the requests."""

MISTYPED = 0.12
"""Share of the requests in which two letters are exchanged or one is missing."""

CAPITAL = 0.3
"""Share of the requests that begin with a capital letter."""

POPULARITY = 0.6
"""An answer is asked for as often as its rank to the power of minus this."""

GREETINGS = {"English": ("hello ", "please ", "hi, "), "German": ("Hallo, ",)}
ENDS = ("", "?", "?", " ??")


def shop_log(number: int, *, seed: int) -> list[tuple[str, str]]:
    """Return this number of requests with their answers, in random order."""
    generator = np.random.default_rng(seed)
    written = json.loads(DATA.read_text(encoding="utf-8"))
    answers = [(intent, thing) for intent in written["intents"] for thing in written["things"]]
    values = generator.integers(10, 60, len(answers)).tolist()
    weights = generator.permutation(np.arange(1, len(answers) + 1) ** -POPULARITY)
    rows = []
    for place in generator.choice(len(answers), number, p=weights / weights.sum()).tolist():
        intent, thing = answers[place]
        language = str(generator.choice(list(LANGUAGES), p=list(LANGUAGES.values())))
        wording = str(generator.choice(intent["wordings"][language])).format(thing=thing[language])
        question = _typed(wording, language, generator)
        rows.append((question, intent["answer"].format(number=values[place], **thing)))
    return rows


def _typed(wording: str, language: str, generator: np.random.Generator) -> str:
    greetings = ("", "", "", "", *GREETINGS.get(language, ()))
    typed = str(generator.choice(greetings)) + wording + str(generator.choice(ENDS))
    if generator.random() < MISTYPED and len(typed) > 8:
        place = int(generator.integers(1, len(typed) - 2))
        exchanged = typed[place + 1] + typed[place] if generator.random() < 0.5 else typed[place + 1]
        typed = typed[:place] + exchanged + typed[place + 2 :]
    return typed.capitalize() if generator.random() < CAPITAL else typed
