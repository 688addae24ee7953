"""Key, words, tokens and id of a question's text, and the key of an answer.

text -> fold -> key -> words, tokens, question_id; id and text of an answer -> answer_key

These scalar functions are the definition; `schemas.text_arrays` does the same to Arrow arrays, faster.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
import unicodedata

from schemas.characters import added_characters, characters_of
from schemas.words import plain_words
from schemas.words import words as words

MEANINGFUL_PUNCTUATION = "#%&@"
"""Punctuation that stays at the end of a key because it distinguishes questions: "c#" is not "c"."""

STRAIGHT_QUOTES = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"'})
"""Table of typographic apostrophes and quotes for `str.translate`."""


def fold(text: str) -> str:
    """Return ``text`` with compatibility forms, case, quote style, invisible characters and white space evened out.

    Unicode's NFKC, then full case folding, then NFKC again since folding can denormalise (Unicode 3.13, R5), with
    format characters (category Cf: soft hyphen, zero-width space, byte-order mark) removed as there, typographic
    quotes made plain, and every run of white space turned into one space. Folding twice changes nothing.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    previous = None
    while previous != text:  # a removed format character can bring a base and its accent together
        previous = text
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = _format_characters().sub("", text).translate(STRAIGHT_QUOTES)
    return " ".join(text.split())


def normal_length(text: str) -> int:
    """Return the number of characters that NFKC makes of each character of a text, together, without making them.

    It is at least the length of the text: U+FDFA alone becomes 18. NFKC itself takes 20 times as long.
    """
    return len(text) + (0 if text.isascii() else sum(map(added_characters().get, text, itertools.repeat(0))))


def key(text: str) -> str:
    """Return the folded text without its outer punctuation; texts with equal keys are the same question.

    Empty when the text is only punctuation or white space. ``key(key(x)) == key(x)``.
    """
    folded = fold(text)
    if folded.isascii():
        return folded.strip(_ascii_outer())  # a tenth of the time of the loop
    start, end = 0, len(folded)
    while start < end and _is_outer(folded[start]):
        start += 1
    while end > start and _is_outer(folded[end - 1]):
        end -= 1
    return folded[start:end]


def tokens(text_key: str) -> list[str]:
    """Return the distinct words of a key, in order of first appearance."""
    return list(dict.fromkeys(words(text_key)))


def words_of(text: str) -> list[str]:
    """Return the words of the key of a text, repeats included."""
    plain = plain_words(text)
    return words(key(text)) if plain is None else plain


def hash64(text: str) -> int:
    """Return BLAKE2b-64 of the UTF-8 text as a signed integer: the same on every machine and in every run."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


def question_id(text: str) -> int:
    """Return the id of the question that ``text`` asks: `hash64` of its key."""
    return hash64(key(text))


def answer_key(answer_id: str | None, answer: str | None) -> str | None:
    """Return the id of an answer: that of the indexed table, else the hash of its text; None without an answer."""
    if answer_id is not None:
        return answer_id
    return None if answer is None else str(hash64(fold(answer)))


def is_outer_punctuation(character: str) -> bool:
    """Return whether `key` strips this character from both ends."""
    return unicodedata.category(character)[0] == "P" and character not in MEANINGFUL_PUNCTUATION


def _is_outer(character: str) -> bool:
    return character == " " or is_outer_punctuation(character)


@functools.cache
def _ascii_outer() -> str:
    return "".join(filter(_is_outer, map(chr, range(128))))


@functools.cache
def _format_characters() -> re.Pattern[str]:
    return re.compile(f"[{characters_of('Cf')}]")
