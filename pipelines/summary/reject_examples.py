"""Examples of rejected rows and questions, for every stage and reason.

files of the rejected table, counters -> reject_examples -> RejectExamples
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.summary.cluster_summary import open_parquet
from schemas.artifacts.manifest import File

SHOWN_REJECTS: Final = 5
"""Maximum number of payloads of a reason."""

_BATCH: Final = 1024
"""Number of payloads in memory; one has up to 10,000 characters of each text (`writing.rejects`)."""


class RejectExamples(NamedTuple):
    """Number of rejects of a stage for a reason, and the first payloads in the order of the files."""

    stage: str
    reason: str
    number: int
    payloads: list[str]

    @property
    def texts(self) -> list[str]:
        """Return the payloads for a person: ``question -> answer`` where they have these fields."""
        return [_text(payload) for payload in self.payloads]


def reject_examples(url: str, files: Sequence[File], counters: Mapping[str, int]) -> list[RejectExamples]:
    """Return up to `SHOWN_REJECTS` payloads of every reason, the most frequent reason first.

    Files are read in order, two columns of each, until all reasons have their examples; payloads only of the rows that
    are shown.

    Args:
        url: the dataset's folder.
        files: of a run; those of other tables are ignored.
        counters: of the run.

    Raises:
        QprError: a file cannot be read.
    """
    payloads: dict[tuple[str, str], list[str]] = {}
    missing = {name: min(number, SHOWN_REJECTS) for name, number in counters.items() if name.startswith("rejected_")}
    for file in sorted((file for file in files if file.table == "rejected"), key=lambda file: file.path):
        if not any(missing.values()):
            break
        with open_parquet(url, file) as opened:
            for stage, reason, payload in _first(opened, missing):
                payloads.setdefault((stage, reason), []).append(payload)
                missing[f"rejected_{stage}_{reason}"] -= 1
    examples = [
        RejectExamples(stage, reason, counters[f"rejected_{stage}_{reason}"], examples_of_reason)
        for (stage, reason), examples_of_reason in payloads.items()
    ]
    return sorted(examples, key=lambda example: (-example.number, example.stage, example.reason))


def _first(file: pq.ParquetFile, missing: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield stage, reason and payload of the first rows of every reason that still lacks examples."""
    columns = file.read(columns=["stage", "reason"], use_threads=False)
    coded = pc.binary_join_element_wise("rejected", columns["stage"], columns["reason"], "_").combine_chunks()
    names = coded.dictionary_encode()
    chosen = [
        np.flatnonzero(names.indices.to_numpy() == code)[: missing.get(name, 0)]
        for code, name in enumerate(names.dictionary.to_pylist())
    ]
    rows = np.sort(np.concatenate([np.zeros(0, np.int64), *chosen]))
    shown = columns.take(pa.array(rows)).to_pylist()
    for row, payload in zip(shown, _payloads(file, rows), strict=True):
        yield row["stage"], row["reason"], payload


def _payloads(file: pq.ParquetFile, rows: np.ndarray) -> Iterator[str]:
    """Yield the payloads of some rows, given ascending."""
    first = 0
    for batch in file.iter_batches(_BATCH, columns=["payload"], use_threads=False):
        if not len(rows) or first > rows[-1]:
            return
        inside = rows[(rows >= first) & (rows < first + len(batch))] - first
        yield from batch["payload"].take(pa.array(inside)).to_pylist()
        first += len(batch)


def _text(payload: str) -> str:
    try:
        row = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    if not isinstance(row, dict):
        return payload
    return " -> ".join(str(row[name]) for name in ("question", "answer") if row.get(name) is not None) or payload
