"""Sample of the answers of a log, on which its threshold is chosen before any answer is split.

MEMBERS and STANDINGS of whole answers -> with_evidence -> MEMBERS, Evidence
MEMBERS and STANDINGS of a shard's answers, Linker -> sample_answers -> Sample -> threshold_of -> threshold of the log
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from pipelines.engine.shuffle import Joined, tables_of
from pipelines.intermediate import VECTOR
from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.answer_sample import Sample, place_of
from pipelines.linkage.scoring.log_threshold import choose_threshold, last_place
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.witnesses import Evidence, evidence_of
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import sizes_of_runs, starts_of_runs


def with_evidence(
    of_answers: tuple[pa.Table, *tuple[pa.Table | None, ...]], agreement: Mapping[int, LogAgreement] | None
) -> tuple[pa.Table, Evidence | None]:
    """Return MEMBERS of whole answers without vectors, and their neighbours if these were sought.

    Args:
        of_answers: MEMBERS, with their vectors if there is an encoder, and their STANDINGS of each kind if any.
        agreement: agreement of the log by the number of the kind, where neighbours were sought.
    """
    members, *standings = of_answers
    vectors = None
    if VECTOR.name in members.column_names:
        vectors, members = members.select(["question_id", VECTOR.name]), members.drop_columns(VECTOR.name)
    return members, evidence_of(standings, agreement or {}, vectors) if standings else None


def sample_answers(
    joined: Joined,
    weights: TokenWeights,
    linker: Linker | None,
    agreement: Mapping[int, LogAgreement],
) -> Iterator[Sample]:
    """Yield the pairs of a shard's answers with the lowest hashes, if the linker chooses a threshold by them."""
    if linker is None or linker.model.precision is None or len(joined) == 1:
        return
    last = last_place(agreement.get(0, LogAgreement()).pairs)
    early = [
        None if table is None else table.filter(pa.array(place_of(table["answer_id"].to_numpy()) < last))
        for table in tables_of(joined)
    ]
    members, evidence = with_evidence((early[0], *early[1:]), agreement)
    merged = merge_answers(members)
    starts = starts_of_runs(merged["answer_id"].to_numpy())
    sizes = sizes_of_runs(starts, len(merged))
    several = merged.filter(pa.array(np.repeat(sizes > 1, sizes)))
    if len(several) and evidence is not None:
        sample = linker.sample(several, weights, evidence)
        if sample is not None:
            yield sample


def threshold_of(sample: Sample, linker: Linker | None) -> float | None:
    """Return the threshold of a log by a sample of its answers, None without any or if the linker has its own."""
    if linker is None or linker.model.precision is None or not len(sample.place):
        return None
    return choose_threshold(sample, lowest=linker.model.threshold, precision=linker.model.precision)
