"""Owners that are exchanged with what they own: "my boss's friend" and "my friend's boss".

Reading -> pairs of an owner and a thing -> exchange
"""

from __future__ import annotations

import re
from typing import Final

from model.guards.reading import Reading
from model.guards.roles.parts import base

_OWNER_FIRST: Final = re.compile(r"([^\W\d_]+)(?:'s|(?<=s)') (?=([^\W\d_]+))")
_THING_FIRST: Final = re.compile(r"([^\W\d_]+) of (?:the|an?|my|your|his|her|our|their) (?=([^\W\d_]+))")
"""A determiner is needed: "a night of sleep" is "a night's sleep"."""


def owners_exchanged(query: Reading, question: Reading) -> bool:
    """Return whether A owns B in one text, and B owns A in the other. Symmetric."""
    if "'" not in query.folded and "'" not in question.folded:  # "of" alone is a preposition as others are
        return False
    ours = _owners(query)
    theirs = _owners(question) if ours else ours
    return any((two, one) in theirs and (one, two) not in theirs for one, two in ours - theirs)


def _owners(reading: Reading) -> set[tuple[str, str]]:
    """Return stems of owners and of the word behind each: ("king", "aunt") of "the king's aunt"."""
    pairs = [match.groups() for match in _OWNER_FIRST.finditer(reading.folded)]
    pairs += [match.groups()[::-1] for match in _THING_FIRST.finditer(reading.folded)]
    return {(base(owner), base(thing)) for owner, thing in pairs}
