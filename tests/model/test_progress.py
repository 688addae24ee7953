from __future__ import annotations

import pytest

from model.progress import Deadline, Epoch, Progress


def test_steps_add_up_to_an_epoch():
    at = Progress()
    at.count(loss=2.0, pairs=3, seconds=0.5)
    at.count(loss=1.0, pairs=1, seconds=1.5)
    assert (at.step, at.first_loss, str(at)) == (2, 2.0, "epoch 1, step 2")
    assert at.end_epoch(0.5, keep_last=False)
    assert at.epochs == [Epoch(1, 7 / 4, 0.5, 2.0, 2.0)]
    assert (at.epoch, at.step, at.pairs, at.loss_sum, at.seconds, at.first_loss) == (2, 0, 0, 0.0, 0.0, 2.0)


@pytest.mark.parametrize(
    ("scores", "keep_last", "best"),
    [
        ([0.5, 0.7, 0.6, 0.7], False, 2),  # as good is not better
        ([0.0, 0.0], False, 1),
        ([0.9, 0.8, 0.7], True, 3),
        ([None, None], False, 2),
    ],
)
def test_the_best_epoch_is_the_one_that_separates_best_or_else_the_last(scores, keep_last, best):
    at, kept = Progress(), 0
    for score in scores:
        at.count(loss=1.0, pairs=1, seconds=1.0)
        if at.end_epoch(score, keep_last=keep_last):
            kept = at.epoch - 1
    assert at.best == kept == best


def test_time_passes_to_the_deadline_and_not_beyond():
    now = [100.0]
    deadline, none = (Deadline(minutes, clock=lambda: now[0]) for minutes in (2, None))
    found = []
    for now[0] in (100.0, 160.0, 219.0, 220.0, 400.0):
        found.append((deadline.spent, deadline.over))
        assert (none.spent, none.over) == (0, False)
    assert found == [(0, False), (0.5, False), (pytest.approx(119 / 120), False), (1, True), (1, True)]
