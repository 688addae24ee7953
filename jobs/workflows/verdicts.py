"""The work of ``qpr calibrate --verdicts``, and its use by `qpr clusters`.

dataset, verdict file -> write_verdict_calibration -> a calibration's folder -> with_verdicts -> ClustersConfig
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pydantic
import rich.table

from jobs.display.console import emit, say, warn, working
from jobs.display.summary_tables import estimate_text, percent
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Manifest, Source, first_fault, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError, UsageError
from schemas.quantities import counted

if TYPE_CHECKING:
    from pipelines.calibration.verdicts.evidence import Evidence
    from pipelines.graphs.settings import ClustersConfig

EVIDENCE: Final = "verdicts.json"

_DECIDES: Final = ("linking", "gate")
"""Parts of ``assembly`` that decide clusters and their probabilities, beside the filters of questions."""


def write_verdict_calibration(dataset: str, verdicts: str, *, output: str, overwrite: bool, as_json: bool) -> None:
    """Estimate from verdicts, write the evidence and print thresholds, or the number of missing verdicts.

    Args:
        dataset: folder of the dataset that was sampled.
        verdicts: file of the judged sample.
        output: folder of the calibration.
        overwrite: replace an existing calibration.
        as_json: print JSON.

    Raises:
        QprError: dataset or file cannot be read or do not fit together, or the output cannot be claimed.
    """
    with Output(output, "calibration", overwrite=overwrite) as target, working(f"Calibrating on {verdicts}"):
        evidence, source = _evidence(dataset, verdicts)
        content = (evidence.model_dump_json(indent=2) + "\n").encode()
        written = [target.write(EVIDENCE, content, table="verdicts")]
        inputs = [source, Source(url=dataset, digest=evidence.dataset)]
        counters = {"verdicts": evidence.verdicts, "unclear": evidence.unclear, "blocks": len(evidence.right)}
        manifest = target.publish(written, inputs=inputs, configuration={"kind": "verdicts"}, counters=counters)
    result = {"calibration": output, "digest": manifest.digest, **_result(evidence)}
    emit(result, as_json=as_json, table=lambda: _table(evidence))
    shown = [line["precision"] for line in result["thresholds"] if line["stated"] is not None]
    if shown:
        quoted = shlex.quote(output)
        say(f"Next: qpr clusters LOGS --output DATASET --calibration {quoted} --precision {max(shown)}, same options")


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
        raise QprError(f"{storage.join(url, file.path)}: {first_fault(error)}. Make it again") from error
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
    judged, ours = _leaves(evidence.configuration), _leaves(_decisive(settings.model_dump(mode="json")))
    for name in sorted(judged.keys() | ours.keys()):
        if judged.get(name) != ours.get(name):
            values = f"{judged.get(name)} when the pairs were judged, {ours.get(name)} here"
            raise UsageError(f"--calibration {url}: {name} was {values}. Use the options of the judged dataset")
    scale = evidence.recalibration(digest, precision)
    if precision is not None:
        found = evidence.estimates(scale.min_stated)
        text = estimate_text(found.precision.value, found.precision.low, found.precision.high)
        say(f"linkage_probability >= {evidence.calibrated(scale.min_stated):.3f}: estimated precision {text}")
    assembly = settings.assembly.model_copy(update={"recalibration": scale})
    return settings.model_copy(update={"assembly": assembly})


def warn_of_other_logs(calibration: str, dataset: str) -> None:
    """Warn if a dataset was made of other files than the one that was judged."""
    read = read_evidence(calibration)
    if read and sorted(read[0].inputs) != sorted(_inputs(read_manifest(dataset))):
        warn(
            f"{calibration}: its verdicts are about other files; the precision holds as far as these logs are like them"
        )


def _evidence(dataset: str, verdicts: str) -> tuple[Evidence, Source]:
    from pipelines.calibration.verdicts.draws import Sampler
    from pipelines.calibration.verdicts.evidence import gather_evidence
    from pipelines.calibration.verdicts.population import read_population
    from pipelines.calibration.verdicts.verdict_file import judged_blocks, read_verdicts, sample_draws
    from pipelines.reading.sources import digest_input, expand

    [source, *more] = expand([verdicts])
    if more:
        raise UsageError(f"--verdicts {verdicts}: are {counted(1 + len(more), 'file')}. Give one")
    opened = open_dataset(dataset)
    refuse_calibrated(dataset, opened.manifest)
    found = read_verdicts(source, opened.manifest.digest)
    population = read_population(opened)
    sampler = Sampler(opened, population, found.seed)
    draws = sample_draws(sampler)
    judged = judged_blocks(found, sampler, draws, sampler.pairs(draws))
    if not len(judged.right):
        block = next(place for place, draw in enumerate(draws) if draw.block == 1)
        fault = f"{counted(judged.verdicts, 'verdict')} so far, at least {block} needed"
        raise QprError(f"{verdicts}: {fault}; with 144 a precision of 0.9 can be shown. Judge pairs in their order")
    return gather_evidence(
        judged,
        population,
        dataset=opened.manifest.digest,
        inputs=_inputs(opened.manifest),
        configuration=_decisive(opened.manifest.configuration),
    ), digest_input(source)


def refuse_calibrated(url: str, manifest: Manifest) -> None:
    """Refuse a dataset whose probabilities come from a calibration.

    Raises:
        QprError: they do.
    """
    assembly = manifest.configuration.get("assembly", {})
    if assembly.get("recalibration") or assembly.get("linking", {}).get("weights"):
        raise QprError(f"{url}: was made with --calibration. Judge pairs of a dataset made without it")


def _decisive(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a dataset that decide its clusters."""
    assembly = configuration.get("assembly", {})
    parts = {name: assembly.get(name) for name in _DECIDES}
    return parts | {name: configuration.get(name) for name in ("ambiguity", "validation")}


