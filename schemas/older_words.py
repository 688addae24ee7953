"""The words of version 1, for models and rerankers that were made with them.

key -> words_v1 -> words

Letters, marks, digits and underscores, and each kana and Han character alone. Version 2 is `schemas.words`; the
reasons are in docs/decisions/0041-words-carry-symbols.md.
"""

from __future__ import annotations

import functools
import re

from schemas.characters import characters_of

_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_ALONE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"


def words_v1(text_key: str) -> list[str]:
    """Return the words of a key as they were before symbols and scripts without spaces counted."""
    return (_ASCII_WORD if text_key.isascii() else _unicode_word()).findall(text_key)


@functools.cache
def _unicode_word() -> re.Pattern[str]:
    return re.compile(rf"[{_ALONE}]|(?:(?![{_ALONE}])[\w{characters_of('M')}])+")
