"""Use of the verdicts of a calibration.

calibration's folder -> read_evidence -> Evidence -> with_verdicts -> ClustersConfig
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pydantic

from jobs.display.console import say
from jobs.display.summary_tables import estimate_text
from pipelines.summary.answer_worth import digest_of_files
from schemas import __version__
from schemas.artifacts import storage
from schemas.artifacts.manifest import Manifest, first_fault, read_manifest, read_verified
from schemas.errors import QprError, UsageError

if TYPE_CHECKING:
    from pipelines.calibration.verdicts.evidence import Evidence
    from pipelines.graphs.settings import ClustersConfig

_DECIDES: Final = ("linking", "gate")
"""Parts of ``assembly`` that decide clusters and their probabilities, beside the filters of questions."""

_KIND: Final = "linking.encoder_kind"
"""Value of `--refine-with` that an error can name, unlike the digest of the encoder."""


def read_evidence(url: str) -> tuple[Evidence, str] | None:
    """Return the verdicts of a calibration and its digest after a check of every byte; None if it has weights.

    Raises:
        QprError: there is no calibration, or it is damaged.
    """
    manifest = read_manifest(url, "calibration")
    if not manifest.of("verdicts"):
        return None
    from pipelines.calibration.verdicts.evidence import Evidence

    [file] = manifest.of("verdicts")[:1]
    try:
        evidence = Evidence.model_validate_json(read_verified(url, file))
    except pydantic.ValidationError as error:
        fault = f"{storage.join(url, file.path)}: {first_fault(error)}"
        raise QprError(f"{fault}. Make it again with `qpr calibrate`") from error
    return evidence, manifest.digest


def with_verdicts(
    settings: ClustersConfig, evidence: Evidence, *, url: str, digest: str, precision: float | None
) -> ClustersConfig:
    """Return settings that correct probabilities and reject clusters below the threshold of a precision.

    Args:
        settings: as they were given.
        evidence: the verdicts.
        url: of their calibration, for messages.
        digest: of their calibration.
        precision: to have with 95 % confidence.

    Raises:
        UsageError: the settings make other clusters than those that were judged, or the precision is 1.
        QprError: the verdicts do not show the precision.
    """
    if settings.assembly.linking.method == "none":
        raise UsageError("--calibration: verdicts correct the probability of a --linkage; none has no probability")
    _refuse_other_options(evidence, settings, url)
    scale = evidence.recalibration(digest, precision)
    if differences := _differences(evidence, settings):
        scale = scale.model_copy(update={"judged": digest_of_files([*evidence.inputs, *differences])})
    if precision is not None:
        estimates = evidence.estimates(scale.min_stated)
        text = estimate_text(estimates.precision.value, estimates.precision.low, estimates.precision.high)
        say(f"linkage_probability >= {evidence.calibrated(scale.min_stated):.3f}: estimated precision {text}")
    assembly = settings.assembly.model_copy(update={"recalibration": scale})
    return settings.model_copy(update={"assembly": assembly})


def _refuse_other_options(evidence: Evidence, settings: ClustersConfig, url: str) -> None:
    """Refuse settings that make other clusters than those that were judged.

    Raises:
        UsageError: they do; it names the first option, and the encoder before what its default decides.
    """
    from jobs.display.option_names import option_of

    judged, ours = _leaves(evidence.configuration), _leaves(decisive_settings(settings.model_dump(mode="json")))
    names = sorted(judged.keys() | ours.keys())
    for name in sorted(names, key=lambda name: (name != _KIND, not name.startswith("linking."))):
        if judged.get(name) != ours.get(name):
            option = option_of(f"assembly.{name}" if name.startswith(_DECIDES) else name)
            values = f"{_shown(judged.get(name))} when the pairs were judged, {_shown(ours.get(name))} here"
            raise UsageError(f"--calibration {url}: {option} was {values}. Use the options of the judged dataset")


def _shown(value: Any) -> str:
    """Return a setting as its option takes it."""
    if value is None or value == []:
        return "not set"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _differences(evidence: Evidence, settings: ClustersConfig) -> list[str]:
    """Return the properties, besides the files, by which the judged dataset is not of these logs."""
    judged, ours = (
        {name: other for name, other in names.items() if name != other}
        for names in (evidence.columns, settings.column_names)
    )
    changed = {"columns": judged != ours, "release": evidence.release != __version__}
    return [name for name, is_other in changed.items() if is_other]


def refuse_calibrated(url: str, manifest: Manifest) -> None:
    """Refuse a dataset whose probabilities come from a calibration.

    Raises:
        QprError: they do.
    """
    assembly = manifest.configuration.get("assembly", {})
    if assembly.get("recalibration") or assembly.get("linking", {}).get("weights"):
        raise QprError(f"{url}: was made with --calibration. Judge pairs of a dataset made without it")


def decisive_settings(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a dataset that decide its questions, clusters and probabilities."""
    assembly = configuration.get("assembly", {})
    parts = {name: assembly.get(name) for name in _DECIDES}
    return parts | {name: configuration.get(name) for name in ("ambiguity", "validation", "privacy")}


def _leaves(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        leaves |= _leaves(value, f"{path}{name}.") if isinstance(value, Mapping) else {f"{path}{name}": value}
    return leaves
