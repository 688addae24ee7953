import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.review.database.connection import Verdict
from jobs.review.opinions import is_shared, opinions, outcome
from jobs.review.queues.interface import Place, QueueIdentity
from jobs.review.tally import tally
from schemas.statistics.e_processes import share_bound

SOURCE = QueueIdentity("clusters", "d", 0, 1_000_000, 3_000_000, 9)
SHARED = next(f"i{n}" for n in range(1_000) if is_shared(f"i{n}", 0))
ALONE = next(f"i{n}" for n in range(1_000) if not is_shared(f"i{n}", 0))


def verdicts(*given):
    return [Verdict(f"v{n:03}", item, who, value, judged_at=f"{n:03}") for n, (item, who, value) in enumerate(given)]


def outcome_of(*given, item=ALONE):
    people = opinions(verdicts(*((item, who, value) for who, value in given)))[item]
    return outcome(people, shared=is_shared(item, 0))


def count(given, places=None, **options):
    judged = verdicts(*given)
    places = places or {item: Place(int(item[1:]), 2, {"split": "test"}) for item, _, _ in given}
    return tally(judged, places, SOURCE, **{"claim": 0.99, "error": 0.05} | options)


@pytest.mark.parametrize(
    ("given", "verdict", "waits"),
    [
        ([("Ada", "right")], "right", False),
        ([("Ada", "stray")], "stray", True),
        ([("Ada", "cannot tell")], "cannot tell", True),
        ([("Ada", "stray"), ("Bob", "stray")], "stray", False),
        ([("Ada", "stray"), ("Bob", "right")], "stray", True),
        ([("Ada", "stray"), ("Bob", "right"), ("Eve", "right")], "right", False),
        ([("Ada", "stray"), ("Bob", "right"), ("Eve", "several")], "stray", False),
        ([("Ada", "right"), ("Ada", "several")], "several", True),
        ([("Ada", "right"), ("Ada", "right")], "right", False),
    ],
)
def test_an_item_is_right_only_if_more_people_call_it_right_than_not(given, verdict, waits):
    assert outcome_of(*given) == (verdict, waits)


def test_a_twentieth_of_the_right_items_waits_for_a_second_person():
    assert outcome_of(("Ada", "right"), item=SHARED) == ("right", True)
    assert outcome_of(("Ada", "right"), ("Bob", "right"), item=SHARED) == ("right", False)
    assert sum(is_shared(f"c{n}", 3) for n in range(10_000)) == pytest.approx(500, abs=80)


def test_only_items_before_the_first_gap_are_counted():
    found = count([("i0", "Ada", "right"), ("i1", "Ada", "stray"), ("i3", "Ada", "right"), ("i4", "Ada", "right")])
    assert (found.judged, found.counted) == (4, 2)
    assert (found.all.right, found.all.judged, found.verdicts) == (1, 2, {"right": 1, "stray": 1})
    assert count([("i1", "Ada", "right")]).all == (0, 0, None, 0.0)


def test_the_bound_is_that_of_the_e_process_and_351_clean_ones_support_99_percent():
    clean = [(f"i{n}", "Ada", "right") for n in range(351)]
    assert count(clean).missing == 0
    assert count(clean[:350]).missing == 1
    assert count(clean).all.bound == share_bound(351, 0, 0.05) >= 0.99
    assert count([*clean, ("i351", "Ada", "cannot tell")]).missing == 619 - 352
    assert count(clean[:100], claim=0.9, error=0.2).missing < count(clean[:100], claim=0.9).missing + 1


@given(st.lists(st.tuples(st.booleans(), st.integers(2, 9)), min_size=1, max_size=60))
def test_the_share_by_question_weighs_items_by_size(items):
    given_ = [(f"i{n}", "Ada", "right" if right else "several") for n, (right, _) in enumerate(items)]
    places = {f"i{n}": Place(n, size, {}) for n, (_, size) in enumerate(items)}
    found = count(given_, places).by_question
    assert found.share == pytest.approx(sum(size * right for right, size in items) / sum(size for _, size in items))
    assert 0 <= found.bound <= found.share


