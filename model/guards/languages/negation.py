"""Negation in other languages than English: "nicht", "sin", "ne … pas", "unwirksam", "verboten".

two readings, language -> conflict

Both texts need the same content words, one of them denied. Not counted are tags ("oder nicht?"), polite requests, "not
only", and the negation of a question that asks for yes or no: "Kann ich nicht mit Karte zahlen?" asks the same as the
question without "nicht". "Ich kann mich nicht anmelden" gets the answer to "Wie kann ich mich anmelden?".
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.language import Language
from model.guards.reading import RUN, Reading

_MOST_OPPOSITES: Final = 4
"""Content words of a text that may be opposites; all pairs are compared, 0.15 s for texts of 2,000 characters."""

_CLAUSE = re.compile(r"[,;:¿–—]|[.!?] (?=\S)")


class _Polarity:
    """How a text affirms or denies; the parts that few pairs need are found when they are read.

    Attributes:
        denied: the negation of a clause and "without", each whether it is written.
        words: all words in the order in which they stand last, as keys.
        content: stems of the content words in order, as keys.
    """

    def __init__(self, reading: Reading, language: Language) -> None:
        self._language = language
        self._plain = plain = language.greeting.sub("", reading.plain)
        self.denied = bool(language.denial.search(plain)), bool(language.without.search(plain))
        self._text = language.harmless.sub(" ", plain) if any(self.denied) else plain
        self.words = dict.fromkeys(reversed(dict.fromkeys(reversed(RUN.findall(self._text)))))
        self.content = dict.fromkeys(stem for word in self.words if (stem := _content_stem(word, language)))

    @functools.cached_property
    def counted(self) -> tuple[bool, bool]:
        """The negation of a clause and "without", each whether it is written and counts."""
        counts = self._denial is not None and not _asks_yes_or_no(self._text, self._denial, self._language)
        return counts, bool(self._language.without.search(self._text))

    @functools.cached_property
    def _denial(self) -> re.Match[str] | None:
        return self._language.denial.search(self._text)

    @property
    def cue(self) -> str:
        """Last word of the negation of a clause, empty without one."""
        return RUN.findall(self._denial[0])[-1] if self._denial else ""

    @property
    def asks_way(self) -> bool:
        """A clause with a content word asks how or where."""
        clauses = (set(RUN.findall(part)) for part in _CLAUSE.split(self._text))
        functions, ways = self._language.functions, self._language.ways
        return any(not ways.isdisjoint(clause) and clause - functions for clause in clauses)

    @property
    def elsewhere(self) -> set[str]:
        """Stems of the words of the clauses that are not denied."""
        denial, without = self._language.denial, self._language.without
        parts = _CLAUSE.split(self._text)
        affirmed = " ".join(part for part in parts if not (denial.search(part) or without.search(part)))
        return set(map(self._language.stem, RUN.findall(affirmed)))

    @property
    def only(self) -> bool:
        """An "only" is written."""
        return not self._language.only.isdisjoint(self.words)

    @property
    def excepted(self) -> bool:
        """Something is excepted: "no … but", "not … without"."""
        return self.counted[1] or self._language.excepted.search(self._plain) is not None


def polarity_differs(query: Reading, question: Reading, language: Language) -> bool:
    """Return whether one text denies what the other affirms, in the same words. Symmetric."""
    one, two = _Polarity(query, language), _Polarity(question, language)
    only_one, only_two = one.content.keys() - two.content.keys(), two.content.keys() - one.content.keys()
    if len(only_one) != len(only_two) or len(only_one) > _MOST_OPPOSITES:
        return False
    if not all(_has_opposite(word, only_two, language) for word in only_one):
        return False
    opposites = len(only_one)
    if opposites and one.words.keys() & language.until != two.words.keys() & language.until:
        return False
    opposites += _opposite_particles(one, two, language)
    if opposites:
        common = one.content.keys() & two.content.keys()
        orders = ([word for word in content if word in common] for content in (one.content, two.content))
        if next(orders) != next(orders):
            return False  # "A is longer than B" is "B is shorter than A"
        return (one.denied != two.denied) != (opposites % 2 == 1)
    differing = sum(first != second for first, second in zip(one.counted, two.counted, strict=True))
    if one.denied == two.denied or differing != 1:
        return False
    if not language.spoken.isdisjoint(one.words.keys() & two.words.keys() & {one.cue, two.cue}):
        return False
    if _asks_for_a_way(one, two, language) or _asks_for_need(one, two, language):
        return False
    return not (_restricts(one, two) or _repeats_other_clauses(one, two))


def _restricts(one: _Polarity, two: _Polarity) -> bool:
    """Return whether "only" in one text is a negation in the other: "only with a card", "not without a card"."""
    return any(
        text.only and not other.only and other.denied[0] and other.excepted for text, other in ((one, two), (two, one))
    )


def _repeats_other_clauses(one: _Polarity, two: _Polarity) -> bool:
    """Return whether the denied clause has no content of its own: "I want to cancel, but I cannot"."""
    denied = one if sum(one.counted) > sum(two.counted) else two
    return bool(denied.content) and denied.content.keys() <= denied.elsewhere


def _opposite_particles(one: _Polarity, two: _Polarity, language: Language) -> int:
    """Return the number of opposite particles in which two texts differ, or with which they end: "in de app … in"."""
    only_one, only_two = one.words.keys() - two.words.keys(), two.words.keys() - one.words.keys()
    ends = {next(reversed(one.words), ""), next(reversed(two.words), "")}
    return sum(
        (first in only_one and second in only_two)
        or (second in only_one and first in only_two)
        or ends == {first, second}
        for first, second in language.particles
    )


def _asks_for_a_way(one: _Polarity, two: _Polarity, language: Language) -> bool:
    """Return whether one text asks how, where or when, and the other only denies that this can be or has been done."""
    if one.counted[1] != two.counted[1]:
        return False
    denied, affirmed = (one, two) if one.counted[0] else (two, one)
    if affirmed.asks_way and not denied.asks_way and not language.abilities.isdisjoint(denied.words):
        return True
    return language.openers.isdisjoint(denied.words) and not language.times.isdisjoint(affirmed.words)


def _asks_for_need(one: _Polarity, two: _Polarity, language: Language) -> bool:
    """Return whether one text asks whether a thing is needed, and the other whether it goes without."""
    without, other = (one, two) if one.counted[1] else (two, one)
    if not without.counted[1] or not language.required.isdisjoint(without.words):
        return False
    return not language.required.isdisjoint(other.words)


@functools.lru_cache(maxsize=16_384)
def _content_stem(word: str, language: Language) -> str:
    """Return the stem of a content word, nothing for function words and those that deny."""
    if word in language.functions or language.denial.fullmatch(word) or language.without.fullmatch(word):
        return ""
    return language.stem(word)


def _asks_yes_or_no(text: str, denial: re.Match[str], language: Language) -> bool:
    """Return whether the denied clause is a question for yes or no: it begins with a verb, or is the whole question."""
    before = RUN.findall(_CLAUSE.split(text[: denial.start()])[-1])
    whether = language.openers & language.polar
    start = max((place for place, word in enumerate(before) if word in whether), default=0)
    if not (language.openers - whether).isdisjoint(before[start:]):
        return False
    if before and before[start] in language.polar:
        return True
    one_clause = not _CLAUSE.search(text.lstrip("¿ "))
    return one_clause and text.rstrip().endswith("?") and language.openers.isdisjoint(RUN.findall(text))


def _has_opposite(word: str, others: set[str], language: Language) -> bool:
    """Return whether a stem is the opposite of one of the others."""
    return any(
        (word, other) in language.opposites
        or (other, word) in language.opposites
        or any(
            _same_rest(word, first, other, second, rests) or _same_rest(word, second, other, first, rests)
            for first, second, rests in language.prefixes
        )
        for other in others
    )


def _same_rest(word: str, prefix: str, other: str, other_prefix: str, rests: re.Pattern[str]) -> bool:
    rest = word.removeprefix(prefix)
    same = len(rest) >= 3 and word == prefix + rest and other == other_prefix + rest
    return same and rests.match(rest) is not None
