"""The guard of negation: do and do not, with and without, lock and unlock, legal and illegal.

Reading -> negated or not, words with a negating prefix, content words -> conflict

It needs one text negated and the other not, with the same content words otherwise. "Not legal" is "illegal". Not
counted are "or not", "not only", "why don't we", and questions that expect a yes ("Isn't Venice expensive?"). A text
that denies by its words ("refuses", "badly", "offline") differs in content words, and is left to the confidence model.
Other languages have rules of their own (`model.guards.languages.negation`).
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final, NamedTuple

from model.guards.languages.glossing.reading import glossed
from model.guards.languages.negation import polarity_differs
from model.guards.languages.recognition import possible_languages
from model.guards.lists import listed
from model.guards.reading import Reading, stem

_CUE = re.compile(
    r"\b(?:not|never|without|cannot|nobody|nothing|nowhere|neither|nor|none"
    r"|no(?!\.? ?\d)(?! longer\b)(?![.,!?;:]|$)|no longer"
    r"|(?:do|does|did|is|are|was|were|has|have|had|would|could|should|must|need|might|ai)n'?t"
    r"|can'?t|won'?t|shan'?t)\b"
)
_CUES: Final = listed("negations") | {
    f"{verb}n{apostrophe}t" for verb in listed("verbs_of_contractions") for apostrophe in ("'", "")
}
_SAYS_NO: Final = listed("denying")
_REQUIRED: Final = frozenset(("mandatory", "must", "necessary", "need", "needed", "needs", "required"))
_OPENERS: Final = frozenset(("how", "what", "when", "where", "which", "who", "why"))
_FUNCTION: Final = listed("unchanged_by_negation")
_HARMLESS = re.compile(
    r",? or (?:\w+ ){0,2}(?:not|no|\w+n't)(?= ?[?.!,;]| ?$)"
    r"|\bnot only\b|\bwhether or not\b|\bnot just\b|\bwhy (?:don'?t|not) (?:you|we)\b|\bif not\b|\bwhy not\b(?=[?.!]|$)"
    r"|\b(?:no|nothing) (?:matter|doubt|wonder|problem)\b|\bnot to mention\b|\bsa(?:y|ying|id) \"?no\b"
)
_EXPECTS_YES = re.compile(
    r"(?:^|[.,!?;:] )(?:"
    r"(?:is|are|was|were|do|does|did|has|have|would|could)n'?t(?! (?:i|my|eat|go|be|use|tell|forget)\b)"
    r"|(?:is|are|was|were|do|does|did|would|could) (?:not|(?:it|there|this|that|these|he|she|they|you|we) not)\b)"
)
_OPEN = re.compile(r"^(?:un|non)-?(?=[a-z]{3})")
_NOT_OPEN = frozenset(map(stem, listed("no_prefix_un")))
_PREFIXES: Final = ("in", "im", "il", "ir", "dis", "de", "a", "off")
_PREFIXED: Final[dict[str, str]] = {
    stem(prefix + base): stem(base) for prefix in _PREFIXES for base in listed(f"prefix_{prefix}")
} | {
    stem(one): stem(two)
    for one, two in (
        ("disable", "enable"), ("disabled", "enabled"), ("decrypt", "encrypt"), ("decode", "encode"),
        ("discourage", "encourage"), ("detach", "attach"), ("demotivate", "motivate"), ("offline", "online"),
        ("sugarless", "sugar"), ("decline", "accept"), ("disentangle", "entangle"),
    )
}  # fmt: skip
_MOST_DIFFERING: Final = 6
"""Words of both texts together that may differ before endings and prefixes are taken off; a quick first test."""


class _Polarity(NamedTuple):
    denied: bool
    """A negation is written."""
    negated: bool
    """A negation is written and counts."""
    content: dict[str, str]
    """Content words by stem."""


def negation_differs(query: Reading, question: Reading) -> bool:
    """Return whether one text denies what the other affirms, in the same words. Symmetric."""
    query, question = glossed(query, question)
    if others := possible_languages(query, question):
        return any(polarity_differs(query, question, language) for language in others)
    if _off_and_on(query.vocabulary, question.vocabulary):
        return query.is_english and question.is_english
    differing = (query.vocabulary ^ question.vocabulary) - _FUNCTION
    if len(differing) > _MOST_DIFFERING or not (
        _has_cue(query) or _has_cue(question) or any(map(_has_prefix, differing))
    ):
        return False
    if not (query.is_english and question.is_english):
        return False
    one, two = _polarity(query), _polarity(question)
    only_one = {short: one.content[short] for short in one.content.keys() - two.content.keys()}
    only_two = {short: two.content[short] for short in two.content.keys() - one.content.keys()}
    opposites = _opposites(only_one, only_two) + _opposites(only_two, only_one)
    if len(only_one) + len(only_two) > 2 * opposites:
        return False
    if opposites:
        return (one.denied != two.denied) != (opposites % 2 == 1)
    if one.denied == two.denied or one.negated == two.negated:
        return False
    affirmed, other = (question, query) if one.negated else (query, question)
    return not _asks_for_the_same(other.vocabulary, affirmed.vocabulary)


def _off_and_on(one: Set[str], two: Set[str]) -> bool:
    """Return whether "off" stands in place of "on", in the same words otherwise; "on" may occur in both again."""
    differing = one ^ two
    return "off" in differing and differing <= {"off", "on"} and "on" in (two if "off" in one else one)


def _asks_for_the_same(denied: Set[str], affirmed: Set[str]) -> bool:
    """Return whether words deny what others deny in another way, or ask for: "Do I need a ticket?", "When is it paid?".

    The words of the other text are then "Can I enter without a ticket?" and "It was not paid".
    """
    if not (affirmed & _SAYS_NO) <= denied:
        return True
    if "without" in denied and not affirmed.isdisjoint(_REQUIRED) and denied.isdisjoint(_REQUIRED):
        return True
    return "when" in affirmed and denied.isdisjoint(_OPENERS)


def _has_cue(reading: Reading) -> bool:
    return not _CUES.isdisjoint(reading.vocabulary)


def _has_prefix(word: str) -> bool:
    return word.startswith(("un", "non")) or stem(word) in _PREFIXED


def _polarity(reading: Reading) -> _Polarity:
    text = _HARMLESS.sub("", reading.folded)
    content = {stem(word): word for word in _plain(reading.words) if word not in _FUNCTION}
    negated = bool(_CUE.search(_EXPECTS_YES.sub(" ", text)))
    return _Polarity(bool(_CUE.search(reading.folded)), negated, content)


def _plain(words: list[str]) -> list[str]:
    """Return the words without contracted negations, "non-smoking" as one word."""
    plain: list[str] = []
    for word in words:
        if plain and plain[-1] == "non":
            plain[-1] = f"non{word}"
        elif not _CUE.fullmatch(word):
            plain.append(word.partition("'")[0])
    return plain


def _opposites(words: dict[str, str], others: dict[str, str]) -> int:
    """Return the number of words whose base, without a negating prefix, is among the others."""
    return sum(_is_opposite(short, word, others) for short, word in words.items())


def _is_opposite(short: str, word: str, others: dict[str, str]) -> bool:
    if _PREFIXED.get(short) in others:
        return True
    match = _OPEN.match(word)
    return match is not None and short not in _NOT_OPEN and stem(word[match.end() :]) in others
