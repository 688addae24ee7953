"""Words that ask for a type of answer."""

import json
from importlib import resources

from model.guards.answer_types.vocabulary import may_be_one, of_noun

OF_RULES = {
    "time_past", "time_taken", "place_for_me", "person_subject", "person_eligible", "way", "manner", "thing", "object",
    "state", "any", "reason_to_act", "quantity",
}  # fmt: skip


def _unique(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names)
    return dict(pairs)


def test_each_type_of_the_relations_is_asked_for_by_a_word_or_rule():
    text = resources.files("model.guards.answer_types").joinpath("types.json").read_text(encoding="utf-8")
    file = json.loads(text, object_pairs_hook=_unique)
    known = {name for table in ("how", "units", "amounts", "nouns") for types in file[table] for name in types.split()}
    related = {
        name
        for table in ("compatible", "conflicts")
        for first, others in file[table].items()
        for name in (first, *others.split())
    }
    assert related <= known | OF_RULES


def test_the_longest_noun_counts():
    assert of_noun(["the", "boiling", "points"]) == (frozenset({"boiling", "temperature"}), 2)
    assert of_noun(["zorvak"]) == (frozenset(), 0)


def test_a_type_that_is_open_conflicts_with_some_types_only():
    assert may_be_one(frozenset({"thing"}), frozenset({"place"}))
    assert not may_be_one(frozenset({"duration"}), frozenset({"thing"}))
    assert may_be_one(frozenset({"length", "duration"}), frozenset({"size"}))
