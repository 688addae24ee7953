"""Hits and judgements in the formats of TREC, which trec_eval and ir_measures read.

Judgements, ids that every query finds -> run_text, qrels_text -> lines of the files
"""

from __future__ import annotations

from model.evaluation.relevance import Judgements
from schemas.arrays import Int64s


def run_text(judged: Judgements, ranked: Int64s) -> str:
    """Return a run: query, Q0, question, rank, score and name of each hit; the score is the negative rank.

    Args:
        judged: the queries, named by the ids of their questions.
        ranked: (queries, depth) ids that every query finds, -1 where padded.
    """
    return "".join(
        f"{query} Q0 {question_id} {rank} {-rank} qpr\n"
        for query, hits in zip(judged.ids.tolist(), ranked.tolist(), strict=True)
        for rank, question_id in enumerate(hits, 1)
        if question_id != -1
    )


def qrels_text(judged: Judgements) -> str:
    """Return the judgements: query, 0, question and grade 1 of each paraphrase of a query."""
    pairs = zip(judged.ids[judged.queries].tolist(), judged.relevant.tolist(), strict=True)
    return "".join(f"{query} 0 {relevant} 1\n" for query, relevant in pairs)
