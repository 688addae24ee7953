"""Kinds of answers, by their text: some belong to one question, others are shared by chance.

answer texts -> kinds_of -> one name a text
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from schemas.text_arrays import beginnings

Kind = Literal["sentence", "label", "yes/no", "number", "date", "id", "entity"]
"""``sentence`` is a whole statement or more, ``label`` the name of an intent such as ``card_arrival`` or
``faq/card_arrival``, ``id`` a code of letters and digits, and ``entity`` any other short text, such as a name."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

BY_TEXT: Final[tuple[Kind, ...]] = ("sentence", "label")
"""Kinds of answers that are written for one intent: help articles, and names such as ``card_arrival``."""

BY_EVIDENCE: Final[tuple[Kind, ...]] = ("entity", "id")
"""Kinds of answers that are intents only by the evidence of their questions."""

OF_FACTS: Final[tuple[Kind, ...]] = ("yes/no", "number", "date")
"""Kinds of answers that are never intents."""

_OTHER: Final = r"[^\p{L}\p{M}\p{N}_]"
"""No part of a word: in the expressions of Arrow every letter but those of ASCII is a \\W."""
_SIGNS: Final = rf"{_OTHER}*"
_WORD: Final = r"[\p{L}\p{M}]+"
_YES_OR_NO: Final = (
    "yes|no|true|false|maybe|ja|nein|oui|non|sí|si|sim|não|nee|nej|nei|tak|nie|да|нет|так|ні|ναι|όχι|evet|hayır"
    "|نعم|لا|כן|לא|हाँ|हां|नहीं|haan?|nahin?|ใช่|ไม่ใช่|có|không|ya|tidak|是的?|不是|否|はい|いいえ|네|예|아니[오요]"
)
"""Followed by at most two words, as in "Yes, of course.": they do not show which question was answered either."""
_MONTHS: Final = (
    "jan(uary|uar|vier)?|feb(ruary|ruar)?|mar(ch|s|zo|ço)?|märz|apr(il|ile)?|ma[iy]o?|maggio|june?|juni|jul[iy]?|juin"
    "|juillet|juni?o|juli?o|junho|julho|giugno|luglio|aug(ust)?|août|agosto|sept?(ember|embre)?|o[ck]t(ober|obre)?"
    "|nov(ember|embre)?|de[cz](ember|embro)?|janvier|février|avril|décembre|enero|febrero|abril|septiembre|octubre"
    "|noviembre|diciembre|janeiro|fevereiro|maio|setembro|outubro|novembro|gennaio|febbraio|settembre|ottobre|dicembre"
    "|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря"
)
"""Names of the months in English, German, French, Spanish, Portuguese, Italian and Russian."""
_OF: Final = rf"{_OTHER}{{1,3}}((of|de){_OTHER})?"
_DAY: Final = r"[\p{Nd}]{1,4}(st|nd|rd|th|er|º)?"
_DATE: Final = rf"({_DAY}{_OF}({_MONTHS})|({_MONTHS}){_OF}{_DAY})"
"""A month beside a number; "You may return it within 30 days." and "Decker 2010" have none."""
_ENDS: Final = "。！？။។"
"""Ends of sentences in scripts without spaces between words."""
_VERB_ENDS: Final = "です|ます|でした|ました|ません|ください|니다|세요"
"""Ends of polite sentences in Japanese and Korean, which chats write without a full stop."""
_SENTENCE_END: Final = rf"[.!?…।؟۔።{_ENDS}]{_SIGNS}$"
_PATTERNS: Final[tuple[tuple[Kind, str], ...]] = (
    ("yes/no", rf"(?i)^{_SIGNS}({_YES_OR_NO})(\s*[,.!;،-]\s*\S+(\s+\S+)?)?{_SIGNS}$"),
    ("label", rf"^([\p{{L}}\p{{M}}_]+[/:])?{_WORD}(_[\p{{L}}\p{{M}}\p{{Nd}}]+)+{_SIGNS}$"),
    ("date", rf"(?i)^(\S+\s+){{0,2}}{_SIGNS}{_DATE}({_OTHER}\S*(\s+\S+){{0,3}})?$"),
    ("number", rf"^{_SIGNS}[\p{{Nd}}][^\p{{L}}\p{{M}}_]*({_WORD}{_SIGNS}){{0,2}}$"),
    ("id", r"^[^\s\p{Lo}]*[\p{Nd}][^\s\p{Lo}]*$"),
    (
        "sentence",
        rf"(?s)^\s*(\S+\s+){{9,}}\S|^\s*(\S+\s+){{3,}}\S*{_SENTENCE_END}|^.{{12,}}[{_ENDS}]{_SIGNS}$"
        rf"|^.{{8,}}({_VERB_ENDS}){_SIGNS}$",
    ),
)
_WORD_START: Final = r"\s[^\s\p{L}\d]*[\p{L}]"
_LOWERCASE_START: Final = r"\s[^\s\p{L}\d]*[\p{Ll}\p{Lo}]"
MIN_LOWERCASE: Final = 0.25
MIN_LOWERCASE_WITHOUT_END: Final = 0.5
"""Minimum share of the words of a sentence that start in lower case, with and without a full stop or the like; fewer do
in a title or the name of a company. Of the words of German sentences about half start in upper case."""

