"""The work of ``qpr calibrate --verdicts``.

dataset, verdict file -> write_verdict_calibration -> a calibration's folder
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import rich.table

from jobs.display.console import emit, say, working
from jobs.display.summary_tables import estimate_text, percent
from jobs.workflows.verdicts.stored_evidence import decisive_settings, refuse_calibrated
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    from pipelines.calibration.verdicts.draws import Draw, SampledPair
    from pipelines.calibration.verdicts.evidence import Evidence
    from pipelines.calibration.verdicts.judged_blocks import Judged
    from pipelines.calibration.verdicts.verdict_file import Verdicts

EVIDENCE: Final = "verdicts.json"


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
    emit(result, as_json=as_json, table=lambda: _table(result))
    shown = [line["precision"] for line in result["thresholds"] if line["stated"] is not None]
    if shown:
        quoted = shlex.quote(output)
        say(f"Next: qpr clusters LOGS --output DATASET --calibration {quoted} --precision {max(shown)}, same options")


def _evidence(dataset: str, verdicts: str) -> tuple[Evidence, Source]:
    from pipelines.calibration.verdicts.draws import Sampler
    from pipelines.calibration.verdicts.evidence import gather_evidence
    from pipelines.calibration.verdicts.judged_blocks import judged_blocks, sample_draws
    from pipelines.calibration.verdicts.population import read_population
    from pipelines.calibration.verdicts.verdict_file import read_verdicts
    from pipelines.reading.sources import digest_input, only_file

    source = only_file(verdicts, option="--verdicts")
    opened = open_dataset(dataset)
    refuse_calibrated(dataset, opened.manifest)
    judged_pairs = read_verdicts(source, opened.manifest.digest)
    population = read_population(opened)
    sampler = Sampler(opened, population, judged_pairs.seed)
    draws = sample_draws(sampler)
    pairs = sampler.pairs(draws)
    judged = judged_blocks(judged_pairs, sampler, draws, pairs)
    if not len(judged.right):
        raise QprError(f"{verdicts}: {_too_few(judged_pairs, judged, draws, pairs)}")
    return gather_evidence(
        judged,
        population,
        dataset=opened.manifest.digest,
        inputs=[file.digest for file in opened.manifest.inputs if file.digest],
        configuration=decisive_settings(opened.manifest.configuration),
        columns=opened.manifest.configuration.get("column_names", {}),
        release=opened.manifest.code_version,
    ), digest_input(source)


def _too_few(verdicts: Verdicts, judged: Judged, draws: list[Draw], pairs: list[SampledPair]) -> str:
    """Return why the verdicts cover no complete block, and what to do."""
    from pipelines.calibration.verdicts.judged_blocks import verdict_on
    from pipelines.calibration.verdicts.verdict_file import cluster_name

    block = next(place for place, draw in enumerate(draws) if draw.block == 1)
    gap = next(place for place, pair in enumerate(pairs) if verdict_on(verdicts, pair) is None)
    so_far = f"{counted(judged.verdicts, 'verdict')} so far"
    if not verdicts.of_cluster:
        needed = f"at least {block} needed; with 144 a precision of 0.9 can be shown"
        return f"{so_far}, {needed}. Judge pairs in their order"
    row = verdicts.listed.get(pairs[gap].pair_id)
    place = f"pair {gap + 1} of the sample{'' if row is None else f' (row {row})'}"
    cluster = pairs[gap].cluster_id
    if cluster is None:
        gap_text = f"clusters cover kept pairs only, and {place}, which is not kept, has no verdict"
    else:
        gap_text = f"{place}, of the cluster {cluster_name(cluster)}, has no verdict"
    return f"{so_far}, but {gap_text}. Add the file of `qpr sample --for-calibration 150` and judge its pairs in order"


def _result(evidence: Evidence) -> dict[str, Any]:
    from pipelines.calibration.verdicts.evidence import PRECISIONS

    thresholds = []
    for precision in PRECISIONS:
        threshold = evidence.threshold(precision)
        least = threshold.probability
        estimates = evidence.estimates(least).model_dump() if least is not None else None
        thresholds.append(
            {
                "precision": precision,
                "stated": least,
                "calibrated": None if least is None else evidence.calibrated(least),
                "share_kept": threshold.share,
                "estimates": estimates,
                "missing": threshold.missing,
                "reason": None if least is not None else evidence.not_shown(threshold),
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


def _table(result: Mapping[str, Any]) -> rich.console.Group:
    """Return the estimates of the dataset and a row for each precision; those with one reason share a row."""
    table = rich.table.Table(
        "shown with 95 % confidence", "calibrated probability", "pairs kept", "precision", "recall"
    )
    for reason, group in itertools.groupby(result["thresholds"], key=lambda line: line["reason"]):
        if reason is not None:
            table.add_row(f"precision {', '.join(str(line['precision']) for line in group)}", reason)
            continue
        for line in group:
            cells = [_text(line["estimates"][name]) for name in ("precision", "recall")]
            kept = percent(line["share_kept"])
            table.add_row(f"precision {line['precision']}", f">= {line['calibrated']:.3f}", kept, *cells)
    shares = result["estimates"]
    lines = [
        f"{counted(result['verdicts'], 'verdict')}, {result['unclear']:,} of them unclear (counted as wrong)",
        f"The same answer means the same question in {_text(shares['prior'])} of the pairs of this log",
        f"Kept pairs are right in {_text(shares['precision'])}; {_text(shares['recall'])} of the paraphrases are kept",
    ]
    return rich.console.Group(*lines, table)


def _text(estimate: Mapping[str, float] | None) -> str:
    return "unknown" if estimate is None else estimate_text(**estimate)
