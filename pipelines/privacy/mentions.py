"""Mentions of erased questions in texts of people: notes, exports, requests.

text, Erasure -> Mentions.mentions, Mentions.without_names
"""

from __future__ import annotations

import dataclasses

from pipelines.privacy.erase import Erasure
from schemas.text import key


@dataclasses.dataclass(frozen=True)
class Mentions:
    """Erased questions in texts of people.

    Attributes:
        erasure: the questions.
    """

    erasure: Erasure

    def mentions(self, text: str) -> bool:
        """Return whether a text is an erased question or has one of several words as a part."""
        words = key(text)
        if words in self.erasure.keys:
            return True
        return any(" " in one and f" {one} " in f" {words} " for one in self.erasure.keys)

    def without_names(self, text: str) -> str:
        """Return a text without the names of erased questions in files: "q" and 16 hexadecimal digits."""
        parts = text.split(" ")
        return " ".join(part for part in parts if part not in self.names) if self.names.intersection(parts) else text

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the questions in files."""
        return frozenset(f"q{number % 2**64:016x}" for number in self.erasure.ids.to_pylist())
