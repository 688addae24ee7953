import csv

import numpy as np
import pytest

from benchmarks.labels.stated_probabilities import Truth
from benchmarks.logs.known_logs import of_clusters
from benchmarks.review.threshold_power import LOGS, wrong_verdicts
from benchmarks.review.verdicts import answer_sample, cut, naive_threshold, sampled_evidence, truth_of
from pipelines.calibration.verdicts.population import read_population
from pipelines.calibration.verdicts.threshold_test import KEPT_DRAWS, SHARES
from schemas.artifacts.dataset import open_dataset

LOG = of_clusters(
    "facts",
    [
        (f"answer {n % 9}", n, [f"how tall is tower {n}", f"height of tower {n}", f"tower {n} height"])
        for n in range(18)
    ],
)
GROUPS = {(judged.answer, judged.question): judged.group for judged in LOG.judged}


@pytest.fixture
def whole(qpr, tmp_path):
    LOG.write(tmp_path / "log.jsonl")
    other = '{"question": "who is it", "answer": "me"}\n{"question": "who it is", "answer": "me"}\n'
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write(other)
    assert qpr("clusters", tmp_path / "log.jsonl", "--output", tmp_path / "whole", "--max-reject-ratio", 1).code == 0
    return open_dataset(str(tmp_path / "whole"))


def test_the_truth_is_counted_by_pairs():
    truth = Truth(np.array([0.95, 0.55]), np.array([3, 1]), np.array([3, 0]))
    assert truth.precision(0.9) == 1
    assert truth.precision(0.0) == 0.75
    assert truth.calibration_error(truth.probability) == pytest.approx((3 * 0.05 + 0.55) / 4)


def test_exact_probabilities_of_few_pairs_have_an_error_by_chance():
    def error(pairs):
        return Truth(np.array([0.5]), np.array([pairs]), np.array([0])).error_of_exact()

    assert error(1) == pytest.approx(0.5)
    assert error(100) == pytest.approx(np.sqrt(0.25 / 100) * np.sqrt(2 / np.pi), rel=0.1)


def test_the_cut_dataset_has_the_judged_answers_and_its_sample_can_be_answered(whole, qpr, tmp_path):
    dataset = cut(whole, GROUPS, str(tmp_path / "cut"))
    answers = dataset.table("clusters", columns=["answer"])["answer"].to_pylist()
    assert "me" not in answers
    assert set(answers) <= {row[1] for row in LOG.rows}
    sample = tmp_path / "sample.csv"
    assert qpr("sample", "--dataset", tmp_path / "cut", "--for-calibration", 20, "--output", sample).code == 0
    answer_sample(sample, GROUPS)
    with sample.open() as file:
        for row in csv.DictReader(file):
            towers = [{word for word in row[f"question_{n}"].split() if word.isdigit()} for n in (1, 2)]
            assert (row["verdict"] == "right") == (towers[0] == towers[1])


def test_many_verdicts_come_near_the_truth(whole, tmp_path):
    dataset = cut(whole, GROUPS, str(tmp_path / "cut"))
    population = read_population(dataset)
    truth = truth_of(dataset, population, GROUPS)
    samples = [sampled_evidence(dataset, population, GROUPS, seed=seed, blocks=36) for seed in range(20)]
    found = [evidence.estimates().precision for evidence in samples]
    assert sum(estimate.low <= truth.precision(0.0) <= estimate.high for estimate in found) >= 16  # 19 are expected
    assert naive_threshold(samples[0], 0.0) == pytest.approx(truth.probability.min())


def test_simulated_verdicts_are_wrong_as_often_as_the_curve_is():
    curve, _ = LOGS["1 to .5"]
    wrong = wrong_verdicts(curve, runs=2_000, blocks=18, seed=0)
    expected = KEPT_DRAWS * 18 * np.array(SHARES) * np.array(SHARES) / 4
    assert wrong.mean(0) == pytest.approx(expected, rel=0.1)
