"""The Beam transform that ranks neighbours by each kind of similarity."""

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that

from pipelines.engine.shuffle import JoinByShard
from pipelines.linkage.settings import Linking
from pipelines.linkage.transform import CountAgreement, RankNeighbours
from pipelines.linkage.witnesses import evidence_among
from pipelines.neighbours.embeddings import with_vectors
from pipelines.questions.token_frequencies import count_tokens

QUESTIONS = (
    ["how do i pay my bill", "how can i pay the bill", "pay my bill please"],
    ["where is my parcel", "where is the parcel now", "how do i pay my bill today"],
)


def turned(texts):
    """Return the direction of each text by its length."""
    turns = np.array([len(text) / 10 for text in texts.to_pylist()])
    return np.column_stack([np.cos(turns), np.sin(turns)])


@pytest.mark.parametrize(("kind", "kinds"), [(None, 1), ("st", 2), ("static", 2)])
def test_each_kind_is_ranked_as_among_all_questions(members_of, kind, kinds):
    members = members_of(*QUESTIONS)
    weights = count_tokens(members["token_ids"])
    expected = evidence_among(members, weights, turned if kind else None, words_too=kinds > 1)
    rows = with_vectors(members, turned) if kind else members
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        inputs = (pipeline | "Members" >> beam.Create([rows]), pipeline | "Weights" >> beam.Create([weights]))
        ranked = inputs | RankNeighbours(Linking(encoder_kind=kind), 1)
        assert len(ranked) == kinds
        agreement = {0: expected.log} | ({1: expected.words.log} if expected.words else {})
        counted = (inputs[0], *ranked) | JoinByShard("answer_id", 2) | CountAgreement()
        assert_that(counted, lambda found: assert_equal(found, [agreement]), label="agreement")
        for number, evidence in enumerate((expected, expected.words)[:kinds]):
            table = evidence.standings()
            assert_that(
                ranked[number],
                lambda found, table=table: assert_equal([one.to_pylist() for one in found], [table.to_pylist()]),
                label=f"kind {number}",
            )


def test_answers_that_are_not_split_have_no_neighbours(members_of):
    members = members_of(*QUESTIONS)
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        inputs = (pipeline | "Members" >> beam.Create([members]), pipeline | "Weights" >> beam.Create([None]))
        ranked = inputs | RankNeighbours(Linking(method="none"), 1)
        assert ranked == ()
        counted = (inputs[0],) | JoinByShard("answer_id", 2) | CountAgreement()
        assert_that(counted, lambda found: assert_equal(found, [{}]))


def test_a_log_without_questions_has_no_agreement(members_of):
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        members = pipeline | "Members" >> beam.Create([members_of(*QUESTIONS).slice(0, 0)])
        counted = (members, members) | JoinByShard("answer_id", 2) | CountAgreement()
        assert_that(counted, lambda found: assert_equal(found, [{}]))


def assert_equal(found, expected):
    assert found == expected
