import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.statistics.agreement import specific_agreement


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_agreement_is_the_chance_that_the_other_judges_alike(pairs):
    counts = (
        sum(one and other for one, other in pairs),
        sum(one != other for one, other in pairs),
        sum(not one and not other for one, other in pairs),
    )
    found = specific_agreement(*counts)
    both_ways = [*pairs, *((other, one) for one, other in pairs)]
    for value, share in ((True, found.positive), (False, found.negative)):
        others = [other for one, other in both_ways if one is value]
        assert share == (pytest.approx(others.count(value) / len(others)) if others else None)


def test_a_rare_fault_that_only_one_sees_shows_in_the_negative_agreement_alone():
    positive, negative = specific_agreement(990, 10, 0)
    assert positive > 0.99
    assert negative == 0
