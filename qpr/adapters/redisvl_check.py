"""Known answers in the form of RedisVL's semantic cache.

prompt -> AnswerCheck.check -> Searcher.answer -> a list with the known answer, or an empty one
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.search.searcher import Searcher
from model.text.asked import checked_names, checked_number
from qpr.adapters.in_thread import in_thread
from qpr.adapters.known_answers import checked_searcher, known_answer
from schemas.errors import UsageError


class AnswerCheck:
    """Methods ``check`` and ``acheck`` of ``redisvl.extensions.cache.llm.SemanticCache``, without a distance.

    Args:
        searcher: decides which questions are answered.
        filters: a value of each column that its index varies by, for all questions; a value without questions has no
            answers.

    Raises:
        UsageError: ``searcher`` is none, such as the URL of an index.
    """

    def __init__(self, searcher: Searcher, filters: Mapping[str, str] | None = None) -> None:
        self._searcher, self._filters = checked_searcher(searcher), filters

    def check(
        self,
        prompt: str | None = None,
        vector: list[float] | None = None,
        num_results: int = 1,
        return_fields: list[str] | None = None,
        filter_expression: Any = None,
        distance_threshold: float | None = None,
    ) -> list[dict[str, Any]]:
        """Return at most one known answer: ``entry_id``, ``prompt``, ``response`` and ``metadata`` with the reason.

        Raises:
            UsageError: the prompt is no str, ``num_results`` is under 1, or an argument is about vectors or filters.
        """
        if vector is not None or filter_expression is not None or distance_threshold is not None:
            raise UsageError("check takes no vector, filter_expression or distance_threshold. Leave them out")
        fields = checked_names(return_fields or (), "return_fields")
        if checked_number(num_results, "num_results") < 1:
            raise UsageError(f"num_results must be at least 1, got {num_results}")
        if (answer := known_answer(self._searcher, prompt, self._filters)) is None:
            return []
        entry = {
            "entry_id": str(answer.hit.question_id),
            "prompt": answer.hit.text,
            "response": answer.text,
            "metadata": {"reason": answer.reason, "probability": answer.hit.probability},
        }
        return [{name: value for name, value in entry.items() if not fields or name in fields}]

    acheck = in_thread(check)
