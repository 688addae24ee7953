"""Answers that are intents, and the questions that belong to them."""

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage.intent_answers import MIN_QUESTIONS
from pipelines.linkage.intents import intents
from pipelines.linkage.standings import NO_SUPPORTS, FrequentAnswer, LogAgreement
from pipelines.linkage.witnesses import Witnesses
from pipelines.neighbours.similarity import question_vectors
from pipelines.questions.token_frequencies import TokenWeights, count_tokens
from pipelines.summary.fallbacks import UNLIKE, likeness_ratio


def agreement(questions: int, agreeing: int, *, without: int, small: int = 0) -> LogAgreement:
    """Return the agreement of a log whose answers have many questions, some without support, some with a small one."""
    supports = (without, *NO_SUPPORTS[1:-2], small, questions - without - small)
    of_many = {"agreeing_of_many": agreeing, "supports_of_many": supports, "surrounded_of_many": agreeing}
    return LogAgreement(questions, agreeing, supports, questions, **of_many)


RELIABLE = agreement(100, 90, without=10)
UNRELIABLE = agreement(100, 30, without=30, small=50)


def witnesses(members: pa.Table, support: list[float], log: LogAgreement = RELIABLE) -> Witnesses:
    near = np.zeros((len(members), 20), np.float32)
    near[:, 0] = 0.5
    vectors = question_vectors(members["text"], count_tokens(members["token_ids"]))
    return Witnesses(vectors, near, np.zeros_like(near), np.array(support), log)


def answered(members: pa.Table, answer: str) -> pa.Table:
    place = members.column_names.index("answer")
    return members.set_column(place, "answer", pa.array([answer] * len(members)))


@pytest.mark.parametrize(
    ("answer", "is_intent"), [("card_arrival", True), ("Choose the menu and log in again.", True), ("Paris", False)]
)
def test_an_answer_written_for_one_intent_is_one(members_of, answer: str, is_intent: bool) -> None:
    members = answered(members_of(["one", "two"]), answer)
    found = intents(members, count_tokens(members["token_ids"]), witnesses(members, [0.5, 0.5]), "auto")
    assert found.of_intent.tolist() == found.belongs.tolist() == [is_intent] * 2


def test_a_question_that_reliable_neighbours_contradict_does_not_belong(members_of) -> None:
    members = answered(members_of(["one", "two", "three"]), "card_arrival")
    weights = count_tokens(members["token_ids"])
    found = intents(members, weights, witnesses(members, [0.9, 0.0, 0.5]), "auto")
    assert found.belongs.tolist() == [True, False, True]
    kept = intents(members, weights, witnesses(members, [0.9, 0.0, 0.5], UNRELIABLE), "auto")
    assert kept.belongs.all()
    assert kept.probability < found.probability


def test_neighbours_that_contradict_most_of_a_small_log_are_no_evidence(members_of) -> None:
    members = answered(members_of(["one", "two", "three"]), "card_arrival")
    faq = LogAgreement(59, 1, (29, 6, 6, 5, 4, 4, 2, 3))
    found = intents(members, count_tokens(members["token_ids"]), witnesses(members, [0.9, 0.0, 0.5], faq), "auto")
    assert found.belongs.all()


def test_vectors_contradict_no_question_of_an_answer_with_few(members_of) -> None:
    members = answered(members_of(["one", "two", "three"]), "card_arrival")
    found = witnesses(members, [0.9, 0.0, 0.5])
    by_vectors = dataclasses.replace(found, vectors=np.ones((3, 2), np.int8))
    assert intents(members, count_tokens(members["token_ids"]), by_vectors, "auto").belongs.all()


def test_a_question_of_an_intent_is_supported_by_vectors_and_words_together(members_of) -> None:
    members = answered(members_of([f"card {number}" for number in range(12)]), "card_arrival")
    found = witnesses(members, [0.0, 0.0, *[0.9] * 10], agreement(100, 90, without=10, small=30))
    by_vectors = dataclasses.replace(found, vectors=np.ones((12, 2), np.int8))
    by_words = witnesses(members, [0.9, 0.0, 0.0, *[0.9] * 9], agreement(100, 90, without=4, small=8))
    weights = count_tokens(members["token_ids"])
    assert intents(members, weights, by_vectors, "auto").belongs.tolist() == [False, False, *[True] * 10]
    together = intents(members, weights, dataclasses.replace(by_vectors, words=by_words), "auto").belongs
    assert together.tolist() == [True, False, True, *[True] * 9]


