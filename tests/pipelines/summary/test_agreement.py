"""Agreement of the nearest questions of a log, from counters."""

import pytest

from pipelines.summary.agreement import is_near_chance, warnings


@pytest.mark.parametrize(
    ("changed", "answers", "warned"),
    [
        ({}, "auto", 1),
        ({}, "intent", 0),
        ({}, "fact", 0),
        ({"worth_intents": 1}, "auto", 0),
        ({"worth_agreement": 340_000}, "auto", 0),
        ({"answers": 200}, "auto", 0),
        ({"answers": 1}, "auto", 0),
        ({"questions": 5_000}, "auto", 0),
        ({"worth_of_entity_2_answers": 60, "worth_of_number_2_answers": 17}, "auto", 1),
        ({"worth_of_entity_2_answers": 50, "worth_of_number_2_answers": 27}, "auto", 0),
        ({"worth_of_yes/no_3_answers": 2}, "auto", 0),
    ],
)
def test_a_small_log_that_may_be_a_help_desks_is_named(changed: dict[str, int], answers: str, warned: int) -> None:
    found = {"answers": 77, "questions": 500, "worth_agreement": 540_000, "worth_intents": 0} | changed
    sentences = warnings(found, {"assembly": {"linking": {"answers": answers}}})
    assert len(sentences) == warned
    assert all("none of 77 answers with 500 questions was taken for an intent" in sentence for sentence in sentences)


@pytest.mark.parametrize(("of_many", "is_against"), [(39, True), (38, False)])
def test_a_log_without_intents_although_most_answers_have_many_questions_has_evidence_against_them(of_many, is_against):
    counters = {"answers": 77, "questions": 4_000, "worth_agreement": 540_000, "worth_of_entity_3_answers": of_many}
    [sentence] = warnings(counters, {})
    assert sentence.startswith("none of 77 answers with 4,000 questions was taken for an intent, ")
    assert ("although most have more than 20: questions with other answers" in sentence) is is_against
    assert ("few questions of an answer are little evidence" in sentence) is not is_against
    assert sentence.endswith("keep its questions together by --answers intent")


@pytest.mark.parametrize(
    ("intents", "by_size", "warned"),
    [
        (32, {"entity_2": 45, "entity_3": 32}, True),
        (57, {"entity_2": 16, "entity_3": 61}, True),
        (33, {"entity_1": 1, "entity_2": 44, "entity_3": 32}, True),  # one intent of exactly 20 questions
        (71, {"entity_1": 1, "entity_2": 1, "entity_3": 75}, False),  # hardly an answer has few questions
        (9, {"entity_2": 68, "entity_3": 9}, False),  # few answers with enough questions
        (20, {"entity_2": 45, "entity_3": 32}, False),  # many of those are no intents
        (32, {"sentence_2": 45, "entity_3": 32}, False),  # the others are none by their texts and questions
        (62, {"sentence_2": 45, "date_1": 4, "entity_3": 28}, False),  # intents by their texts
    ],
)
def test_answers_with_too_few_questions_for_evidence_are_named(intents, by_size, warned):
    found = {"answers": 77, "questions": 1_500, "worth_agreement": 600_000, "worth_intents": intents}
    counters = found | {f"worth_of_{size}_answers": number for size, number in by_size.items()}
    sentences = warnings(counters, {})
    assert len(sentences) == warned
    fewer = sum(number for size, number in by_size.items() if size[-1] in "12") - (intents == 33)
    start = f"{intents} of 77 answers are intents by the evidence of their questions; {fewer} others have at most 20"
    assert all(text.startswith(start) and text.endswith("by --answers intent") for text in sentences)
    assert warnings(counters, {"assembly": {"linking": {"answers": "fact"}}}) == []


@pytest.mark.parametrize(
    ("log", "agreement", "pairs", "questions", "expected"),
    [
        ("help desk with shuffled answers", 14_862, 1_140_686, 13_051, True),
        ("commands with random acknowledgements", 13_711, 52_440, 5_760, True),
        ("help desk", 794_016, 1_143_823, 13_067, False),
        ("facts", 134_796, 9_500, 6_313, False),
        ("one answer for half of the rows", 881_147, 10**11, 693_081, False),
        ("one answer", 999_667, 4_492_503, 2_998, False),
        ("few questions", 10_000, 1_500, 499, False),
    ],
)
def test_an_agreement_near_chance_is_warned_of(
    log: str, agreement: int, pairs: int, questions: int, expected: bool
) -> None:
    found = {"worth_agreement": agreement, "worth_pairs": pairs, "members_judged": questions}
    counters = found | {"questions": questions, "answers": questions}
    assert is_near_chance(counters) is expected
    sentences = warnings(counters, {"assembly": {"linking": {"answers": "auto"}}})
    assert len(sentences) == expected, log
    assert all("answers and questions hardly belong together" in sentence for sentence in sentences)
    assert all("qpr calibrate --verdicts" in sentence for sentence in sentences)


def test_the_warning_has_the_agreement_and_chance() -> None:
    found = {"worth_agreement": 14_862, "worth_pairs": 1_140_686, "members_judged": 13_051}
    [sentence] = warnings(found, {})
    assert sentence.startswith(
        "1.5 % of the questions have the answer of their nearest question, by chance 1.3 % would."
    )
    assert warnings(found, {"assembly": {"recalibration": {"verdicts": 150}}}) == []


@pytest.mark.parametrize(
    ("agreement", "answers", "number"), [(0.14, "intent", 1), (0.8, "intent", 0), (0.1, "auto", 0)]
)
def test_a_statement_that_the_log_contradicts_is_warned_of(agreement: float, answers: str, number: int) -> None:
    found = warnings({"worth_agreement": round(agreement * 1e6)}, {"assembly": {"linking": {"answers": answers}}})
    assert len(found) == number
    assert all("only 14 % of the questions have the answer of their nearest question" in text for text in found)
