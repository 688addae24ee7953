from hypothesis import given
from hypothesis import strategies as st

from pipelines.summary.row_balance import Rejects, Split, row_balance

COUNTERS = {
    "rows_read": 100,
    "rows_kept": 97,
    "rows_rejected": 3,
    "rejected_validate_no_word": 2,
    "rejected_read_invalid_json": 1,
    "members": 80,
    "members_rejected": 60,
    "rejected_size_single_question": 20,
    "rejected_coherence_incoherent": 10,
    "rejected_size_over_max_cluster_size": 30,
    "clusters_train": 4,
    "clusters_test": 1,
    "members_train": 17,
    "members_test": 3,
    "pairs_train": 30,
    "pairs_test": 2,
    "groups": 25,
}


def test_rows_and_questions_have_accounts_of_their_own():
    told = row_balance(COUNTERS)
    assert told.rows[:2] == (100, 97)
    assert told.rows.rejects == [Rejects("read", "invalid_json", 1, 0.01), Rejects("validate", "no_word", 2, 0.02)]
    assert told.questions[:2] == (80, 20)
    assert told.questions.rejects == [
        Rejects("size", "over_max_cluster_size", 30, 0.375),
        Rejects("size", "single_question", 20, 0.25),
        Rejects("coherence", "incoherent", 10, 0.125),
    ]


def test_an_unknown_stage_comes_last():
    told = row_balance({"members": 9, "rejected_zeal_x": 4, "rejected_leakage_x": 1, "rejected_angst_x": 4})
    assert [line.stage for line in told.questions.rejects] == ["leakage", "angst", "zeal"]


def test_splits_add_up():
    assert row_balance(COUNTERS).splits == [
        Split("train", 4, 17, 30),
        Split("validation", 0, 0, 0),
        Split("test", 1, 3, 2),
        Split("all", 5, 20, 32),
    ]


def test_nothing_is_no_error():
    told = row_balance({})
    assert (told.rows.whole, told.questions.rejects, told.others) == (0, [], {})
    assert row_balance({"rejected_read_x": 2}).rows.rejects == [Rejects("read", "x", 2, 0.0)]


NAMES = [*COUNTERS, "events", "unreadable_timestamp", "rejected_new_reason", "members_judged", "rows_positive"]


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 2**62), max_size=len(NAMES)))
def test_every_counter_stands_in_one_place(counters):
    told = row_balance(counters)
    lines = [*told.rows.rejects, *told.questions.rejects]
    seen = {f"rejected_{line.stage}_{line.reason}" for line in lines} | set(told.others)
    sums = {"rows_read", "rows_kept", "rows_rejected", "members", "members_rejected"}
    splits = {f"{name}_{s.split}" for s in told.splits[:3] for name in ("clusters", "members", "pairs")}
    assert set(counters) <= seen | sums | splits
    assert len(lines) == sum(name.startswith("rejected_") for name in counters)
    assert not set(told.others) & (sums | splits)
