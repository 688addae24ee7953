from __future__ import annotations

import collections
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from benchmarks.logs.noisy_clusters import noisy_answers, write_noisy
from benchmarks.logs.silver_logs import ALONE, TWO_IN_ONE, UNRELATED
from model.training.training_pairs import read_pairs
from schemas.artifacts.dataset import open_dataset

SIZES = [2 + number % 4 for number in range(400)]
CLUSTERS = np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1])


def kinds(share: float) -> collections.Counter[int]:
    return collections.Counter(kind for kind, _ in noisy_answers(CLUSTERS, share=share, seed=0))


def test_half_of_the_wrong_clusters_are_two_in_one_and_half_are_generic() -> None:
    assert kinds(0) == {ALONE: 400}
    assert kinds(0.1) == {TWO_IN_ONE: 10, UNRELATED: 20, ALONE: 360}  # 20 of 40 wrong ones in pairs
    assert kinds(1) == {TWO_IN_ONE: 100, UNRELATED: 200}


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
def test_every_question_has_one_answer_and_generic_ones_the_sizes_of_clusters(share: float) -> None:
    answers = noisy_answers(CLUSTERS, share=share, seed=0)
    assert sorted(np.concatenate([row for _, rows in answers for row in rows])) == list(range(sum(SIZES)))
    right = {tuple(rows[0]) for kind, rows in answers if kind == ALONE}
    assert right <= {tuple(cluster) for cluster in CLUSTERS}
    generic = sorted(len(rows) for kind, rows in answers if kind == UNRELATED)
    merged = [len(row) for kind, rows in answers if kind == TWO_IN_ONE for row in rows]
    assert sorted([*generic, *merged, *(len(rows) for rows in right)]) == sorted(SIZES)


def test_generic_answers_hold_questions_of_many_clusters() -> None:
    cluster = np.repeat(np.arange(400), SIZES)
    answers = [np.concatenate(rows) for kind, rows in noisy_answers(CLUSTERS, share=0.5, seed=0) if kind == UNRELATED]
    assert len(answers) == 100
    alike = sum(len(np.unique(cluster[rows])) < len(rows) for rows in answers)
    assert alike < 20


def test_more_noise_keeps_the_wrong_clusters_and_the_seed_decides_them() -> None:
    def right(share: float, seed: int = 0) -> set[int]:
        return {int(rows[0][0]) for kind, rows in noisy_answers(CLUSTERS, share=share, seed=seed) if kind == ALONE}

    assert right(0.5) < right(0.3) < right(0.1)
    assert right(0.3) == right(0.3) != right(0.3, seed=1)


def test_what_is_held_out_stays_and_training_reads_the_rest(qpr, tmp_path: Path) -> None:
    log, made, url = str(tmp_path / "log.jsonl"), str(tmp_path / "clean"), str(tmp_path / "noisy")
    assert qpr("simulate", "--output", log, "--events", "4000").code == 0
    assert qpr("clusters", log, "--output", made).code == 0
    clean = open_dataset(made)
    counters = write_noisy(clean, url, share=0.5, pairs=150).counters
    noisy = open_dataset(url)
    pairs = {made: read_pairs(clean), url: read_pairs(noisy)}
    assert len(pairs[url]["train"]) == counters["pairs_train"] == 150
    assert 30 < counters["pairs_train_wrong"] < 120
    assert pairs[url]["validation"].keys == pairs[made]["validation"].keys
    assert len(pairs[url]["validation"]) == len(pairs[made]["validation"]) > 0
    for split in ("validation", "test"):
        before, after = (d.table("clusters", split=split).sort_by("cluster_id") for d in (clean, noisy))
        assert after == before
    columns = ["question_id", "key", "split"]
    assert noisy.table("questions", columns=columns) == clean.table("questions", columns=columns).sort_by("question_id")
    train_before, train = (d.table("clusters", split="train")["question_ids"] for d in (clean, noisy))
    assert sorted(pc.list_flatten(train).to_pylist()) == sorted(pc.list_flatten(train_before).to_pylist())
    right, again = (write_noisy(clean, str(tmp_path / to), share=0, pairs=10**6) for to in "ab")
    assert right.digest == again.digest
    assert (right.counters["pairs_train_wrong"], right.counters["clusters_train"]) == (0, len(train_before))
