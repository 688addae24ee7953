"""Linkage settings with the weights and thresholds of a calibration, and with vectors.

ClustersConfig, --refine-with, --calibration, --precision -> with_calibration -> ClustersConfig, Encode
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobs.workflows.calibration import read_calibration
from jobs.workflows.verdicts.stored_evidence import read_evidence, with_verdicts
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.graphs.settings import ClustersConfig
from schemas.errors import UsageError

if TYPE_CHECKING:
    from pipelines.neighbours.embeddings import Encode


def with_calibration(
    settings: ClustersConfig, *, calibration: str | None, precision: float | None, refine_with: str | None
) -> tuple[ClustersConfig, Encode | None]:
    """Return the settings of a run, and the encoder of its texts where vectors are compared.

    Args:
        settings: as they were given.
        calibration: folder of learned weights and measured thresholds, or of verdicts.
        precision: choose the threshold that reached it.
        refine_with: model whose vectors are compared too.

    Raises:
        UsageError: an option has no effect without another, or beside it.
        QprError: the calibration or the model cannot be read, or no threshold reaches the precision.
    """
    if precision is not None and calibration is None:
        raise UsageError("--precision needs --calibration, where precision was measured")
    judged = read_evidence(calibration) if calibration else None
    if not calibration or not judged:
        return _with_weights(settings, calibration=calibration, precision=precision, refine_with=refine_with)
    evidence, digest = judged
    plain, encode = _with_weights(settings, calibration=None, precision=None, refine_with=refine_with)
    return with_verdicts(plain, evidence, url=calibration, digest=digest, precision=precision), encode


def _with_weights(
    settings: ClustersConfig, *, calibration: str | None, precision: float | None, refine_with: str | None
) -> tuple[ClustersConfig, Encode | None]:
    """Return the settings and the encoder of a run with the weights of a calibration, or the shipped ones."""
    linking, gate = settings.assembly.linking, settings.assembly.gate
    read = read_calibration(calibration) if calibration else None
    if linking.method == "none":
        answers = linking.answers if "answers" in linking.model_fields_set else None
        given = {"--min-probability": linking.min_probability, "--refine-with": refine_with, "--answers": answers}
        _refuse(given, "needs a --linkage but none")
        if not read or precision is None:
            return settings, None
        if "min_coherence" in gate.model_fields_set:
            raise UsageError("--min-coherence is what --precision chooses; leave one out")
        return _changed(settings, "gate", min_coherence=read.threshold(precision, gate.coherence)), None
    if linking.method == "fellegi-sunter":
        given = {"--refine-with": refine_with, "--calibration": calibration}
        _refuse(given, "needs --linkage boosted or logistic: fellegi-sunter learns from words and these logs alone")
    if refine_with and not read and linking.method == "logistic":
        raise UsageError("--refine-with needs --linkage boosted, or --calibration with weights of logistic")
    encoder, kind = refining_encoder(refine_with) if refine_with else (None, None)
    changes: dict[str, Any] = {"encoder": encoder.digest, "encoder_kind": kind} if encoder else {}
    if read:
        if "method" in linking.model_fields_set and linking.method != read.method:
            raise UsageError(f"--calibration: its weights are for --linkage {read.method}, not {linking.method}")
        if read.cosine != (encoder is not None):
            raise UsageError("--calibration: --refine-with must be given to `qpr calibrate` and here, or to neither")
        changes |= {"method": read.method, "weights": read.digest, "weights_json": read.weights_json}
        if precision is not None:
            _refuse({"--min-probability": linking.min_probability}, "is what --precision chooses; leave one out")
            # The precision was measured on split answers, and an intent would ignore the threshold.
            answers = linking.answers if "answers" in linking.model_fields_set else "fact"
            changes |= {"min_probability": read.threshold(precision, None), "answers": answers}
    return _changed(settings, "linking", **changes), encoder


def _changed(settings: ClustersConfig, part: str, **values: Any) -> ClustersConfig:
    """Return settings with other values in a part of ``assembly``; defaults that depend on them follow."""
    given = settings.model_dump(exclude_unset=True)
    assembly = given.setdefault("assembly", {})
    assembly[part] = assembly.get(part, {}) | values
    return ClustersConfig.model_validate(given)


def _refuse(given: Mapping[str, object], why: str) -> None:
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"{option} {why}")
