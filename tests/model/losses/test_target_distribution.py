from __future__ import annotations

import itertools

import pytest
import torch

from model.losses.target_distribution import divergence, same_cluster, smoothed_target

N = 4
KNOWN = same_cluster(torch.zeros(N), torch.tensor([7, 8, 7, 9]))


def target(smoothing, *, over="batch", mates="masked"):
    values, excluded = smoothed_target(KNOWN, smoothing, over=over, mates=mates)
    return values.tolist(), excluded.nonzero().tolist()


def test_the_papers_target_keeps_the_mass_on_the_partner_and_gives_every_column_a_share():
    alone = smoothed_target(torch.eye(N, dtype=torch.bool), 0.4, over="batch", mates="masked")[0]
    assert alone[0].tolist() == pytest.approx([0.7, 0.1, 0.1, 0.1])  # 0.6 + 0.4 / 4
    masked, excluded = target(smoothing=0.4)
    assert masked[0] == pytest.approx([0.7 / 0.9, 0.1 / 0.9, 0, 0.1 / 0.9])
    assert masked[1] == pytest.approx([0.1, 0.7, 0.1, 0.1])
    assert excluded == [[0, 2], [2, 0]]


def test_the_authors_target_gives_the_partner_no_share_of_what_is_smoothed():
    alone = smoothed_target(torch.eye(N, dtype=torch.bool), 0.3, over="others", mates="masked")[0]
    gold = torch.eye(N, dtype=torch.float64)
    torch.testing.assert_close(alone, gold * 0.7 + (1 - gold) * 0.3 / (N - 1))
    masked, _ = target(smoothing=0.3, over="others")
    assert masked[0] == pytest.approx([0.7 / 0.9, 0.1 / 0.9, 0, 0.1 / 0.9])


def test_mates_share_what_is_not_smoothed_away():
    mates, excluded = target(smoothing=0.4, mates="positives")
    assert mates[0] == pytest.approx([0.4, 0.1, 0.4, 0.1])  # 0.6 / 2 + 0.4 / 4
    assert mates[1] == pytest.approx([0.1, 0.7, 0.1, 0.1])
    assert excluded == []
    others, _ = target(smoothing=0.4, mates="positives", over="others")
    assert others[0] == pytest.approx([0.3, 0.2, 0.3, 0.2])


@pytest.mark.parametrize("known", [KNOWN, torch.ones(N, N, dtype=torch.bool), torch.eye(N, dtype=torch.bool)])
def test_every_row_of_a_target_sums_to_one(known):
    for smoothing, over, mates in itertools.product((0, 0.3, 0.99), ("batch", "others"), ("masked", "positives")):
        values, excluded = smoothed_target(known, smoothing, over=over, mates=mates)
        torch.testing.assert_close(values.sum(1), torch.ones(N, dtype=torch.float64))
        assert (values >= 0).all()
        assert not values[excluded].any()


def test_a_prediction_that_is_the_target_costs_nothing():
    for over, mates in itertools.product(("batch", "others"), ("masked", "positives")):
        values, excluded = smoothed_target(KNOWN, 0.3, over=over, mates=mates)
        assert divergence(values.log().clamp_min(-50), values, excluded).item() == pytest.approx(0, abs=1e-12)
