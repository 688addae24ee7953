"""Files of verdicts on pairs or clusters.

verdict file -> read_verdicts -> Verdicts

A row has ``verdict`` (right, wrong, unclear or empty), ``dataset`` (its digest), ``seed`` of the sample, and a
``pair_id`` or, without one, a ``cluster_id`` whose questions are all paraphrases or not. Other columns are not read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final, Literal, TypeVar, cast, get_args

import pyarrow as pa

from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import Source
from schemas.errors import QprError
from schemas.quantities import listed

Verdict = Literal["right", "wrong", "unclear"]

_Text = TypeVar("_Text", bound=str)

COLUMNS: Final = (
    Column("verdict", pa.string()),
    Column("dataset", pa.string()),
    Column("seed", pa.string(), required=False),
    Column("pair_id", pa.string(), required=False),
    Column("cluster_id", pa.string(), required=False),
)

_SHOWN: Final = 5
"""Maximum number of seeds that a message lists."""


@dataclasses.dataclass(frozen=True)
class Verdicts:
    """Content of a verdict file.

    Attributes:
        source: name of the file.
        seed: of the sample.
        of_pair: verdict and first row of each judged pair.
        of_cluster: the same of each cluster that was judged as a whole.
        listed: pairs of the file, also those without a verdict.
    """

    source: str
    seed: int
    of_pair: Mapping[str, tuple[Verdict, int]]
    of_cluster: Mapping[str, tuple[Verdict, int]]
    listed: Mapping[str, int]


def cluster_name(cluster_id: int) -> str:
    """Return the name of a cluster in a verdict file, which no spreadsheet takes for a number."""
    return f"c{cluster_id % 2**64:016x}"


def read_verdicts(source: Source, digest: str) -> Verdicts:
    """Return the verdicts of a file.

    Args:
        source: CSV, TSV, JSON Lines or Parquet.
        digest: of the dataset whose pairs were judged.

    Raises:
        QprError: the file cannot be read, lacks a column, is about another dataset or contradicts itself.
    """
    texts = (
        (number, {name: (value or "").strip() for name, value in row.items()})
        for number, row in numbered_rows(source, COLUMNS)
    )
    numbered = [(number, row) for number, row in texts if any(row.values())]
    if not numbered:
        raise QprError(f"{source.url}: has no row. Write a sample with `qpr sample --for-calibration` and judge it")
    _check_datasets(source.url, numbered, digest)
    of_pair: dict[str, tuple[Verdict, int]] = {}
    of_cluster: dict[str, tuple[Verdict, int]] = {}
    listed: dict[str, int] = {}
    for number, row in numbered:
        name = row["pair_id"] or row["cluster_id"]
        if not name:
            raise QprError(f"{source.url}: row {number} has neither pair_id nor cluster_id. Add one of them")
        if row["pair_id"]:
            listed.setdefault(name, number)
        if verdict := _verdict(source.url, number, row["verdict"]):
            earlier = of_pair if row["pair_id"] else of_cluster
            add_verdict(source.url, earlier, name, verdict, number)
    return Verdicts(source.url, _seed(source.url, numbered), of_pair, of_cluster, listed)


def add_verdict(url: str, earlier: dict[str, tuple[_Text, int]], name: str, verdict: _Text, number: int) -> None:
    """Add the verdict of a row to those of the rows before.

    Args:
        url: of the file.
        earlier: verdict and first row by name.
        name: of that which is judged.
        verdict: on it.
        number: of the row.

    Raises:
        QprError: an earlier row has another verdict on it.
    """
    before, row = earlier.setdefault(name, (verdict, number))
    if before != verdict:
        both = f"rows {row} and {number} contradict each other about {name}: {before}, {verdict}"
        raise QprError(f"{url}: {both}. Keep one of them")


def _verdict(url: str, number: int, text: str) -> Verdict | None:
    if not text:
        return None
    if text.lower() not in get_args(Verdict):
        raise QprError(
            f"{url}: row {number}: verdict {text[:40]!a} is none of right, wrong and unclear. Correct the row"
        )
    return cast(Verdict, text.lower())


def _check_datasets(url: str, rows: list[tuple[int, dict[str, str]]], digest: str) -> None:
    """Refuse verdicts on the pairs of another dataset."""
    other = [number for number, row in rows if row["dataset"] != digest]
    if other:
        named = f"{listed('row', other)} judge{'s' if len(other) == 1 else ''} pairs of another dataset"
        raise QprError(f"{url}: {named} than --dataset, whose digest is {digest}. Give the dataset that was sampled")


def _seed(url: str, rows: list[tuple[int, dict[str, str]]]) -> int:
    seeds = sorted({row["seed"] or "0" for _, row in rows})
    if len(seeds) > 1:
        raise QprError(f"{url}: has pairs of samples with the seeds {', '.join(seeds[:_SHOWN])}. Judge one sample")
    try:
        return int(seeds[0])
    except ValueError as error:
        raise QprError(f"{url}: seed {seeds[0][:40]!a} is no whole number. Correct the file") from error
