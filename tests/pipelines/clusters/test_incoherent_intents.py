"""Answers that look like intents among those that a gate of coherence rejects."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.clusters.clustering import cluster
from pipelines.clusters.settings import Gate
from pipelines.linkage.intent_answers import MIN_QUESTIONS
from pipelines.questions.token_frequencies import TokenWeights, count_tokens
from pipelines.summary.incoherent_intents import as_json, incoherent_intents, warnings

PAPER = {"assembly": {"gate": {"coherence": "paper"}}}


def log_of(members: pa.Table, *, names: int) -> TokenWeights:
    """Return weights of a log of 10,000 questions that uses each word often, but for ``names`` ones."""
    tokens = np.unique(np.concatenate(members["token_ids"].to_numpy(zero_copy_only=False)))
    return TokenWeights(tokens, np.where(np.arange(len(tokens)) < names, 1, 1_000), 10_000)


def answered(members: pa.Table, answers: list[str]) -> pa.Table:
    texts = pa.array([answers[number] for number in members["answer_id"].to_pylist()])
    return members.set_column(members.column_names.index("answer"), "answer", texts)


@pytest.mark.parametrize(
    ("questions", "names", "found"),
    [
        (MIN_QUESTIONS, 0, {"answers": 1, "questions": MIN_QUESTIONS}),
        (MIN_QUESTIONS, 1_000, {"answers": 0, "questions": 0}),
        (MIN_QUESTIONS - 1, 0, {"answers": 0, "questions": 0}),
    ],
    ids=["common words", "names", "few questions"],
)
def test_many_questions_in_common_words_look_like_an_intent(members_of, questions, names, found) -> None:
    texts = [f"word{number} other{number}" for number in range(questions)]
    members = answered(members_of(texts, ["same words", "words same"]), ["card arrival", "card arrival too"])
    weights = log_of(members, names=names)
    counts = cluster(members, Gate(coherence="paper", min_coherence=0.5), weights).counts
    assert {name: counts[f"incoherent_intents_{name}"] for name in found} == found
    assert counts["groups_incoherent"] == 1


def test_in_a_small_log_an_answer_looks_like_an_intent_by_its_text(members_of) -> None:
    texts = [f"word{number} other{number}" for number in range(6)]
    members = answered(members_of(texts, [f"x{text}" for text in texts]), ["Log in and choose a new card.", "Paris"])
    counts = cluster(members, Gate(min_coherence=0.5), count_tokens(members["token_ids"])).counts
    assert (counts["groups_incoherent"], counts["incoherent_intents_answers"]) == (2, 1)


def test_a_run_that_splits_answers_or_rejects_none_counts_none(members_of) -> None:
    members = members_of(["same words", "words same"])
    counts = cluster(members, Gate(), count_tokens(members["token_ids"])).counts
    assert not any(name.startswith("incoherent_intents") for name in counts)


def test_the_warning_names_gate_numbers_and_the_option_to_leave_out() -> None:
    counters = {"incoherent_intents_answers": 77, "incoherent_intents_questions": 9_800}
    [of_paper] = warnings(incoherent_intents(counters, PAPER))
    assert of_paper.startswith("the paper's gate rejected 77 answers that look like intents, with 9,800 questions")
    assert "Leave out --coherence paper" in of_paper
    assert "Leave out --linkage none" in warnings(incoherent_intents(counters, {}))[0]
    assert as_json(incoherent_intents(counters, PAPER)) == {"answers": 77, "questions": 9_800, "by_paper": True}


def test_without_a_rejected_intent_there_is_no_warning() -> None:
    assert warnings(incoherent_intents({"incoherent_intents_answers": 0}, PAPER)) == []
    assert as_json(None) is None
