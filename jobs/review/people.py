"""Names of people who judge: one spelling for each person.

given name -> person_name -> name to store; names in the order of time -> first_spellings -> one name for each person
"""

from __future__ import annotations

import functools
import getpass
import unicodedata
from collections.abc import Iterable
from typing import Final

from schemas.errors import QprError
from schemas.text import fold

MOST_NAME: Final = 60
"""Maximum characters of a name."""


def person_name(given: str) -> str:
    """Return a name without outer and repeated spaces, in Unicode form NFC.

    Raises:
        ValueError: it is blank, too long or has control characters.
    """
    name = unicodedata.normalize("NFC", " ".join(given.split()))
    if not person_key(name):
        raise ValueError("the name is blank. Give another one")
    if len(name) > MOST_NAME:
        raise ValueError(f"the name has more than {MOST_NAME} characters. Give a shorter one")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise ValueError("the name has control characters. Give another one")
    return name


@functools.lru_cache(10_000)  # after each verdict the names of all verdicts are compared again
def person_key(name: str) -> str:
    """Return the same text for each spelling of a name: case, form, quotes, spaces, invisible characters are equal."""
    return fold(name)


def first_spellings(names: Iterable[str]) -> dict[str, str]:
    """Return the first spelling of each person by `person_key`.

    Args:
        names: in the order of time.
    """
    spellings: dict[str, str] = {}
    for name in names:
        spellings.setdefault(person_key(name), " ".join(name.split()))
    return spellings


def reviewer_name(given: str | None) -> str:
    """Return the name of the person who judges: the given one, or that of the user of this machine.

    Raises:
        QprError: no name is given and the user has none.
    """
    try:
        return person_name(getpass.getuser() if given is None else given)
    except (OSError, KeyError, ValueError) as error:
        if given is not None:
            raise QprError(f"--reviewer: {error}") from error
        raise QprError("--reviewer: this user has no name. Give one") from error
