"""Seeded draws of pairs to judge: every block has pairs of each part of the kept ones and others.

Population, seed -> Draws -> SampledPair after SampledPair

Draws are made with replacement, a pair with the chance of one among all of its stratum, so pairs of one cluster are
independent draws. The sequence depends on the dataset and the seed alone: a larger sample contains a smaller one.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.calibration.verdicts.population import Population
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, OTHER_DRAWS
from schemas.artifacts.dataset import Dataset
from schemas.text import hash64, question_id

_BLOCKS_AT_A_TIME: Final = 32
"""Number of blocks whose random numbers are drawn together; the draws are the same for any number."""

OTHERS: Final = KEPT_DRAWS
"""Stratum of the pairs that are not kept; the kept ones have strata 0, the most probable, to `KEPT_DRAWS` - 1."""


class Draw(NamedTuple):
    """One draw.

    Attributes:
        block: number of its block.
        stratum: part of the pairs that it represents.
        left: group and place in the group of a question: a row of the population and an index.
        right: of the other question.
    """

    block: int
    stratum: int
    left: tuple[int, int]
    right: tuple[int, int]


class SampledPair(NamedTuple):
    """Two questions with the same answer.

    Attributes:
        pair_id: name of the pair in files: "p" and 16 hexadecimal digits, which no spreadsheet takes for a number.
        question_ids: of both.
        texts: of both.
        answer: of both.
        cluster_id: of both if the pair is kept.
        probability: of that cluster.
    """

    pair_id: str
    question_ids: tuple[int, int]
    texts: tuple[str, str]
    answer: str
    cluster_id: int | None
    probability: float | None


@dataclasses.dataclass(frozen=True)
class Sampler:
    """Draws from a dataset.

    Attributes:
        dataset: the dataset.
        population: its pairs.
        seed: of the draws.
    """

    dataset: Dataset
    population: Population
    seed: int = 0

    def draws(self) -> Iterator[Draw]:
        """Yield draws without end, those of a block in random order.

        Without pairs that are not kept, blocks have `KEPT_DRAWS` draws.
        """
        numbers = np.random.default_rng(abs(hash64(f"verdicts:{self.dataset.manifest.digest}:{self.seed}")))
        others = OTHER_DRAWS if self.population.other_pairs.sum() else 0
        strata = np.repeat(np.arange(KEPT_DRAWS + 1), [1] * KEPT_DRAWS + [others])
        kept_ends, other_ends = np.cumsum(self.population.pairs), np.cumsum(self.population.other_pairs)
        group_of = np.empty(len(self.population.cluster_id), np.int64)
        in_cluster = np.flatnonzero(self.population.group_cluster >= 0)
        group_of[self.population.group_cluster[in_cluster]] = in_cluster
        for first in itertools.count(0, _BLOCKS_AT_A_TIME):
            uniform = numbers.random((_BLOCKS_AT_A_TIME, KEPT_DRAWS + OTHER_DRAWS, 4))
            for block, chances in enumerate(uniform, start=first):
                for place in np.argsort(chances[: len(strata), 3]):
                    stratum = int(strata[place])
                    if stratum == OTHERS:
                        yield Draw(block, stratum, *self._other(other_ends, chances[place]))
                    else:
                        rank = (stratum + chances[place, 0]) / KEPT_DRAWS
                        yield Draw(block, stratum, *self._kept(kept_ends, group_of, rank))

    def _kept(self, ends: np.ndarray, group_of: np.ndarray, rank: float) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the pair at a share of the ranking."""
        number = min(int(rank * ends[-1]), int(ends[-1]) - 1)
        cluster = int(np.searchsorted(ends, number, side="right"))
        left, right = _unranked(number - int(ends[cluster - 1] if cluster else 0))
        return (int(group_of[cluster]), left), (int(group_of[cluster]), right)

    def _other(self, ends: np.ndarray, chances: np.ndarray) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return a pair of two groups of one answer: the answer, a question of it, and one of another group."""
        p = self.population
        answer = int(np.searchsorted(ends, chances[0] * ends[-1], side="right"))
        start, end = np.searchsorted(p.group_answer, [answer, answer + 1])
        sizes = p.group_size[start:end]
        outside = sizes.sum() - sizes
        reached = np.cumsum(sizes * outside)
        number = min(int(chances[1] * reached[-1]), int(reached[-1]) - 1)
        group = int(np.searchsorted(reached, number, side="right"))
        left = (number - int(reached[group - 1] if group else 0)) // int(outside[group])
        place = min(int(chances[2] * outside[group]), int(outside[group]) - 1)
        before = np.cumsum(np.delete(sizes, group))
        other = int(np.searchsorted(before, place, side="right"))
        right = place - int(before[other - 1] if other else 0)
        return (int(start) + group, left), (int(start) + other + (other >= group), right)

    def pairs(self, draws: list[Draw]) -> list[SampledPair]:
        """Return the pair of every draw, with texts of the dataset."""
        p = self.population
        groups = np.unique([group for draw in draws for group, _ in (draw.left, draw.right)]).astype(np.int64)
        clusters = p.group_cluster[groups]
        ids = pa.array(p.cluster_id[clusters[clusters >= 0]])
        columns = ["cluster_id", "question_ids", "texts"]
        of_cluster: dict[int, tuple[list[int], list[str]]] = {}
        for part in self.dataset.parts("clusters", columns=columns):
            rows = part.filter(pc.is_in(part["cluster_id"], ids))
            of_cluster |= {row["cluster_id"]: (row["question_ids"], row["texts"]) for row in rows.to_pylist()}

        def question(group: int, place: int) -> tuple[int, str]:
            if p.group_cluster[group] < 0:
                text = p.rejected[group].as_py()
                return question_id(text), text
            questions, texts = of_cluster[int(p.cluster_id[p.group_cluster[group]])]
            return questions[place], texts[place]

        return [self._pair(draw, *sorted((question(*draw.left), question(*draw.right)))) for draw in draws]

    def _pair(self, draw: Draw, first: tuple[int, str], second: tuple[int, str]) -> SampledPair:
        p = self.population
        answer = p.answers[int(p.group_answer[draw.left[0]])].as_py()
        name = hash64(f"{answer}|{first[0]}|{second[0]}") % 2**64
        cluster = int(p.group_cluster[draw.left[0]]) if draw.stratum != OTHERS else None
        return SampledPair(
            f"p{name:016x}",
            (first[0], second[0]),
            (first[1], second[1]),
            answer,
            None if cluster is None else int(p.cluster_id[cluster]),
            None if cluster is None else float(p.probability[cluster]),
        )


def _unranked(number: int) -> tuple[int, int]:
    """Return the pair with a number in the order (0, 1), (0, 2), (1, 2), (0, 3), …."""
    right = int((1 + (1 + 8 * number) ** 0.5) / 2)
    while right * (right - 1) // 2 > number:  # the root is rounded
        right -= 1
    while (right + 1) * right // 2 <= number:
        right += 1
    return number - right * (right - 1) // 2, right