def wordings(members_of, answers: dict[str, int]) -> pa.Table:
    """Return as many questions of each answer, all in the words of a few subjects."""
    texts = [f"subject {number % 7} of {number} {number % 11}" for number in range(sum(answers.values()))]
    members = answered(members_of(texts), "")
    given = [answer for answer, count in answers.items() for _ in range(count)]
    for name, values in (("answer", given), ("answer_id", [len(answer) for answer in given])):
        members = members.set_column(members.column_names.index(name), name, pa.array(values))
    return members


@pytest.mark.parametrize(("agreeing", "is_intent"), [(0.85, False), (0.95, True)])
def test_a_frequent_answer_must_agree_more_than_by_chance(members_of, agreeing: float, is_intent: bool) -> None:
    members = wordings(members_of, {"help_pages": 40, "card": 10})
    found = witnesses(members, [0.9] * 50)
    other = np.zeros_like(found.other)
    other[round(40 * agreeing) : 40, 0] = 1  # the nearest question has another answer
    found = dataclasses.replace(found, other=other)
    weights = count_tokens(members["token_ids"])
    chosen = intents(members, weights, found, "auto").of_intent
    assert chosen[:40].all() == chosen[:40].any() == is_intent


def test_an_answer_of_all_questions_is_an_intent_only_on_request(members_of) -> None:
    members = wordings(members_of, {"help_pages": MIN_QUESTIONS})
    found, weights = witnesses(members, [0.5] * MIN_QUESTIONS), count_tokens(members["token_ids"])
    assert not intents(members, weights, found, "auto").of_intent.any()
    assert intents(members, weights, found, "intent").of_intent.all()


