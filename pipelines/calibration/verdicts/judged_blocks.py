"""Match of verdicts with the draws of a sample.

Verdicts, Sampler -> judged_blocks -> Judged
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from pipelines.calibration.verdicts.draws import OTHERS, Draw, SampledPair, Sampler
from pipelines.calibration.verdicts.population import Population
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, LOOKS, OTHER_DRAWS
from pipelines.calibration.verdicts.verdict_file import Verdict, Verdicts, cluster_name
from schemas.errors import QprError
from schemas.quantities import counted, listed

MOST_BLOCKS: Final = max(LOOKS)
MOST_PAIRS: Final = MOST_BLOCKS * (KEPT_DRAWS + OTHER_DRAWS)
"""Maximum number of verdicts that are counted."""


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


def sample_draws(sampler: Sampler) -> list[Draw]:
    """Return all draws that a sample can have."""
    return list(itertools.takewhile(lambda draw: draw.block < MOST_BLOCKS, sampler.draws()))


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
            f"{verdicts.source}: {named} of the sample with seed {verdicts.seed}. Leave such rows out, or sample again"
        )


def _check_clusters(verdicts: Verdicts, population: Population, pairs: Iterable[SampledPair]) -> None:
    """Refuse a cluster that is right beside a pair of it that is not, or another verdict on its only pair."""
    of_two = {cluster_name(int(cluster)) for cluster in population.cluster_id[population.size == 2]}
    for pair in pairs:
        own = verdicts.of_pair.get(pair.pair_id)
        cluster = None if pair.cluster_id is None else cluster_name(pair.cluster_id)
        whole = verdicts.of_cluster.get(cluster or "")
        if own and whole and own[0] != whole[0] and (whole[0] == "right" or cluster in of_two):
            rows = f"row {own[1]} ({own[0]}, {pair.pair_id}) and row {whole[1]} ({whole[0]}, its cluster {cluster})"
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
