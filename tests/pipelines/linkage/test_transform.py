import dataclasses

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as Pipeline
from apache_beam.testing.util import assert_that

from pipelines.engine.shuffle import to_ipc
from pipelines.linkage import linker as linker_module
from pipelines.linkage import transform as making
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.linker import read_linker
from pipelines.linkage.scoring import log_threshold
from pipelines.linkage.scoring.answer_sample import first_answers, place_of
from pipelines.linkage.settings import Linking
from pipelines.linkage.threshold_sample import sample_answers
from pipelines.linkage.transform import (
    ChooseThreshold,
    MakeLinker,
    compared_columns,
    learn_linker,
    sample_pairs,
)
from pipelines.linkage.witnesses import evidence_among
from pipelines.questions.token_frequencies import count_tokens

ANSWERS = [
    ["how do i pay my bill", "how can i pay my bill", "pay the bill how", "when do you open", "opening hours please"],
    ["who wrote the red book", "who is the author of the red book", "where is the tower", "tower location"],
    ["what is a cat", "what are cats"],
    ["only one"],
]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(making, "SAMPLE", 7)


def test_a_sample_holds_every_pair_of_small_logs_and_no_lone_question(members_of):
    members = members_of(*ANSWERS)
    found = sample_pairs(members, count_tokens(members["token_ids"]))
    assert len(found.place) == 3
    assert sorted(found.effort) == [1, 6, 10]
    assert np.array_equal(np.bincount(found.answer), found.effort)
    assert found.values.shape == (17, len(NAMES))


def test_a_sample_of_a_shard_is_what_comes_first_whatever_the_shards(few, members_of):
    members = members_of(*ANSWERS)
    weights = count_tokens(members["token_ids"])
    whole = sample_pairs(members, weights)
    answers = members["answer_id"].to_numpy()
    parts = [sample_pairs(members.filter(pa.array(answers % 2 == n)), weights) for n in (1, 0)]
    for one, other in zip(first_answers(parts, 7), first_answers([whole], 7), strict=True):
        assert np.array_equal(one, other)


def test_a_log_without_a_pair_teaches_nothing_and_breaks_nothing(members_of):
    members = members_of(["one"], ["two"])
    weights = count_tokens(members["token_ids"])
    linker = learn_linker(sample_pairs(members, weights), Linking(method="fellegi-sunter", min_probability=0.4))
    assert linker.model.threshold == 0.4
    assert np.array_equal(linker(members, weights).group, [0, 1])


@pytest.mark.parametrize("linking", [Linking(method="none"), Linking(), Linking(method="fellegi-sunter")])
def test_there_is_one_linker_a_run(members_of, linking):
    members = members_of(*ANSWERS)
    weights = count_tokens(members["token_ids"])

    def check(found):
        [linker] = found
        if linking.method == "none":
            assert linker is None
        else:
            assert len(linker(members, weights).group) == len(members)

    with Pipeline(runner="FnApiRunner") as pipeline:
        tables = pipeline | "Members" >> beam.Create([members])
        counts = pipeline | "Weights" >> beam.Create([weights])
        assert_that((tables, counts) | MakeLinker(linking), check)


def test_only_columns_that_are_compared_are_shuffled(members_of):
    members = members_of(*ANSWERS)
    assert compared_columns(members, Linking()).column_names == ["answer_id", "question_id", "text"]
    with_vectors = members.append_column("vector", pa.nulls(len(members)))
    assert compared_columns(with_vectors, Linking()).column_names == ["answer_id", "question_id", "text", "vector"]
    assert compared_columns(members, Linking(method="fellegi-sunter")) is members


@pytest.mark.parametrize(("linking", "chosen"), [(Linking(), True), (Linking(method="logistic"), False)])
def test_the_threshold_of_a_log_does_not_depend_on_its_shards(members_of, linking, chosen):
    members = members_of(*ANSWERS)
    weights = count_tokens(members["token_ids"])
    evidence = evidence_among(members, weights)
    linker = read_linker(linking)
    linker = dataclasses.replace(linker, model=dataclasses.replace(linker.model, threshold_of_small=None))
    answers = members["answer_id"].to_numpy()
    shards = [members.filter(pa.array(answers % 2 == n)) for n in (0, 1)]

    def check(found):
        [threshold] = found
        assert (threshold is not None) is chosen
        groups = linker(members, weights, evidence, threshold).group
        assert np.array_equal(groups, linker(members, weights, evidence).group)

    with Pipeline(runner="FnApiRunner") as pipeline:
        tables = pipeline | "Tables" >> beam.Create(
            [([to_ipc(shard)], [to_ipc(evidence.standings())]) for shard in shards]
        )
        single = [weights, linker, {0: evidence.log}]
        sides = [pipeline | f"Side{number}" >> beam.Create([value]) for number, value in enumerate(single)]
        assert_that((tables, *sides) | ChooseThreshold(), check)


def test_each_shard_compares_only_answers_that_may_be_in_the_sample(members_of, monkeypatch):
    for module in (log_threshold, linker_module):
        monkeypatch.setattr(module, "PAIRS", 8)
    members = members_of(*([f"how do i pay bill {n}", f"how can i pay bill {n}"] for n in range(64)))
    weights = count_tokens(members["token_ids"])
    evidence = evidence_among(members, weights)
    answers = members["answer_id"].to_numpy()
    linker = read_linker(Linking())
    linker = dataclasses.replace(linker, model=dataclasses.replace(linker.model, threshold_of_small=None))

    def sampled_by(shards, log):
        parts = [members.filter(pa.array(answers % shards == n)) for n in range(shards)]
        tables = [([to_ipc(part)], [to_ipc(evidence.standings())]) for part in parts]
        found = [sample_answers(table, weights, linker, {0: log}) for table in tables]
        return [sample for of_shard in found for sample in of_shard]

    assert evidence.log.pairs == 64
    compared = sampled_by(4, evidence.log)
    places = np.concatenate([sample.place for sample in compared])
    assert sorted(places) == [place for place in sorted(place_of(np.unique(answers))) if place < 16 / 64]
    assert sum(len(sample.place) for sample in sampled_by(4, evidence.log._replace(pairs=0))) > len(places)
    [whole] = sampled_by(1, evidence.log)
    for one, other in zip(first_answers(compared, 8), first_answers([whole], 8), strict=True):
        assert np.array_equal(one, other)
