import json

import numpy as np

from benchmarks.review.peeking import claims, looks_of_clopper_pearson, looks_of_evidence, peeking
from schemas.statistics.binomial import upper_bound
from schemas.statistics.e_processes import share_evidence


def naive_claim(verdicts, supports):
    """Look after every verdict."""
    wrong = np.cumsum(verdicts)
    return any(supports(n - int(wrong[n - 1]), int(wrong[n - 1])) for n in range(1, len(verdicts) + 1))


def test_a_claim_is_found_at_the_looks_where_it_is_found_after_every_verdict():
    verdicts = np.random.default_rng(1).random((40, 400)) >= 0.985
    supported = {
        looks_of_evidence: lambda right, wrong: share_evidence(right, wrong, 0.97) >= 20,
        looks_of_clopper_pearson: lambda right, wrong: 1 - upper_bound(wrong, right + wrong, 0.05) >= 0.97,
    }
    for looks, supports in supported.items():
        found = claims(verdicts.cumsum(1), looks(0.97, most=400))
        assert found.tolist() == [naive_claim(row, supports) for row in verdicts]
        assert 0 < found.mean() < 1


def test_a_claim_about_a_dataset_is_found_as_after_every_verdict():
    verdicts = np.stack([np.random.default_rng(seed).permutation(np.arange(300) >= 295) for seed in range(40)])
    found = claims(verdicts.cumsum(1), looks_of_evidence(0.97, most=300, clusters=300))
    supports = lambda right, wrong: share_evidence(right, wrong, 0.97, 300) >= 20  # noqa: E731
    assert found.tolist() == [naive_claim(row, supports) for row in verdicts]
    assert 0 < found.mean() <= 1


def test_peeking_breaks_clopper_pearson_and_not_the_e_process(capsys):
    peeking(reviewers=4_000, reviews=1_500, as_json=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()][1:]
    at_limit, below, of_3000, of_100 = rows
    assert [row["e_process"] <= 0.05 for row in rows] == [True] * 4
    assert at_limit["e_process"] > 0.01  # not vacuous
    assert at_limit["clopper_pearson"] > 0.12
    assert at_limit["clopper_pearson_one_look"] <= 0.05
    assert of_3000["clean_reviews_needed"] < at_limit["clean_reviews_needed"] == 351
    assert of_100["e_process"] > 0.01
    assert below["e_process"] < at_limit["e_process"]
