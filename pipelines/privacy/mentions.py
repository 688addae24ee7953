"""Mentions of erased questions in texts of people: notes, exports, requests.

text, Erasure -> Mentions.mentions, Mentions.without_names
"""

from __future__ import annotations

import dataclasses
import functools
import re

from pipelines.privacy.erase import Erasure
from schemas.text import fold, key


@dataclasses.dataclass(frozen=True)
class Mentions:
    """Erased questions in texts of people.

    Attributes:
        erasure: the questions.
    """

    erasure: Erasure

    def mentions(self, text: str) -> bool:
        """Return whether a text is an erased question or has one of several words as a part, in quotes for example."""
        return key(text) in self.erasure.keys or bool(self._parts and self._parts.search(fold(text)))

    @functools.cached_property
    def _parts(self) -> re.Pattern[str] | None:
        """Return the expression of all erased questions of several words, None without one."""
        parts = sorted(re.escape(one) for one in self.erasure.keys if " " in one)
        return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)") if parts else None

    def without_names(self, text: str) -> str:
        """Return a text without the names of erased questions in files: "q" and 16 hexadecimal digits."""
        parts = text.split(" ")
        return " ".join(part for part in parts if part not in self.names) if self.names.intersection(parts) else text

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Return the names of the questions in files."""
        return frozenset(f"q{number % 2**64:016x}" for number in self.erasure.ids.to_pylist())
