"""Nights of a log that grows, with the limits of the gate as they are: harmless ones pass, harm is refused."""

import itertools
import json
import shutil

import numpy as np
import pytest

from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.versions import history
from tests.jobs.nightly.conftest import THINGS, VERBS

pytestmark = [pytest.mark.fault, pytest.mark.slow]

NIGHTS = 9
FAST = ["--answers", "intent", "--no-bm25", "--epochs", 4, "--dimension", 32, "--hash-bins", 2000]
FAST += ["--ngram-bins", 2000, "--vocabulary-size", 500, "--shards", 2, "--json"]
PREFIXES = ("how do i", "how can i", "please tell me how to", "what is the way to", "i want to", "i need help to")
SUFFIXES = ("", "today", "at home", "without help", "in the rain", "as a beginner", "for a friend", "on a sunday")


def growing_rows(date):
    """Return rows of a day: wordings, most of them new, of a fact for each verb and thing."""
    draw = np.random.default_rng(date.toordinal())
    rows = []
    for verb, thing, prefix, suffix, again in draw.integers(1_000, size=(700, 5)).tolist():
        verb, thing = VERBS[verb % len(VERBS)], THINGS[thing % len(THINGS)]
        end = f"{SUFFIXES[suffix % len(SUFFIXES)]} {SUFFIXES[again % len(SUFFIXES)]}"
        question = f"{PREFIXES[prefix % len(PREFIXES)]} {verb} the {thing} {end}"
        rows.append({"question": question, "answer": f"To {verb} the {thing}.", "timestamp": f"{date}T08:00:00Z"})
    return rows


def night(qpr, warehouse, date, *options, code=0):
    outcome = qpr("nightly", "--warehouse", warehouse, "--date", date, *FAST, *options)
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)


@pytest.fixture
def grown(folder, qpr, drop, dates, tmp_path):
    """Return a warehouse whose nights had the default limits; the encoder is trained again on the eighth."""
    kept = folder / "w"
    if not kept.exists():
        for number in range(1, NIGHTS + 1):
            drop(str(kept), dates(number), growing_rows(dates(number)))
            assert night(qpr, str(kept), dates(number))["published"] == number
    return shutil.copytree(kept, str(tmp_path / "w"))


def test_nights_of_a_growing_log_are_published_with_the_default_limits(grown):
    versions = [history.read_version(grown, number) for number in history.numbers(grown)]
    assert len(versions) == NIGHTS
    assert len({version.model.path for version in versions}) == 2
    counts = [open_dataset(storage.join(grown, v.dataset.path)).manifest.counters["questions"] for v in versions]
    assert counts[-1] > 4 * counts[0]
    for before, version in itertools.pairwise(versions):
        assert version.metrics["frozen_queries"] > 50
        assert version.metrics["frozen_mrr_before"] == pytest.approx(
            before.metrics.get("frozen_mrr_with_new", before.metrics["mrr"])
        )


def test_a_worse_encoder_is_refused(grown, qpr, drop, dates):
    drop(grown, dates(NIGHTS + 1), growing_rows(dates(NIGHTS + 1)))
    worse = ("--retrain", "always", "--dimension", 1, "--epochs", 1)
    refused = night(qpr, grown, dates(NIGHTS + 1), *worse, code=3)["refused"]
    assert refused.startswith("MRR on the frozen test set, among questions of both versions, changed by -0.")
    assert night(qpr, grown, dates(NIGHTS + 1))["published"] == NIGHTS + 1


def test_a_flood_of_near_copies_with_another_answer_is_refused(grown, qpr, drop, dates):
    date = dates(NIGHTS + 1)
    copies = [
        row | {"question": " ".join(reversed(row["question"].split())), "timestamp": f"{date}T08:00:00Z"}
        for row in growing_rows(dates(1))
    ]
    drop(grown, date, [row | {"answer": f"Ask {row['answer'].split()[1]}ers."} for row in copies])
    refused = night(qpr, grown, date, code=3)["refused"]
    assert refused.startswith("new questions of other clusters changed MRR on the frozen test set by -0.")
    # the same questions are harmless with the answers of those that they copy
    drop(grown, date, copies)
    assert night(qpr, grown, date)["published"] == NIGHTS + 1
