"""Counts of answers that look like intents and that the gate rejects.

MEMBERS of rejected answers, TokenWeights -> incoherent_intent_counts -> counters
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipelines.linkage.intent_answers import resemble_intents
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.incoherent_intents import PREFIX
from schemas.ragged import runs_of


def incoherent_intent_counts(rejected: pa.Table, weights: TokenWeights) -> dict[str, int]:
    """Return the numbers of answers that look like intents and of their questions, as counters of a run.

    Args:
        rejected: (R,) MEMBERS of whole answers that the gate rejects, ordered by answer.
        weights: weights of the log's tokens.
    """
    if not len(rejected):
        return {}
    _, sizes = runs_of(rejected["answer_id"].to_numpy())
    alike = resemble_intents(rejected, weights)
    return {f"{PREFIX}answers": int(np.count_nonzero(alike)), f"{PREFIX}questions": int(sizes[alike].sum())}
