"""The guard of symbols: C and C#, O+ and O-, $100 and €100, == and ===.

Reading -> marks of words, marks of numbers, operators -> conflict

A mark counts where both texts have the same word or number, and each marks it in a way that the other does not.
"C sharp" is C#, "minus 10" is -10 and "100 dollars" is $100. A currency on one side only is no difference, nor are
quotes, hyphens within words, punctuation, and brackets but those of arithmetic (`model.guards.signs.terms`).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from model.guards.reading import Reading
from model.guards.signs.codes import ASCII_SIGNS, codes_differ, each_has_more, names_option, operators_differ
from model.guards.signs.models import models_differ
from model.guards.signs.terms import terms_differ
from model.guards.units import tables

_KIND: Final[dict[str, str]] = tables()["marks"]
"""Currency or unit of each mark or word at a number."""
_CODES: Final = "usd|eur|gbp|inr|chf|cad|aud|jpy"
_WORDS: Final = "|".join(word for word in _KIND if word[0].isalpha())
_QUICK = re.compile(
    rf"[^a-z0-9\s?.,'\"()!:;_]| [?.!:;]|aa"
    rf"|[0-9](?:[!:'\"]|(?<=(?:{_CODES})[0-9])|(?<=(?:{_CODES}) [0-9])"
    rf"| ?(?:(?:[a-f]|{_WORDS})\b|deg|plus|minus|times|multiplied|divided|over))"
)
"""A sign at a word or number, or the word for one, that a text with a difference has."""
_MARKED = re.compile(
    r"(?<![^\W_])(?:"
    r"([^\W\d_]+\d*)(\+{1,3}|[#♯♭]|(?<![^\W_]{2})--(?![\w-]))(?![^\W_])"
    r"|([A-F]|[A-Z][A-Za-z]?|AAA|BBB|CCC|[abo]|ab)([*−-])(?=[\s?!.,;:)\"']|$)"
    r")"
)
_UNMARKED = re.compile(r"(?<![\w+@$#.−-])(?!a\b|^A\b|A[ -]levels?\b)[^\W_]+(?![\w+#♯♭*−-])")
"""A word without a symbol; "a" only as a capital letter within a text, and no school certificate."""
_PREFIXED = re.compile(r"(?<![^\s\"'(=])(\+\+|--|\*\*?|[-−@$#]|\.)([^\W\d_]+)(?![\w*-])")
_FLAT = re.compile(
    r"(?<!\w)([A-G])b(?=[ -](?:major|minor|maj|min|scale|chord|key|note|trumpet|clarinet|sax(?:ophone)?|horn|tuba)\b)"
)
"""The name of a note that is flat, before another word of music: "Bb major"."""
_SPOKEN = {
    "+": ("plus", "positive", "pos", "+"), "++": ("plus plus", "pp"), "#": ("sharp",), "♭": ("flat", "b"),
    "-": ("minus", "negative", "neg"), "*": ("star",),
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<letter>(?<=[^\W\d_])[-−+])?(?P<sign>(?<![\w)\]}%.])[-−+](?=[^\w\s]?\d))?(?P<compare>[<>=!]=|[\^~≈<>≤≥])?"
    rf"(?P<before>[$€£¥₹₩₽฿#]|\b(?:{_CODES}))? ?"
    r"(?P<number>\d+(?:[.,]\d+)*)"
    r"(?: ?(?P<after>[%‰€£¥₹$]|(?:° ?|deg(?:rees?)? )(?:celsius|fahrenheit|[cf])\b"
    rf"|(?:{_WORDS})\b|(?:''|′′|[\"'′])(?![^\W_]*[a-z]))"
    r"|(?P<tight>[+*](?=[\s?.,]|$)|!(?=\s+\w)|[abd]\b))?"
)
_COMPARISONS: Final = {"≥": ">=", "≤": "<=", "≈": "~"}
_DEGREES = re.compile("^(?:deg(?:rees?)?|°)")
_OPENING_QUOTE = re.compile(r"(?<!\w)[\"']")
_BELOW = re.compile(r"\b(?:minus|negative|below|loss|lost|debt|overdrawn|fall|fell|drop)")
_DIGIT = re.compile(r"\d")
_AGAIN = re.compile(
    r"\bre-(sign\w*|cover\w*|form\w*|sent|sort\w*|lease\w*|mark\w*|present\w*|creation|treat\w*|press\w*|act)\b"
)
"""Words that mean another thing without their hyphen."""
_DASHES: Final = ("-_", "--_")
_TAGS: Final = ("@_", "#_", "._")
"""Signs before hash tags, addresses and file endings, which many people leave out."""


def symbols_differ(query: Reading, question: Reading) -> bool:
    """Return whether the texts mark the same word, number or operation with other symbols. Symmetric."""
    if models_differ(query, question):
        return True
    if not (_may_be_marked(query) or _may_be_marked(question)):
        return False
    return (
        _marks_differ(query, question)
        or _numbers_differ(query, question)
        or operators_differ(query, question)
        or codes_differ(query, question)
        or _letters_differ(query, question)
        or _hyphens_differ(query, question)
        or terms_differ(query.folded, question.folded)
    )


def _may_be_marked(reading: Reading) -> bool:
    """Return whether a text can have a sign or the word for one; a quick first test."""
    folded = reading.folded
    if _QUICK.search(folded) or "bps" in folded:
        return True
    return "b " in folded and _FLAT.search(reading.raw) is not None


def _hyphens_differ(query: Reading, question: Reading) -> bool:
    """Return whether a hyphen makes another word: re-sign and resign, re-cover and recover."""
    first, second = (set(_AGAIN.findall(reading.folded)) for reading in (query, question))
    texts = ((first - second, question), (second - first, query))
    return any(f"re{word}" in other.vocabulary for words, other in texts for word in words)


def _letters_differ(query: Reading, question: Reading) -> bool:
    """Return whether two English texts are about other single letters with marks: é and è."""
    if query.folded.isascii() or question.folded.isascii() or not (query.is_english and question.is_english):
        return False
    one, two = (
        {word for word in reading.vocabulary if len(word) == 1 and not word.isascii()} for reading in (query, question)
    )
    return each_has_more(one, two)


def _marks_differ(query: Reading, question: Reading) -> bool:
    first, second = _marks(query), _marks(question)
    if not (first or second):
        return False
    unmarked, unmarked_too = _unmarked(query), _unmarked(question)
    for base in first.keys() | second.keys():
        one, two = _of_word(base, first, unmarked), _of_word(base, second, unmarked_too)
        only_one, only_two = one - two, two - one
        spoken = _spoken(base, only_one, only_two, question) or _spoken(base, only_two, only_one, query)
        if only_one and only_two and not spoken:
            return True
    return False


def _marks(reading: Reading) -> dict[str, set[str]]:
    """Return the symbols of each word that has one."""
    found: dict[str, set[str]] = {}
    for word, mark, short, sign in _MARKED.findall(reading.raw):
        base = (word or short).lower()
        found.setdefault(base, set()).add((mark or sign).translate(ASCII_SIGNS))
    for note in _FLAT.findall(reading.raw):
        found.setdefault(note.lower(), set()).add("♭")
    for mark, word in _PREFIXED.findall(reading.raw):
        base = word.lower()
        sign = mark.translate(ASCII_SIGNS)
        if sign != "-" or len(base) == 1:
            found.setdefault(base, set()).add(sign + "_")
    return found


def _unmarked(reading: Reading) -> frozenset[str]:
    """Return the words that occur without a symbol."""
    return reading.vocabulary.intersection(map(str.lower, _UNMARKED.findall(reading.raw)))


def _of_word(base: str, marks: dict[str, set[str]], unmarked: frozenset[str]) -> set[str]:
    """Return the symbols of a word, with "" where it also occurs without; not if it is a tag of three letters."""
    symbols = marks.get(base, set())
    return symbols | {""} if base in unmarked and (symbols.isdisjoint(_TAGS) or len(base) < 3) else symbols


def _spoken(base: str, marks: set[str], others: set[str], reading: Reading) -> bool:
    """Return whether a text has one of these marks of a word in words, or leaves out the sign of a tag or an ending."""
    if others == {""} and not marks.isdisjoint(_TAGS) and (len(base) > 2 or "._" in marks) and base != "net":
        return True
    if others == {""} and not marks.isdisjoint(_DASHES) and names_option(reading):
        return True
    if ".-" in marks or "._" in marks:
        return f"dot {base}" in reading.folded
    return any(f"{base} {word}" in reading.folded for mark in marks for word in _SPOKEN.get(mark, ()))


class _Marks(NamedTuple):
    signs: set[str]
    kinds: set[str]
    comparisons: set[str]


def _numbers_differ(query: Reading, question: Reading) -> bool:
    if not (_DIGIT.search(query.folded) and _DIGIT.search(question.folded)):
        return False
    first, second = _number_marks(query.folded), _number_marks(question.folded)
    for number in first.keys() & second.keys():
        one, two = first[number], second[number]
        if _are_disjoint(one.kinds, two.kinds) or _are_disjoint(one.comparisons, two.comparisons):
            return True
        if ("!" in one.kinds) != ("!" in two.kinds):
            return True
        if {*one.signs, *two.signs} == {"joined+", "joined-"} and len(one.signs) == len(two.signs) == 1:
            return True
        for signs, others, other in ((one.signs, two.signs, question), (two.signs, one.signs, query)):
            if signs == {"-"} and others == {""} and not _BELOW.search(other.folded):
                return True
    return False


def _are_disjoint(one: set[str], two: set[str]) -> bool:
    """Return whether two sets have elements, and none in common."""
    return bool(one and two) and one.isdisjoint(two)


def _number_marks(folded: str) -> dict[str, _Marks]:
    found: dict[str, _Marks] = {}
    quoted_from: dict[str, int] = {}
    for quote in _OPENING_QUOTE.finditer(folded):
        quoted_from.setdefault(quote.group(), quote.start())
    for match in _NUMBER.finditer(folded):
        marks = found.setdefault(match["number"].replace(",", ""), _Marks(set(), set(), set()))
        joined, sign = (match[name] and match[name].translate(ASCII_SIGNS) for name in ("letter", "sign"))
        marks.signs.add(f"joined{joined}" if joined else "-" if sign == "-" else "")
        if compare := match["compare"]:
            marks.comparisons.add(_COMPARISONS.get(compare, compare))
        for kind in (match["before"], match["after"], match["tight"]):
            if kind and quoted_from.get(kind, len(folded)) >= match.start():  # no end of a quotation
                marks.kinds.update(_kinds(kind))
    return found


def _kinds(mark: str) -> set[str]:
    """Return the kinds that a mark can mean: 50c are degrees or cents."""
    name = _DEGREES.sub("", mark.replace(" ", ""))
    return {"°c", "¢"} if name == "c" and mark == "c" else {_KIND.get(name, name)}
