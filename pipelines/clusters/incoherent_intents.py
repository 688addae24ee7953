"""Counts of answers that look like intents and that the gate rejects.

MEMBERS of rejected answers, TokenWeights -> incoherent_intent_counts -> counters
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipelines.linkage.intent_answers import resemble_intents
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.incoherent_intents import PREFIX
from schemas.ragged import sizes_of_runs, starts_of_runs


def incoherent_intent_counts(rejected: pa.Table, weights: TokenWeights) -> dict[str, int]:
    """Return the numbers of answers that look like intents and of their questions, as counters of a run.

    Args:
        rejected: (R,) MEMBERS of whole answers that the gate rejects, ordered by answer.
        weights: weights of the log's tokens.
    """
    if not len(rejected):
        return {}
    sizes = sizes_of_runs(starts_of_runs(rejected["answer_id"].to_numpy()), len(rejected))
    alike = resemble_intents(rejected, weights)
    return {f"{PREFIX}answers": int(np.count_nonzero(alike)), f"{PREFIX}questions": int(sizes[alike].sum())}
