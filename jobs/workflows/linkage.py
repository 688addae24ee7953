"""The linkage of a run, decided by its options.

--linkage, --min-probability, --refine-with, --calibration, --precision -> decide -> Decided
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from jobs.options.linkage import Method
from schemas.errors import UsageError

if TYPE_CHECKING:
    from pipelines.linkage.linker import Encode, Linking

WHOLE, LINKED, REFINED = 0.1, 0.05, 0.0
"""Clusters that score lower are rejected unless another limit is given. Linkage has judged its groups by more than
words: a higher limit costs recall and buys no precision. Paraphrases that vectors find may share no word at all."""


class Decided(NamedTuple):
    """How to split answers, the least coherence of a cluster, and what gives texts their vectors."""

    linking: Linking | None
    min_coherence: float
    encode: Encode | None = None


def decide(
    *,
    method: Method | None,
    score: str,
    min_probability: float | None,
    min_coherence: float | None,
    calibration: str | None,
    precision: float | None,
    refine_with: str | None,
) -> Decided:
    """Fill in what was not asked for, and refuse what does not go together.

    Args:
        method: what splits answers; None: as usual for the score.
        score: the coherence that judges clusters.
        min_probability: where the method cuts.
        min_coherence: the least score.
        calibration: folder of learned weights and measured thresholds.
        precision: choose the threshold that reached it.
        refine_with: model whose vectors are compared too.

    Raises:
        UsageError: an option has no effect without another, or beside it.
        QprError: there is no such calibration or model, or no threshold reaches the precision.
    """
    from jobs.workflows.calibration import read_calibration
    from jobs.workflows.worker_encoder import WorkerEncoder
    from pipelines.linkage.linker import Linking

    chosen = method or (Method.NONE if score == "paper" else Method.BOOSTED)
    if precision is not None and calibration is None:
        raise UsageError("--precision needs --calibration, where precision was measured")
    read = read_calibration(calibration) if calibration else None
    if chosen is Method.NONE:
        _refuse({"--min-probability": min_probability, "--refine-with": refine_with}, "needs a --linkage but none")
        if read and precision is not None:
            _refuse({"--min-coherence": min_coherence}, "is what --precision chooses; leave one out")
            min_coherence = read.threshold(precision, score)
        return Decided(None, WHOLE if min_coherence is None else min_coherence)
    if chosen is Method.FELLEGI_SUNTER:
        given = {"--refine-with": refine_with, "--calibration": calibration}
        _refuse(given, "needs --linkage boosted or logistic: fellegi-sunter learns from words and these logs alone")
    least = min_coherence if min_coherence is not None else REFINED if refine_with else LINKED
    encoder = WorkerEncoder.of(refine_with) if refine_with else None
    linking = {"method": chosen.value, "min_probability": min_probability, "encoder": encoder and encoder.digest}
    if read:
        if method and method != read.method:
            raise UsageError(f"--calibration: its weights are for --linkage {read.method}, not {method}")
        if read.cosine != (encoder is not None):
            raise UsageError("--calibration: --refine-with must be given to `qpr calibrate` and here, or to neither")
        linking |= {"method": read.method, "weights": read.digest, "weights_json": read.weights_json}
    if read and precision is not None:
        _refuse({"--min-probability": min_probability}, "is what --precision chooses; leave one out")
        linking["min_probability"] = read.threshold(precision, None)
    return Decided(Linking.model_validate(linking), least, encoder)


def _refuse(given: Mapping[str, object], why: str) -> None:
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} {why}")
