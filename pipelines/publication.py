"""Run a pipeline that writes a dataset, hold its counts against each other, and publish it.

build, output -> run_and_publish -> Manifest, and a page about the run
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import apache_beam as beam
import pydantic
from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.findings import Findings
from pipelines.leakage import Leakage
from pipelines.leakage_report import leakage_report, tell_leakage
from pipelines.overview import overview
from pipelines.reading.encodings import ENCODING_HINT
from pipelines.reading.sources import Source
from pipelines.report import check_sum, read_report
from pipelines.runner import run
from pipelines.value_notes import idle_filter
from pipelines.writing import ROW_STAGES
from schemas import storage
from schemas.errors import QprError
from schemas.manifest import REPORTS, Manifest
from schemas.manifest import Source as Input
from schemas.output import Output
from schemas.quantities import counted
from schemas.tables import SPLITS

DEFAULT_MAX_REJECT_RATIO = 0.1
PAGE = "report.html"
_SHARD_BYTES = 32 * 2**20
_EXPANSION = {"parquet": 4.0}  # a text column of a log takes about so many times its Parquet size in memory
_UNPACKED = 5.0


def shards_for(sources: Sequence[Source]) -> int:
    """Return a shard count that keeps a shard near 32 MB of log text; the same files give the same count."""
    text = sum(s.bytes * (_UNPACKED if s.compression else _EXPANSION.get(s.format, 1.0)) for s in sources)
    return min(4096, max(1, math.ceil(text / _SHARD_BYTES)))


def run_and_publish(
    build: Callable[[beam.Pipeline, str], None],
    *,
    output: Output,
    sources: Sequence[Source],
    configuration: pydantic.BaseModel,
    leakage: Leakage,
    options: PipelineOptions,
    max_reject_ratio: float,
    questions_a_row: int = 1,
    page: Callable[[Findings], bytes],
) -> Manifest:
    """Run the pipeline and make what it wrote the dataset at ``output``.

    Args:
        build: adds the steps to a pipeline, given the run's folder.
        output: the claimed place.
        sources: the input files.
        configuration: goes into the manifest.
        leakage: what validation and test must not share with train.
        options: Beam's.
        max_reject_ratio: with a larger share of rejected rows nothing is published.
        questions_a_row: how many questions an input row holds, so many events it makes.
        page: tells the findings to a person, as the file `PAGE`; it tells times too, so no digest counts it.

    Raises:
        QprError: counts do not add up, something leaked, too many rejects, or no cluster. In the last two cases the
            run's folder stays if it holds rejects, so that they can be read.
    """
    try:
        run(lambda pipeline: build(pipeline, output.run_url), options)
        report = read_report(output)
        counted, leakage_file = tell_leakage(report.counters, leakage, output)
        counters = _check_accounts(counted, questions_a_row)
        fault = _fault(counters, sources, max_reject_ratio)
        findings = Findings(
            url=output.url,
            run_id=output.run_id,
            seconds=output.seconds,
            fault=fault,
            inputs=_in_order(report.sources, sources),
            configuration=configuration.model_dump(mode="json"),
            counters=counters,
            overview=overview(output.url, report.files),
            leakage=leakage_report(report.counters, leakage),
        )
        page_file = output.write(PAGE, page(findings), table=REPORTS)
    except BaseException:
        output.abandon()
        raise
    if fault and (counters["rows_rejected"] or counters["members_rejected"]):
        output.release()
        rejected, told = (storage.join(output.run_url, name) for name in ("rejected", PAGE))
        raise QprError(f"{fault}. Read what was rejected in {rejected} or see the counts in {told}")
    if fault:
        output.abandon()
        raise QprError(fault)
    return output.publish(
        [*report.files, leakage_file, page_file],
        inputs=findings.inputs,
        configuration=findings.configuration,
        counters=counters,
        distributions={name: found.five() for name, found in findings.overview.distributions.items()},
    )


def _in_order(inputs: Sequence[Input], sources: Sequence[Source]) -> list[Input]:
    """Return what the workers found out about the inputs, in the order in which they were given."""
    by_url = {found.url: found for found in inputs}
    return [by_url.get(source.url, Input(url=source.url, bytes=source.bytes)) for source in sources]


def _check_accounts(counted: dict[str, int], questions_a_row: int) -> dict[str, int]:
    """Every row read is kept or rejected; every question of an answer is judged or ambiguous, in a cluster or not."""
    counters = {"rows_rejected": 0, "members_rejected": 0} | counted
    counters["rows_kept"] = counters.get("events", 0) // questions_a_row
    check_sum(counters, "rows_read", "rows_kept", "rows_rejected")
    ambiguous = [name for name in counters if name.startswith("rejected_ambiguity_")]
    check_sum(counters, "members", "members_judged", *ambiguous)
    check_sum(counters, "members", *(f"members_{split}" for split in SPLITS), "members_rejected")
    return counters


def _fault(counters: dict[str, int], sources: Sequence[Source], max_reject_ratio: float) -> str | None:
    """Return why the run is worth nothing, or None if it is worth something."""
    read, rejected = counters.get("rows_read", 0), counters["rows_rejected"]
    if not read:
        return f"{', '.join(source.url for source in sources)}: there is no row. Check that it is the right file"
    if rejected > max_reject_ratio * read:
        allowed = f"more than --max-reject-ratio {max_reject_ratio} allows"
        most = _most_frequent(counters, [f"rejected_{stage}_" for stage in ROW_STAGES])
        hint = f". {ENCODING_HINT}" if counters.get("rejected_read_invalid_utf8") else ""
        return f"{rejected:,} of {counted(read, 'row')} rejected, {allowed}. {most}{hint}"
    if idle := idle_filter(counters):
        return idle
    if counters.get("positive_edges") == 0:
        found = (
            f"none of {counted(counters['rows_kept'], 'usable row')} marks two different questions with is_duplicate 1"
        )
        return f"no positive pair: {found}. Check the labels of the input"
    if not any(counters.get(f"clusters_{split}") for split in SPLITS):
        of = f"{counted(counters.get('members', 0), 'question')} in {counted(counters.get('groups', 0), 'group')}"
        return f"no cluster was left of {of}. {_most_frequent(counters, ['rejected_'])}"
    return None


def _most_frequent(counters: dict[str, int], prefixes: Sequence[str]) -> str:
    reasons = {name: n for name, n in counters.items() if name.startswith(tuple(prefixes))}
    most = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:3]
    return "Most were " + ", ".join(f"{name.removeprefix('rejected_')} ({n:,})" for name, n in most)
