"""Descriptions that exclude each other in one place, and their synonyms."""

import json
from collections import Counter
from importlib import resources

import pytest

from model.guards.entities.describing import describes_otherwise, describes_the_same
from model.guards.entity import entity_differs
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("how do I rename a local branch", "how do I rename a remote branch"),
        ("What does checked luggage cost?", "What does carry-on luggage cost?"),
        ("Which is the longest bridge in Wales?", "Which is the highest bridge in Wales?"),
        ("how do I get a nursing degree", "how do I get a law degree"),
        ("Is there a monthly fee?", "Is there an annual fee?"),
        ("What does travel insurance cover?", "What does home insurance cover?"),
        ("how do I reach the staging server", "how do I reach the production server"),
        ("Can I have a vegan meal?", "Can I have a gluten-free meal?"),
        ("Is a mechanical engineer well paid?", "Is a chemical engineer well paid?"),
        ("Can I pay the fee online?", "Can I pay the fee by phone?"),
        ("My parcel is lost", "My parcel is damaged"),
    ],
)
def test_descriptions_of_one_kind_exclude_each_other(one, two):
    assert entity_differs(Reading(one), Reading(two))
    assert entity_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Is there a yearly fee?", "Is there an annual fee?"),
        ("How heavy may hand luggage be?", "How heavy may cabin luggage be?"),
        ("My passport was lost, what now?", "My passport was stolen, what now?"),
        ("Is there a small fee?", "Is there an annual fee?"),
        ("how do I get a quick quote", "how do I get a fast quote"),
        ("Which is the oldest living tree?", "Which is the longest living tree?"),
        ("Which is the tallest tower in Rome?", "Which is the highest tower in Rome?"),
        ("Is red or white wine cheaper?", "Is white or red wine cheaper?"),
        ("Je veux un menu local", "Je veux un menu remote"),
    ],
)
def test_synonyms_and_descriptions_of_two_kinds_are_no_difference(one, two):
    assert not entity_differs(Reading(one), Reading(two))
    assert not entity_differs(Reading(two), Reading(one))


def test_a_word_of_two_kinds_excludes_only_those_that_are_others_in_each():
    assert describes_otherwise(["lost"], ["damaged"], "")
    assert not describes_otherwise(["oral"], ["dental"], "")
    assert describes_the_same(["oral"], ["dental"])
    assert not describes_the_same(["lost"], ["damaged"])
    assert not describes_otherwise(["lost"], ["unheard"], "")


def test_no_description_stands_twice_in_a_kind():
    written = json.loads(resources.files("model.guards.entities").joinpath("describing.json").read_text("utf-8"))
    for line in written["kinds"]:
        words = [word for group in line.split() for word in group.split(",")]
        assert [word for word, times in Counter(words).items() if times > 1] == []
        assert len(line.split()) > 1
