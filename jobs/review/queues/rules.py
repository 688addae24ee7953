"""Rules of judging: the meaning of each verdict, for the review page and for the terminal.

kind of queue -> RULES -> sentences and examples
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from jobs.review.settings import Kind

_SAME: Final = "Another season, place, year or person is another meaning."

_EXAMPLES: Final = (
    "Right: “I forgot my password” and “How do I reset my password?”.",
    "Not right: “When is the tax for 2024 due?” and “When is the tax for 2025 due?”, since the year differs.",
)

_UNCLEAR: Final = "Choose “cannot tell” (c) if you do not know. It counts as not right."

RULES: Final[Mapping[Kind, Sequence[str]]] = {
    "clusters": (
        "A cluster is right (r) if any right answer to one of its questions is a right answer to all of them.",
        "It is right even if the answer that is shown is wrong: judge the questions only.",
        _SAME,
        "If most wordings ask the same, mark the others as strays (s). If not, choose “several meanings” (m).",
        "In a cluster of two questions with different meanings choose “several meanings” (m).",
        _UNCLEAR,
        *_EXAMPLES,
    ),
    "pairs": (
        "A pair is right (r) if any right answer to one of its questions is a right answer to the other, and otherwise "
        "wrong (w).",
        _SAME,
        _UNCLEAR,
        *_EXAMPLES,
    ),
    "requests": (
        "An answer is right (r) if it answers the question as it was asked, and otherwise wrong (w).",
        "An answer for another season, place, year or person is wrong.",
        _UNCLEAR,
        "Right: to “I forgot my password” the answer “Choose Reset on the sign-in page”.",
        "Wrong: to “When is the tax for 2025 due?” the answer “On 31 July 2024”.",
    ),
}
"""Sentences for each kind of queue; docs/review.md has those of clusters too."""
