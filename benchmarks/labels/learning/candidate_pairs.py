"""Candidate pairs of a log as the linkage compares them, and their grouping at the threshold of the log.

SilverLog -> gather -> Pairs -> grouping -> (R,) group of each row
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.labels.silver_scores import answers
from benchmarks.logs.neighbour_join import nearest_by_join
from benchmarks.logs.silver_logs import SilverLog
from pipelines.linkage.comparison.compare import Compared, Questions, compare_all
from pipelines.linkage.log_profile import MOST_OF_ANSWER, pairs_of_answers
from pipelines.linkage.scoring.answer_sample import Sample, first_answers, place_of
from pipelines.linkage.scoring.log_threshold import PAIRS, choose_threshold
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.witnesses import evidence_among, find_witnesses
from pipelines.neighbours.embeddings import Encode
from schemas.ragged import ranks_in_runs, runs_of


class Pairs(NamedTuple):
    """A log and all its candidate pairs."""

    log: SilverLog
    compared: Compared


def gather(
    log: SilverLog,
    encode: Encode | None = None,
    *,
    neighbours: bool = False,
    words_too: bool = False,
    alignment: bool = False,
) -> Pairs:
    """Return the candidate pairs of a log, with the features of the neighbours and of an encoder on request."""
    if not neighbours:
        return Pairs(log, compare_all(Questions(log.members, log.weights)))
    evidence = evidence_among(log.members, log.weights, encode, words_too=words_too, nearest=nearest_by_join)
    witnesses = find_witnesses(log.members, log.weights, evidence)
    vectors = evidence.vectors_of(log.members)
    aligned_by = encode if alignment else None
    return Pairs(log, compare_all(Questions(log.members, log.weights, vectors, witnesses, aligned_by)))


def grouping(pairs: Pairs, probability: np.ndarray, model: LinkModel) -> np.ndarray:
    """Return the grouping by a model's threshold for the log."""
    left, right = pairs.compared.left, pairs.compared.right
    if model.precision is not None:
        lowest, precision = model.threshold, model.precision
        threshold = threshold_of_log(pairs.log, left, right, probability, lowest=lowest, precision=precision)
        model = model.with_threshold(threshold)
    return model.groups(left, right, probability, rows=len(pairs.log.gold))


def threshold_of_log(
    log: SilverLog, left: np.ndarray, right: np.ndarray, probability: np.ndarray, *, lowest: float, precision: float
) -> float:
    """Return the threshold that the pipeline chooses for a log.

    Args:
        log: the log.
        left: (P,) rows, ordered by answer.
        right: (P,) other rows of the same answers.
        probability: (P,) that they are paraphrases.
        lowest: lowest threshold.
        precision: estimated share of paraphrases among the kept pairs.
    """
    answer = answers(log)
    starts, sizes = runs_of(answer)
    rank = ranks_in_runs(starts, len(answer))
    first = (rank[left] < MOST_OF_ANSWER) & (rank[right] < MOST_OF_ANSWER)
    effort = pairs_of_answers(sizes)
    place = place_of(log.members["answer_id"].to_numpy()[starts])
    left, right, probability = left[first], right[first], probability[first]
    sample = Sample(place, effort, answer[left], rank[left], rank[right], probability)
    return choose_threshold(first_answers([sample], PAIRS), lowest=lowest, precision=precision)


class Remembered:
    """Encoder that encodes each text once, as the same questions occur in many logs."""

    def __init__(self, encode: Encode) -> None:
        self.encode = encode
        self.vectors: dict[str, np.ndarray] = {}

    def __call__(self, texts: pa.ChunkedArray) -> np.ndarray:
        """Return the vectors of n texts."""
        asked = texts.to_pylist()
        new = [text for text in dict.fromkeys(asked) if text not in self.vectors]
        if new:
            self.vectors.update(zip(new, self.encode(pa.chunked_array([new])), strict=True))
        return np.stack([self.vectors[text] for text in asked])
