"""Agreement of neighbours by chance, and the log without answers that have no more."""

import numpy as np
import pytest

from pipelines.linkage.chance import BEYOND_CHANCE, is_about_facts, least_agreement, without_fallbacks
from pipelines.linkage.standings import NO_SUPPORTS, FrequentAnswer, LogAgreement, Supports
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.fallbacks import FEWEST_QUESTIONS


def counted(without: int, full: int) -> Supports:
    """Return numbers of questions without support and with full support."""
    return (without, *NO_SUPPORTS[1:-1], full)


def test_answers_that_agree_by_chance_are_left_out_of_the_figures_of_a_log() -> None:
    frequent = (
        FrequentAnswer(1, 500, 260, counted(40, 460), 20),
        FrequentAnswer(2, 100, 80),
        FrequentAnswer(3, FEWEST_QUESTIONS - 1, 0),
    )
    log = LogAgreement(
        1_000,
        500,
        of_many=900,
        agreeing_of_many=500,
        supports_of_many=counted(60, 840),
        surrounded_of_many=220,
        frequent=frequent,
    )
    prior = without_fallbacks(log, 1_000)
    assert prior.fallbacks == (1,)
    assert prior.fallback_share == 0.5
    assert prior.of_many_share == pytest.approx(400 / 500)
    assert prior.share_of_many == pytest.approx(240 / 400)
    assert prior.supports == counted(20, 380)
    assert prior.surrounded_share == pytest.approx(200 / 400)


def test_an_answer_that_is_rare_in_the_log_is_no_fallback() -> None:
    log = LogAgreement(1_000, 500, of_many=900, frequent=(FrequentAnswer(1, 100, 1),))
    assert without_fallbacks(log, 2_001).fallbacks == ()
    assert without_fallbacks(log, 2_000).fallbacks == (1,)


def test_a_log_without_neighbours_has_no_fallbacks() -> None:
    assert without_fallbacks(LogAgreement(), 0) == ((), 0.0, 0.0, 0.0, NO_SUPPORTS, 0.0)


def test_the_agreement_of_an_answer_grows_with_its_share_and_falls_with_that_of_fallbacks() -> None:
    none, half = (without_fallbacks(LogAgreement(), 100)._replace(fallback_share=share) for share in (0.0, 0.5))
    least = least_agreement(np.array([1, 60, 94, 95]), 100, none, 0.4)
    assert least.tolist() == pytest.approx([0.4, 0.6 + 0.4 * BEYOND_CHANCE, 0.94 + 0.06 * BEYOND_CHANCE, np.inf])
    assert least_agreement(np.array([1, 40]), 100, half, 0.4).tolist() == pytest.approx(
        [0.2, 0.4 + 0.1 * BEYOND_CHANCE]
    )


@pytest.mark.parametrize(
    ("questions", "names", "agreeing", "contradicted", "about_facts"),
    [
        (5_000, 0.3, 0.3, 0.0, True),
        (5_000, 0.3, 0.4, 0.5, False),
        (5_000, 0.2, 0.3, 0.5, False),
        (4_999, 0.3, 0.4, 0.2, True),
        (1_000, 0.3, 0.4, 0.2, True),
        (4_999, 0.3, 0.6, 0.2, False),
        (4_999, 0.3, 0.4, 0.1, False),
        (4_999, 0.2, 0.4, 0.2, False),
        (60, 0.5, 0.4, 0.2, True),
        (59, 0.5, 0.4, 0.2, False),
        (900, 0.75, 0.7, 0.0, True),
        (900, 0.65, 0.7, 0.0, False),
        (900, 0.75, 0.8, 0.2, False),
    ],
)
def test_names_and_neighbours_with_other_answers_show_a_log_of_facts(
    questions: int, names: float, agreeing: float, contradicted: float, about_facts: bool
) -> None:
    number = round(names * questions / 2) + 1  # each is in two questions
    weights = TokenWeights(np.arange(number + 1), np.array([questions // 2, *[2] * number]), questions)
    without = round(contradicted * questions)
    log = LogAgreement(questions, round(agreeing * questions), counted(without, questions - without))
    assert is_about_facts(weights, log) == about_facts


@pytest.mark.parametrize(("of_many", "about_facts"), [(500, True), (499, False)])
def test_names_under_answers_of_many_questions_show_a_log_of_facts_too(of_many: int, about_facts: bool) -> None:
    weights = TokenWeights(np.arange(351), np.full(351, 2), 1_000)
    log = LogAgreement(1_000, 990, counted(0, 1_000), of_many)
    assert is_about_facts(weights, log) == about_facts
