"""Beam transforms that rank the neighbours of all questions, and read or fit the linker of a run.

MEMBERS of whole answers, TokenWeights -> RankNeighbours -> STANDINGS of each kind
MEMBERS and STANDINGS of whole answers -> CountAgreement -> LogAgreement of each kind
Linking, MEMBERS of whole answers, TokenWeights -> MakeLinker -> Linker or None
MEMBERS and STANDINGS of whole answers -> ChooseThreshold -> threshold of the log or None
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Final

import apache_beam as beam
import numpy as np
import pyarrow as pa

from pipelines.engine.combining import StepwiseCombine
from pipelines.engine.shuffle import Joined, concatenate
from pipelines.intermediate import VECTOR
from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import Questions, compare_all
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.linker import Linker, compares_words_too, read_linker
from pipelines.linkage.scoring import fellegi_sunter
from pipelines.linkage.scoring.answer_sample import Sample, first_answers, first_places, place_of
from pipelines.linkage.scoring.log_threshold import PAIRS
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.settings import Linking
from pipelines.linkage.standings import NEAREST, LogAgreement, agreement_of, standings_of, total_agreement
from pipelines.linkage.threshold_sample import sample_answers, threshold_of
from pipelines.neighbours.embeddings import Encode
from pipelines.neighbours.transform import FindNeighbours
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import pairs_in_runs, ranks_in_runs, runs_of

_COMPARED: Final = ("answer_id", "question_id", "text", VECTOR.name)

SAMPLE: Final = 200_000
"""Approximate number of question pairs to which the model without weights is fitted."""


def compared_columns(members: pa.Table, linking: Linking) -> pa.Table:
    """Return the columns of MEMBERS that `MakeLinker` and `RankNeighbours` read, so that no others are shuffled."""
    if linking.method == "fellegi-sunter":  # the only method whose linker is fitted to the members themselves
        return members
    return members.select([name for name in _COMPARED if name in members.column_names])


@dataclasses.dataclass
class RankNeighbours(beam.PTransform):
    """Rank the nearest questions of each question, with its answer and with other ones.

    Input: MEMBERS tables, with vectors if there is an encoder, all rows of each answer in one; TokenWeights, one
    element.
    Output: a collection of STANDINGS for each kind. The first kind is by vectors if there are any, else by words; the
    second by words beside vectors, if the linker compares both. If answers are not split there is no kind.

    Attributes:
        linking: method of splitting answers.
        shards: number of shards of each shuffle.
    """

    linking: Linking
    shards: int

    def expand(
        self, inputs: tuple[beam.PCollection[pa.Table], beam.PCollection[TokenWeights]]
    ) -> tuple[beam.PCollection[pa.Table], ...]:
        """Find the neighbours by each kind and rank them."""
        members, weights = inputs
        kinds = {} if self.linking.method == "none" else {"": members}
        if compares_words_too(self.linking):
            kinds["ByWords"] = members | "WithoutVectors" >> beam.Map(_without_vectors)
        by_kind = {
            name: (rows, weights) | f"FindNeighbours{name}" >> FindNeighbours(k=NEAREST, shards=self.shards)
            for name, rows in kinds.items()
        }
        return tuple(
            neighbours | f"RankAnswers{name}" >> beam.Map(standings_of) for name, neighbours in by_kind.items()
        )


class CountAgreement(beam.PTransform):
    """Count how often the neighbours of a log agree in their answers.

    Input: `Joined` MEMBERS of whole answers and their STANDINGS of each kind.
    Output: one element, the agreement of the log by the number of the kind; empty for a log without questions.
    """

    def expand(self, joined: beam.PCollection[Joined]) -> beam.PCollection[dict[int, LogAgreement]]:
        """Count the agreement of each shard and add it up."""
        return (
            joined
            | "AgreementOfAnswers" >> beam.Map(_agreement_of_kinds)
            | "TotalAgreement" >> beam.CombineGlobally(StepwiseCombine(total_of_kinds))
        )


@dataclasses.dataclass
class MakeLinker(beam.PTransform):
    """Read the weights of a linker, or fit one to a sample of the log's own answers.

    Input: MEMBERS tables, all rows of each answer in one; TokenWeights, one element.
    Output: one element, a `Linker`, or None if answers are not split.

    Attributes:
        linking: method of splitting answers.
        encode: encoder of the texts; required if the weights are for features with its cosine.
    """

    linking: Linking
    encode: Encode | None = None

    def expand(
        self, inputs: tuple[beam.PCollection[pa.Table], beam.PCollection[TokenWeights]]
    ) -> beam.PCollection[Linker | None]:
        """Return the linker of the method: none, from weights, or fitted."""
        members, weights = inputs
        if self.linking.method == "none":
            return members.pipeline | "NoLinker" >> beam.Create([None])
        if self.linking.method != "fellegi-sunter":
            given = members.pipeline | "Weights" >> beam.Create([self.linking])
            return given | "ReadLinker" >> beam.Map(read_linker, self.encode)
        return (
            members
            | "SamplePairs" >> beam.Map(sample_pairs, beam.pvalue.AsSingleton(weights))
            | "GatherPairs" >> beam.CombineGlobally(StepwiseCombine(functools.partial(first_answers, pairs=SAMPLE)))
            | "LearnFromPairs" >> beam.Map(learn_linker, self.linking)
        )


@dataclasses.dataclass
class ChooseThreshold(beam.PTransform):
    """Choose the threshold of a log on a sample of its answers.

    Input: `Joined` MEMBERS of whole answers, with their vectors if there is an encoder, and their STANDINGS of each
    kind; TokenWeights, `Linker` and agreement by kind, one element each.
    Output: one element, the threshold, or None if the linker has the same threshold in each log.
    """

    def expand(self, inputs: tuple[beam.PCollection, ...]) -> beam.PCollection[float | None]:
        """Sample answers, gather the first of them and choose."""
        of_answers, weights, linker, agreement = inputs
        sampled = of_answers | "SampleAnswers" >> beam.FlatMap(
            sample_answers,
            weights=beam.pvalue.AsSingleton(weights),
            linker=beam.pvalue.AsSingleton(linker),
            agreement=beam.pvalue.AsSingleton(agreement),
        )
        first = StepwiseCombine(functools.partial(first_answers, pairs=PAIRS))
        gathered = sampled | "FirstAnswers" >> beam.CombineGlobally(first)
        return gathered | "Choose" >> beam.Map(threshold_of, linker=beam.pvalue.AsSingleton(linker))


def total_of_kinds(parts: Iterable[Mapping[int, LogAgreement]]) -> dict[int, LogAgreement]:
    """Return the agreement of each kind in a log of disjoint parts."""
    of_kind = collections.defaultdict(list)
    for part in parts:
        for kind, agreement in part.items():
            of_kind[kind].append(agreement)
    return {kind: total_agreement(agreements) for kind, agreements in of_kind.items()}


def _without_vectors(members: pa.Table) -> pa.Table:
    return members.drop_columns(VECTOR.name)


def _agreement_of_kinds(joined: Joined) -> dict[int, LogAgreement]:
    return {kind: agreement_of(concatenate(parts)) for kind, parts in enumerate(joined[1:]) if parts}


def sample_pairs(members: pa.Table, weights: TokenWeights) -> Sample:
    """Return the pairs of the answers with the lowest hashes, in all at least `SAMPLE` pairs if available.

    Args:
        members: MEMBERS, all rows of each answer present.
        weights: weights of the log's tokens.
    """
    merged = merge_answers(members)
    answers = merged["answer_id"].to_numpy()
    starts, sizes = runs_of(answers)
    usable = (sizes > 1) & (sizes <= ALL_PAIRS)
    place, effort = place_of(answers[starts[usable]]), pairs_in_runs(sizes)[usable]
    chosen = np.sort(first_places(place, effort, SAMPLE))
    rows = np.isin(answers, answers[starts[usable]][chosen])
    rank = ranks_in_runs(starts, len(answers))[rows]
    left, right, answer, features = compare_all(Questions(merged.filter(pa.array(rows)), weights))
    return Sample(place[chosen], effort[chosen], answer, rank[left], rank[right], features)


def learn_linker(sample: Sample, linking: Linking) -> Linker:
    """Return a linker with Fellegi and Sunter's model, fitted to the pairs."""
    features = sample.values.reshape(-1, len(NAMES))  # a log without questions has a sample without columns
    threshold = linking.min_probability or fellegi_sunter.THRESHOLD
    return Linker(LinkModel(fellegi_sunter.fit(features, sample.answer), threshold), answers=linking.answers)
