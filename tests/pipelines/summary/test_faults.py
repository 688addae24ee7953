import pytest

from pipelines.reading.sources import Source
from pipelines.summary.faults import _ADVICE, fault_of, shown_rejects
from pipelines.summary.reject_examples import RejectExamples

SOURCES = [Source("log.csv", 7, "csv")]
LEFT = {"rows_read": 9, "rows_kept": 9, "rows_rejected": 0, "members": 9, "groups": 4}


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("linkage_no_paraphrase", ("--min-probability", "--linkage none")),
        ("coherence_incoherent", ("--min-coherence", "--coherence")),
        ("ambiguity_minority_answer", ("--min-answer-share",)),
        ("leakage_in_train", ("--near-duplicate",)),
        ("size_single_question", ("--column answer_id=NAME",)),
        ("validate_no_word", ("--max-reject-ratio",)),
        ("linkage_below_precision", ("Lower --precision",)),
        ("privacy_too_many_of_user", ("Raise --max-events-of-user",)),
        ("read_invalid_utf8", ("--encoding cp1252",)),
        ("review_stray", ("leave out --verdicts",)),
        ("review_wrong_cluster", ("leave out --verdicts",)),
        ("splits_other_split_before", ("Give more logs",)),
    ],
)
def test_the_reason_that_rejected_most_decides_on_the_advice(reason, options):
    fault = fault_of(LEFT | {f"rejected_{reason}": 8, "rejected_size_over_max_cluster_size": 1}, SOURCES, 0.1)
    assert fault.startswith(f"no cluster was left of 9 questions in 4 groups. Most were {reason} (8), size_over")
    assert all(option in fault for option in options)


def test_a_run_without_linkage_is_advised_to_link_rather_than_to_choose_another_score():
    rejected = LEFT | {"rejected_coherence_incoherent": 9, "incoherent_intents_answers": 0}
    fault = fault_of(rejected, SOURCES, 0.1)
    assert "leave out --linkage none or --coherence paper, or lower --min-coherence" in fault
    assert "choose another --coherence" not in fault


def test_without_a_cluster_the_advice_is_about_questions_too_where_more_rows_were_rejected():
    rejected = {"rejected_validate_no_word": 9, "rejected_size_single_question": 8}
    fault = fault_of(LEFT | rejected, SOURCES, 0.1)
    assert fault.index("--column answer_id=NAME") < fault.index("--max-reject-ratio")
    alone = fault_of(LEFT | {"rejected_validate_no_word": 9}, SOURCES, 0.1)
    assert alone.endswith("validate_no_word (9). Correct the rows")


def test_without_a_cluster_answers_that_vary_are_to_be_named_and_limits_stay():
    varied = {"questions": 8, "members_judged": 2, "rejected_ambiguity_ambiguous": 9}
    fault = fault_of(LEFT | varied, SOURCES, 0.1)
    assert "Of 8 questions 6 are rejected as ambiguous" in fault
    assert "--column answer_id=NAME" in fault
    assert "--min-answer-share" not in fault
    assert "Lower --min-answer-share" in fault_of(LEFT | varied | {"members_judged": 7}, SOURCES, 0.1)


def test_a_run_with_a_cluster_and_few_rejects_has_no_fault():
    assert fault_of(LEFT | {"clusters_test": 1}, SOURCES, 0.1) is None


def test_rows_that_are_too_long_are_reported_with_the_limits_and_their_examples_come_first():
    counters = {"rows_read": 200, "rows_rejected": 40, "rejected_validate_too_long": 40}
    fault = fault_of(counters | {"rejected_linkage_no_paraphrase": 100}, SOURCES, 0.1)
    assert "Most were validate_too_long (40). A question may have 10,000 characters and an answer 100,000" in fault
    assert "--max-reject-ratio" in fault
    many = RejectExamples("linkage", "no_paraphrase", 100, ["short"] * 5)
    lines = shown_rejects([many, RejectExamples("validate", "too_long", 40, ["long"] * 2)], fault)
    assert lines == ["validate, too long: long"] * 2 + ["linkage, no paraphrase: short"] * 3


def test_each_option_that_is_advised_exists(qpr):
    text = qpr("clusters", "--help").out
    for advice in _ADVICE.values():
        for word in advice.replace(",", " ").replace("(", " ").replace(")", " ").split():
            assert not word.startswith("--") or f"  {word} " in text, word
