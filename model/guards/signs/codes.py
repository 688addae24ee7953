r"""Codes in which each sign counts: options -v and -V, :q and :q!, *31# and #31#, \d and \D, r/ and u/, AA and AAA.

Reading -> codes of each kind -> conflict

Codes of one kind differ where each text has one that the other lacks. An option on one side only counts where the
texts have all other words in common.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from model.guards.lists import listed
from model.guards.reading import Reading

_END: Final = r"(?=[\s?!.,;)\"']|$)"
_OPTION: Final = re.compile(rf"(?<![^\s\"'`(])([-+]{{1,2}}[A-Za-z?](?:[\w-]*\w)?){_END}")
_LETTER: Final = re.compile(r"[-+]\w")
_CAN_BE_CODE: Final = re.compile(r"(?<!\w)(?:[-+:*#\\$<]|AA|cd|ls|cp|mv|rm|add|checkout)|\\")
"""Something that each text with a code has."""
_KINDS: Final = (
    re.compile(rf"(?<![^\s\"'`(])([-+][A-Za-z]){_END}"),
    re.compile(rf"(?<!\S)(:(?![DPOSdpos]\b)[a-z]{{1,4}}!?){_END}"),
    re.compile(r"(?<![^\s\"'(])([*#]+\d[\d*#]*[*#]|\*\d+|#\d{1,3}(?!\d))"),
    re.compile(r"(\\[A-Za-z])(?![A-Za-z])"),
    re.compile(r"(?<![\w$])(\$[@#?*!$])(?!\w)"),
    re.compile(r"(?<!\S)(</?3+)(?!\S)"),
    re.compile(r"\b(?:cd|ls|cp|mv|rm|add|checkout) (\.{1,2}|~|--?|/)(?!\S)"),
    re.compile(r"(?<![\w$&@/-])(A{2,4})(?![\w+-]|\s+(?:rating|credit|meeting|rated|bond))"),
)
"""The expressions of codes of each kind."""
_HYPHENED: Final = (
    re.compile(r"(?<![\w-])([A-Z]{2,5}-[A-Z])(?![\w-])"),
    re.compile(r"(?<![\w-])([A-Z]{1,2}-\d{1,3}[A-Z]?)(?![\w-])"),
)
"""Codes with a hyphen: "USB-A", "F-1"."""
_BITS_OR_BYTES: Final = re.compile(r"(?<![^\W\d_])[KMGT]([bB])(?:/s|ps)(?![^\W_])")
"""Rates in which only a capital letter makes bytes of bits: "Mb/s", "MB/s"."""
_SLASHED: Final = re.compile(r"(?<![^\s\"'(])/?([a-z])/(\w*)")
_WITHOUT: Final = re.compile(r"\b(?:w/o|w/out|without|no|not|free|minus)\b|n't\b")
_WITHOUT_IN_SHORT: Final = re.compile(r"(?<![\w/])w/o(?:ut)?\b")
_WITH: Final = re.compile(r"(?<![\w/])w/(?!o(?:ut)?\b)|\bwith\b")
_RATIO: Final = re.compile(r"(?<![\d:.])(\d+):(\d+)(?![\d:])")
_SIGNS: Final = {"plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/", "over": "/"}
_IN_WORDS: Final = re.compile(rf"(?<=[0-9]) ({'|'.join(_SIGNS)}) (?=[0-9])")
_OPERATION: Final = re.compile(rf"(?:\d|\b[nxyz]) ?[*/+x^:×⋅·÷−–-]|{_IN_WORDS.pattern}")
_OPERAND: Final = r"\d*[a-wyz]\d+|x\d+|\d+|[nxyz]"
"""A number, a letter, or both: "2d6", and "x2" for the square of x."""
_OPERANDS: Final = re.compile(rf"(?<![\w.,/])({_OPERAND}) ?(\*\*|//|[*/+x^-]) ?(?=({_OPERAND})(?![\w,/]))")
ASCII_SIGNS: Final = str.maketrans(
    {"×": "*", "⋅": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "♯": "#", "≠": "!="}
)
"""Table of signs in one spelling for `str.translate`."""
_HARD = re.compile(r"[+*=<>&|^~@#\\{}\[\]%$]|[^\w\s\x00-\x7f‘’“”«»‹›…¿¡、。，．・！？：；（）「」『』–—-]")
_CAN_OPERATE = re.compile(rf"[^\w\s?.,'\"()!]|(?<!\S)[?.,'\"()!_]+(?!\S)|[α-ω]|{_IN_WORDS.pattern}")
"""A sign that can be an operator: no punctuation behind a word."""
_EMOTICON = re.compile(r"(?<!\S)[:;=]-?[()dp/|]+(?!\w)")
_INNER = re.compile(r"(?<=[\w)])([+*=<>^|&~!]+|[∪∩∈∉≤≥≠±→])(?=[\w(])")
_LETTER_PAIR = re.compile(r"^([a-z])([:/*-])([a-z])[?.!]*$")
_GREEK = re.compile(r"(?<![^\W\d_])[α-ω](?![^\W\d_])")
_GREEK_WORD = re.compile(r"[α-ωά-ώ]{2}")
_BEFORE_OPERATOR: Final = listed("before_operators")
"""Words before a question or exclamation mark that is no punctuation; French puts a space before those that are."""
_BEHIND_OPERATOR: Final = frozenset(("as", "character", "from", "in", "inside", "on", "sign", "symbol", "using"))
"""Words behind an ampersand that joins no two words: "escape & in HTML"."""
_TYPING: Final = frozenset(
    ("display", "encode", "enter", "escape", "insert", "print", "remove", "replace", "type", "write")
)
_OF_CODE: Final = frozenset(("?:", "?.", "::", "()"))
"""Punctuation before another word that is an operator all the same."""
_OUTER = "\"'(),;"
_PROSE: Final = frozenset(("-", "--", "---", "..", "...", "/", ":", ".", "&"))
"""Runs of symbols between words that are punctuation, or words as in "terms & conditions"."""
_DASH_OR_SLASH: Final = frozenset("-/")
"""Signs of dates, ranges and pairs: 24/7 is 24-7."""
_OPTION_WORDS: Final = frozenset(("argument", "flag", "flags", "option", "options", "parameter", "switch"))


def names_option(reading: Reading) -> bool:
    """Return whether a text calls something an option, so that its dash can be left out."""
    return not _OPTION_WORDS.isdisjoint(reading.vocabulary)


def with_operators(folded: str) -> str:
    """Return a folded text with the signs of operations in words between numbers."""
    return _IN_WORDS.sub(lambda match: f" {_SIGNS[match[1]]} ", folded)


def codes_differ(query: Reading, question: Reading) -> bool:
    """Return whether two texts have other codes of one kind. Symmetric."""
    one, two = query.raw, question.raw
    can_be_codes = _CAN_BE_CODE.search(one) and _CAN_BE_CODE.search(two)
    if can_be_codes and any(each_has_more(set(code.findall(one)), set(code.findall(two))) for code in _KINDS):
        return True
    if _letters_of_codes_differ(one, two):
        return True
    first, second = query.folded, question.folded
    if _OPERATION.search(first) and _OPERATION.search(second) and _operations_differ(first, second):
        return True
    if "/" in first + second and _slashes_differ(first, second):
        return True
    return _has_option_more(query, question) or _has_option_more(question, query)


def _letters_of_codes_differ(one: str, two: str) -> bool:
    """Return whether two texts have other codes with a hyphen, or rates of bits and of bytes."""
    kinds = _HYPHENED if "-" in one and "-" in two else ()
    if ("ps" in one or "/s" in one) and ("ps" in two or "/s" in two):
        kinds = (*kinds, _BITS_OR_BYTES)
    return any(each_has_more(set(code.findall(one)), set(code.findall(two))) for code in kinds)


def each_has_more(one: set[str], two: set[str]) -> bool:
    """Return whether each set has an element that the other lacks."""
    return bool(one - two and two - one)


def _slashes_differ(one: str, two: str) -> bool:
    """Return whether one text is with a thing and the other without, or they write r/ and u/ before one name."""
    if "w/" in one or "w/" in two:
        for first, second in ((one, two), (two, one)):
            if _is_without(first) and _WITH.search(second) and not _WITHOUT.search(second):
                return True
    if "/" not in one or "/" not in two:
        return False
    first_names, second_names = _names(one), _names(two)
    return any(first_names[name].isdisjoint(second_names[name]) for name in first_names.keys() & second_names.keys())


def _is_without(text: str) -> bool:
    return bool(_WITHOUT_IN_SHORT.search(text)) or ("without" in text and not _WITH.search(text))


def _names(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for letter, name in _SLASHED.findall(text):
        if (letter, name) != ("w", "o"):
            found.setdefault(name, set()).add(letter)
    return found


def _has_option_more(one: Reading, two: Reading) -> bool:
    """Return whether a text has one option more, and all other words in the same order as the other."""
    if len(one.words) <= len(two.words) or not (" -" in one.raw or " +" in one.raw):
        return False
    return any(
        _LETTER.match(option) and one.words == _inserted(two.words, option.strip("-+").lower(), one.words)
        for option in _OPTION.findall(one.raw)
    )


def _inserted(words: list[str], option: str, longer: list[str]) -> list[str]:
    place = longer.index(option) if option in longer else 0
    return [*words[:place], option, *words[place:]]


def _operations_differ(one: str, two: str) -> bool:
    """Return whether two numbers are taken together by other operations, or are a ratio the other way round."""
    first, second = _operations(with_operators(one)), _operations(with_operators(two))
    for operands in first.keys() & second.keys():
        signs = first[operands] | second[operands]
        if first[operands].isdisjoint(second[operands]) and not signs <= _DASH_OR_SLASH:
            return True
    if ":" not in one or ":" not in two:
        return False
    ratios, others = set(_RATIO.findall(one)), set(_RATIO.findall(two))
    return any((after, before) in others for before, after in ratios - others if before != after)


def _operations(text: str) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for before, sign, after in _OPERANDS.findall(text.translate(ASCII_SIGNS)):
        found.setdefault((before, after), set()).add({"x": "*", "**": "^"}.get(sign, sign))
    return found


def operators_differ(query: Reading, question: Reading) -> bool:
    """Return whether two texts have other operators. Symmetric."""
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
    folded = with_operators(folded)
    found = [(smiley, True) for smiley in _EMOTICON.findall(folded)]
    chunks = _EMOTICON.sub("", folded).translate(ASCII_SIGNS).replace("<>", "!=").split()
    for place, chunk in enumerate(chunks):
        if "://" in chunk or chunk.startswith("www."):
            continue
        trimmed = chunk.strip(_OUTER) or ("()" if "()" in chunk else ";" if chunk == ";" else "")
        if not any(map(str.isalnum, trimmed)):
            found += _standing(trimmed, chunks[place - 1 : place], chunks[place + 1 : place + 2])
        elif pair := _LETTER_PAIR.match(trimmed):
            found.append((pair[2], pair[2] in ":*"))
        else:
            found += [(run, True) for run in _INNER.findall(trimmed)]
            if trimmed[0] in "<>" and len(trimmed) > 1:
                found.append((trimmed[0], True))
    if not _GREEK_WORD.search(folded):
        found += [(letter, True) for letter in _GREEK.findall(folded)]
    return found


def _is_typed(before: list[str], after: list[str]) -> bool:
    """Return whether an ampersand stands for itself between the words beside it, and joins no two words."""
    if not _BEFORE_OPERATOR.isdisjoint(before):
        return True
    return not _TYPING.isdisjoint(before) and not _BEHIND_OPERATOR.isdisjoint(after)


def _standing(run: str, before: list[str], after: list[str]) -> list[tuple[str, bool]]:
    """Return a run of symbols between spaces: an operator between operands, or else by its characters."""
    if not run or (run == "&" and not _is_typed(before, after)):
        return []
    if not after:
        run = run.rstrip("?!.")
        return [(run, True)] if run and _HARD.search(run) else []
    if _HARD.search(run) or run in _OF_CODE:
        return [(run, True)]
    operands = bool(before) and all(len(side) == 1 or side[0].isdigit() for side in (before[0], after[0]))
    if operands and len(run) == 1 and run in "-/":
        return [(run, True)]
    if run in "?!" and (not before or before[0] not in _BEFORE_OPERATOR):
        return []
    return [(run, False)] if after[0][0].islower() else []
