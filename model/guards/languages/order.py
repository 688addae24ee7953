"""The order of arguments in other languages than English: "von Bonn nach Ulm" and "von Ulm nach Bonn".

two readings, language -> conflict

Two parts have exchanged their places, all other words stand where they stood, and a word stands between the parts by
which they cannot change places: no "and". Where cases show the roles of words, as in Russian, one of the parts has to
have another ending.
"""

from __future__ import annotations

import re
from typing import Final

from model.guards.languages.language import Language
from model.guards.reading import RUN, Reading, plain

_MARKED: Final = re.compile(r"\b(?:[éè]|où)\b")
"""Words that are "and" and "or" without their marks: "is" of Portuguese and Italian, and "where" of French."""
_BEGINNING: Final = 4
"""Letters by which two forms of a word are one."""
_MOST_PARTS: Final = 4
"""Longest parts from the first to the last word that differs."""


def parts_are_exchanged(query: Reading, question: Reading, language: Language) -> bool:
    """Return whether two parts of a text have exchanged their places in the other one. Symmetric."""
    all_words = RUN.findall(plain(_MARKED.sub(" ", query.folded))) if _MARKED.search(query.folded) else query.runs
    if not language.symmetric.isdisjoint(all_words) and language.sequence.isdisjoint(all_words):
        return False
    if _writer_changes_sides(query, question, language):
        return True
    if _sides_are_exchanged(query, question, language) or _nouns_are_exchanged(query, question, language):
        return True
    one, two = _words(query, language), _words(question, language)
    first, second = list(map(language.stem, one)), list(map(language.stem, two))
    if len(first) != len(second) or first == second or sorted(first) != sorted(second):
        return False
    differing = [place for place, (left, right) in enumerate(zip(first, second, strict=True)) if left != right]
    start, end = differing[0], differing[-1] + 1
    if end - start > _MOST_PARTS * language.longest_part:
        return False
    same_forms = language.free_order and (query.forms or sorted(one)) == (question.forms or sorted(two))
    if query.forms and first[end : end + 1] and first[end] in {*first[start:end]} - language.cases:
        same_forms = False  # adjectives of two nouns that are the same word
    has_case = end < len(one) and one[end] in language.cases
    if has_case and not same_forms and _are_neighbors(first[start:end], second[start:end], language):
        return True
    return _is_exchange(one[start:end], first[start:end], second[start:end], language, same_forms=same_forms)


def moves_object(query: Reading, question: Reading, language: Language) -> bool:
    """Return whether one text has an object before its verb that a pronoun repeats: "la carta la blocca la banca"."""
    return bool(language.fronted.search(query.plain)) != bool(language.fronted.search(question.plain))


def _writer_changes_sides(query: Reading, question: Reading, language: Language) -> bool:
    """Return whether the writer did something in one text that somebody did to the writer in the other."""
    one, two = query.plain, question.plain
    acts = language.acts.search(one) is not None, language.acts.search(two) is not None
    if acts[0] == acts[1]:
        return False
    acting, other = (one, two) if acts[0] else (two, one)
    if language.acted_on.search(acting) or not language.acted_on.search(other):
        return False
    content, same = (
        sorted(language.stem(word) for word in RUN.findall(text) if word not in language.functions)
        for text in (acting, other)
    )
    return content == same and len(content) > 1


def _sides_are_exchanged(query: Reading, question: Reading, language: Language) -> bool:
    """Return whether the words before and after "before", "than" or "then" are those after and before it in the other.

    Words are compared by their first letters, as verbs change their forms: "kündigen, bevor ich abschließe".
    """
    sides = []
    for text in (query.plain, question.plain):
        words = list(language.sides.finditer(text))
        if len(words) != 1:
            return False
        before, after = (
            {word[:_BEGINNING] for word in RUN.findall(part) if word not in language.functions}
            for part in (text[: words[0].start()], text[words[0].end() :])
        )
        sides.append(([word[:_BEGINNING] for word in words[0][0].split()], before, after))
    (one, before_one, after_one), (two, before_two, after_two) = sides
    if one != two or not (after_one and after_two) or after_one & after_two:
        return False
    if not (after_one <= before_two and after_two <= before_one):
        return False
    return before_one - after_two == before_two - after_one  # "A is cheaper than B" is "B is dearer than A"


