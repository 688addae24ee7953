r"""Words of a question's key: with the symbols that belong to them, in scripts with and without spaces.

key -> words -> words in order; key -> words_v1 -> those of version 1

A key in ASCII without `SYMBOLS` is cut into runs of letters, digits and underscores. All others are folded further
than a key is (`_folded`) and cut by one regular expression. ``words(word) == [word]`` for every word.
"""

from __future__ import annotations

import functools
import itertools
import re
from typing import Final

from schemas.characters import LAST_OF_PLANE_0, characters_matching, characters_of, decimal_digits

VERSION: Final = 2
"""Version of these words, stored with models that learned them; version 1 is `words_v1`."""

SYMBOLS = r"[0-9A-Za-z_][#+]|[$%]|[0-9][.,][0-9]|(?:^|[^0-9A-Za-z_])[-.][0-9]"
"""In ASCII, words can only differ from runs of letters, digits and underscores where this occurs."""

LONGEST_REMEMBERED: Final = 64
"""Characters of a word up to which caches keep it; a hundred thousand of 2,000 take 260 MB, and occur once."""

_IN_SYMBOLS = re.compile(r"[0-9#+$%]")
"""A character that every match of `SYMBOLS` contains: a search for it takes a tenth of the time."""

_MAYBE_SYMBOLS = re.compile(r"[#+$%]|[-.,][0-9]")
"""A part of every match of `SYMBOLS`. One question of Quora in seven has a digit or symbol, one in thirty this too."""

_LATIN = re.compile(r"[\x20-\x7e\xdf-\xf6\xf8-\u017e\u2010-\u2015\u2018-\u201f]*")
_LATIN_RUN = re.compile(r"[0-9A-Za-z_\xdf-\xf6\xf8-\u017e]+")
"""Letters of Western and Central Europe, dashes and quotes: without symbols cut ten times as fast as general text."""

_HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RARE_HAN = r"\U00020000-\U000323af"
_HIRAGANA = r"\u3041-\u3096\u309d-\u309f"
_KATAKANA = r"\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = r"\uac00-\ud7a3"
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
"""Scripts of South East Asia without spaces between words (Unicode's line break class SA): Thai, Lao, Burmese, Khmer,
Tai Le, New Tai Lue, Tai Tham, Tai Viet."""
_STACKING = r"\u17d2\u1039\u1a60"
"""Signs that put the next consonant below the one before, so that both are one grapheme."""

_CLOSING = r"\])}'\"%$-"
"""After these, as after a character of a word, a hyphen is no sign."""

_ASCII_RUNS = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)) + bytes(128)
"""Spaces for all characters of ASCII that are in no word: translating and splitting takes half the time of `re`."""
_ASCII_RUNS_OF_TEXT = _ASCII_RUNS.translate(bytes(range(65)) + bytes(range(97, 123)) + bytes(range(91, 256)))
"""The same for a text that is not folded: capital letters become small."""
_ASCII_SYMBOLS = re.compile(SYMBOLS)
_ASCII_WORD_V1 = re.compile(r"\w+", re.ASCII)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_DECIMAL_COMMA = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d{1,3}(?![\d,])")
_PERSIAN = re.compile("[پچژگکی]")
_DOTTED_I = re.compile("i\u0307+")
_PREFIX = re.compile("(?<!\\S)(ن?مي) (?=[\u0621-\u06d3])")
_SUFFIX = re.compile("(?<=[\u0621-\u06d3]) (?=(?:ها(?:يي|ي|يم|يت|يش|يمان|يتان|يشان)?|تر(?:ين)?)(?!\\w))")
_ARABIC_LETTERS = {
    **dict.fromkeys("أإآٱ", "ا"), "ؤ": "و", "ئ": "ي", "ى": "ي", "ی": "ي", "ک": "ك",
    "ة": "ه", "ۀ": "ه", "ہ": "ه", "ۃ": "ه", "٫": ".", "٬": ",", "٪": "%", "\u2212": "-", "\u0640": None,
}  # fmt: skip
_DROPPED = (
    range(0x610, 0x61B), range(0x64B, 0x660), (0x670,), range(0x6D6, 0x6DD), range(0x6DF, 0x6E5), (0x6E7, 0x6E8),
    range(0x6EA, 0x6EE), range(0x8D3, 0x8E2), range(0x8E3, 0x900),  # vowel marks of Arabic
    range(0x180B, 0x180E), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0),  # variation selectors
)  # fmt: skip


