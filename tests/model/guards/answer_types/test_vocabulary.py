"""Words that ask for a type of answer."""

import json
from importlib import resources

from model.guards.answer_types.vocabulary import may_be_one, of_noun
from model.guards.reading import Reading

OF_RULES = {
    "time_past", "time_taken", "place_for_me", "person_subject", "person_eligible", "way", "manner", "thing", "object",
    "state", "reason_to_act", "quantity", "definition", "truth",
}  # fmt: skip


def _unique(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names)
    return dict(pairs)


def _file():
    text = resources.files("model.guards.answer_types").joinpath("types.json").read_text(encoding="utf-8")
    return json.loads(text, object_pairs_hook=_unique)


def test_a_text_can_have_each_word_and_no_line_has_one_twice():
    file = _file()
    types = {"with_best", "with_indefinite"}
    lines = [line for table in ("how", "units", "amounts", "nouns") for line in file[table].values()]
    lines += [line for name, line in file["lists"].items() if name not in types]
    for words in map(str.split, lines):
        assert len(set(words)) == len(words)
        for word in words:
            assert Reading(word.replace("_", " ")).words == word.split("_")
    one_word = [line for table in ("how", "units", "amounts") for line in file[table].values()]
    assert "_" not in " ".join([*one_word, *(line for name, line in file["lists"].items() if name not in types)])


def test_each_relation_has_an_effect():
    file = _file()
    pairs = [frozenset((one, two)) for one, others in file["compatible"].items() for two in others.split()]
    assert len(set(pairs)) == len(pairs)
    for pair in pairs:  # a type with conflicts is compatible with all others
        assert len(pair) == 2
        assert pair.isdisjoint(file["conflicts"])


def test_a_word_is_no_singular_of_another_ending():
    assert of_noun(["warranties"])[0] == {"warranty"}
    assert of_noun(["warrant"]) == (frozenset(), 0)


def test_each_type_of_the_relations_is_asked_for_by_a_word_or_rule():
    file = _file()
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
