"""Word lists of the guards: of English, and function words of other languages, in which no rule of English applies.

lists.json -> listed -> set of words
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Mapping
from importlib import resources
from typing import Any


@functools.cache
def listed(name: str) -> frozenset[str]:
    """Return the words of a list.

    Raises:
        KeyError: there is no list with this name.
    """
    return frozenset(" ".join(_lists()[name]).split())


@functools.cache
def groups_of(name: str) -> Mapping[str, frozenset[int]]:
    """Return the words of a list, each with the numbers of its lines; words of one line mean much the same.

    Raises:
        KeyError: there is no list with this name.
    """
    groups: defaultdict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(_lists()[name]):
        for word in line.split():
            groups[word].add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


@functools.cache
def irregular_forms() -> Mapping[str, list[str]]:
    """Return the forms of irregular English verbs and of "far": "bought" of "buy"."""
    lines = (line.partition(":") for line in listed("irregular_forms"))
    return {word: forms.split(",") for word, _, forms in lines}


@functools.cache
def first_forms() -> Mapping[str, str]:
    """Return the word that each irregular form belongs to: "buy" of "bought"."""
    return {form: word for word, forms in irregular_forms().items() for form in forms}


@functools.cache
def _lists() -> dict[str, list[str]]:
    lists: dict[str, list[str]] = read_json(__package__, "lists.json")
    return lists


def read_json(package: str, name: str) -> Any:
    """Return the content of a JSON file beside the modules of a package, read again by each call.

    Args:
        package: its name, ``__package__`` of the caller.
        name: of the file.
    """
    return json.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))