def _leaves(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for name, value in tree.items():
        leaves |= _leaves(value, f"{path}{name}.") if isinstance(value, Mapping) else {f"{path}{name}": value}
    return leaves


def _inputs(manifest: Manifest) -> list[str]:
    return [source.digest for source in manifest.inputs if source.digest]


def _result(evidence: Evidence) -> dict[str, Any]:
    from pipelines.calibration.verdicts.evidence import PRECISIONS

    thresholds = []
    for precision in PRECISIONS:
        found = evidence.threshold(precision)
        least = found.probability
        estimates = evidence.estimates(least).model_dump() if least is not None else None
        thresholds.append(
            {
                "precision": precision,
                "stated": least,
                "calibrated": None if least is None else evidence.calibrated(least),
                "share_kept": found.share,
                "estimates": estimates,
                "missing": found.missing,
            }
        )
    return {
        "verdicts": evidence.verdicts,
        "unclear": evidence.unclear,
        "counted_draws": sum(map(len, evidence.right)) + sum(map(len, evidence.others_right)),
        "estimates": evidence.estimates().model_dump(),
        "intercept": evidence.intercept,
        "slope": evidence.slope,
        "thresholds": thresholds,
    }


def _table(evidence: Evidence) -> rich.console.Group:
    """Return the estimates of the dataset and a row for each precision."""
    result = _result(evidence)
    table = rich.table.Table(
        "shown with 95 % confidence", "calibrated probability", "pairs kept", "precision", "recall"
    )
    for line in result["thresholds"]:
        if line["stated"] is None:
            missing = f"about {line['missing']:,} verdicts missing" if line["missing"] else "out of reach"
            table.add_row(f"precision {line['precision']}", missing)
            continue
        cells = [_text(line["estimates"][name]) for name in ("precision", "recall")]
        table.add_row(
            f"precision {line['precision']}", f">= {line['calibrated']:.3f}", percent(line["share_kept"]), *cells
        )
    found = result["estimates"]
    lines = [
        f"{counted(evidence.verdicts, 'verdict')}, {evidence.unclear:,} of them unclear (counted as wrong)",
        f"The same answer means the same question in {_text(found['prior'])} of the pairs of this log",
        f"Kept pairs are right in {_text(found['precision'])}; {_text(found['recall'])} of the paraphrases are kept",
    ]
    return rich.console.Group(*lines, table)


def _text(estimate: Mapping[str, float] | None) -> str:
    return "unknown" if estimate is None else estimate_text(**estimate)
