"""Places of verbs in English questions: behind "how to", a subject or an auxiliary, and participles behind "be".

words, place -> is_verb_here -> whether the word at the place is a verb
"""

from __future__ import annotations

from typing import Final

from model.guards.actions.verbs import is_gerund, is_participle
from model.guards.lists import listed

_SUBJECTS: Final = listed("subjects")
_OBJECTS: Final = listed("objects_before_verbs")
_BEFORE_OBJECTS: Final = listed("before_objects_and_verbs")
_AUXILIARIES: Final = listed("auxiliaries") | listed("other_words_before_verbs")
_BEFORE_TO: Final = listed("before_to_and_a_verb")
_DETERMINERS: Final = listed("determiners")
_BE: Final = listed("before_participles")
_WH: Final = listed("question_words")
_BEFORE_COMMANDS: Final = listed("before_commands")
_BEFORE_GERUND: Final = listed("before_gerunds")
_BEHIND_PARTICIPLES: Final = listed("behind_participles")
_FIRST_PLACES: Final = 4
"""Words of a question among which its auxiliary is."""
_MOSTLY_VERB: Final = 0.6
_OFTEN_VERB: Final = 0.2
"""Shares of the verb among the uses of a word from which it may stand behind a noun: "does dough rise in the fridge".
At the end of a question less is enough: "why do cats purr"."""


def is_verb_here(words: list[str], at: int, share: float) -> bool:
    """Return whether the word at a place is a verb there.

    Args:
        words: words of an English text in order.
        at: place of a word that can be a verb.
        share: share of the verb among the uses of the word, 0 to 1.
    """
    before = at - 1
    while before >= 0 and words[before].endswith("ly") and len(words[before]) > len("only"):
        before -= 1
    last = words[before] if before >= 0 else ""
    behind = words[at + 1] if at + 1 < len(words) else ""
    if is_gerund(words[at]):
        return _is_gerund_here(last, behind, share)
    if is_passive(words, at):
        return last not in _DETERMINERS and (not behind or behind in _BEHIND_PARTICIPLES or behind.endswith("ly"))
    return _is_finite(words, before, behind, share) or (last == "who" and share > 0)


def is_passive(words: list[str], at: int) -> bool:
    """Return whether a participle behind a form of "be" stands at a place."""
    return is_participle(words[at]) and not _BE.isdisjoint(words[:at])


def _is_gerund_here(last: str, behind: str, share: float) -> bool:
    if last in _BEFORE_GERUND:
        return True
    return not last and behind != "" and (behind in _DETERMINERS or share > _MOSTLY_VERB)


def _is_finite(words: list[str], before: int, behind: str, share: float) -> bool:
    if before < 0 or words[before] in _BEFORE_COMMANDS:  # "mute a contact on whatsapp"
        return behind in _DETERMINERS or (share > _MOSTLY_VERB and behind != "")
    last = words[before]
    if last == "to":
        beyond = words[before - 1] if before else ""
        return behind in _DETERMINERS or beyond in _BEFORE_TO
    if last in _SUBJECTS or (last in _OBJECTS and words[before - 1] in _BEFORE_OBJECTS):
        return True
    if last in _AUXILIARIES:  # "can rabbits" has no verb
        return before > 0 and (words[before - 1] in _SUBJECTS or words[0] not in _WH | _AUXILIARIES)
    return share >= (_MOSTLY_VERB if behind else _OFTEN_VERB) and _is_inverted(words[:before], last)


def _is_inverted(words: list[str], last: str) -> bool:
    """Return whether an auxiliary stands before a subject that is no pronoun and ends with the last word: "do cats"."""
    place = max((at for at, word in enumerate(words) if word in _AUXILIARIES), default=-1)
    return 0 <= place < _FIRST_PLACES and last not in _DETERMINERS and _SUBJECTS.isdisjoint((*words[place:], last))
