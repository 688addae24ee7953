"""Worth of an answer in a log, from counters."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.clusters.answer_worth import threshold_counts, worth_counts
from pipelines.intermediate import MEMBERS
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.summary.answer_worth import answer_worth, as_json


def clusters(sizes: list[int], likely: list[float]) -> pa.Table:
    number = np.repeat(np.arange(len(sizes)), sizes)
    columns = {"cluster_id": pa.array(number), "linkage_probability": pa.array(np.repeat(likely, sizes).astype(float))}
    rows = {field.name: columns.get(field.name, pa.nulls(len(number), field.type)) for field in MEMBERS}
    return pa.table(rows).cast(MEMBERS)


def counters(sizes: list[int], likely: list[float], expected: float = 5.0) -> dict[str, int]:
    answers = np.array([1, 1, 1, 1, 2, 2])
    of_intent = answers == 2
    of_rows = np.array([0, 0, 0, 0, 1, 0]) * int(expected * 1e6)
    linked = Linked(np.arange(6), np.array([0.5] * 5 + [0.0]), of_intent, of_rows)
    return worth_counts(linked, answers, clusters(sizes, likely))


def test_shares_are_those_of_pairs() -> None:
    worth = answer_worth(counters([3, 2], [0.8, 0.4]))
    assert worth is not None
    assert (worth.answers, worth.intents, worth.strays) == (2, 1, 1)
    assert worth.paraphrases == pytest.approx(5 / 7)
    assert worth.precision == pytest.approx((3 * 0.8 + 0.4) / 4)
    spread = 1.96 * (9 * 0.16 + 0.24) ** 0.5 / 4
    assert (worth.low, worth.high) == pytest.approx((max(0.7 - spread, 0), min(0.7 + spread, 1)))
    assert "means the same question in about 71 %" in worth.sentence
    assert "kept pairs are right in an estimated 70 %" in worth.sentence


def test_the_counters_of_parts_add_up_exactly() -> None:
    parts = [counters([3], [0.123456789]), counters([2], [0.9])]
    whole = counters([3, 2], [0.123456789, 0.9])
    kept = [name for name in whole if "kept" in name]
    assert {name: parts[0][name] + parts[1][name] for name in kept} == {name: whole[name] for name in kept}


def test_without_a_kept_pair_there_is_no_precision() -> None:
    worth = answer_worth(counters([], []))
    assert worth is not None
    assert worth.precision is None
    assert "no pair was kept" in worth.sentence
    assert as_json(worth) is not None


def test_answers_that_were_not_split_have_no_estimate() -> None:
    assert answer_worth({"rows_read": 7}) is None
    assert as_json(None) is None


@pytest.mark.parametrize(("threshold", "shown"), [(0.65, True), (None, False)])
def test_a_threshold_that_was_chosen_for_the_log_is_stated(threshold: float | None, shown: bool) -> None:
    worth = answer_worth(counters([3, 2], [0.8, 0.4]) | threshold_counts(threshold))
    assert worth is not None
    assert worth.threshold == threshold
    assert ("A cluster of this log needs a mean probability of at least 0.65." in worth.sentence) is shown
