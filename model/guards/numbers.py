"""The guard of numbers: iPhone 6 and 7, 2016 and 2017, 5 mg and 5 g, second and third.

Reading -> quantities -> conflict

It needs a number in each text that the other lacks, both of one kind (years, masses, clock times, plain numbers).
Number words of English and of the other languages with rules are digits, "1k" is 1,000, "24 hours" are a day, and
"half a litre" is 500 ml. A number on one side only is no evidence, because many paraphrases leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from model.guards.languages.glossing.reading import glossed
from model.guards.languages.numbers import names_half_of_day
from model.guards.languages.recognition import common_languages
from model.guards.quantities import has_numbers, quantities
from model.guards.reading import Reading, stem
from model.guards.scanning import Quantity
from model.guards.units import tables, units

_TOLERANCE_OF_A_MONTH: Final = 0.1
"""Four weeks are one month."""
_MONTH: Final = units()["month"][1]
_ONE_SENTENCE: Final = 0.5
"""Share of common words from which numbers need no equal neighbours, and may stand beside a number of both texts.
Two people describe one problem with their own ages, weights and days."""
_HALF_DAY: Final = 720
_HOURS: Final = 24
_DAY: Final = 86_400
_FORTNIGHT: Final = {14 * _DAY, 15 * _DAY}
"""Two weeks are "quinze jours" in French, and so in Spanish, Portuguese and Italian."""
_FUNCTION_WORDS: Final = frozenset(
    ("", "and", "or", "of", "in", "to", "for", "at", "is", "are", "if", "on", "a", "the")
)
"""Words behind a number that do not show its place."""
_TOLERANCES: Final = {"time": 0.02, "data": 0.024}
"""Two quantities are equal up to this share: a month is then 30 days, a year 365, and a gigabyte 1,024 megabytes."""
_DOLLARS_AND_POUNDS: Final = {"money", "mass"}
"""A pound is money or a mass."""
_METERS_AND_MILLIONS: Final = {"length", "count"}
"""5m are 5 meters or 5 million, and 5k five kilometers or 5,000."""
_CENTURY_AND_DECADE: Final = {"century", "decade"}
_CLOCK_AND_PLAIN: Final = ({"clock", ""}, {"clock12", ""})
_TIMES_AND_PLAIN: Final = {"times", ""}
_RIVALS: Final = ({"money", "count"}, _DOLLARS_AND_POUNDS, _METERS_AND_MILLIONS, {"money", "share"})
_COMPARED_KIND: Final = {"clock12": "clock", "century": "decade"}
_BEFORE_HOURS: Final = frozenset(("at", "till", "until", "by", "before", "after", "since", "from"))
_BEFORE_TERMS: Final = frozenset(("after", "at", "every", "for", "in", "of", "over", "under", "until", "within"))
_RANK: Final = re.compile(
    r"\b(?:\d*(?:2nd|3rd|[4-9]th)|1\dth|second|third|fourth|fifth|tenth)[ -](\w{2,}est|most|least|best|worst)\b"
)
"""A rank other than the first: "2nd largest"."""
_NUMBERS_AND_UNITS: Final = frozenset(
    (*units(), *(word for name in ("cardinals", "ordinals", "times", "multipliers") for word in tables()[name]))
)


def numbers_differ(query: Reading, question: Reading) -> bool:
    """Return whether each text has a number that the other one lacks, and these compete. Symmetric."""
    query, question = glossed(query, question)
    if _ranks_differ(query.folded, question.folded):
        return True
    if not (has_numbers(query) and has_numbers(question)):
        return False
    first, second = quantities(query, question)
    equal = _equal_by_half_days if names_half_of_day(query, question) else _equal
    if len(first) != len(second):
        first, second = list(dict.fromkeys(first)), list(dict.fromkeys(second))
        only_first = [one for one in first if not any(equal(one, two) for two in second)]
        only_second = [two for two in second if not any(equal(one, two) for one in first)]
    else:
        only_first, only_second = _unmatched(first, second, equal)
    if not (only_first and only_second):
        return False
    one_sentence = _share_of_common_words(query, question) >= _ONE_SENTENCE
    if not one_sentence and _certain(only_first, only_second) < _certain(first, second):
        return any(_in_one_place(one, two) for one in only_first for two in only_second)
    return any(_compete(one, two, one_sentence) for one in only_first for two in only_second)


def _ranks_differ(one: str, two: str) -> bool:
    """Return whether one text asks for the second or a later of something, and the other for the first: "largest"."""
    ranks = {match[1] for match in _RANK.finditer(one)}, {match[1] for match in _RANK.finditer(two)}
    if bool(ranks[0]) == bool(ranks[1]):
        return False
    ranked, other = (ranks[0], two) if ranks[0] else (ranks[1], one)
    return any(re.search(rf"\b(?:the|whose) {superlative}\b", other) for superlative in ranked)


def _unmatched(
    first: list[Quantity], second: list[Quantity], equal: Callable[[Quantity, Quantity], bool]
) -> tuple[list[Quantity], list[Quantity]]:
    """Return the numbers of two texts that are left if each takes away one equal number of the other."""
    only_first, only_second = list(first), list(second)
    for same_place in (True, False):  # first those before the same word: "buy two get one" has another one than "one"
        for one in tuple(only_first):
            for place, two in enumerate(only_second):
                if equal(one, two) and (one.after == two.after or not same_place):
                    only_first.remove(one)
                    del only_second[place]
                    break
    return only_first, only_second


def _certain(first: list[Quantity], second: list[Quantity]) -> int:
    """Return the number of quantities, without "a" before a unit."""
    return sum(not _is_article(quantity) for quantity in (*first, *second))


def _share_of_common_words(query: Reading, question: Reading) -> float:
    """Return the Jaccard similarity of the words, in English or another language that of the plain stems if higher.

    Numbers and units count in no language.
    """
    share = query.share_of_common_words(question)
    common = common_languages(query, question)
    if not common or query.is_english or question.is_english:
        share = max(share, _share_in_english(query, question))
    for language in common:
        one, two = (
            {language.stem(word) for word in reading.plain_vocabulary if not (reading.language and word.isdigit())}
            for reading in (query, question)
        )
        share = max(share, len(one & two) / max(1, len(one | two)))
    return share


def _share_in_english(query: Reading, question: Reading) -> float:
    one, two = (
        {stem(word) for word in reading.vocabulary if not (word[0].isdecimal() or word in _NUMBERS_AND_UNITS)}
        for reading in (query, question)
    )
    return len(one & two) / len(one | two) if one or two else 1.0


def _equal(one: Quantity, two: Quantity) -> bool:
    kinds = {one.kind, two.kind}
    if len(kinds) > 1:
        special = _equal_in_two_kinds(one, two, kinds)
        if special is not None:
            return special
    if "decade" in (one.kind, two.kind) and min(one.value, two.value) < 100:  # "the 20s" are those of any century
        return one.value % 100 == two.value % 100
    if one.kind.startswith("clock") and two.kind.startswith("clock"):
        half_days = _HALF_DAY if "clock12" in (one.kind, two.kind) else 2 * _HALF_DAY
        return one.value % half_days == two.value % half_days
    if one.kind == two.kind != "":
        if one.kind == "time" and {one.scaled, two.scaled} == _FORTNIGHT:
            return {one.value, two.value} != {14, 15}
        tolerance = _TOLERANCE_OF_A_MONTH if max(one.scaled, two.scaled) == _MONTH else _TOLERANCES.get(one.kind, 1e-9)
        return _close(one.scaled, two.scaled, tolerance)
    if one.kind in ("", "year", "count") or two.kind in ("", "year", "count"):
        return one.value == two.value or _close(one.scaled, two.scaled, 1e-9)
    return False


def _equal_in_two_kinds(one: Quantity, two: Quantity, kinds: set[str]) -> bool | None:
    """Return whether numbers of two kinds are equal that can be one kind, or None for all other kinds."""
    if _is_article(one) or _is_article(two):
        return False
    if kinds == _DOLLARS_AND_POUNDS:
        return one.value == two.value
    if kinds == _CENTURY_AND_DECADE:
        return one.scaled == two.scaled
    if kinds == _METERS_AND_MILLIONS:
        return max(one.value, two.value) == 1e6 * min(one.value, two.value) or one.scaled == two.scaled
    if kinds in _CLOCK_AND_PLAIN:
        return _minutes(one) % _HALF_DAY == _minutes(two) % _HALF_DAY
    return None


def _equal_by_half_days(one: Quantity, two: Quantity) -> bool:
    """Return whether two numbers are equal, or may be one hour: 16 and four in the afternoon."""
    return _equal(one, two) or (max(one.value, two.value) <= _HOURS and abs(one.value - two.value) == _HOURS / 2)


def _in_one_place(one: Quantity, two: Quantity) -> bool:
    """Return whether two numbers of one kind stand between the same words: "over 5 years" and "over 10 years"."""
    return (
        one.kind == two.kind != ""
        and not (one.weak or two.weak)
        and one.before == two.before in _BEFORE_TERMS
        and one.after == two.after
    )


def _is_article(quantity: Quantity) -> bool:
    """Return whether a quantity is "a" before a unit."""
    return quantity.weak and quantity.kind not in ("", "times")


def _minutes(time: Quantity) -> float:
    """Return the minutes of a clock time, or of a plain number that may be one: 7 and 7.30."""
    if time.kind:
        return time.value
    return 60 * int(time.value) + round(time.value % 1 * 100)


def _close(one: float, two: float, tolerance: float) -> bool:
    return abs(one - two) <= tolerance * max(one, two)


def _compete(one: Quantity, two: Quantity, one_sentence: bool) -> bool:
    """Return whether two numbers can fill one place of a question: by their neighbours, or in the same sentence."""
    kinds = {_COMPARED_KIND.get(one.kind, one.kind), _COMPARED_KIND.get(two.kind, two.kind)}
    same_after = one.after == two.after and (one.after not in _FUNCTION_WORDS or one.before == two.before)
    if one.weak or two.weak or (len(kinds) > 1 and "times" in kinds):
        return same_after and (kinds != _TIMES_AND_PLAIN or one.before == two.before)
    if kinds in _CLOCK_AND_PLAIN:
        plain = min(one, two, key=lambda quantity: quantity.kind)
        return one.before == two.before in _BEFORE_HOURS and plain.value <= _HOURS and plain.after in _FUNCTION_WORDS
    if len(kinds) > 1 and "" not in kinds and kinds not in _RIVALS:
        return False
    return one_sentence or one.after == two.after not in _FUNCTION_WORDS
