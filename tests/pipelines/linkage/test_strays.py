"""Probability of a wrong answer by the support of nearest questions."""

import numpy as np
import pytest

from pipelines.linkage.standings import NO_SUPPORTS, FrequentAnswer, LogAgreement
from pipelines.linkage.strays import OF_WRONG, estimated_share, wrong_by_class, wrong_share
from pipelines.questions.token_frequencies import TokenWeights


def drawn(right: list[float], wrong: float) -> tuple[int, ...]:
    """Return 100,000 questions by class of support, of which a share has wrong answers."""
    return tuple((100_000 * ((1 - wrong) * np.array(right) + wrong * OF_WRONG)).round().astype(int).tolist())


RIGHT = [0.01, 0, 0.005, 0.006, 0.008, 0.011, 0.02, 0.94]


def test_the_shares_of_wrong_answers_are_those_of_a_question() -> None:
    assert OF_WRONG.sum() == pytest.approx(1)
    assert len(OF_WRONG) == len(NO_SUPPORTS)


@pytest.mark.parametrize("wrong", [0.0, 0.02, 0.1])
def test_the_share_of_wrong_answers_is_found(wrong: float) -> None:
    counts = np.array(drawn(RIGHT, wrong))
    assert wrong_share(counts / counts.sum(), 0.8) == pytest.approx(wrong, abs=0.005)


@pytest.mark.parametrize(("contradicted", "estimated"), [(0.0, 0.05), (0.2, None)])
def test_the_share_is_estimated_where_neighbours_are_evidence(contradicted: float, estimated: float | None) -> None:
    supports = drawn([*(np.array(RIGHT[:-1]) + contradicted / 4), RIGHT[-1] - contradicted * 7 / 4], 0.05)
    log = LogAgreement(sum(supports), round(0.8 * sum(supports)), supports)
    no_words = TokenWeights(np.zeros(0, np.int64), np.zeros(0, np.int64), 1_000)
    assert estimated_share(log, no_words) == (estimated and pytest.approx(estimated, abs=0.005))
    assert estimated_share(LogAgreement(), no_words) is None
    of_one_answer = log._replace(frequent=(FrequentAnswer(1, log.questions, log.agreeing),))
    assert estimated_share(of_one_answer, no_words) is None


def test_where_no_answer_is_wrong_none_is_suspected() -> None:
    assert wrong_by_class(drawn(RIGHT, 0.0), 0.8).max() < 0.05
    assert wrong_by_class(NO_SUPPORTS, 0.5).tolist() == [0] * len(NO_SUPPORTS)


def test_the_more_answers_are_wrong_the_more_support_is_needed() -> None:
    few, many = (wrong_by_class(drawn(RIGHT, wrong), 0.8) for wrong in (0.02, 0.1))
    assert (few <= many).all()
    assert 0 < np.count_nonzero(few >= 0.05) < np.count_nonzero(many >= 0.05)
    for probability in (few, many):
        assert (np.diff(probability) <= 0).all()
        assert probability[-1] == 0


def test_questions_that_are_seldom_near_one_another_are_no_sign_of_wrong_answers() -> None:
    varied = [0.15, 0.01, 0.02, 0.04, 0.06, 0.07, 0.1, 0.55]
    assert wrong_by_class(drawn(varied, 0.0), 0.2).max() == 0
