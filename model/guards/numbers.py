"""The guard of numbers: iPhone 6 and 7, 2016 and 2017, 5 mg and 5 g, second and third.

Reading -> quantities -> conflict

It needs a number in each text that the other lacks, both of one kind (years, masses, clock times, plain numbers).
Number words of English and of the other languages with rules are digits, "1k" is 1,000, "24 hours" are a day, and
"half a litre" is 500 ml. A number on one side only is no evidence, because many paraphrases leave it out.
"""

from __future__ import annotations

from typing import Final

from model.guards.languages.glossing.reading import glossed
from model.guards.languages.numbers import names_half_of_day
from model.guards.languages.recognition import common_languages
from model.guards.quantities import Quantity, has_numbers, quantities
from model.guards.reading import Reading

_ONE_SENTENCE: Final = 0.5
"""Share of common words from which numbers need no equal neighbours, and may stand beside a number of both texts.
Two people describe one problem with their own ages, weights and days."""
_HALF_DAY: Final = 720
_HOURS: Final = 24
_DAY: Final = 86_400
_FORTNIGHT: Final = {14 * _DAY, 15 * _DAY}
"""Two weeks are "quinze jours" in French, and so in Spanish, Portuguese and Italian."""
_EMPTY: Final = frozenset(("", "and", "or", "of", "in", "to", "for", "at", "is", "are", "if", "on", "a", "the"))
_TOLERANCE: Final = 0.02
"""Two times are equal up to this share: a month is then 30 days and a year 365."""


def numbers_differ(query: Reading, question: Reading) -> bool:
    """Return whether each text has a number that the other one lacks, and these compete. Symmetric."""
    query, question = glossed(query, question)
    if not (has_numbers(query) and has_numbers(question)):
        return False
    first, second = map(dict.fromkeys, quantities(query, question))  # each once: all pairs are compared
    equal = _equal_by_half_days if names_half_of_day(query, question) else _equal
    only_first = [one for one in first if not any(equal(one, two) for two in second)]
    only_second = [two for two in second if not any(equal(one, two) for one in first)]
    if not (only_first and only_second):
        return False
    one_sentence = _share_of_common_words(query, question) >= _ONE_SENTENCE
    if not one_sentence and len(only_first) + len(only_second) < len(first) + len(second):
        return False
    return any(_compete(one, two, one_sentence) for one in only_first for two in only_second)


def _share_of_common_words(query: Reading, question: Reading) -> float:
    """Return the Jaccard similarity of the words, in a language other than English that of the plain stems."""
    share = query.share_of_common_words(question)
    for language in common_languages(query, question):
        one, two = (
            {language.stem(word) for word in reading.plain_vocabulary if not (reading.language and word.isdigit())}
            for reading in (query, question)
        )
        share = max(share, len(one & two) / max(1, len(one | two)))
    return share


def _equal(one: Quantity, two: Quantity) -> bool:
    if "decade" in (one.kind, two.kind) and min(one.value, two.value) < 100:  # "the 20s" are those of any century
        return one.value % 100 == two.value % 100
    if one.kind.startswith("clock") and two.kind.startswith("clock"):
        half_days = _HALF_DAY if "clock12" in (one.kind, two.kind) else 2 * _HALF_DAY
        return one.value % half_days == two.value % half_days
    if one.kind == two.kind != "":
        if one.kind == "time" and {one.scaled, two.scaled} == _FORTNIGHT:
            return {one.value, two.value} != {14, 15}
        return _close(one.scaled, two.scaled, _TOLERANCE if one.kind == "time" else 1e-9)
    if one.kind in ("", "year", "count") or two.kind in ("", "year", "count"):
        return one.value == two.value or _close(one.scaled, two.scaled, 1e-9)
    return False


def _equal_by_half_days(one: Quantity, two: Quantity) -> bool:
    """Return whether two numbers are equal, or may be one hour: 16 and four in the afternoon."""
    return _equal(one, two) or (max(one.value, two.value) <= _HOURS and abs(one.value - two.value) == _HOURS / 2)


def _close(one: float, two: float, tolerance: float) -> bool:
    return abs(one - two) <= tolerance * max(one, two)


def _compete(one: Quantity, two: Quantity, one_sentence: bool) -> bool:
    """Return whether two numbers can fill one place of a question: by their neighbours, or in the same sentence."""
    if one.weak or two.weak:
        return one.after == two.after and (one.after not in _EMPTY or one.before == two.before)
    kinds = {one.kind.removesuffix("12"), two.kind.removesuffix("12")}
    if len(kinds) > 1 and ("" not in kinds or "clock" in kinds):
        return False
    return one_sentence or one.after == two.after not in _EMPTY
