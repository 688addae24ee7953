"""The guard of symbols: C and C#, O+ and O-, $100 and €100, == and ===.

Reading -> marks of words, marks of numbers, operators -> conflict

A mark counts where both texts have the same word or number, and each marks it in a way that the other does not.
"C sharp" is C#, "minus 10" is -10 and "100 dollars" is $100. A currency on one side only is no difference, nor are
quotes, brackets, hyphens within words and punctuation.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from model.guards.reading import Reading

_QUICK = re.compile(r"[^\w\s?.,'\"()!:;]|[^\x00-\x7f]|[0-9]!| [?.!:;]")
_MARKED = re.compile(
    r"(?<![^\W_])(?:"
    r"([^\W\d_]+\d*)(\+{1,3}|[#♯♭])(?![^\W_])"
    r"|([A-F]|[A-Z][A-Za-z]?|AAA|BBB|CCC|[abo]|ab)([*−-])(?=[\s?!.,;:)\"']|$)"
    r")"
)
_PREFIXED = re.compile(r"(?<![^\s\"'(=])(\+\+|--|[-−@$#]|\.)([^\W\d_]+)(?![\w-])")
_SPOKEN = {
    "+": ("plus", "positive", "pos", "+"), "++": ("plus plus", "pp"), "#": ("sharp",), "♭": ("flat", "b"),
    "-": ("minus", "negative", "neg"), "*": ("star",),
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<letter>(?<=[^\W\d_])[-−+])?(?P<sign>(?<![\w)\]}%.])[-−+](?=[^\w\s]?\d))?(?P<before>[$€£¥₹₩₽฿#])? ?"
    r"(?P<number>\d+(?:[.,]\d+)*)"
    r"(?: ?(?P<after>[%‰€£¥₹$]|° ?[cf]\b|degrees? (?:celsius|fahrenheit)|percent\b|per cent\b|dollars?\b|usd\b|bucks\b"
    r"|euros?\b|eur\b|pounds?\b|gbp\b|rupees?\b|inr\b|yen\b)|(?P<tight>[+*](?=[\s?.,]|$)|!(?=\s+\w)))?"
)
_KIND = {
    "percent": "%", "per cent": "%", "dollar": "$", "dollars": "$", "usd": "$", "bucks": "$", "euro": "€",
    "euros": "€", "eur": "€", "pound": "£", "pounds": "£", "gbp": "£", "rupee": "₹", "rupees": "₹", "inr": "₹",
    "yen": "¥", "degree celsius": "°c", "degrees celsius": "°c", "degree fahrenheit": "°f",
    "degrees fahrenheit": "°f", "° c": "°c", "° f": "°f",
}  # fmt: skip
_BELOW = re.compile(r"\b(?:minus|negative|below|loss|lost|debt|overdrawn|fall|fell|drop)")
_ABOVE = re.compile(r"\b(?:plus|positive|above)\b")
_SPOKEN_OPERATORS = re.compile(r"(?<=[0-9]) (plus|minus|times|multiplied by|divided by|over) (?=[0-9])")
_OPERATOR = {"plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/", "over": "/"}
_SAME = str.maketrans({"×": "*", "⋅": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "♯": "#", "≠": "!="})
_HARD = re.compile(r"[+*=<>&|^~@#\\{}\[\]%$]|[^\w\s\x00-\x7f‘’“”«»‹›…¿¡、。，．・！？：；（）「」『』–—-]")
_CAN_OPERATE = re.compile(
    r"[^\w\s?.,'\"()!]|(?<!\S)[?.,'\"()!_]+(?!\S)|[α-ω]"
    r"|[0-9] (?:plus|minus|times|multiplied by|divided by|over) [0-9]"
)
"""A sign that can be an operator: no punctuation behind a word."""
_DIGIT = re.compile(r"\d")
_EMOTICON = re.compile(r"(?<!\S)[:;=]-?[()dp/|]+(?!\w)")
_INNER = re.compile(r"(?<=[\w)])([+*=<>^|&~!]+|[∪∩∈∉≤≥≠±→])(?=[\w(])")
_LETTERS = re.compile(r"^([a-z])([:/-])([a-z])$")
_GREEK = re.compile(r"(?<![^\W\d_])[α-ω](?![^\W\d_])")
_GREEK_WORD = re.compile(r"[α-ωά-ώ]{2}")
_BEFORE_OPERATOR = frozenset(
    [
        "the",
        "a",
        "an",
        "does",
        "is",
        "of",
        "with",
        "match",
        "for",
        "use",
        "using",
        "and",
        "or",
        "character",
        "symbol",
        "sign",
    ]
)
"""Words before a question or exclamation mark that is no punctuation; French puts a space before those that are."""
_OUTER = "\"'(),;"
_PROSE: Final = frozenset(("-", "--", "---", "..", "...", "/", ":", ".", "&"))
"""Runs of symbols between words that are punctuation, or words as in "terms & conditions"."""


def symbols_differ(query: Reading, question: Reading) -> bool:
    """Return whether the texts mark the same word, number or operation with other symbols. Symmetric."""
    if not (_QUICK.search(query.folded) or _QUICK.search(question.folded)):
        return False
    return _marks_differ(query, question) or _numbers_differ(query, question) or _operators_differ(query, question)


def _marks_differ(query: Reading, question: Reading) -> bool:
    first, second = _marks(query), _marks(question)
    for base in first.keys() | second.keys():
        one = first.get(base) or _bare(query, base)
        two = second.get(base) or _bare(question, base)
        only_one, only_two = one - two, two - one
        if only_one and only_two and not _spoken(base, only_one, question) and not _spoken(base, only_two, query):
            return True
    return False


def _marks(reading: Reading) -> dict[str, set[str]]:
    """Return the symbols of each word that has one, and "" where the word also occurs without."""
    found: dict[str, set[str]] = {}
    for word, mark, short, sign in _MARKED.findall(reading.raw):
        base = (word or short).lower()
        found.setdefault(base, set()).add((mark or sign).translate(_SAME))
    for mark, word in _PREFIXED.findall(reading.raw):
        base = word.lower()
        if (mark == "." and base != "net") or (mark in "-−" and len(base) > 1):
            continue
        found.setdefault(base, set()).add(mark + "_")
    for base, marks in found.items():
        if marks.isdisjoint(("@_", "#_")) or len(base) < 3:
            marks |= _bare(reading, base)
    return found


def _bare(reading: Reading, base: str) -> set[str]:
    """Return {""} where a word occurs without a symbol; "a" and "i" only as capitals or operands."""
    if base not in reading.vocabulary:
        return set()
    pattern = base.upper() if base == "a" else re.escape(base)
    flags = 0 if base == "a" else re.IGNORECASE
    bare = re.search(rf"(?<![\w+@$#.−-]){pattern}(?![\w+#♯♭*−-])", reading.raw, flags)
    return {""} if bare and (base != "a" or bare.start()) else set()


def _spoken(base: str, marks: set[str], reading: Reading) -> bool:
    """Return whether a text has one of these marks of a word in words, or as a hash tag or address without its sign."""
    if not marks.isdisjoint(("@_", "#_")) and len(base) > 2:
        return True
    if ".-" in marks or "._" in marks:
        return f"dot {base}" in reading.folded
    return any(f"{base} {word}" in reading.folded for mark in marks for word in _SPOKEN.get(mark, ()))


class _Marks(NamedTuple):
    signs: set[str]
    kinds: set[str]


def _numbers_differ(query: Reading, question: Reading) -> bool:
    if not (_DIGIT.search(query.folded) and _DIGIT.search(question.folded)):
        return False
    first, second = _number_marks(query.folded), _number_marks(question.folded)
    for number in first.keys() & second.keys():
        one, two = first[number], second[number]
        if one.kinds and two.kinds and one.kinds.isdisjoint(two.kinds):
            return True
        if ("!" in one.kinds) != ("!" in two.kinds):
            return True
        if {*one.signs, *two.signs} == {"joined+", "joined-"} and len(one.signs) == len(two.signs) == 1:
            return True
        for signs, others, negative, other in ((one, two, query, question), (two, one, question, query)):
            is_negative = signs.signs == {"-"} and others.signs == {""}
            if is_negative and not _BELOW.search(other.folded) and not _ABOVE.search(negative.folded):
                return True
    return False


def _number_marks(folded: str) -> dict[str, _Marks]:
    found: dict[str, _Marks] = {}
    for match in _NUMBER.finditer(folded):
        marks = found.setdefault(match["number"].replace(",", ""), _Marks(set(), set()))
        joined, sign = (match[name] and match[name].translate(_SAME) for name in ("letter", "sign"))
        marks.signs.add(f"joined{joined}" if joined else "-" if sign == "-" else "")
        for kind in (match["before"], match["after"], match["tight"]):
            if kind:
                marks.kinds.add(_KIND.get(kind, kind))
    return found


def _operators_differ(query: Reading, question: Reading) -> bool:
    if not (_CAN_OPERATE.search(query.folded) and _CAN_OPERATE.search(question.folded)):
        return False
    first, second = _operators(query.folded), _operators(question.folded)
    if not (first and second):
        return False
    one, two = Counter(first), Counter(second)
    only_one, only_two = one - two, two - one
    if not (only_one and only_two):
        return False
    if any(hard for _, hard in (*only_one, *only_two)):
        return True
    plain = all(run not in _PROSE for run, _ in only_one) or all(run not in _PROSE for run, _ in only_two)
    return plain and query.words == question.words


def _operators(folded: str) -> list[tuple[str, bool]]:
    """Return the runs of symbols that stand for themselves, each with whether it can be no punctuation."""
    folded = _SPOKEN_OPERATORS.sub(lambda match: f" {_OPERATOR[match[1]]} ", folded)
    found = [(smiley, True) for smiley in _EMOTICON.findall(folded)]
    chunks = _EMOTICON.sub("", folded).translate(_SAME).replace("<>", "!=").split()
    for place, chunk in enumerate(chunks):
        if "://" in chunk or chunk.startswith("www."):
            continue
        trimmed = chunk.strip(_OUTER)
        if not any(map(str.isalnum, trimmed)):
            found += _standing(trimmed, chunks[place - 1 : place], chunks[place + 1 : place + 2])
        elif letters := _LETTERS.match(trimmed):
            found.append((letters[2], letters[2] == ":"))
        else:
            found += [(run, True) for run in _INNER.findall(trimmed)]
            if trimmed[0] in "<>" and len(trimmed) > 1:
                found.append((trimmed[0], True))
    if not _GREEK_WORD.search(folded):
        found += [(letter, True) for letter in _GREEK.findall(folded)]
    return found


def _standing(run: str, before: list[str], after: list[str]) -> list[tuple[str, bool]]:
    """Return a run of symbols between spaces: an operator between operands, or else by its characters."""
    if run == "&" or not run:
        return []
    if not after:
        run = run.rstrip("?!.")
        return [(run, True)] if run and _HARD.search(run) else []
    if _HARD.search(run):
        return [(run, True)]
    operands = bool(before) and all(len(side) == 1 or side[0].isdigit() for side in (before[0], after[0]))
    if operands and len(run) == 1 and run in "-/":
        return [(run, True)]
    if run in "?!" and (not before or before[0] not in _BEFORE_OPERATOR):
        return []
    return [(run, False)] if after[0][0].islower() else []
