import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pipelines.simulation.entities import names, ordinal_ending
from pipelines.simulation.fact_types import FactType
from pipelines.simulation.world import FACT_TYPES, world


def every_question() -> pa.Table:
    facts = np.arange(len(world()))
    wordings = np.array([len(t.wordings) for t in FACT_TYPES])[world()._types(facts)]
    parts = []
    for k in range(wordings.max()):
        some = facts[wordings > k]
        asked = world().questions(some, wording=(k + 0.5) / wordings[some], alias=np.zeros(len(some), bool))
        parts.append(pa.table({"question": pc.utf8_lower(asked), "fact": some}))
    return pa.concat_tables(parts)


def test_there_are_forty_fact_types_with_four_wordings_and_over_a_million_distinct_questions_none_of_two_facts():
    assert len(FACT_TYPES) >= 40
    table = every_question()
    owners = table.group_by("question").aggregate([("fact", "count_distinct")])["fact_count_distinct"]
    assert len(owners) > 1_000_000
    assert pc.max(owners).as_py() == 1


def test_a_fact_needs_four_wordings_that_name_all_its_entities():
    known = {"answer": "{v}", "value": "amount", "generic": "unknown"}
    with pytest.raises(ValueError, match="at least 4 items"):
        FactType(about=("city",), wordings=("Where is {a}?",), **known)
    with pytest.raises(ValueError, match="does not name all entities"):
        FactType(about=("city", "year"), wordings=(*["Who ran {a} in {b}?"] * 3, "Who ran {a}?"), **known)
    with pytest.raises(ValueError, match="does not name all entities"):
        FactType(about=("city",), wordings=(*["Where is {a}?"] * 3, "Where is it?"), **known)


def fact_id(question: str) -> int:
    facts = np.arange(len(world()))
    asked = world().questions(facts, wording=np.zeros(len(facts)), alias=np.zeros(len(facts), bool))
    return pc.index(asked, question).as_py()


def test_answers_of_real_things_are_true_and_two_facts_about_paris_share_one():
    ids = [fact_id(q) for q in ("What is the capital of France?", "What is the chemical symbol of iron?")]
    assert world().answers(np.array(ids)).to_pylist() == ["Paris", "Fe"]
    capitals = world().answers(np.arange(len(world())))
    assert pc.sum(pc.equal(capitals, "Paris")).as_py() > 1
    assert world().gold(np.array(ids)).tolist() == ids


def test_an_alias_replaces_the_name_only_where_there_is_one():
    ids = np.array([fact_id("What is the capital of the United States?"), fact_id("What is the capital of France?")])
    for alias, expected in ((True, "America"), (False, "the United States")):
        asked = world().questions(ids, wording=np.zeros(2), alias=np.full(2, alias)).to_pylist()
        assert asked == [f"What is the capital of {expected}?", "What is the capital of France?"]


def test_popularity_holds_every_fact_once_and_asks_small_types_as_often_as_large_ones():
    order = world().popularity(np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(len(world())))
    first = world()._types(order)[: len(FACT_TYPES)].tolist()
    assert sorted(first) == list(range(len(FACT_TYPES)))  # each type's most popular fact comes before any second one


def test_names_of_a_kind_are_distinct_and_ordinals_end_rightly():
    known = names()
    assert known.pool[0].as_py() == ""
    for kind in ("city", "person", "company", "film", "book", "song", "dish", "team", "landmark"):
        listed = known.pool.slice(known.start[kind], known.count[kind])
        assert pc.count_distinct(listed).as_py() == known.count[kind]
    assert [f"{n}{ordinal_ending(n)}" for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "112th",
    ]