def words(text_key: str) -> list[str]:
    """Return the words of a key in order, repeats included.

    - A run of letters, marks, digits and underscores, with trailing ``+``, ``++`` or ``#``: ``c++``, ``c#``, ``18+``.
    - A number with its sign, currency, decimal places and percent sign: ``-5``, ``$100`` (also for ``100 $``),
      ``3.14``, ``100%`` (also for ``100 %``). Commas between groups of three digits are left out: ``1,000`` is
      ``1000``. A hyphen is no sign after a letter, digit, bracket or quote, nor after a digit or bracket and a space.
    - A Han, hiragana or Hangul character; a run of katakana.
    - In `_UNSPACED` scripts each pair of neighbouring graphemes, or a single one.

    Decimal digits become ASCII; Arabic and Persian words lose vowel marks and variants of letters, and Persian affixes
    are joined to their word; Turkish loses the dot that folding leaves above i.
    """
    if text_key.isascii():
        if not (_IN_SYMBOLS.search(text_key) and _ASCII_SYMBOLS.search(text_key)):
            return text_key.encode().translate(_ASCII_RUNS).decode().split()
    elif _LATIN.fullmatch(text_key) and not _MAYBE_SYMBOLS.search(text_key):
        return _LATIN_RUN.findall(text_key)
    else:
        text_key = _folded(text_key)
    pattern = _ascii_word() if text_key.isascii() else _word()
    result: list[str] = []
    for word, sign, currency, number, unit, run in pattern.findall(text_key):
        if word:
            result.append(word)
        elif number:
            result += _amounts(sign, currency.strip(), number, unit.strip())
        else:
            graphemes = _grapheme().findall(run)
            result += map("".join, itertools.pairwise(graphemes)) if len(graphemes) > 1 else graphemes
    return result


def plain_words(text: str) -> list[str] | None:
    """Return the words of a text that is not normalized, in a third of the time; None where they need its key.

    In ASCII without `SYMBOLS`, and without underscores, which a key loses at its ends, the words do not depend on what
    `schemas.text.key` makes of a text.
    """
    if not text.isascii() or "_" in text or (_IN_SYMBOLS.search(text) and _MAYBE_SYMBOLS.search(text)):
        return None
    return text.encode().translate(_ASCII_RUNS_OF_TEXT).decode().split()


def _amounts(sign: str, currency: str, number: str, unit: str) -> list[str]:
    """Return a number with its symbols, or the numbers of a list without spaces."""
    if number.startswith("."):
        number = f"0{number}"
    if unit not in "%+":
        currency, unit = currency or unit, ""
    if "," in number and _THOUSANDS.match(number):
        number = number.replace(",", "")
    if "," not in number or _DECIMAL_COMMA.match(number):
        return [sign + currency + number + unit]
    first, *others, last = number.split(",")
    return [sign + currency + first, *others, last + unit]


def _folded(text_key: str) -> str:
    """Return a key with the variants of letters and digits evened out that are no variants of the question's id."""
    text = text_key.translate(_variants()) if _variant().search(text_key) else text_key
    text = _DOTTED_I.sub("i", text) if "i\u0307" in text else text
    if _PERSIAN.search(text_key):
        text = _PREFIX.sub(r"\1", _SUFFIX.sub("", text))
    return text


@functools.cache
def _variants() -> dict[int, str | None]:
    dropped = dict.fromkeys(itertools.chain(*_DROPPED))
    return {**decimal_digits(), **str.maketrans(_ARABIC_LETTERS), **dropped}


