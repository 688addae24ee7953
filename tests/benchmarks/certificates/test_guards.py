"""The contrast sets of the guards."""

import pytest

from benchmarks.certificates.guards import WITH_FIRST_SETS, read_language, read_pairs, read_wordings
from model.guards.languages.glossing.lists import NAMES
from model.guards.languages.language import languages
from model.guards.registry import GUARDS, fires

LANGUAGES = pytest.mark.parametrize("language", [*(language.name for language in languages()), *NAMES])


@pytest.mark.parametrize("guard", WITH_FIRST_SETS)
def test_a_set_has_a_hundred_pairs_of_each_kind_and_two_halves(guard):
    pairs = read_pairs(guard)
    assert min(sum(pair.paraphrase == kind for pair in pairs) for kind in (True, False)) >= 100
    assert len({(pair.query, pair.question) for pair in pairs}) == len(pairs)
    assert 0.4 < sum(pair.held_out for pair in pairs) / len(pairs) < 0.6


@pytest.mark.parametrize("guard", WITH_FIRST_SETS)
def test_the_guards_block_differences_and_keep_paraphrases_of_the_learning_half(guard):
    pairs = [pair for pair in read_pairs(guard) if not pair.held_out]
    fired = {kind: [fires(p.query, p.question) is not None for p in pairs if p.paraphrase == kind] for kind in (0, 1)}
    assert sum(fired[0]) >= 0.95 * len(fired[0])
    assert sum(fired[1]) <= 0.03 * len(fired[1])


@LANGUAGES
def test_the_sets_of_a_language_have_no_pair_in_common_and_enough_of_each_kind(language):
    pairs = read_language(language)
    texts = [frozenset((pair.query, pair.question)) for pair in pairs]
    assert len(set(texts)) == len(texts)
    assert {pair.guard for pair in pairs} == set(GUARDS) - {"symbols", "action"}
    for held_out, least in ((True, 27), (False, 80)):
        kinds = [pair.paraphrase for pair in pairs if pair.held_out == held_out]
        assert min(sum(kinds), len(kinds) - sum(kinds)) >= least


@LANGUAGES
def test_the_guards_block_differences_and_keep_paraphrases_of_a_language(language):
    pairs = [pair for pair in read_language(language) if not pair.held_out]
    fired = {kind: [fires(p.query, p.question) is not None for p in pairs if p.paraphrase == kind] for kind in (0, 1)}
    assert sum(fired[0]) >= 0.95 * len(fired[0])
    assert sum(fired[1]) <= 0.03 * len(fired[1])


@LANGUAGES
def test_the_guards_keep_natural_wordings_of_a_language(language):
    pairs = read_wordings(language)
    assert len({frozenset(pair) for pair in pairs}) == 12 * 15
    assert sum(fires(query, question) is not None for query, question in pairs) <= 3