@pytest.mark.parametrize(("agreeing", "is_intent"), [(31, False), (52, True)])
def test_an_answer_that_agrees_by_chance_is_no_intent(members_of, agreeing: int, is_intent: bool) -> None:
    members = wordings(members_of, {"sorry_what": 60, "card": 60})
    log = RELIABLE._replace(frequent=(FrequentAnswer(len("sorry_what"), 60, agreeing),))
    weights = count_tokens(members["token_ids"])
    ratio = likeness_ratio(members["token_ids"].slice(0, 60).combine_chunks(), weights)
    assert ratio < UNLIKE  # the questions of both answers are equally alike
    found = intents(members, weights, witnesses(members, [0.5] * 120, log), "auto").of_intent
    assert not found.any()
    apart = members.set_column(
        members.column_names.index("token_ids"), "token_ids", pa.array([[number // 60] for number in range(120)])
    )
    found = intents(apart, count_tokens(apart["token_ids"]), witnesses(members, [0.5] * 120, log), "auto").of_intent
    assert found[:60].all() == found[:60].any() == is_intent


@pytest.mark.parametrize("policy", ["intent", "fact"])
def test_the_option_decides_for_all_answers(members_of, policy: str) -> None:
    members = answered(members_of(["one", "two"]), "Paris" if policy == "intent" else "card_arrival")
    found = intents(members, count_tokens(members["token_ids"]), witnesses(members, [0.5, 0.5]), policy)  # type: ignore[arg-type]
    assert found.of_intent.tolist() == [policy == "intent"] * 2


LARGE = 10_000


def many_of_large_log(members_of, number: int = MIN_QUESTIONS) -> tuple[pa.Table, TokenWeights]:
    """Return questions of one answer of a large log, and weights by which no word is rare."""
    members = answered(members_of([f"card {n}" for n in range(number)]), "card arrival")
    frequent = np.unique(np.concatenate(members["token_ids"].to_numpy(zero_copy_only=False)))
    return members, TokenWeights(frequent, np.full(len(frequent), 1_000), LARGE)


def with_names(weights: TokenWeights) -> TokenWeights:
    """Return the weights of a log in whose other questions are words that only two of them have."""
    tokens = np.concatenate([np.arange(LARGE), weights.tokens])
    order = np.argsort(tokens)
    frequencies = np.concatenate([np.full(LARGE, 2), weights.frequencies])
    return TokenWeights(tokens[order], frequencies[order], LARGE)


def near(members: pa.Table, log: LogAgreement = RELIABLE, *, reach: float = 1.0, agreeing: float = 1.0) -> Witnesses:
    """Return neighbours of which the last with the same answer has ``reach`` of the similarity of the first."""
    found = witnesses(members, [0.5] * len(members), log)
    found.same[:, 1:] = 0.5 * reach
    found.other[round(agreeing * len(members)) :, 0] = 1
    return found


def test_an_answer_with_many_agreeing_questions_in_common_words_is_an_intent(members_of) -> None:
    members, weights = many_of_large_log(members_of)
    names = TokenWeights(weights.tokens[:1], np.full(1, 1_000), LARGE)
    assert intents(members, weights, near(members), "auto").of_intent.all()
    assert not intents(members, names, near(members), "auto").of_intent.any()  # each has a rare word
    assert not intents(members, weights, near(members, UNRELIABLE), "auto").of_intent.any()
    few_of_many = RELIABLE._replace(of_many=49, agreeing_of_many=49)
    assert not intents(members, weights, near(members, few_of_many), "auto").of_intent.any()
    few = members.slice(1)
    assert not intents(few, weights, near(few), "auto").of_intent.any()


@pytest.mark.parametrize(
    ("log_agrees", "agreeing", "is_intent"), [(90, 0.35, False), (90, 0.45, True), (50, 0.45, False), (50, 0.65, True)]
)
def test_more_agreement_is_required_where_answers_of_many_questions_agree_less(
    members_of, log_agrees: int, agreeing: float, is_intent: bool
) -> None:
    members, weights = many_of_large_log(members_of)
    log = RELIABLE._replace(questions=112, agreeing_of_many=log_agrees)  # .89 of the questions have answers of many
    assert intents(members, weights, near(members, log, agreeing=agreeing), "auto").of_intent.any() == is_intent


@pytest.mark.parametrize(("agreeing", "is_intent"), [(0.25, False), (0.35, True)])
def test_in_a_log_of_requests_alone_it_is_not(members_of, agreeing: float, is_intent: bool) -> None:
    members, weights = many_of_large_log(members_of)
    log = RELIABLE._replace(questions=111, agreeing_of_many=50)
    assert intents(members, weights, near(members, log, agreeing=agreeing), "auto").of_intent.any() == is_intent
    named = with_names(weights)
    assert not intents(members, named, near(members, log, agreeing=agreeing), "auto").of_intent.any()


@pytest.mark.parametrize(
    ("questions", "names", "is_intent"), [(112, 0.2, True), (112, 0.3, False), (111, 0.4, True), (111, 0.5, False)]
)
def test_requests_alone_may_have_more_rare_words(members_of, questions: int, names: float, is_intent: bool) -> None:
    members, _ = many_of_large_log(members_of)
    common = round((1 - names) * len(members))
    tokens = np.unique(np.concatenate(members["token_ids"].to_numpy(zero_copy_only=False)[:common]))
    some = TokenWeights(tokens, np.full(len(tokens), 1_000), LARGE)
    log = RELIABLE._replace(questions=questions)
    assert intents(members, some, near(members, log), "auto").of_intent.any() == is_intent


def test_rows_of_other_kinds_do_not_hide_an_intent_of_a_large_log(members_of) -> None:
    members, weights = many_of_large_log(members_of)
    log = RELIABLE._replace(questions=180, agreeing=90, supports=(50, *NO_SUPPORTS[1:-1], 130))
    found = intents(members, with_names(weights), near(members, log), "auto")
    assert found.of_intent.all()
    assert found.probability > 0.9  # contradicted questions of facts are no reason to doubt the neighbours


def test_a_fallback_hides_no_intent_of_a_large_log(members_of) -> None:
    members, weights = many_of_large_log(members_of)
    fallback = FrequentAnswer(1, LARGE // 2, LARGE // 4)
    of_many = {"agreeing_of_many": 4_500, "surrounded_of_many": 2_500}
    log = LogAgreement(LARGE, 4_500, NO_SUPPORTS, LARGE, **of_many, frequent=(fallback,))
    found = near(members, log, agreeing=0.2)
    assert intents(members, weights, found, "auto").of_intent.all()
    assert not intents(members, weights, near(members, log._replace(frequent=()), agreeing=0.2), "auto").of_intent.any()


def test_questions_in_small_groups_are_those_of_a_fallback(members_of) -> None:
    members, weights = many_of_large_log(members_of, 25)
    assert intents(members, weights, near(members, reach=0.3), "auto").of_intent.all()
    assert not intents(members, weights, near(members, reach=0.1), "auto").of_intent.any()


@pytest.mark.parametrize(
    ("number", "group", "is_intent"),
    [(30, 5, True), (30, 4, False), (119, 19, True), (119, 18, False), (500, 20, True)],
)
def test_an_intent_of_fewer_questions_may_have_them_in_smaller_groups(
    members_of, number: int, group: int, is_intent: bool
) -> None:
    members, weights = many_of_large_log(members_of, number)
    found = near(members)
    found.same[:, group:] = 0.05
    assert intents(members, weights, found, "auto").of_intent.any() == is_intent


@pytest.mark.parametrize("rare_words", [False, True])
def test_an_answer_of_few_questions_is_an_intent_by_its_text_only_in_the_log_of_a_help_desk(
    members_of, rare_words: bool
) -> None:
    members, weights = many_of_large_log(members_of, 5)
    members = answered(members, "card_arrival")
    weights = with_names(weights) if rare_words else weights
    assert intents(members, weights, near(members), "auto").of_intent.any() != rare_words


@pytest.mark.parametrize(
    ("changes", "names", "is_intent"),
    [
        ({}, 0.6, True),
        ({}, 0.7, False),
        ({"of_many": 49}, 0.0, False),
        ({"agreeing_of_many": 59}, 0.0, False),
        ({"supports_of_many": (18, *NO_SUPPORTS[1:-1], 82)}, 0.0, False),
        ({"surrounded_of_many": 30}, 0.0, True),
        ({"surrounded_of_many": 29}, 0.0, False),
    ],
)
def test_a_name_with_many_agreeing_questions_is_an_intent_of_a_small_log_too(
    members_of, changes: dict[str, Any], names: float, is_intent: bool
) -> None:
    members, weights = many_of_large_log(members_of)
    rare = {members["token_ids"][row].as_py()[-1] for row in range(round(names * len(members)))}
    frequencies = np.where(np.isin(weights.tokens, [*rare]), 2, weights.frequencies)
    found = near(members, RELIABLE._replace(**changes))
    small = TokenWeights(weights.tokens, frequencies, 3_000)
    assert intents(members, small, found, "auto").of_intent.any() == is_intent


def test_a_sentence_needs_no_questions_that_are_nearer_than_all_with_other_answers(members_of) -> None:
    members, weights = many_of_large_log(members_of)
    found = near(answered(members, "Choose the menu and log in again."), RELIABLE._replace(surrounded_of_many=0))
    assert intents(answered(members, "Choose the menu and log in again."), weights, found, "auto").of_intent.all()


@pytest.mark.parametrize(
    ("answer", "share", "agreeing", "is_intent"),
    [
        ("card_arrival", 0.5, 1, True),
        ("card_arrival", 0.5, 0, False),
        ("card_arrival", 0.4, 0, True),
        ("Sorry, I did not understand that.", 0.4, 1, False),
        ("Sorry, I did not understand that.", 0.4, 2, True),
        ("If you do not understand the bill, write to us.", 0.4, 0, True),
    ],
)
def test_few_questions_of_a_small_log_disagree_by_chance_but_those_of_an_apology(
    members_of, answer: str, share: float, agreeing: int, is_intent: bool
) -> None:
    members = answered(members_of([f"card {number}" for number in range(5)]), answer)
    found = witnesses(members, [0.5] * 5, LogAgreement(100, round(100 * share), NO_SUPPORTS))
    other = np.zeros_like(found.other)
    other[agreeing:, 0] = 1  # the nearest question has another answer
    chosen = intents(members, count_tokens(members["token_ids"]), dataclasses.replace(found, other=other), "auto")
    assert chosen.of_intent.all() == chosen.of_intent.any() == is_intent


@pytest.mark.parametrize(
    ("answer", "questions", "is_intent"),
    [
        ("Okay. Done.", 3, False),
        ("okay_done", 3, True),
        ("Sorry, I did not understand that.", 3, True),
        ("Sorry, I did not understand that.", MIN_QUESTIONS, False),
        ("If you do not understand the bill, write to us.", MIN_QUESTIONS, True),
    ],
)
def test_an_answer_whose_text_fits_any_question_is_no_intent_however_far_its_questions_agree(
    members_of, answer: str, questions: int, is_intent: bool
) -> None:
    texts = [f"lights off {number} {number % 3}" for number in range(questions)]
    members = members_of([*texts, *(f"card {number} of {number % 3}" for number in range(questions))])
    answers = [answer] * questions + ["card_arrival"] * questions
    for name, values in (("answer", answers), ("answer_id", [len(text) for text in answers])):
        members = members.set_column(members.column_names.index(name), name, pa.array(values))
    weights = count_tokens(members["token_ids"])
    chosen = intents(members, weights, witnesses(members, [0.9] * 2 * questions), "auto").of_intent
    assert chosen[questions:].all()
    assert chosen[:questions].all() == chosen[:questions].any() == is_intent


def test_no_question_belongs_to_nothing(members_of) -> None:
    empty = members_of(["one"]).slice(0, 0)
    assert len(intents(empty, count_tokens(empty["token_ids"]), witnesses(empty, []), "auto").of_intent) == 0