_EXAMINED: Final = 400
"""Number of characters of an answer that are examined."""

_CLASSES_IN_ASCII: Final = {"Ll": "a-z", "Lo": "", "L": "A-Za-z", "M": "", "Nd": "0-9", "N": "0-9"}


@dataclasses.dataclass(frozen=True)
class _Patterns:
    """Patterns of the kinds, and those that count the words of a text and find its end."""

    kinds: tuple[tuple[Kind, str], ...]
    lowercase_start: str
    word_start: str
    sentence_end: str

    def in_ascii(self) -> _Patterns:
        """Return patterns with the same matches in ASCII texts; Arrow compiles them in a tenth of the time."""
        kinds = tuple((kind, _in_ascii(pattern)) for kind, pattern in self.kinds)
        return _Patterns(
            kinds, _in_ascii(self.lowercase_start), _in_ascii(self.word_start), _in_ascii(self.sentence_end)
        )


def _in_ascii(pattern: str) -> str:
    """Return a pattern with the ASCII characters of each Unicode class, all of which stand in brackets."""
    return re.sub(r"\\p\{(\w+)\}", lambda match: _CLASSES_IN_ASCII[match[1]], pattern)


_UNICODE: Final = _Patterns(_PATTERNS, _LOWERCASE_START, _WORD_START, _SENTENCE_END)
_ASCII: Final = _UNICODE.in_ascii()


def kinds_of(answers: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return (R,) int64 indexes in `KINDS` of the answers' texts; a null is an entity."""
    texts = pc.fill_null(beginnings(answers, _EXAMINED), "")
    patterns = _ASCII if pc.all(pc.string_is_ascii(texts), min_count=0).as_py() else _UNICODE
    kinds = np.full(len(texts), KINDS.index("entity"))
    for kind, pattern in reversed(patterns.kinds):  # the first that matches decides
        rows = np.flatnonzero(np.asarray(pc.match_substring_regex(texts, pattern)))
        if kind == "sentence":
            rows = rows[_is_prose(texts.take(pa.array(rows)), patterns)]
        kinds[rows] = KINDS.index(kind)
    return kinds


def _is_prose(texts: pa.Array | pa.ChunkedArray, patterns: _Patterns) -> np.ndarray:
    """Return (R,) bool, whether enough words of a text start in lower case for a sentence."""
    spaced = pc.binary_join_element_wise("", texts, " ")  # the first word has a space before it too
    lower, words = (
        np.asarray(pc.count_substring_regex(spaced, pattern))
        for pattern in (patterns.lowercase_start, patterns.word_start)
    )
    has_end = np.asarray(pc.match_substring_regex(texts, patterns.sentence_end))
    is_prose: np.ndarray = lower >= np.where(has_end, MIN_LOWERCASE, MIN_LOWERCASE_WITHOUT_END) * np.maximum(words, 1)
    return is_prose
