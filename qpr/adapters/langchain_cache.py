"""Known answers as a cache of LangChain's language models.

prompt -> AnswerCache.lookup -> Searcher.answer -> the known answer, or None: the model is asked
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.outputs import Generation

from model.search.searcher import Searcher
from qpr.adapters.known_answers import known_answer


class AnswerCache(BaseCache):
    """A cache that answers what an index answers and remembers nothing.

    A conversation is answered only while it has a single message of a person: a later one can depend on those before.
    Messages of the system are not compared, so give the cache to a model that answers people, not to one that
    translates or classifies their questions.

    Args:
        searcher: decides which questions are answered.
        filters: a value of each column that its index varies by, for all questions; a value without questions has no
            answers.
    """

    def __init__(self, searcher: Searcher, filters: Mapping[str, str] | None = None) -> None:
        self._searcher, self._filters = searcher, filters

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:  # noqa: ARG002
        """Return the known answer to a prompt, or None."""
        question = _question(prompt)
        known = None if question is None else known_answer(self._searcher, question, self._filters)
        return None if known is None else [Generation(text=known.text)]

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Do nothing: an answer of a model has no certificate."""

    def clear(self, **kwargs: Any) -> None:
        """Do nothing: the index stays."""


def _question(prompt: str) -> str | None:
    """Return a plain prompt, or the text of the only message of a person in LangChain's JSON of messages."""
    try:
        messages: Any = json.loads(prompt)
    except (ValueError, RecursionError):
        return prompt
    if not isinstance(messages, Sequence) or not all(map(_is_message, messages)):
        return prompt
    said = [m["kwargs"] for m in messages if m["kwargs"].get("type") != "system"]
    text = said[0].get("content") if len(said) == 1 and said[0].get("type") == "human" else None
    return text if isinstance(text, str) else None


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("kwargs"), dict)
