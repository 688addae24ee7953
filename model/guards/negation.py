"""The guard of negation: do and do not, with and without, lock and unlock, add and remove, legal and illegal.

Reading -> negated or not, opposites, content words -> conflict

It needs one text negated and the other not, with the same content words otherwise, or words that are opposites
(`model.guards.opposites`). "Not legal" is "illegal". Not counted are "or not", "not only", "why don't we", tags ("can't
you?"), questions that expect a yes ("Isn't Venice expensive?"), and a complaint beside or in place of a request: "I
have no sound, how do I get it back?". A text that denies by other words ("refuses", "badly") differs in content words,
and is left to the confidence model. Other languages have rules of their own (`model.guards.languages.negation`).
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final, NamedTuple

from model.guards.languages.glossing.reading import glossed
from model.guards.languages.negation import polarity_differs
from model.guards.languages.recognition import common_languages, possible_languages
from model.guards.lists import listed
from model.guards.opposites import are_listed, may_be_opposites, take_out_opposites
from model.guards.reading import Reading, stem

_CUE = re.compile(
    r"\b(?:not|never|without|cannot|nobody|nothing|nowhere|neither|nor|none"
    r"|no(?!\.? ?\d)(?! longer\b)(?![.,!?;:]|$)|no longer"
    r"|(?:do|does|did|is|are|was|were|has|have|had|would|could|should|must|need|might|ai)n'?t"
    r"|can'?t|won'?t|shan'?t|unable|lack|lacks|lacking)\b"
)
_FREE: Final = "|".join(f"(?<={word})" for word in sorted(listed("free_of")))
_PHRASE = re.compile(rf"-free\b|(?:{_FREE}) free\b|\bfail(?:s|ed|ing)? to\b")
"""Negations of two words, which are read as "not": "gluten-free", "fails to load"."""
_CUES: Final = (
    listed("negations")
    | listed("other_negations")
    | {f"{verb}n{apostrophe}t" for verb in listed("verbs_of_contractions") for apostrophe in ("'", "")}
)
_EXCEPTION = re.compile(
    r"\b(?:all|any|anybody|anyone|anything|everybody|everyone|everything) but\b(?! (?:i|it|not|they|we|you)\b)"
    r"|\bbut (?=(?:the )?(?:first|last)\b)|\b(?:apart|aside) from\b|\bwith the exception of\b"
)
"""Words that are read as "except"."""
_IN_EXCEPTIONS: Final = frozenset(("apart", "aside", "but", "exception"))
_BESIDE_OTHERS: Final = frozenset(("else", "no", "nothing", "other"))
"""Words beside which these phrases take nothing away: "no other sport apart from running"."""
_IN_PHRASES: Final = frozenset(("free", "fail", "fails", "failed", "failing"))
_LIMITING: Final = frozenset(("but", "only"))
"""Words that add nothing to "with" and "without": "without a prescription", "with a prescription only"."""
_SAYS_NO: Final = listed("denying")
_REQUIRED: Final = frozenset(("mandatory", "must", "necessary", "need", "needed", "needs", "required"))
_OPENERS: Final = frozenset(("how", "what", "when", "where", "which", "who", "why"))
_REQUEST = r"\b(?:i|we) (?:\w+ )?(?:need|want)(?: to)?\b|\bplease\b|^(?:can|could) (?:i|we|you)\b|\bi'?d like\b"
_REQUESTS = re.compile(_REQUEST)
_WAY = re.compile(rf"\b(?:how|when|where|what (?:\w+ ){{1,5}}do)\b|{_REQUEST}")
_CONDITIONS: Final = frozenset(
    ("although", "as", "because", "if", "once", "since", "that", "though", "unless", "until")
)
_FUNCTION: Final = listed("unchanged_by_negation") | {"able"}
_UNCHANGED: Final = _FUNCTION - {"from"}
_OTHERS: Final = listed("others")
_PERSON: Final = "(?:i|you|he|she|it|we|they|there|this|that)"
_BEFORE_NO_TAG: Final = "".join(
    f"(?<!{word})" for word in ("and", "but", "how", "if", "that", "what", "when", "where", "which", "who", "why")
)
_HARMLESS = re.compile(
    rf"(?:,|{_BEFORE_NO_TAG}) (?:\w+n'?t|can'?t) {_PERSON}(?=\W*$)"
    r"|,? or (?:\w+ ){0,2}(?:not|no|\w+n't)(?= ?[?.!,;]| ?$)"
    r"|\bnot only\b|\bwhether or not\b|\bnot just\b|\bwhy (?:don'?t|not) (?:you|we)\b|\bif not\b|\bwhy not\b(?=[?.!]|$)"
    r"|\b(?:no|nothing) (?:matter|doubt|wonder|problem)\b|\bnot to mention\b|\bsa(?:y|ying|id) \"?no\b"
    r"|(?:\bnever|\bnot|n't)  ?not\b"
    r"|\b(\w+)(?:'s)?(?: and |/| or )(?:\1n'?t|\1 not|not \1)\b"
)
_EXPECTS_YES = re.compile(
    r"(?:^|[.,!?;:] )(?:"
    r"(?:is|are|was|were|do|does|did|has|have|would|could)n'?t(?! (?:my|eat|go|be|use|tell|forget)\b)"
    r"|(?:ca|wo|should|must)n?'?t (?:i|you|he|she|it|we|they|there|this|that|these|the|my|your|our)\b"
    r"|(?:is|are|was|were|do|does|did|would|could) (?:not|(?:it|there|this|that|these|he|she|they|you|we) not)\b"
    r"|(?:is|are|was|were) there no\b|can (?:it|they|you) not\b)"
)
_EXPECTS_NO = re.compile(rf", (?:is|are|was|were|do|does|did|has|have|can|could|will|would|should) {_PERSON}(?=\W*$)")
"""The end of a denial that asks: "You don't ship to Spain, do you?"."""
_CLAUSE = re.compile(r"[,;:–—]|[.!?] (?=\S)| - |\bbut\b|\b(?:so|and)\b(?= (?:how|where|what|when)\b)")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_INABILITY = re.compile(r"\b(?:can'?t|cannot|can not|couldn'?t|could not|unable|won'?t|not able|fails? to)\b")
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
        if any(polarity_differs(query, question, language) for language in others):
            return True
        if common_languages(query, question):
            return False
    differing = (query.vocabulary ^ question.vocabulary) - _UNCHANGED
    if len(differing) > _MOST_DIFFERING or not (
        _has_cue(query)
        or _has_cue(question)
        or may_be_opposites(query.vocabulary, question.vocabulary, differing)
        or not _IN_EXCEPTIONS.isdisjoint(differing)
    ):
        return False
    if not _are_english(query, question, differing):
        return False
    one, two = _polarity(query), _polarity(question)
    only_one = {short: one.content[short] for short in one.content.keys() - two.content.keys()}
    only_two = {short: two.content[short] for short in two.content.keys() - one.content.keys()}
    opposites = take_out_opposites(query.words, question.words, only_one, only_two)
    left = {*only_one.values(), *only_two.values()}
    if one.denied != two.denied and "without" in query.vocabulary ^ question.vocabulary:
        left -= _LIMITING
    if left:
        return False
    if opposites:
        return (one.denied != two.denied) != (opposites % 2 == 1)
    if one.denied == two.denied or one.negated == two.negated:
        return False
    affirmed, other = (question, query) if one.negated else (query, question)
    return not (_asks_for_the_same(other.vocabulary, affirmed.vocabulary) or _complains(other.folded, affirmed))


def _are_english(query: Reading, question: Reading, differing: Set[str]) -> bool:
    """Return whether a text has words of English, or both differ in opposites, and neither is in another language."""
    if not (query.may_be_english or question.may_be_english or are_listed(differing)):
        return False
    return all(text.is_english or _OTHERS.isdisjoint(text.vocabulary) for text in (query, question))


def _asks_for_the_same(denied: Set[str], affirmed: Set[str]) -> bool:
    """Return whether words deny what others deny in another way, or ask for: "Do I need a ticket?", "When is it paid?".

    The words of the other text are then "Can I enter without a ticket?" and "It was not paid".
    """
    if not (affirmed & _SAYS_NO) <= denied:
        return True
    if "without" in denied and not affirmed.isdisjoint(_REQUIRED) and denied.isdisjoint(_REQUIRED):
        return True
    return "when" in affirmed and denied.isdisjoint(_OPENERS)


def _complains(denied: str, affirmed: Reading) -> bool:
    """Return whether a text denies that a thing works for which another asks the way: "I can't log in, how do I?".

    The other text is one request for a way: "How do I log in?", or the words of the complaint are repeated beside it:
    "I want to leave, but I can't". "I have no ticket, how do I enter?" is not the same as
    "How do I enter with a ticket?".
    """
    clauses = _CLAUSE.split(denied)
    complaints = [clause for clause in clauses if _states(clause) and (_CUE.search(clause) or _PHRASE.search(clause))]
    others = [clause for clause in clauses if clause not in complaints]
    if not complaints or any(map(_CUE.search, others)):
        return False
    if _content(complaints) <= _content(others):
        return True
    if "with" in affirmed.vocabulary or not _WAY.search(affirmed.folded):
        return False
    if any(map(_states, _CLAUSE.split(affirmed.folded))):
        return False
    return any(map(_WAY.search, others)) or (not others and any(map(_INABILITY.search, complaints)))


def _content(clauses: list[str]) -> set[str]:
    """Return the stems of the content words of clauses."""
    words = _plain(_WORD.findall(" ".join(clauses)))
    return {stem(word) for word in words if word not in _FUNCTION}


def _states(clause: str) -> bool:
    """Return whether a clause has content and neither asks for something nor sets a condition."""
    if _REQUESTS.search(clause):
        return False
    words = re.findall(r"\w+", clause)
    return not _FUNCTION.issuperset(words) and (_OPENERS | _CONDITIONS).isdisjoint(words)


def _has_cue(reading: Reading) -> bool:
    return not _CUES.isdisjoint(reading.vocabulary)


def _polarity(reading: Reading) -> _Polarity:
    text, words = reading.folded, reading.words
    if not _IN_PHRASES.isdisjoint(reading.vocabulary):
        text = _PHRASE.sub(" not ", text)
        words = _WORD.findall(text)
    if not _IN_EXCEPTIONS.isdisjoint(reading.vocabulary) and _BESIDE_OTHERS.isdisjoint(reading.vocabulary):
        words = _WORD.findall(_EXCEPTION.sub(" except ", text)) if _EXCEPTION.search(text) else words
    content = {stem(word): word for word in _plain(words) if word not in _FUNCTION}
    if not _CUE.search(text):
        return _Polarity(denied=False, negated=False, content=content)
    counted = _EXPECTS_YES.sub(" ", _HARMLESS.sub("", text))
    return _Polarity(denied=True, negated=bool(_CUE.search(counted)) and not _EXPECTS_NO.search(text), content=content)


def _plain(words: list[str]) -> list[str]:
    """Return the words without contracted negations, "non-smoking" as one word."""
    plain: list[str] = []
    for word in words:
        if plain and plain[-1] == "non":
            plain[-1] = f"non{word}"
        elif not _CUE.fullmatch(word):
            plain.append(word.partition("'")[0])
    return plain
