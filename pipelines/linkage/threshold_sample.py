"""Sample of the answers of a log, on which its threshold is chosen before any answer is split.

MEMBERS and STANDINGS of whole answers -> with_evidence -> MEMBERS, Evidence
MEMBERS and STANDINGS of a shard's answers, Linker -> sample_answers -> Sample -> threshold_of -> threshold of the log
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pipelines.engine.shuffle import Joined, concatenate
from pipelines.intermediate import VECTOR
from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.answer_sample import Sample, place_of
from pipelines.linkage.scoring.log_threshold import choose_threshold, last_place
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.witnesses import Evidence, evidence_of
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import runs_of


def with_evidence(
    joined: Joined,
    agreement: Mapping[int, LogAgreement] | None,
    chosen: Callable[[pa.Table], pa.Table] = lambda table: table,
) -> tuple[pa.Table, Evidence | None]:
    """Return MEMBERS of whole answers without vectors, and their neighbours if these were sought.

    Args:
        joined: MEMBERS, with their vectors if there is an encoder, and their STANDINGS of each kind if any.
        agreement: agreement of the log by the number of the kind, where neighbours were sought.
        chosen: returns the rows of a table that are read; all by default.
    """
    members = chosen(concatenate(joined[0]))
    standings = [functools.partial(_read, parts, chosen) if parts else None for parts in joined[1:]]
    vectors = None
    if VECTOR.name in members.column_names:
        vectors, members = members.select(["question_id", VECTOR.name]), members.drop_columns(VECTOR.name)
    return members, evidence_of(standings, agreement or {}, vectors) if standings else None


def _read(parts: Sequence[bytes], chosen: Callable[[pa.Table], pa.Table]) -> pa.Table:
    return chosen(concatenate(parts))


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
    members, evidence = with_evidence(
        joined, agreement, lambda table: table.filter(pa.array(place_of(table["answer_id"].to_numpy()) < last))
    )
    merged = merge_answers(members)
    _, sizes = runs_of(merged["answer_id"].to_numpy())
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
