"""Words of nine scripts: true clusters against the other questions of their answer, by the words they share."""

import itertools

import numpy as np
import pytest

from benchmarks.logs.known_logs import SCRIPTS, known_log
from schemas.text import key, words
from schemas.words import words_v1


def separation(language, cut):
    """Return the chance that a pair of paraphrases shares more than another pair of one answer, ties count half."""
    log = known_log(f"script-{language}")
    rows = zip(log.rows, log.judged, strict=True)
    sets = [(answer, judged.group, frozenset(cut(key(question)))) for (question, answer), judged in rows]
    inside, across = [], []
    for (answer, group, one), (other_answer, other_group, other) in itertools.combinations(sets, 2):
        if answer == other_answer:
            (inside if group == other_group else across).append(len(one & other) / max(len(one | other), 1))
    inside, across = np.array(inside)[:, None], np.array(across)
    return ((inside > across) + (inside == across) / 2).mean()


@pytest.mark.parametrize("language", SCRIPTS)
def test_paraphrases_share_more_words_than_other_questions_of_their_answer(language):
    assert separation(language, words) >= 0.98


def test_without_pairs_of_graphemes_and_syllables_they_did_not():
    assert separation("Thai", words_v1) == 0.5
    assert separation("Korean", words_v1) < 0.9
