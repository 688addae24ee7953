"""Worth of an answer in a log, from counters."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.clusters.answer_worth import worth_counts
from pipelines.intermediate import MEMBERS
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.summary.answer_worth import (
    answer_worth,
    as_json,
    digest_of_files,
    doubts,
    promise_of_verdicts,
    warnings,
)
from schemas.artifacts.manifest import Source
from schemas.tables import with_nulls

FILES = [Source(url="a.jsonl", digest="a"), Source(url="b.jsonl", digest="b")]


def clusters(sizes: list[int], likely: list[float]) -> pa.Table:
    number = np.repeat(np.arange(len(sizes)), sizes)
    columns = {"cluster_id": pa.array(number), "linkage_probability": pa.array(np.repeat(likely, sizes).astype(float))}
    return with_nulls(MEMBERS, columns)


def counters(sizes: list[int], likely: list[float]) -> dict[str, int]:
    answers = np.array([1, 1, 1, 1, 2, 2])
    of_intent = answers == 2
    of_rows = np.array([0, 0, 0, 0, 5_000_000, 0])
    linked = Linked(np.arange(6), np.array([0.5] * 5 + [0.0]), of_intent, of_rows)
    return worth_counts(linked, answers, clusters(sizes, likely))


def test_shares_are_those_of_pairs() -> None:
    worth = answer_worth(counters([3, 2], [0.8, 0.4]), {})
    assert worth is not None
    assert (worth.answers, worth.intents, worth.strays) == (2, 1, 1)
    assert worth.paraphrases == pytest.approx(5 / 7)
    assert worth.precision == pytest.approx((3 * 0.8 + 0.4) / 4)
    spread = 1.96 * (9 * 0.16 + 0.24) ** 0.5 / 4
    assert (worth.low, worth.high) == pytest.approx((max(0.7 - spread, 0), min(0.7 + spread, 1)))
    assert "means the same question in about 71 %" in worth.sentence
    assert "kept pairs are right in an estimated 70 %" in worth.sentence


@pytest.mark.parametrize(("intents", "shown"), [(1, 0.057), (0, None)])
def test_wrong_answers_are_estimated_of_a_log_with_intents(intents: int, shown: float | None) -> None:
    counted = counters([3], [0.8]) | {"worth_wrong_answers": 57_000, "worth_intents": intents}
    worth = answer_worth(counted, {})
    assert worth is not None
    assert worth.wrong_answers == shown


def test_the_counters_of_parts_add_up_exactly() -> None:
    parts = [counters([3], [0.123456789]), counters([2], [0.9])]
    whole = counters([3, 2], [0.123456789, 0.9])
    kept = [name for name in whole if "kept" in name]
    assert {name: parts[0][name] + parts[1][name] for name in kept} == {name: whole[name] for name in kept}


@pytest.mark.parametrize("sizes", [[10_000], [3_000_000], [10_000, 3_000_000, 2]])
def test_the_interval_of_large_clusters_is_exact(sizes: list[int]) -> None:
    counted = counters(sizes, [0.8] * len(sizes))
    pairs = [size * (size - 1) // 2 for size in sizes]
    assert counted["worth_pairs_kept_expected"] == 800_000 * sum(pairs)
    assert counted["worth_pairs_kept_variance"] == 160_000 * sum(number**2 for number in pairs)
    worth = answer_worth(counted, {})
    assert worth is not None
    assert (worth.precision, worth.high) == pytest.approx((0.8, 1))
    spread = 1.96 * 0.4 * sum(number**2 for number in pairs) ** 0.5 / sum(pairs)
    assert worth.low == pytest.approx(max(0.8 - spread, 0))


def test_a_counter_of_the_variance_below_zero_counts_as_zero() -> None:
    worth = answer_worth(counters([3], [0.8]) | {"worth_pairs_kept_variance": -1}, {})
    assert worth is not None
    assert worth.low == worth.precision == worth.high


def test_without_a_kept_pair_there_is_no_precision() -> None:
    worth = answer_worth(counters([], []), {})
    assert worth is not None
    assert worth.precision is None
    assert "no pair was kept" in worth.sentence
    assert as_json(worth) is not None


def test_answers_that_were_not_split_have_no_estimate() -> None:
    assert answer_worth({"rows_read": 7}, {}) is None
    assert as_json(None) is None


def configuration(*, verdicts: dict[str, object] | None = None, **linking: object) -> dict[str, object]:
    return {"assembly": {"linking": {"method": "boosted"} | linking, "recalibration": verdicts}}


def of_verdicts(*digests: str, **more: object) -> dict[str, object]:
    estimates = {"prior": [0.03, 0.01, 0.12], "precision": [0.632, 0.54, 0.72]}
    return {"verdicts": 150, "judged": digest_of_files(digests), "estimates": estimates, **more}


@pytest.mark.parametrize(
    ("threshold", "text"),
    [(650_000, "Clusters of other answers than intents need a mean probability of at least 0.65."), (425_000, "0.425")],
)
def test_the_threshold_of_the_log_is_stated(threshold: int, text: str) -> None:
    found = counters([3, 2], [0.8, 0.4]) | {"worth_threshold": threshold}
    worth = answer_worth(found, {})
    assert worth is not None
    assert worth.threshold == threshold / 1e6
    assert text in worth.sentence
    of_facts = answer_worth(found | {"worth_intents": 0}, {})
    assert of_facts is not None
    assert "Clusters need a mean probability of at least" in of_facts.sentence


def test_a_log_of_intents_alone_has_no_threshold() -> None:
    worth = answer_worth(counters([3, 2], [0.8, 0.4]) | {"worth_threshold": 450_000, "worth_intents": 2}, {})
    assert worth is not None
    assert worth.threshold is None
    assert "probability" not in worth.sentence


@pytest.mark.parametrize(
    ("linking", "origin", "text"),
    [
        ({"method": "logistic"}, "none", "probabilities of --linkage logistic are not calibrated for this log"),
        ({"method": "fellegi-sunter"}, "none", "--linkage fellegi-sunter are not calibrated"),
        ({"weights": "ab"}, "none", "not calibrated for this log"),
        ({"answers": "intent"}, "statement", "You stated that the same answer means the same question"),
    ],
)
def test_an_estimate_that_means_nothing_is_not_given(linking: dict[str, str], origin: str, text: str) -> None:
    worth = answer_worth(counters([3, 2], [0.8, 0.4]), configuration(**linking))
    assert worth is not None
    assert (worth.paraphrases, worth.precision, worth.low, worth.high) == (None, None, None, None)
    assert (worth.origin, worth.is_by_linkage) == (origin, False)
    assert text in worth.sentence
    assert " %" not in worth.sentence


def test_verdicts_estimate_in_place_of_the_linkage() -> None:
    found = counters([3, 2], [0.8, 0.4]) | {"worth_threshold": 450_000}
    worth = answer_worth(found, configuration(verdicts=of_verdicts("b", "a", min_stated=0.7)), FILES)
    assert worth is not None
    assert (worth.paraphrases, worth.precision, worth.low, worth.high) == (0.03, 0.632, 0.54, 0.72)
    assert worth.sentence.startswith("By 150 verdicts the same answer means the same question in about 3.0 % of the")
    assert "kept pairs are right in an estimated 63 % (54 to 72)." in worth.sentence
    assert worth.sentence.endswith("of at least 0.7 before its correction by the verdicts.")
    shown = as_json(worth)
    assert shown is not None
    assert shown["origin"] == "verdicts"


def test_verdicts_on_other_logs_promise_nothing_flatly() -> None:
    used = configuration(verdicts=of_verdicts("a", "c", precision=0.9))
    worth = answer_worth(counters([3, 2], [0.8, 0.4]), used, FILES)
    assert worth is not None
    assert worth.origin == "verdicts on other logs"
    assert "By 150 verdicts on other logs" in worth.sentence
    assert "If this log is like the judged ones, kept pairs have a precision" in promise_of_verdicts(used, FILES)
    [warning] = warnings(used, FILES)
    assert "are about other files, columns or a dataset of another release: the" in warning
    assert warning.endswith("the precision of 0.9 holds as far as these logs are like them")
    same = configuration(verdicts=of_verdicts("a", "b", precision=0.9))
    assert warnings(same, FILES) == []
    assert "intervals. Kept pairs have a precision of at least 0.9" in promise_of_verdicts(same, FILES)


def test_answers_near_chance_have_no_estimate() -> None:
    near = {"worth_agreement": 2_000, "worth_pairs": 5_000, "members_judged": 2_000}
    worth = answer_worth(counters([3, 2], [0.8, 0.4]) | near, configuration())
    assert worth is not None
    assert (worth.origin, worth.is_by_linkage) == ("chance", False)
    assert (worth.paraphrases, worth.precision, worth.low, worth.high) == (None, None, None, None)
    assert "have the same answer hardly more often than by chance" in worth.sentence
    assert "qpr sample --for-calibration 150" in worth.sentence
    judged = answer_worth(counters([3, 2], [0.8, 0.4]) | near, configuration(verdicts=of_verdicts("a", "b")), FILES)
    assert judged is not None
    assert judged.origin == "verdicts"


def test_a_share_that_would_be_rounded_to_none_is_stated_as_a_maximum() -> None:
    found = counters([3, 2], [0.8, 0.4]) | {"worth_pairs": 2_000_000}
    worth = answer_worth(found, {})
    assert worth is not None
    assert worth.sentence.startswith("The same answer means the same question in less than 0.1 % of the pairs")


def test_a_run_warns_if_most_kept_pairs_are_estimated_to_be_wrong() -> None:
    found = counters([3, 2], [0.45, 0.4]) | {"worth_threshold": 350_000}
    [warning] = doubts(answer_worth(found, {}))
    assert warning.startswith("kept pairs are right in an estimated 44 % (")
    assert warning.endswith("Read clusters with qpr sample, and raise --min-probability above 0.35")
    assert doubts(answer_worth(counters([3, 2], [0.8, 0.4]), {})) == []
    assert doubts(answer_worth(found, configuration(answers="intent"))) == []
    assert doubts(None) == []
