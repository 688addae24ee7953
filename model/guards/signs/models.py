"""Names of models that differ in the letter behind their number: "Pixel 8a" and "Pixel 8", "330i" and "330e".

Reading -> words that only one text has -> conflict
"""

from __future__ import annotations

import itertools
import re
from typing import Final, NamedTuple

from model.guards.reading import Reading

_MODEL: Final = re.compile(r"([a-z]{0,3})(\d{1,4})([a-z]?)")
_SUFFIXES: Final = frozenset("abeir")
"""Letters behind a number that are no unit and no plural, as those of "20c" and "F16s" are."""
_SUFFIXES_OF_CODES: Final = frozenset("abcdefghijklmnopqrtuvwxyz")
_SUCCESSORS: Final = range(3, 20)
"""Numbers behind which "s" makes another model, as in "6s"; "90s" are years."""


class _Model(NamedTuple):
    """The letters, the number and the letter behind it of a name such as "a52s"."""

    letters: str
    number: str
    suffix: str

    @property
    def is_model(self) -> bool:
        """Return whether the letter behind the number can only make another model of it."""
        if self.letters:
            return self.suffix in _SUFFIXES_OF_CODES
        return self.suffix in _SUFFIXES or (self.suffix == "s" and int(self.number) in _SUCCESSORS)


def models_differ(query: Reading, question: Reading) -> bool:
    """Return whether a model has one number in both texts, and another letter behind it. Symmetric."""
    only_one, only_two = query.vocabulary - question.vocabulary, question.vocabulary - query.vocabulary
    if any(word.startswith("amp") for word in only_one | only_two):  # "2A" and "2 amps"
        return False
    return any(
        one[:2] == two[:2] and all(model.is_model for model in (one, two) if model.suffix)
        for one, two in itertools.product(_models(only_one), _models(only_two))
    )


def _models(words: frozenset[str]) -> list[_Model]:
    found = (_MODEL.fullmatch(word) for word in words if word[-2:-1].isdigit() or word[-1:].isdigit())
    return [_Model(*match.groups()) for match in found if match]
