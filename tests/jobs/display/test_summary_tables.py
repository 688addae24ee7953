import pytest

from jobs.display.summary_tables import (
    SummaryTable,
    estimate_text,
    other_counts,
    percent,
    rows_per_second,
    shown,
    speed,
    summary_tables,
)

COUNTERS = {
    "rows_read": 4_000,
    "rows_kept": 3_999,
    "rows_rejected": 1,
    "rejected_validate_no_word": 1,
    "members": 10,
    "members_train": 6,
    "members_test": 2,
    "clusters_train": 3,
    "clusters_test": 1,
    "pairs_train": 6,
    "pairs_test": 1,
    "members_rejected": 2,
    "rejected_size_single_question": 2,
    "groups": 1_005,
    "groups_incoherent": 0,
}
DECIDED_BY_IDF = {"assembly": {"gate": {"coherence": "idf", "min_coherence": 0.05}}}
FIVE = {"min": 2.0, "q1": 2.0, "median": 2.0, "q3": 3.0, "max": 1_000.0}


def test_the_tables_of_a_run():
    scores = {"size": FIVE, "coherence": dict.fromkeys(FIVE, 0.25), "idf_coherence": dict.fromkeys(FIVE, 0.5)}
    rows, questions, splits, clusters = summary_tables(COUNTERS, scores, DECIDED_BY_IDF)
    assert rows.head == ("Rows", "rejected for", "number", "share")
    assert rows.rows == [
        ("read", "", "4,000", "100.0 %"),
        ("kept", "", "3,999", ">99.9 %"),
        ("validate", "no word", "1", "<0.1 %"),
    ]
    assert questions.rows[1:] == [("in clusters", "", "8", "80.0 %"), ("size", "single question", "2", "20.0 %")]
    assert questions.bars == [1, 0.8, 0.2]
    assert splits.rows == [
        ("train", "3", "6", "6", "75.0 %"),
        ("validation", "0", "0", "0", "0.0 %"),
        ("test", "1", "2", "1", "25.0 %"),
        ("all", "4", "8", "7", "100.0 %"),
    ]
    assert clusters.rows == [
        ("cluster size", "2", "2", "2", "3", "1,000"),
        ("coherence (paper)", "0.250", "0.250", "0.250", "0.250", "0.250"),
        ("idf coherence, decides", "0.500", "0.500", "0.500", "0.500", "0.500"),
    ]
    assert "0 unrelated, 1 the same words" in clusters.note
    assert clusters.note.endswith("Idf coherence decides: clusters below 0.05 are rejected (--min-coherence).")
    worth = {"worth_pairs": 1, "worth_answers": 1, "worth_strays": 0, "worth_pairs_expected": 0, "worth_pairs_kept": 0}
    of_intents = summary_tables(COUNTERS | worth | {"worth_intents": 1}, scores, DECIDED_BY_IDF)[3]
    assert of_intents.note.endswith("rejected (--min-coherence); intents pass whatever their coherence.")
    assert other_counts(COUNTERS) == SummaryTable(("Other counts", "number"), [("paraphrase groups found", "1,005")])


def test_a_run_without_clusters_has_no_table_of_them():
    assert [sheet.head[0] for sheet in summary_tables({}, {}, {})] == ["Rows", "Questions", "Split"]


def test_the_estimates_of_verdicts_are_a_table():
    used = {
        "verdicts": 1_150,
        "precision": 0.9,
        "estimates": {"prior": (0.072, 0.05, 0.1), "precision": (0.9, 0.85, 1)},
    }
    *_, table = summary_tables({}, {}, {"assembly": {"recalibration": used}})
    assert table.rows == [
        ("pairs of one answer that are paraphrases", "7.2 % (5 to 10)"),
        ("kept pairs that are right", "90.0 % (85 to 100)"),
    ]
    assert table.note.startswith("Estimated by 1,150 verdicts")
    assert table.note.endswith("Kept pairs have a precision of at least 0.9 with 95 % confidence.")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.0 %"), (1e-9, "<0.1 %"), (0.001, "0.1 %"), (0.5, "50.0 %"), (0.9999, ">99.9 %"), (1, "100.0 %")],
)
def test_few_are_not_none_and_most_are_not_all(share, text):
    assert percent(share) == text


def test_speed_and_values():
    assert speed(87_529, 3.94) == "3.9 s, 22,215 rows/s"
    assert rows_per_second(5, 0) == 0
    assert shown(10_000_000_000.0, "size") == "10,000,000,000"
    assert shown(0.12345, "coherence") == "0.123"


def test_a_score_that_rejects_nothing_does_not_decide():
    accepted = {"assembly": {"gate": {"coherence": "paper", "min_coherence": 0}}}
    [*_, clusters] = summary_tables(COUNTERS, {"coherence": dict.fromkeys(FIVE, 0.5)}, accepted)
    assert clusters.rows[0][0] == "coherence (paper)"
    assert clusters.note.endswith("No cluster is rejected for its coherence.")


def test_wrong_answers_of_a_log_with_intents_are_a_row():
    worth = dict.fromkeys(("pairs", "pairs_expected", "pairs_kept", "answers", "intents", "strays"), 1)
    counters = COUNTERS | {f"worth_{name}": number for name, number in worth.items()} | {"worth_pairs_kept": 0}
    for found, expected in (({}, None), ({"worth_wrong_answers": 57_000}, "5.7 %")):
        [answers] = [table for table in summary_tables(counters | found, {}, {}) if table.head[0] == "Answers"]
        assert dict(answers.rows).get("questions with a wrong answer, estimated") == expected
        assert other_counts(counters | found) == other_counts(COUNTERS)


def test_kinds_of_answers_have_an_estimate_with_its_interval():
    counts = {"answers": 20, "expected": 5_000_000, "squares": 2_000_000}
    worth = dict.fromkeys(("pairs", "pairs_expected", "pairs_kept", "answers", "intents", "strays"), 1)
    counters = COUNTERS | {f"worth_of_sentence_1_{name}": number for name, number in counts.items()}
    counters |= {f"worth_{name}": number for name, number in worth.items()} | {"worth_pairs_kept": 0}
    [kinds] = [table for table in summary_tables(counters, {}, {}) if table.head[0] == "Kinds of answers"]
    [(kind, answers, estimate)] = kinds.rows
    assert (kind, answers) == ("sentence", "20")
    assert estimate.startswith("25.0 % (")
    assert "mean the same" in kinds.note
    assert other_counts(counters) == other_counts(COUNTERS)
    uncalibrated = {"assembly": {"linking": {"method": "logistic"}}}
    assert "Kinds of answers" not in [table.head[0] for table in summary_tables(counters, {}, uncalibrated)]


def test_an_interval_contains_its_estimate_when_both_are_rounded():
    assert estimate_text(0.003, 0.0026, 0.0032) == "0.3 % (0 to 1)"
    assert estimate_text(0.9996, 0.994, 0.9997) == ">99.9 % (99 to 100)"
    assert estimate_text(0.684, 0.6, 0.759) == "68.4 % (60 to 76)"
