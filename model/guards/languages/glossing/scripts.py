"""The language of two texts by their script, Turkish by its words and endings.

two readings -> language_of -> name of a language with glosses, or none
"""

from __future__ import annotations

import functools
import re
from typing import Final

from model.guards.languages.glossing import turkish
from model.guards.languages.glossing.lists import lists_of
from model.guards.languages.glossing.plain import PLAIN
from model.guards.languages.recognition import count_of_typical_words
from model.guards.reading import LETTERS, Reading

_DISTANT: Final = re.compile(r"[\u0600-\u30ff\u3400-\u9fff]")
_KANA: Final = re.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_SCRIPTS: Final[dict[str, re.Pattern[str]]] = {
    "arabic": re.compile(r"[\u0620-\u064a]"),
    "hindi": re.compile(r"[\u0900-\u0963]"),
    "chinese": re.compile(r"[\u3041-\u30fa\u3400-\u9fff]"),
}
_JAPANESE: Final = re.compile("[込円駅払売図価読続権険発録帰気毎変伝仏応検済経総歴収営験県広拠挙栄戻働薬単転軽遅]")
"""Characters that Japanese has in another form than Chinese."""
_OTHER_ARABIC: Final = re.compile("[پچژگکیٹڈڑںےہھۀێۆە]")
"""Letters of Persian, Urdu and Kurdish that Arabic lacks."""
_OTHER_TURKIC: Final = "ə"
"""Letter of Azerbaijani, whose words Turkish has in other meanings: "kartla ödəniş etmək olmaz?"."""
_LETTER: Final = re.compile(r"[ığş]|\w{3}'(?:n?[dt][ae]n?|[yn]?[aeıiuü]|n?[ıiuü]n|y?l[ae])$")
"""A letter that other languages lack, or a case behind the apostrophe of a name."""
_LATIN_WORD: Final = re.compile(r"[a-z]+")


def language_of(one: Reading, two: Reading) -> str | None:
    """Return the language of both texts together, None for those without glosses. Symmetric."""
    if one.is_english and two.is_english:
        return None
    if not (_DISTANT.search(one.folded) or _DISTANT.search(two.folded)):
        return _turkish(one.vocabulary | two.vocabulary)
    return _by_script(one, two)


def _by_script(one: Reading, two: Reading) -> str | None:
    text = f"{one.folded} {two.folded}"
    counts = {name: len(script.findall(text)) for name, script in _SCRIPTS.items()}
    name, count = max(counts.items(), key=lambda item: item[1])
    if count <= len(_LATIN_WORD.findall(text)) or one.is_english or two.is_english:
        return None
    if name == "chinese":
        return "japanese" if _KANA.search(text) or _JAPANESE.search(text) else "chinese"
    if name == "arabic" and _OTHER_ARABIC.search(text):
        return None
    words = LETTERS.findall(PLAIN[name](text))
    return name if lists_of(name).foreign.isdisjoint(words) else None


def _turkish(vocabulary: frozenset[str]) -> str | None:
    """Return whether more words are Turkish than English or of one of the other languages."""
    if any(_OTHER_TURKIC in word for word in vocabulary):
        return None
    found = {word: _plain_and_letter(word) for word in vocabulary}
    words = frozenset(word for word, _ in found.values())
    counted = len(words & _typical_of_turkish()) + sum(map(turkish.has_ending, words))
    counted += sum(has_letter for _, has_letter in found.values())
    return "turkish" if counted and counted > count_of_typical_words(words) else None


@functools.lru_cache(maxsize=4_096)
def _plain_and_letter(word: str) -> tuple[str, bool]:
    """Return the plain form of a word, and whether it has a letter or ending that other languages lack."""
    return PLAIN["turkish"](word), _LETTER.search(word) is not None


@functools.cache
def _typical_of_turkish() -> frozenset[str]:
    lists = lists_of("turkish")
    return (lists.words | lists.language.functions | lists.numbers.keys()) - lists.foreign


def is_spelled_in(spelling: str, name: str) -> bool:
    """Return whether a name is spelled in the script of a language with glosses."""
    if name == "turkish":
        return _DISTANT.search(spelling) is None
    return spelling.isascii() or _SCRIPTS["chinese" if name == "japanese" else name].search(spelling) is not None
