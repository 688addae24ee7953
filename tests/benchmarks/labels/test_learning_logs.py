import collections
import json

import pytest

from benchmarks.labels import known_logs
from benchmarks.labels.known_logs import HERE, KnownLog, MissingDataError, known_log
from benchmarks.labels.learning_logs import DOMAINS, LOGS, SHARED_PAIRS, learning_log
from schemas.text import fold, question_id

SCORED = ("helpdesk", *(f"faq-{name}" for name in known_logs.FAQS))


def groups_of_answers(log: KnownLog) -> dict[str, set[int]]:
    """Return the groups of the rows of each answer."""
    found = collections.defaultdict(set)
    for row in log.judged:
        found[row.answer].add(row.group)
    return found


@pytest.mark.parametrize("name", LOGS)
def test_rows_and_judged_questions_agree(name):
    log = learning_log(name, seed=3)
    assert log.name == name
    assert [(question_id(text), fold(answer)) for text, answer in log.rows] == [
        (row.question, row.answer) for row in log.judged
    ]
    assert log == learning_log(name, seed=3)


@pytest.mark.parametrize("domain", DOMAINS)
def test_an_intent_is_one_answer_with_many_wordings(domain):
    log = learning_log(f"intents-{domain}")
    assert all(len(groups) == 1 for groups in groups_of_answers(log).values())
    sizes = collections.Counter(row.group for row in log.judged)
    assert 20 <= len(sizes) <= 25
    assert 15 <= min(sizes.values()) <= max(sizes.values()) <= 25
    kinds = {" " in answer for _, answer in log.rows}
    assert len(kinds) == 1, "labels and sentences in one log"


@pytest.mark.parametrize("domain", DOMAINS)
def test_two_intents_share_an_answer(domain):
    counts = collections.Counter(map(len, groups_of_answers(learning_log(f"intents-{domain}-shared")).values()))
    assert counts[2] == SHARED_PAIRS
    assert set(counts) == {1, 2}


@pytest.mark.parametrize("percent", [2, 5])
@pytest.mark.parametrize("domain", DOMAINS)
def test_planted_answers_are_wrong(domain, percent):
    right = dict(learning_log(f"intents-{domain}").rows)
    log = learning_log(f"intents-{domain}-wrong-{percent}", seed=1)
    assert [right[text] != answer for text, answer in log.rows] == [row.planted for row in log.judged]
    assert 0 < sum(row.planted for row in log.judged) < 2 * percent / 100 * len(log.rows)


def test_no_wording_is_written_twice():
    intents = json.loads((HERE / "learning_intents.json").read_text("utf-8"))
    texts = [question_id(text) for log in intents.values() for texts in log.values() for text in texts]
    assert [count for count in collections.Counter(texts).values() if count > 1] == []


def test_nothing_is_shared_with_the_scored_logs():
    scored = set()
    for name in SCORED:
        try:
            scored |= {question_id(text) for text, _ in known_log(name).rows}
        except MissingDataError:
            continue
    assert scored
    for name in LOGS:
        assert [text for text, _ in learning_log(name).rows if question_id(text) in scored] == [], name
