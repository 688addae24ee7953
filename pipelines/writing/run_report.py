"""Files and counters of a run, returned from its workers.

Written of all workers -> WriteReport -> a file in the run's folder -> read_report -> Report
"""

from __future__ import annotations

import collections
import dataclasses
import json
from typing import Any

import apache_beam as beam

from pipelines.writing.reported import BroadAnswer, ChangedAnswer, JudgedAnswer, Written
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError

_REPORT = "report.json"


@dataclasses.dataclass(frozen=True)
class Report:
    """The files of a run, its counters, its inputs with digests, and answers to be reported.

    The names are those of `pipelines.writing.reported.Written`.
    """

    files: list[File]
    counters: dict[str, int]
    sources: list[Source]
    broad_answers: list[BroadAnswer] = dataclasses.field(default_factory=list)
    judged_answers: list[JudgedAnswer] = dataclasses.field(default_factory=list)
    changed_answers: list[ChangedAnswer] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class WriteReport(beam.PTransform):
    """Collect the files and counts of all workers in one small file, the last of the run.

    Counts travel with the data instead of as Beam metrics, which a retried bundle can count twice.
    """

    run_url: str

    def expand(self, written: beam.PCollection[Written]) -> beam.PCollection[None]:
        """Combine all elements into one list and write it."""
        return (
            written
            | beam.Map(entry_of).with_output_types(dict[str, Any])
            | beam.combiners.ToList()
            | beam.Map(
                lambda entries: storage.write_bytes(storage.join(self.run_url, _REPORT), json.dumps(entries).encode())
            ).with_output_types(Any)
        )


def entry_of(written: Written) -> dict[str, Any]:
    """Return an entry of the file for JSON."""
    file, source = written.file, written.source
    return written._asdict() | {"file": file and file.model_dump(), "source": source and source.model_dump()}


def read_report(output: Output) -> Report:
    """Return the report of the run and remove its file."""
    url = storage.join(output.run_url, _REPORT)
    entries = json.loads(storage.read_bytes(url))
    storage.delete(url)
    counters: collections.Counter[str] = collections.Counter()
    for entry in entries:
        counters.update(entry["counts"])
    files = [File(**entry["file"]) for entry in entries if entry["file"]]
    sources = [Source(**entry["source"]) for entry in entries if entry["source"]]
    broad = [BroadAnswer(*answer) for entry in entries for answer in entry["broad_answers"]]
    judged = [JudgedAnswer(*answer) for entry in entries for answer in entry["judged_answers"]]
    changed = [ChangedAnswer(*answer) for entry in entries for answer in entry["changed_answers"]]
    return Report(files, dict(counters), sources, broad, judged, changed)


def check_sum(counters: dict[str, int], whole: str, *parts: str) -> None:
    """Check that the parts add up to the whole.

    Raises:
        QprError: they do not: rows were lost or doubled, and nothing may be published.
    """
    total = sum(counters.get(part, 0) for part in parts)
    if counters.get(whole, 0) != total:
        sums = " + ".join(f"{counters.get(part, 0):,} {part}" for part in parts)
        imbalance = f"{counters.get(whole, 0):,} {whole} but {sums} = {total:,}"
        raise QprError(f"{imbalance}; the engine lost or doubled rows. Nothing was published")