def test_the_bound_by_question_rises_with_clean_items_and_holds_for_wrong_large_ones():
    places = {f"i{n}": Place(n, 9 if n < 3 else 2, {}) for n in range(900)}
    small, large = (count([(f"i{n}", "Ada", "right") for n in range(size)], places) for size in (200, 900))
    assert 0.5 < small.by_question.bound < large.by_question.bound < 1
    broken = count([(f"i{n}", "Ada", "stray" if n < 3 else "right") for n in range(900)], places)
    assert broken.by_question.share == pytest.approx(1 - 27 / (27 + 897 * 2))
    assert broken.by_question.bound < large.by_question.bound


def test_strata_have_shares_and_bounds_of_their_own():
    places = {f"i{n}": Place(n, 2, {"size": "large" if n % 4 == 0 else "small"}) for n in range(100)}
    found = count([(f"i{n}", "Ada", "stray" if n == 4 else "right") for n in range(100)], places).strata
    assert {entry: share[:2] for entry, share in found.items()} == {
        ("size", "large"): (25, 24),
        ("size", "small"): (75, 75),
    }
    assert found["size", "small"].bound == share_bound(75, 0, 0.05)


def test_slips_are_repeats_that_one_person_judged_otherwise():
    same = [(f"i{n}", "Ada", "right") for n in range(9)] * 2
    slip = [("i20", "Ada", "right"), ("i20", "Ada", "stray"), ("i21", "Ada", "stray"), ("i21", "Ada", "several")]
    found = count([*same, *slip]).slips
    assert (found.repeats, found.slips, found.rate) == (11, 1, pytest.approx(1 / 11))
    assert 1 / 11 < found.at_most < 0.4
    assert count(same[:9]).slips == (0, 0, None, 1.0)


def test_agreement_weighs_right_items_for_those_that_nobody_else_judged():
    first = [
        (SHARED, "Ada", "right"),
        ("i1001", "Ada", "stray"),
        ("i1002", "Ada", "several"),
        ("i1003", "Ada", "right"),
    ]
    second = [(SHARED, "Bob", "right"), ("i1001", "Bob", "stray"), ("i1002", "Bob", "right"), ("i1003", "Bob", "right")]
    found = count([*first, *second])
    assert found.second_opinions == 4
    assert found.agreement.positive == pytest.approx(2 * 20 / (2 * 20 + 1))  # i1003 is not shared: not counted
    assert found.agreement.negative == pytest.approx(2 / 3)
    assert found.disagreements == ["i1002"]
    assert found.waiting == ["i1002"]
    assert not math.isnan(found.agreement.positive)


def test_the_verdicts_on_all_clusters_show_their_share():
    sizes = {f"i{place}": Place(place, 2 + place % 5, {}) for place in range(30)}
    source = QueueIdentity("clusters", "d", 0, 30, sum(place.size for place in sizes.values()), 6)
    judged = verdicts(*((item, "Ada", "several" if item == "i7" else "right") for item in sizes))
    found = tally(judged, sizes, source, claim=0.96, error=0.05)
    assert found.all.bound == found.all.share == 29 / 30
    assert found.by_question.bound == pytest.approx(found.by_question.share, abs=1e-9)
    assert found.missing == 0
    assert tally(judged, sizes, source, claim=0.97, error=0.05).missing is None


def test_requests_stand_for_those_to_come():
    places = {f"i{place}": Place(place, 1, {}) for place in range(30)}
    judged = verdicts(*((item, "Ada", "right") for item in places))
    found = tally(judged, places, QueueIdentity("requests", "d", 0, 30, 30, 1), claim=0.99, error=0.05)
    assert found.all.bound == share_bound(30, 0, 0.05) < 1
    assert found.missing == 351 - 30