def _nouns_are_exchanged(query: Reading, question: Reading, language: Language) -> bool:
    """Return whether two nouns with articles, and without a preposition, have exchanged their places and roles.

    Where cases show the roles, each has another article in the other text: "die Bank dem Kunden", "der Kunde der Bank".
    Else they stand one behind the other and behind the verb: "kan de huurder de verhuurder", not "moet ik de buur de
    sleutel".
    """
    articles = language.articles | language.behind_prepositions
    if sum(word not in articles for word in query.runs) != sum(word not in articles for word in question.runs):
        return False
    first, second = _nouns(query, language), _nouns(question, language)
    stems, others = [stem for stem, _ in first], [stem for stem, _ in second]
    if sorted(stems) != sorted(others):
        return False
    differing = [place for place, (one, two) in enumerate(zip(stems, others, strict=True)) if one != two]
    if len(differing) != 2:
        return False
    left, right = differing
    written = [(first[left][1], second[right][1]), (first[right][1], second[left][1])]
    if not all(map(all, written)):
        return False
    if language.free_order:
        return all(one != two for one, two in written)
    return right == left + 1 and left > 0 and stems[left - 1] in map(language.stem, language.polar)


def _nouns(reading: Reading, language: Language) -> list[tuple[str, str]]:
    """Return the stems of all words that are no articles, each with its article, empty behind a preposition."""
    articles = language.articles | language.behind_prepositions
    prepositions = language.prepositions - articles
    words = reading.runs
    found = []
    for place, word in enumerate(words):
        if word in articles:
            continue
        article = words[place - 1] if place and words[place - 1] in articles else ""
        directed = place > 1 and words[place - 2] in prepositions
        found.append((language.stem(word), "" if directed else article))
    return found


def _words(reading: Reading, language: Language) -> list[str]:
    """Return the words without articles, also without those in "zum" and "del"."""
    words: list[str] = []
    prepositions = language.prepositions - language.behind_prepositions
    for run in reading.runs:
        word = language.contractions.get(run, run)
        behind = bool(words) and words[-1] in prepositions
        if word not in language.articles and not (behind and word in language.behind_prepositions):
            words.append(word)
    return words


def _are_neighbors(stems: list[str], others: list[str], language: Language) -> bool:
    """Return whether two parts have exchanged their places before a word that shows the role of the last one."""
    if not language.cases.isdisjoint(stems):
        return False
    return any(stems[left:] + stems[:left] == others for left in range(1, len(stems)))


def _is_exchange(
    words: list[str], stems: list[str], others: list[str], language: Language, *, same_forms: bool
) -> bool:
    """Return whether two parts have exchanged their places around the words between them.

    Args:
        words: of one text, from the first to the last that differs.
        stems: of these.
        others: the same stems in another order.
        language: of both.
        same_forms: in a language whose cases show the roles, all words have the same endings in both texts. Then only
            a preposition that stayed behind shows an exchange.
    """
    for left in range(1, min(language.longest_part, len(words) - 2) + 1):
        for right in range(1, min(language.longest_part, len(words) - left - 1) + 1):
            end = len(words) - right
            if stems[end:] + stems[left:end] + stems[:left] != others:
                continue
            between = words[left:end]
            if not language.sequence.isdisjoint(between):
                return True
            moved = not {words[0], words[end]}.isdisjoint(language.prepositions | language.openers)
            moved |= not language.cases.isdisjoint((words[left - 1], words[-1]))
            directed = between[-1] in language.prepositions
            shown = directed or bool(language.cases)
            moved |= not shown and any(map(language.functions.issuperset, (words[:left], words[end:])))
            stays = directed or not same_forms
            return stays and not moved and not language.conjunctions.issuperset(between)
    return False
