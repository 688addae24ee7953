"""Known answers as a cache of LangChain's language models.

prompt -> AnswerCache.lookup -> Searcher.answer -> the known answer, or None: the model is asked
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.outputs import Generation

from model.search.searcher import Searcher
from qpr.adapters.known_answers import checked_searcher, known_answer
from qpr.adapters.prompts import question_of


class AnswerCache(BaseCache):
    """A cache that answers what an index answers and remembers nothing.

    A conversation is answered only while it has a single message of a person: a later one can depend on those before.
    Parts of that message are joined if all of them are text; with another part, such as an image, it is not answered.
    Messages of the system are not compared, so give the cache to a model that answers people, not to one that
    translates or classifies their questions.

    Args:
        searcher: decides which questions are answered.
        filters: a value of each column that its index varies by, for all questions; a value without questions has no
            answers.

    Raises:
        UsageError: ``searcher`` is none, such as the URL of an index.
    """

    def __init__(self, searcher: Searcher, filters: Mapping[str, str] | None = None) -> None:
        self._searcher, self._filters = checked_searcher(searcher), filters

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:  # noqa: ARG002  # of LangChain
        """Return the known answer to a prompt, or None."""
        question = question_of(prompt)
        answer = None if question is None else known_answer(self._searcher, question, self._filters)
        return None if answer is None else [Generation(text=answer.text)]

    def update(self, prompt: str, llm_string: str, return_val: RETURN_VAL_TYPE) -> None:
        """Do nothing: an answer of a model has no certificate."""

    def clear(self, **kwargs: Any) -> None:
        """Do nothing: the index stays."""
