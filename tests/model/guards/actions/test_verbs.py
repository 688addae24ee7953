"""Verbs and the actions that they name."""

import json
from importlib import resources

import pytest

from model.guards.actions.verbs import (
    PARTICLES,
    _table,
    are_related,
    find_phrase,
    find_verb,
    is_gerund,
    is_participle,
)
from model.guards.reading import Reading


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("cancelled", ""), ("cancel", "")),
        (("bought", ""), ("purchasing", "")),
        (("pick", "up"), ("collect", "")),
        (("swap", ""), ("changing", "")),
        (("boil", ""), ("cook", "")),
        (("ate", ""), ("eats", "")),
    ],
)
def test_verbs_of_one_action_are_related(one, two):
    assert are_related(find_verb(*one), find_verb(*two))
    assert are_related(find_verb(*two), find_verb(*one))


@pytest.mark.parametrize(("one", "two"), [("boil", "fried"), ("founded", "bought"), ("track", "cancel")])
def test_other_verbs_are_not(one, two):
    assert not are_related(find_verb(one), find_verb(two))


def test_general_verbs_and_words_that_are_no_listed_verb():
    assert find_verb("gets").is_general
    assert find_verb("get", "in").is_general
    assert not find_verb("get", "over").is_general
    assert find_verb("boil", "together").is_general  # an adverb that no list has with this verb
    assert find_phrase("boil", "together") is None
    assert find_verb("teacher") is None
    assert find_verb("zorvak") is None


def test_forms():
    assert is_gerund("baking")
    assert not is_gerund("restring")
    assert is_participle("built")
    assert is_participle("stored")
    assert not is_participle("build")


def test_the_table_has_all_written_verbs():
    lists = json.loads(resources.files("model.guards.actions").joinpath("verbs.json").read_text("utf-8"))
    words = " ".join(line for name in ("same", "different", "alone", "general") for line in lists[name])
    for verb in words.replace(":", "").split():
        word, _, particle = verb.partition("_")
        assert (find_phrase(word, particle) if particle else find_verb(word)) is not None, verb


def test_a_text_can_have_each_verb_of_the_table():
    for verb in _table():
        word, _, particle = verb.partition("_")
        assert Reading(word).words == [word]
        assert particle in {"", *PARTICLES}, verb
