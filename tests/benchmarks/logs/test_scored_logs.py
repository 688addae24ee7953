"""Scores of the default linkage on logs whose paraphrases are known, against floors near what it reaches."""

import dataclasses

import numpy as np
import pytest

from benchmarks.labels.known_scores import Score, clusters_of, score
from benchmarks.logs import template_logs
from benchmarks.logs.gold_logs import gold_of_known, linked_alone
from benchmarks.logs.known_logs import FAQS, SCRIPTS, KnownLog, MissingDataError, known_log, of_clusters
from pipelines.linkage import linker
from pipelines.linkage.chance import is_about_facts
from pipelines.linkage.linker import read_linker
from pipelines.linkage.scoring.shipped_weights import load_facts_model
from pipelines.linkage.settings import Linking
from schemas.text import fold, question_id


def scored(log: KnownLog) -> tuple[Score, bool]:
    """Return the score of a log's groups, and whether it was taken to be about facts."""
    members, _, weights, evidence = linked_alone(gold_of_known(log)[0])
    linked = read_linker(Linking())(members, weights, evidence)
    return score(log, clusters_of(members, linked.group), "groups", None), is_about_facts(weights, evidence.log)


def part_of(log: KnownLog, rows: int, *, whole_answers: bool = False) -> KnownLog:
    """Return a random part of a log, or that of some answers and all that are judged."""
    generator = np.random.default_rng(7)
    if whole_answers:
        judged = {row.answer for row in log.judged}
        names = sorted({fold(answer) for _, answer in log.rows} - judged)
        chosen = judged | {names[n] for n in generator.permutation(len(names))[: rows // 2]}
        return dataclasses.replace(log, rows=[(q, a) for q, a in log.rows if fold(a) in chosen])
    kept = [log.rows[n] for n in generator.permutation(len(log.rows))[:rows]]
    places = {(fold(answer), question_id(question)) for question, answer in kept}
    return dataclasses.replace(log, rows=kept, judged=[j for j in log.judged if (j.answer, j.question) in places])


def real(name: str) -> KnownLog:
    """Return a log of real data, or skip the test where it is not at hand."""
    try:
        return known_log(name)
    except MissingDataError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", [f"faq-{name}" for name in FAQS])
def test_small_faqs_are_kept_whole(name: str) -> None:
    result, _ = scored(known_log(name))
    assert (result.precision, result.recall) == (1, 1)


@pytest.mark.parametrize("name", SCRIPTS)
def test_clusters_in_each_script_are_found(name: str) -> None:
    result, _ = scored(known_log(f"script-{name}"))
    assert result.precision == 1
    assert result.recall >= 0.98


def test_templates_that_differ_in_a_value_are_separated() -> None:
    result, about_facts = scored(known_log("value-templates"))
    assert result.precision >= 0.995
    assert result.recall >= 0.96
    assert not about_facts


def test_templates_with_one_frequent_answer_are_not_joined() -> None:
    result, _ = scored(part_of(known_log("skewed-templates"), 7_000))
    assert result.pairs_kept <= 0.00002  # with a threshold of .45 .00004, in 4.7 % of the answers
    assert result.answers_touched <= 0.025


def test_facts_with_the_same_name_as_their_answer_are_no_intent() -> None:
    result, about_facts = scored(of_clusters("shared", template_logs.shared(0, 600)))
    assert result.precision >= 0.99  # with all questions of a name in one cluster .03
    assert result.recall >= 0.95
    assert about_facts


@pytest.mark.parametrize(("rows", "recall"), [(6_000, 0.85), (3_000, 0.8)])
def test_the_intents_of_a_help_desk_are_kept_whole(rows: int, recall: float) -> None:
    result, about_facts = scored(part_of(real("helpdesk"), rows))
    assert result.precision >= 0.995
    assert result.recall >= recall
    assert not about_facts


def test_facts_with_one_answer_are_separated() -> None:
    result, about_facts = scored(part_of(real("facts"), 4_000, whole_answers=True))
    assert about_facts
    assert result.precision >= 0.58  # by the trees of other logs .4
    assert result.recall >= 0.75


@pytest.mark.parametrize("same_answer", [False, True])
def test_a_log_of_names_whose_near_questions_have_other_answers_is_compared_by_the_trees_of_facts(
    monkeypatch: pytest.MonkeyPatch, same_answer: bool
) -> None:
    asked = []
    monkeypatch.setattr(linker, "load_facts_model", lambda kind: asked.append(kind) or load_facts_model(kind))
    names = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{n * 7919 % 100_003}x" for n in range(2_600)]
    rows = [(f"where was {name} born", f"town {n % 200}") for n, name in enumerate(names)]
    rows += [(f"when did {name} die", f"{'town' if same_answer else 'year'} {n % 200}") for n, name in enumerate(names)]
    _, about_facts = scored(KnownLog("names", rows, []))
    assert about_facts == bool(asked) != same_answer


def test_a_small_log_of_facts_is_split_by_the_model_of_facts() -> None:
    log = real("facts")
    judged = {row.answer for row in log.judged}
    small = dataclasses.replace(log, rows=[(q, a) for q, a in log.rows if fold(a) in judged])
    result, about_facts = scored(small)
    assert len(small.rows) < 2_500
    assert about_facts
    assert result.precision >= 0.6
    assert result.recall >= 0.75
