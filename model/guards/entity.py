"""The guard of entities: the same question about another named thing.

Reading -> the words that differ, and names -> conflict

Three kinds of evidence that a word names another thing, where "cost" and "price" mean one:

- names of one class that exclude each other, in the same words or in other ones (`model.guards.entities.names`, in
  other languages `model.guards.languages.names`);
- the same words around, and capitals within the sentence on both sides (not in German, which capitalizes all nouns);
- the same words around, and two English nouns that cannot name the same thing, or two descriptions that exclude each
  other (`model.guards.entities.replacement`, `model.guards.entities.describing`).

Abbreviations, first names added or left out, and spellings that resemble each other are one name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from model.guards.entities.names import Lexicon, by_group
from model.guards.entities.replacement import LONGEST, are_english, replaces_a_thing
from model.guards.entities.spellings import SMALL, abbreviates, same_name
from model.guards.languages.glossing.reading import glossed
from model.guards.languages.language import Language
from model.guards.languages.names import may_have_names, names_of, sure_names
from model.guards.languages.recognition import common_languages, possible_languages
from model.guards.lists import listed
from model.guards.reading import Reading, without_marks

_LIKE: Final = 0.25
"""Share of common words from which names of one class compete; texts with less have different subjects."""
_LONGEST_NAME: Final = 5
_LEAST_COMMON: Final = 2

_LETTERED: Final = listed("before_and_after_letters")

Words = list[tuple[str, bool]]


def entity_differs(query: Reading, question: Reading) -> bool:
    """Return whether the texts name different things in the same place. Symmetric."""
    query, question = glossed(query, question)
    only_one, only_two = query.vocabulary - question.vocabulary, question.vocabulary - query.vocabulary
    if not (only_one and only_two):
        return False
    languages, lexicon = possible_languages(query, question), query.lexicon
    start, end = _common_ends(query.words, question.words)
    longest = max(len(query.words), len(question.words)) - start - end
    if start + end >= _LEAST_COMMON and longest <= _LONGEST_NAME:
        one, two = (words[start : len(words) - end] for words in (query.cased, question.cased))
        before, after = (query.words[start - 1] if start else ""), (query.words[-end] if end else "")
        by_capitals = _capitals_are_names(query, question, before)
        if one and two and _are_names(one, two, languages, lexicon, by_capitals, after):
            return True
        if _are_letters(one, two, before, after):
            return True
        if (
            longest <= LONGEST
            and not common_languages(query, question)
            and are_english(query, question)
            and replaces_a_thing(query, question, start, end)
        ):
            return True
    if languages:
        one_plain, two_plain = query.plain_vocabulary, question.plain_vocabulary
        only_one, only_two = only_one | (one_plain - two_plain), only_two | (two_plain - one_plain)
    if not all(may_have_names(words, languages, lexicon) for words in (only_one, only_two)):
        return False
    return query.share_of_common_words(question) >= _LIKE and _named_otherwise(query, question, languages)


def _are_letters(one: Words, two: Words, before: str, after: str) -> bool:
    """Return whether letters name things of one kind: "vitamin C" and "vitamin D", "Model 3" and "Model Y"."""
    if len(one) != 1 or len(two) != 1 or _LETTERED.isdisjoint((before, after)):
        return False
    (first, _), (second, _) = one[0], two[0]
    return all(len(word) == 1 and word.isalnum() and word.isascii() for word in (first, second))


def _capitals_are_names(query: Reading, question: Reading, before: str) -> bool:
    """Return whether a capital after a word begins a name in the language of both texts: no "de Levering" in Dutch."""
    if others := common_languages(query, question):
        later = (*query.cased[1:], *question.cased[1:])
        return all(
            language.capitals_are_names
            and before not in language.articles
            and not any(word[0].isupper() and word.casefold() in language.functions for word, _ in later)
            for language in others
        )
    return query.is_english and question.is_english


def _common_ends(first: list[str], second: list[str]) -> tuple[int, int]:
    """Return the numbers of words that both texts begin and end with, apart from the marks of letters."""
    shortest = min(len(first), len(second))
    start = 0
    while start < shortest and _is_same_word(first[start], second[start]):
        start += 1
    end = 0
    while end < shortest - start and _is_same_word(first[-1 - end], second[-1 - end]):
        end += 1
    return start, end


def _is_same_word(one: str, two: str) -> bool:
    return one == two or without_marks(one) == without_marks(two)


def _are_names(
    one: Words, two: Words, languages: Sequence[Language], lexicon: Lexicon | None, by_capitals: bool, after: str
) -> bool:
    """Return whether two differing parts of the same sentence, before a common word, are names of different things."""
    groups, others = (by_group(names_of(words, languages, lexicon)) for words in (one, two))
    common = groups.keys() & others.keys()
    if common:
        return all(groups[group].isdisjoint(others[group]) for group in common)
    if same_name(_joined(one), _joined(two)):
        return False
    if not (by_capitals and all(_capitalised(_without_preposition(words, languages)) for words in (one, two))):
        return False
    return not abbreviates(_joined(one), _joined(two), after)


def _joined(words: Words) -> str:
    return " ".join(word for word, _ in words)


def _without_preposition(words: Words, languages: Sequence[Language]) -> Words:
    """Return words without "the" or a preposition that has two forms: "ad Asti" and "a Cuneo", "w" and "we"."""
    first = words[0][0].casefold()
    is_article = first == "the" and all(word != "of" for word, _ in words)  # "the President of Peru" is no name
    short = is_article or any(_is_form(first, language.contractions.get(first, first)) for language in languages)
    return words[1:] if short and len(words) > 1 else words


def _is_form(word: str, preposition: str) -> bool:
    return len(preposition) == 1 and word in (preposition, *(preposition + vowel for vowel in "deо"))


def _capitalised(words: Words) -> bool:
    return words[0][1] and all(capital or word in SMALL for word, capital in words)


def _named_otherwise(query: Reading, question: Reading, languages: Sequence[Language]) -> bool:
    """Return whether the texts have names of one class, and none in common."""
    first, second = sure_names(query, languages), sure_names(question, languages)
    return any(first[group].isdisjoint(second[group]) for group in first.keys() & second.keys())
