"""Settings of the removal of leaked questions.

options of `qpr clusters` and `qpr quora` -> Leakage -> transform.RemoveLeakage
"""

from __future__ import annotations

from typing import Final

import pydantic

SMALLEST_JACCARD: Final = 0.8
"""Minimum of ``near_duplicate`` other than 0.

Below 0.8, questions of seven words that differ in one word, such as a name, count as near duplicates. All questions of
a template such as "where is the birthplace of …" would be compared with each other, too many pairs for a run. The value
0.8 already removes half of a held-out split."""


class Leakage(pydantic.BaseModel, frozen=True, extra="forbid", title="Splits"):
    """Similarity at which a question counts as occurring in another split."""

    near_duplicate: float = pydantic.Field(
        default=0.9,
        ge=0,
        le=1,
        description="Remove from test the near-duplicates of train, from validation those of train and test: questions "
        "whose words, or whose character 4-grams, have at least this Jaccard index. A higher value removes fewer; "
        f"1: the same words; {SMALLEST_JACCARD}: the lowest but 0; 0: only questions of train itself.",
    )

    @pydantic.field_validator("near_duplicate")
    @classmethod
    def _is_possible(cls, value: float) -> float:
        if 0 < value < SMALLEST_JACCARD:
            raise ValueError(f"must be 0 or from {SMALLEST_JACCARD} to 1, got {value}")
        return value
