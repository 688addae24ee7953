"""Counts from which the worth of an answer in a log is estimated.

Linked, MEMBERS of accepted clusters -> worth_counts -> counters
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipelines.linkage.scoring.pair_model import Linked
from pipelines.summary.answer_worth import PREFIX
from schemas.ragged import sizes_of_runs, starts_of_runs


def worth_counts(linked: Linked, answers: np.ndarray, judged: pa.Table) -> dict[str, int]:
    """Return counters of pairs and of their expected paraphrases, in millionths.

    A cluster is taken to be right or wrong as a whole for the variance, which is so the largest possible one.

    Args:
        linked: groups of the questions of answers with several questions.
        answers: (R,) their answers, ascending.
        judged: MEMBERS of the accepted clusters, ordered by cluster.
    """
    sizes = sizes_of_runs(starts_of_runs(answers), len(answers))
    of_intent = np.zeros(len(answers), bool) if linked.of_intent is None else linked.of_intent
    starts = starts_of_runs(judged["cluster_id"].to_numpy())
    kept = sizes_of_runs(starts, len(judged))
    kept_pairs = kept * (kept - 1) // 2
    likely = judged["linkage_probability"].to_numpy()[starts]
    millionths = np.rint(likely * 1e6).astype(np.int64)
    unsure = np.rint(likely * (1 - likely) * 1e6).astype(np.int64)
    return {
        f"{PREFIX}pairs": int((sizes * (sizes - 1) // 2).sum()),
        f"{PREFIX}pairs_expected": linked.expected,
        f"{PREFIX}pairs_kept": int(kept_pairs.sum()),
        f"{PREFIX}pairs_kept_expected": int((millionths * kept_pairs).sum()),
        f"{PREFIX}pairs_kept_variance": int((unsure * kept_pairs**2).sum()),
        f"{PREFIX}answers": len(sizes),
        f"{PREFIX}intents": len(np.unique(answers[of_intent])),
        f"{PREFIX}strays": int(np.count_nonzero(of_intent & (linked.confidence == 0))),
    }