@functools.cache
def _variant() -> re.Pattern[str]:
    low = "".join(f"\\u{code:04x}" for code in sorted(_variants()) if code <= LAST_OF_PLANE_0)
    return re.compile(f"[{low}]|[\U00010000-\U0010ffff]")


@functools.cache
def _marks() -> str:
    return f"[{characters_of('M', last=LAST_OF_PLANE_0)}]*"


def _currencies() -> str:
    return characters_of("Sc", last=LAST_OF_PLANE_0)


@functools.cache
def _grapheme() -> re.Pattern[str]:
    base = rf"(?=\w)[{_UNSPACED}]{_marks()}"
    return re.compile(rf"{base}(?:(?<=[{_STACKING}]){base})*")


@functools.cache
def _ascii_word() -> re.Pattern[str]:
    return re.compile(_words_and_numbers(r"\w+", "", rf"[\w{_CLOSING}]", "$") + "|((?!))", re.ASCII)


@functools.cache
def _word() -> re.Pattern[str]:
    alone = f"{_HAN}{_HIRAGANA}{_KATAKANA}{_HANGUL}{_UNSPACED}{_RARE_HAN}"
    letter = rf"(?![{alone}])[\w{characters_of('M')}]"
    first = characters_matching(letter, last=LAST_OF_PLANE_0)
    last = characters_matching(letter, first=LAST_OF_PLANE_0 + 1)
    others = "|".join(
        [
            f"[{_HAN}]{_marks()}",
            f"[{_RARE_HAN}]{_marks()}",
            rf"[{_HIRAGANA}]{_marks()}\u30fc*",
            f"(?:[{_KATAKANA}]{_marks()})+",
            f"[{_HANGUL}]{_marks()}",
        ]
    )
    letters = f"(?:[{first}]+|[{last}]+)+"  # possessive groups match wrongly before Python 3.11.5
    numbers = _words_and_numbers(letters, f"|{others}", rf"[{first}{_CLOSING}]", _currencies())
    return re.compile(rf"{numbers}|((?:{_grapheme().pattern})+)")


def _words_and_numbers(letters: str, others: str, before_hyphen: str, currencies: str) -> str:
    """Return the expression of a word, or of sign, currency, digits and unit of a number.

    Args:
        letters: expression of a run of the characters of a word.
        others: alternatives to a word of these.
        before_hyphen: class of the characters after which a hyphen is no sign.
        currencies: inside of the class of currency signs.
    """
    of_word, of_number = (rf"{letters}(?:(?<=[0-9])[{separators}](?=[0-9]){letters})*" for separators in (".", ".,"))
    return (
        rf"((?=\w)(?![0-9]){of_word}(?:\+\+(?![\w+])|\+\+(?=[0-9])|\+(?![\w+])|#(?![\w#]))?{others})"
        rf"|((?:(?<!{before_hyphen})(?<![0-9)\]}}] )-(?=[{currencies}]?\.?[0-9]))?)"
        rf"((?:[{currencies}] ?(?=\.?[0-9]))?)"
        rf"((?<![\w.])\.[0-9]+(?!\w)|(?=[0-9]){of_number})"
        rf"((?:%(?![0-9])| %(?! ?[0-9])|\+(?![\w+-])| ?[{currencies}](?! ?\.?[0-9]))?)"
    )


def words_v1(text_key: str) -> list[str]:
    """Return the words of version 1 of a key, for models and rerankers that were made with them.

    Letters, marks, digits and underscores, and each kana and Han character alone; the reasons for version 2 are in
    docs/decisions/0041-words-carry-symbols.md.
    """
    return (_ASCII_WORD_V1 if text_key.isascii() else _word_v1()).findall(text_key)


@functools.cache
def _word_v1() -> re.Pattern[str]:
    alone = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
    return re.compile(rf"[{alone}]|(?:(?![{alone}])[\w{characters_of('M')}])+")
