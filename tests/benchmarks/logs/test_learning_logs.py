import collections
import functools
import json
import re
from typing import Any

import pytest

from benchmarks.logs import known_logs
from benchmarks.logs.known_logs import HERE, KnownLog, MissingDataError, known_log
from benchmarks.logs.learning_logs import (
    DOMAINS,
    FALLBACK,
    FAQS,
    NEIGHBOURS_ANSWER,
    SAME_ANSWER,
    SHARED_PAIRS,
    STRAYS,
    TWO_WORDINGS,
    learning_log,
)
from benchmarks.logs.learning_logs import LOGS as LEARNING_LOGS
from schemas.text import fold, question_id


def data(name: str) -> Any:
    """Return the texts of a file beside the logs."""
    return json.loads((HERE / name).read_text("utf-8"))


SCORED = ("helpdesk", *(f"faq-{name}" for name in known_logs.FAQS))


log_of = functools.cache(learning_log)


def groups_of_answers(log: KnownLog) -> dict[str, set[int]]:
    """Return the groups of the rows of each answer."""
    found = collections.defaultdict(set)
    for row in log.judged:
        found[row.answer].add(row.group)
    return found


@pytest.mark.parametrize("name", LEARNING_LOGS)
def test_rows_and_judged_questions_agree(name):
    log = log_of(name)
    assert log.name == name
    assert [(question_id(text), fold(answer)) for text, answer in log.rows] == [
        (row.question, row.answer) for row in log.judged
    ]
    assert log == learning_log(name)


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_intent_is_one_answer_with_many_wordings(domain):
    log = log_of(f"intents-{domain}")
    assert all(len(groups) == 1 for groups in groups_of_answers(log).values())
    sizes = collections.Counter(row.group for row in log.judged)
    assert 16 <= len(sizes) <= 25
    assert 15 <= min(sizes.values()) <= max(sizes.values()) <= 25
    kinds = {" " in answer for _, answer in log.rows}
    assert len(kinds) == 1, "labels and sentences in one log"


@pytest.mark.parametrize("domain", DOMAINS)
def test_two_intents_share_an_answer(domain):
    counts = collections.Counter(map(len, groups_of_answers(log_of(f"intents-{domain}-shared")).values()))
    assert counts[2] == SHARED_PAIRS
    assert set(counts) == {1, 2}


@pytest.mark.parametrize("percent", [2, 5])
@pytest.mark.parametrize("domain", DOMAINS)
def test_planted_answers_are_wrong(domain, percent):
    right = dict(log_of(f"intents-{domain}").rows)
    log = log_of(f"intents-{domain}-wrong-{percent}", seed=1)
    assert [right[text] != answer for text, answer in log.rows] == [row.planted for row in log.judged]
    assert 0 < sum(row.planted for row in log.judged) < 2 * percent / 100 * len(log.rows)


@pytest.mark.parametrize("name", FAQS)
def test_an_answer_of_a_faq_is_one_group_except_the_fallback(name):
    log = log_of(f"faq-{name}")
    questions = collections.Counter(answer for _, answer in log.rows)
    assert len(questions) == 12
    fallback = questions.pop(FALLBACK, 8)
    assert set(questions.values()) == {5}
    assert 8 <= fallback <= 10
    for answer, groups in groups_of_answers(log).items():
        assert len(groups) == (fallback if answer == fold(FALLBACK) else 1)


def test_a_skewed_relation_has_one_frequent_answer():
    log = log_of("skewed")
    kinds = collections.defaultdict(collections.Counter)
    place_of = {
        re.compile(wording.replace("{x}", r"[a-z ]+")): number
        for number, relation in enumerate(data("learning_templates.json")["relations"])
        for wording in relation["questions"]
    }
    for text, answer in log.rows:
        (place,) = {number for wording, number in place_of.items() if wording.fullmatch(text)}
        kinds[place][answer] += 1
    assert len(kinds) == 25
    for answers in kinds.values():
        assert 0.4 < answers.most_common(1)[0][1] / answers.total() < 0.99
    sizes = collections.Counter(collections.Counter(row.group for row in log.judged).values())
    assert set(sizes) == {1, 2}
    assert sizes[2] / sizes.total() == pytest.approx(TWO_WORDINGS, abs=0.02)


def test_clusters_of_values_have_several_wordings_and_a_few_share_an_answer():
    log = log_of("values")
    assert set(collections.Counter(row.group for row in log.judged).values()) == {2, 3, 4}
    counts = [len(groups) for groups in groups_of_answers(log).values()]
    assert sum(count > 1 for count in counts) / len(counts) == pytest.approx(NEIGHBOURS_ANSWER, abs=0.02)
    assert not any(row.planted for row in log.judged)


def test_strays_are_questions_without_a_cluster():
    log = log_of("values-strays")
    clusters = {row.group for row in log.judged if not row.planted}
    strays = [row for row in log.judged if row.planted]
    assert len({row.group for row in strays} - clusters) == len(strays)
    assert len(strays) / len(clusters) == pytest.approx(STRAYS, abs=0.03)
    assert {row.question for row in strays}.isdisjoint(row.question for row in log.judged if not row.planted)


def test_near_misses_have_two_wordings_and_often_one_answer():
    log = log_of("near-misses")
    assert set(collections.Counter(row.group for row in log.judged).values()) == {2}
    answer_of = {row.group: row.answer for row in log.judged}
    same = [answer_of[group] == answer_of[group + 1] for group in range(0, len(answer_of), 2)]
    assert sum(same) / len(same) == pytest.approx(SAME_ANSWER, abs=0.04)


def test_no_wording_is_written_twice():
    intents = data("learning_intents.json")
    texts = [question_id(text) for log in intents.values() for texts in log.values() for text in texts]
    assert [count for count in collections.Counter(texts).values() if count > 1] == []


@pytest.mark.parametrize("name", ["skewed", "values", "values-strays", "near-misses"])
def test_a_generated_question_has_one_answer(name):
    texts = [text for text, _ in log_of(name).rows]
    assert len(set(texts)) == len(texts)


def test_nothing_is_shared_with_the_scored_logs():
    scored = set()
    for name in SCORED:
        try:
            scored |= {question_id(text) for text, _ in known_log(name).rows}
        except MissingDataError:
            continue
    assert scored
    for name in LEARNING_LOGS:
        assert [text for text, _ in log_of(name).rows if question_id(text) in scored] == [], name


def test_no_template_is_shared_with_the_scored_ones():
    scored, learning = data("templates.json"), data("learning_templates.json")
    templates = {relation["question"] for relation in scored["relations"]}
    templates |= {wording for kind in ("flights", "courses", "addresses") for wording in scored[kind]}
    written = [wording for relation in learning["relations"] for wording in relation["questions"]]
    written += [wording for domain in learning["values"] for wording in domain["wordings"]]
    written += [wording for pair in learning["near_misses"] for side in ("first", "second") for wording in pair[side]]
    assert len(set(written)) == len(written)
    assert templates.isdisjoint(written)
    assert (len(learning["relations"]), len(learning["values"]), len(learning["near_misses"])) == (25, 6, 30)
