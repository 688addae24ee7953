import collections

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.labels.agreement import agreement_clusters
from benchmarks.labels.known_scores import score
from benchmarks.labels.linking import of_agreement, of_cosine
from benchmarks.logs.known_logs import (
    FAQS,
    SCRIPTS,
    WHOLE_LOG,
    MissingDataError,
    known_log,
    known_of_simulated,
    of_clusters,
)
from schemas.errors import UsageError
from schemas.text import fold, question_id

LOG = of_clusters("two", [("yes", 0, ["a b", "b c", "c d"]), ("yes", 1, ["x y"]), ("no", 2, ["e f", "g h"])])


def clusters(**cluster_of_text):
    answer_of = {question_id(text): fold(answer) for text, answer in LOG.rows}
    named = {question_id(text.replace("_", " ")): cluster for text, cluster in cluster_of_text.items()}
    return {(answer_of[question], question): cluster for question, cluster in named.items()}


def test_pairs_are_counted_inside_an_answer():
    result = score(LOG, clusters(a_b=1, b_c=1, x_y=1, e_f=2, g_h=2), "by hand", 0.0)
    assert result.precision == 2 / 4  # a b with b c, and e f with g h, of the three pairs under yes and one under no
    assert result.recall == 2 / 4
    assert result.pairs_kept == 4 / 7
    assert result.answers_touched == 1 / 2
    assert result.clusters_kept == 1.0


def first_letters(texts):
    """Return vectors of an encoder that compares first letters: a, b and c are near, so are e and g."""
    angle = {"a": 0.0, "b": 0.1, "c": 0.3, "x": 1.4, "e": 3.0, "g": 3.2}
    turns = np.array([angle[text[0]] for text in texts.to_pylist()])
    return np.column_stack([np.cos(turns), np.sin(turns)])


@pytest.mark.parametrize(("recall", "kept", "precision"), [(0.25, 1, 1.0), (1.0, 4, 1.0)])
def test_as_many_near_pairs_are_scored_as_reach_a_recall(recall, kept, precision):
    result = of_cosine(LOG, first_letters, recall=recall)
    assert (result.recall, result.precision) == (kept / 4, precision)
    assert result.pairs_kept == kept / 7


def test_near_vectors_of_other_answers_contradict():
    assert of_agreement(LOG, first_letters, threshold=0.9).recall == 1

    def all_near(texts):
        return np.ones((len(texts), 2))

    assert of_agreement(LOG, all_near, threshold=0.9).recall == 0


def test_a_question_of_a_simulated_log_has_the_cluster_of_most_of_its_rows(tmp_path):
    rows = [("Who is it?", 1), ("who is it", 1), ("who is it", 7), ("how far", 1), ("far away", None), ("?", 1)]
    questions, gold = zip(*rows, strict=True)
    pq.write_table(pa.table({"question": questions, "gold_cluster": pa.array(gold, pa.int64())}), tmp_path / "log")
    judged = known_of_simulated(tmp_path / "log").judged
    assert {(one.question, one.group) for one in judged} == {(question_id("who is it"), 1), (question_id("how far"), 1)}
    assert {one.answer for one in judged} == {WHOLE_LOG}


def test_questions_without_a_cluster_are_alone():
    result = score(LOG, {}, "nothing", None)
    assert (result.precision, result.recall, result.pairs_kept) == (0, 0, 0)


def test_planted_answers_that_are_kept_are_counted():
    try:
        log = known_log("helpdesk-wrong")
    except MissingDataError as missing:
        pytest.skip(str(missing))
    planted = [judged for judged in log.judged if judged.planted]
    assert 0.04 < len(planted) / len(log.judged) < 0.06
    one_cluster = {(judged.answer, judged.question): judged.answer for judged in log.judged}
    assert score(log, one_cluster, "every answer", 0.0).planted_kept == 1


@pytest.mark.parametrize("name", [f"faq-{name}" for name in FAQS])
def test_a_small_faq_has_60_questions_of_12_answers(name):
    log = known_log(name)
    assert len({question_id(text) for text, _ in log.rows}) == 60
    assert set(collections.Counter(answer for _, answer in log.rows).values()) == {5}


@pytest.mark.parametrize("name", [f"script-{name}" for name in SCRIPTS])
def test_a_script_has_200_questions_and_answers_of_two_clusters(name):
    log = known_log(name)
    assert len({question_id(text) for text, _ in log.rows}) == 200
    groups = collections.defaultdict(set)
    for judged in log.judged:
        groups[judged.answer].add(judged.group)
    assert max(map(len, groups.values())) == 2


@pytest.mark.parametrize("name", ["skewed-templates", "value-templates"])
def test_a_seed_makes_the_same_templates(name):
    first, again, other = known_log(name), known_log(name), known_log(name, seed=1)
    assert first.rows == again.rows
    assert first.rows != other.rows


def test_neighbours_of_one_answer_agree_and_others_do_not():
    texts = ["reset my password", "reset the password", "forgot my password", "opening hours", "hours on sunday"]
    same = agreement_clusters(texts, np.array([0, 0, 0, 1, 1]), threshold=0.5)
    assert len(set(same[:3].tolist())) == 1
    mixed = agreement_clusters(texts, np.array([0, 1, 2, 0, 1]), threshold=0.9)
    assert len(set(mixed.tolist())) == 5


def test_an_unknown_log_is_an_error_with_the_names_of_all():
    with pytest.raises(UsageError, match=r"^facts2: no such log\. There are .*facts, "):
        known_log("facts2")
