"""Files of verdicts on pairs or clusters, and their match with the draws of a sample.

verdict file -> read_verdicts -> Verdicts; Verdicts, Sampler -> judged_blocks -> Judged

A row has ``verdict`` (right, wrong, unclear or empty), ``dataset`` (its digest), ``seed`` of the sample, and a
``pair_id`` or, without one, a ``cluster_id`` whose questions are all paraphrases or not. Other columns are not read.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple, TypeVar, cast, get_args

import numpy as np
import pyarrow as pa

from pipelines.calibration.verdicts.draws import OTHERS, Draw, SampledPair, Sampler
from pipelines.calibration.verdicts.population import Population
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, LOOKS, OTHER_DRAWS
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import numbered_rows
from pipelines.reading.sources import Source
from schemas.errors import QprError
from schemas.quantities import counted, listed

Verdict = Literal["right", "wrong", "unclear"]

_Text = TypeVar("_Text", bound=str)

COLUMNS: Final = (
    Column("verdict", pa.string()),
    Column("dataset", pa.string()),
    Column("seed", pa.string(), required=False),
    Column("pair_id", pa.string(), required=False),
    Column("cluster_id", pa.string(), required=False),
)

MOST_BLOCKS: Final = max(LOOKS)
MOST_PAIRS: Final = MOST_BLOCKS * (KEPT_DRAWS + OTHER_DRAWS)
"""Maximum number of verdicts that are counted."""

_SHOWN: Final = 5


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


class Judged(NamedTuple):
    """Verdicts on the draws of complete blocks.

    Attributes:
        probability: (B, K) linkage probability of the kept pairs.
        right: (B, K) whether they are paraphrases.
        others_right: (B, O) the same of the pairs that are not kept.
        verdicts: number of judged pairs and clusters in the file.
        unclear: number of those that are unclear, which count as wrong.
    """

    probability: np.ndarray
    right: np.ndarray
    others_right: np.ndarray
    verdicts: int
    unclear: int


def cluster_name(cluster_id: int) -> str:
    """Return the name of a cluster in a verdict file, which no spreadsheet takes for a number."""
    return f"c{cluster_id % 2**64:016x}"


def sample_draws(sampler: Sampler) -> list[Draw]:
    """Return all draws that a sample can have."""
    return list(itertools.takewhile(lambda draw: draw.block < MOST_BLOCKS, sampler.draws()))


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
            known = of_pair if row["pair_id"] else of_cluster
            add_verdict(source.url, known, name, verdict, number)
    return Verdicts(source.url, _seed(source.url, numbered), of_pair, of_cluster, listed)


def add_verdict(url: str, known: dict[str, tuple[_Text, int]], name: str, verdict: _Text, number: int) -> None:
    """Add the verdict of a row to those of the rows before.

    Args:
        url: of the file.
        known: verdict and first row by name.
        name: of that which is judged.
        verdict: on it.
        number: of the row.

    Raises:
        QprError: an earlier row has another verdict on it.
    """
    before, row = known.setdefault(name, (verdict, number))
    if before != verdict:
        both = f"rows {row} and {number} contradict each other about {name}: {before}, {verdict}"
        raise QprError(f"{url}: {both}. Keep one of them")


def judged_blocks(verdicts: Verdicts, sampler: Sampler, draws: list[Draw], pairs: list[SampledPair]) -> Judged:
    """Return the verdicts on the draws up to the first pair without one.

    Args:
        verdicts: of a file.
        sampler: of the same seed.
        draws: all draws that a sample can have.
        pairs: (D,) the pair of each.

    Raises:
        QprError: the file names pairs or clusters that were not drawn, pairs were left out, or the verdict on a cluster
            contradicts that on a pair of it.
    """
    _check_names(verdicts, sampler.population, pairs)
    _check_clusters(verdicts, sampler.population, pairs)
    names = [pair.pair_id for pair in pairs]
    of_draw = [verdict_on(verdicts, pair) for pair in pairs]
    _check_order(verdicts, names, of_draw)
    end = next((place for place, verdict in enumerate(of_draw) if verdict is None), len(draws))
    blocks = draws[end].block if end < len(draws) else MOST_BLOCKS
    done = [(draw, pair, verdict == "right") for draw, pair, verdict in zip(draws, pairs, of_draw, strict=True)]
    done = [row for row in done if row[0].block < blocks]
    kept = [row for row in done if row[0].stratum != OTHERS]
    others = [right for draw, _, right in done if draw.stratum == OTHERS]
    every = [*verdicts.of_pair.values(), *verdicts.of_cluster.values()]
    return Judged(
        np.array([pair.probability for _, pair, _ in kept], float).reshape(blocks, KEPT_DRAWS),
        np.array([right for _, _, right in kept], bool).reshape(blocks, KEPT_DRAWS),
        np.array(others, bool).reshape(blocks, -1 if blocks else 0),
        len(every),
        sum(verdict == "unclear" for verdict, _ in every),
    )


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


def verdict_on(verdicts: Verdicts, pair: SampledPair) -> Verdict | None:
    """Return the verdict on a pair: its own, or that on its cluster."""
    own = verdicts.of_pair.get(pair.pair_id)
    if own is None and pair.cluster_id is not None:
        own = verdicts.of_cluster.get(cluster_name(pair.cluster_id))
    return own[0] if own else None


def _check_names(verdicts: Verdicts, population: Population, pairs: Iterable[SampledPair]) -> None:
    drawn = {pair.pair_id for pair in pairs}
    clusters = {cluster_name(int(cluster)) for cluster in population.cluster_id}
    unknown = [row for name, row in verdicts.listed.items() if name not in drawn]
    unknown += [row for name, (_, row) in verdicts.of_cluster.items() if name not in clusters]
    if unknown:
        named = f"{listed('row', sorted(unknown))} name{'s' if len(unknown) == 1 else ''} no pair or cluster"
        raise QprError(
            f"{verdicts.source}: {named} of the sample with seed {verdicts.seed}. Leave them out, or sample again"
        )


def _check_clusters(verdicts: Verdicts, population: Population, pairs: Iterable[SampledPair]) -> None:
    """Refuse a cluster that is right beside a pair of it that is not, or another verdict on its only pair."""
    of_two = {cluster_name(int(cluster)) for cluster in population.cluster_id[population.size == 2]}
    for pair in pairs:
        own = verdicts.of_pair.get(pair.pair_id)
        cluster = None if pair.cluster_id is None else cluster_name(pair.cluster_id)
        whole = verdicts.of_cluster.get(cluster or "")
        if own and whole and own[0] != whole[0] and (whole[0] == "right" or cluster in of_two):
            rows = f"row {own[1]:,} ({own[0]}, {pair.pair_id}) and row {whole[1]:,} ({whole[0]}, its cluster {cluster})"
            raise QprError(f"{verdicts.source}: {rows} contradict each other. Correct one of them")


def _check_order(verdicts: Verdicts, names: list[str], of_draw: list[Verdict | None]) -> None:
    """Refuse a choice among the pairs: one is judged, and another that was drawn earlier is not."""
    first = {name: place for place, name in reversed(list(enumerate(names)))}
    last = max((first[name] for name in verdicts.of_pair), default=-1)
    left_out = collections.Counter(names[place] for place in range(last) if of_draw[place] is None)
    if left_out:
        rows = [verdicts.listed[name] for name in left_out if name in verdicts.listed]
        if len(rows) < len(left_out):
            number = len(left_out) - len(rows)
            are = "is" if number == 1 else "are"
            fault = f"{counted(number, 'drawn pair')} before the last judged one {are} not in the file"
            raise QprError(f"{verdicts.source}: {fault}. Keep all rows of the sample")
        have = "has" if len(rows) == 1 else "have"
        fault = f"{listed('row', sorted(rows))} {have} no verdict, although pairs drawn later have one"
        raise QprError(f"{verdicts.source}: {fault}. Write right, wrong or unclear there")
