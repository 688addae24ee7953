"""Figures of ranked ids: metrics, and their intervals.

ranked ids, judgements -> measured -> Figures
"""

from __future__ import annotations

from typing import Any

from model.evaluation.intervals import intervals
from model.evaluation.metrics import per_pair, per_question, question_values, ranks
from model.evaluation.relevance import Judgements, query_clusters
from schemas.arrays import Int64s

Figures = dict[str, Any]
"""``per_question`` and ``per_pair`` metrics, ``half_widths`` of the former's intervals, ``questions_per_cpu_s``."""

METRICS = ("hits_at_1", "hits_at_10", "mrr")


def figures(ranked: Int64s, judged: Judgements) -> Figures:
    """Return the metrics of ranked ids."""
    places = ranks(ranked, queries=judged.queries, relevant=judged.relevant)
    return {
        "per_question": vars(per_question(places, queries=judged.queries, count=len(judged))),
        "per_pair": vars(per_pair(places, queries=judged.queries)),
    }


def half_width(ranked: Int64s, judged: Judgements) -> list[float]:
    """Return half of the 95 % bootstrap interval of H@1, H@10 and MRR per question, by samples of whole clusters."""
    places = ranks(ranked, queries=judged.queries, relevant=judged.relevant)
    values = question_values(places, queries=judged.queries, count=len(judged))[: len(METRICS)]
    return [(bounds.high - bounds.low) / 2 for bounds in intervals(values, query_clusters(judged))]


def measured(ranked: Int64s, judged: Judgements, *, speed: float | None) -> Figures:
    """Return all figures of a system whose ids are ranked."""
    return {**figures(ranked, judged), "half_widths": half_width(ranked, judged), "questions_per_cpu_s": speed}


def spelled(value: float, digits: int = 4) -> str:
    """Return a share as in the paper's tables, without the zero before the point."""
    return f"{value:.{digits}f}".removeprefix("0")
