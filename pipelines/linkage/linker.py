"""Linker of a pipeline: pair model, encoder and threshold.

Linking -> read_linker -> Linker; a Linker on MEMBERS, TokenWeights and Evidence -> Linked
MEMBERS of some answers -> Linker.sample -> Sample, of which the threshold of a log is chosen
"""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any, SupportsIndex

import numpy as np
import pyarrow as pa

from pipelines.linkage.chance import is_about_facts
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.intents import Intents, Policy, intents
from pipelines.linkage.log_profile import MOST_OF_ANSWER, pairs_of_answers
from pipelines.linkage.scoring.answer_sample import Sample, first_answers, first_places, place_of
from pipelines.linkage.scoring.log_threshold import PAIRS, choose_threshold
from pipelines.linkage.scoring.pair_model import Linked, LinkModel
from pipelines.linkage.scoring.shipped_weights import Kind, load_facts_model, load_model, model_of
from pipelines.linkage.settings import EncoderKind, Linking
from pipelines.linkage.split_answers import compared_pairs, in_small_answers, link
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.witnesses import Evidence, evidence_among, find_witnesses
from pipelines.neighbours.embeddings import Encode
from pipelines.questions.token_frequencies import TokenWeights
from schemas.ragged import ranks_in_runs, runs_of


@dataclasses.dataclass(frozen=True)
class Linker:
    """Function that splits the questions of each answer into groups of paraphrases.

    Attributes:
        model: pair model and threshold.
        encode: encoder of the texts; required if the model uses their cosine.
        answers: which answers are intents.
        asked: threshold that the user chose, which the model has; None: the model's own.
        encoder: kind of the encoder, which selects the calibration of a log of facts.
        shipped: method and options of a linker with shipped weights; None: the weights are others.
    """

    model: LinkModel
    encode: Encode | None = None
    answers: Policy = "auto"
    asked: float | None = None
    encoder: EncoderKind | None = None
    shipped: Linking | None = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """Leave shipped weights out of a pickle, 4 MB for each step that uses them: a process reads them once."""
        if self.shipped is not None and self.model is _shipped_model(self.shipped):
            return read_linker, (self.shipped, self.encode)
        return super().__reduce_ex__(protocol)

    def __call__(
        self,
        members: pa.Table,
        weights: TokenWeights,
        evidence: Evidence | None = None,
        threshold: float | None = None,
    ) -> Linked:
        """Return the group of every row.

        Args:
            members: MEMBERS ordered by cluster and question, all rows of each answer present.
            weights: weights of the log's tokens.
            evidence: neighbours of the questions, with their vectors if there is an encoder; None: the rows are the
                whole log, and all are compared.
            threshold: of the log, if the model has none of its own; None: it is chosen from these rows.

        Raises:
            ValueError: the model uses the cosine and there is no encoder.
        """
        questions, model, intent_answers = self._prepare(members, weights, evidence)
        if model.precision is not None:
            if threshold is None:
                sample = first_answers([self._sample_of(questions, model, intent_answers)], PAIRS)
                threshold = choose_threshold(sample, lowest=model.threshold, precision=model.precision)
            model = model.with_threshold(threshold)
        if model.words is not None and not model.words.agreement and questions.witnesses is not None:
            kept = questions.witnesses.with_similarities_of(in_small_answers(members))
            questions = dataclasses.replace(questions, witnesses=kept)
        return link(questions, model, intent_answers)

    def sample(self, members: pa.Table, weights: TokenWeights, evidence: Evidence) -> Sample | None:
        """Return the pairs of these answers with their probabilities, or None if the threshold is the same in each log.

        Args:
            members: MEMBERS of whole answers, ordered by cluster and question.
            weights: weights of the log's tokens.
            evidence: neighbours of the questions.
        """
        questions, model, intent_answers = self._prepare(members, weights, evidence)
        return None if model.precision is None else self._sample_of(questions, model, intent_answers)

    def threshold_of(self, weights: TokenWeights, log: LogAgreement, chosen: float | None) -> float:
        """Return the minimum mean probability of a cluster of a log.

        Args:
            weights: weights of the log's tokens.
            log: agreement of the log.
            chosen: threshold that was chosen for this log; None: none was.
        """
        model = self._model_of(weights, log)
        return model.threshold if model.precision is None or chosen is None else chosen

    def _sample_of(self, questions: Questions, model: LinkModel, intent_answers: Intents) -> Sample:
        """Return the pairs of the first questions of the answers with the lowest hashes."""
        answers = questions.members["answer_id"].to_numpy()
        starts, sizes = runs_of(answers)
        chosen = np.zeros(len(starts), bool)
        chosen[first_places(place_of(answers[starts]), pairs_of_answers(sizes), PAIRS)] = True
        rows = np.flatnonzero(np.repeat(chosen, sizes) & (ranks_in_runs(starts, len(answers)) < MOST_OF_ANSWER))
        return compared_pairs(questions.take(rows), model, intent_answers.take(rows), place_of(answers[starts[chosen]]))

    def _prepare(
        self, members: pa.Table, weights: TokenWeights, evidence: Evidence | None
    ) -> tuple[Questions, LinkModel, Intents]:
        """Return the questions with their neighbours, the model for this log, and the answers that are intents."""
        if self.model.cosine and self.encode is None:
            raise ValueError("a model with the encoder's cosine needs the encoder")
        if self.model.words_too and evidence is not None and evidence.words is None:
            raise ValueError("a model that compares neighbours by words beside vectors needs both")
        if evidence is None:
            evidence = evidence_among(members, weights, self.encode, words_too=self.model.words_too)
        witnesses = find_witnesses(members, weights, evidence)
        vectors = evidence.vectors_of(members) if self.model.cosine else None
        intent_answers = intents(members, weights, witnesses, self.answers)
        return (
            Questions(members, weights, vectors, witnesses, self.encode),
            self._model_of(weights, witnesses.log),
            intent_answers,
        )

    def _model_of(self, weights: TokenWeights, log: LogAgreement) -> LinkModel:
        """Return the model for a log, by its size and by what its answers mean."""
        model = self.model.for_log(weights.questions)
        if model.agreement and is_about_facts(weights, log):
            of_facts = load_facts_model(self.encoder)
            model = of_facts if self.asked is None else of_facts.with_threshold(self.asked)
        return model


def compares_words_too(linking: Linking) -> bool:
    """Return whether the linker compares neighbours by words beside those by an encoder's vectors."""
    return linking.encoder_kind is not None and linking.method == "boosted" and read_linker(linking).model.words_too


def read_linker(linking: Linking, encode: Encode | None = None) -> Linker:
    """Return the linker of the shipped weights, or of the calibration's if ``linking`` has some.

    Raises:
        QprError: the calibration's weights are for other features than this version computes.
        ValueError: the method has no weights.
    """
    if linking.method != "boosted" and linking.method != "logistic":
        raise ValueError(f"linkage {linking.method} has no weights to read")
    if linking.weights_json is None:
        model, shipped = _shipped_model(linking), linking
    else:
        model, shipped = model_of(json.loads(linking.weights_json), source="the calibration's weights"), None
        model = _with_threshold(model, linking.min_probability)
    return Linker(model, encode, linking.answers, linking.min_probability, linking.encoder_kind, shipped)


@functools.lru_cache(maxsize=16)
def _shipped_model(linking: Linking) -> LinkModel:
    """Return the shipped model of a method, the same object for the same options."""
    method: Kind = "logistic" if linking.method == "logistic" else "boosted"
    return _with_threshold(load_model(method, linking.encoder_kind), linking.min_probability)


def _with_threshold(model: LinkModel, asked: float | None) -> LinkModel:
    """Return a model with the threshold that the user chose; None: none was."""
    if asked is None:
        return model
    words = model.words and dataclasses.replace(model.words, threshold=asked, least_of_two=asked)
    return dataclasses.replace(model.with_threshold(asked), words=words)
