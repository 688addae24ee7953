import collections
import random

import apache_beam as beam
import pyarrow as pa
import pydantic
import pytest
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to

from pipelines.decontamination.near_duplicates import PRECEDENCE, REASONS
from pipelines.decontamination.settings import Leakage
from pipelines.decontamination.transform import RemoveLeakage
from pipelines.intermediate import MEMBERS
from pipelines.questions.aggregation import token_ids, word_ids
from pipelines.writing.rejects import TAG
from schemas.hashing import bag_ids
from schemas.tables import SPLITS, with_nulls
from schemas.text import hash64

REASONS_OF = dict.fromkeys([0.8, 0.9], REASONS)
REASONS_OF |= {0: ["in_train"], 1: [reason for reason in REASONS if "similar" not in reason and "near" not in reason]}


def members(rows):
    """Return MEMBERS of (cluster, words); the split follows from the cluster."""
    keys = pa.array([" ".join(words) for _, words in rows], pa.string())
    columns = {
        "cluster_id": [c for c, _ in rows],
        "question_id": [hash64(k) for k in keys.to_pylist()],
        "text": keys,
        "answer": [f"answer {c}" for c, _ in rows],
        "events": [1] * len(rows),
        "token_ids": token_ids(keys),
        "bag_id": bag_ids(word_ids(keys)),
        "split": [SPLITS[c % 3] for c, _ in rows],
        "answer_id": [c for c, _ in rows],
    }
    return with_nulls(MEMBERS, columns)


def places(table):
    return [(row["cluster_id"], tuple(row["text"].split())) for row in table.to_pylist()]


def spelled_alike(one, two, least):
    """Return whether the character 4-grams have the Jaccard index."""
    ours, theirs = ({text[i : i + 4] for i in range(max(len(text) - 3, 1))} for text in (one, two))
    return len(ours & theirs) / len(ours | theirs) >= least


def reason_of(place, rows, least):
    """Return why a place of a question in a cluster should go, or None."""
    cluster, words = place
    own, found = PRECEDENCE.index(SPLITS[cluster % 3]), []
    for other, others in rows:
        earlier = PRECEDENCE.index(SPLITS[other % 3])
        if earlier >= own or (least == 0 and earlier):
            continue
        score = len({*words} & {*others}) / len({*words} | {*others})
        near = 0 < least < 1
        kinds = [words == others, least > 0 and sorted(words) == sorted(others), near and score >= least]
        kinds.append(near and spelled_alike(" ".join(words), " ".join(others), least))
        found += [4 * earlier + number for number, kind in enumerate(kinds) if kind]
    return REASONS[min(found)] if found else None


@pytest.fixture(scope="module")
def rows():
    chance = random.Random(5)
    stems = [chance.sample("abcdefghijklmnopqrst", chance.choice([3, 9, 10, 11])) for _ in range(100)]
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
    drawn = {(1, ("only", alphabet[::-1])), (2, ("only", f"{alphabet[::-1]}z"))}
    drawn |= {(1, ("aaaaa",)), (3, ("aaaaaa",))}  # other words of the same character 4-grams
    for cluster in range(45):
        for stem in chance.sample(stems, 4):
            longer = [*stem[:2], alphabet]
            respelled = [*longer[:-1], longer[-1] + "z"]
            words = chance.choice(
                [stem, stem[::-1], [*stem, "x"], [*stem, stem[0]], [*stem[:-1], "y"], longer, respelled]
            )
            drawn.add((cluster, tuple(words)))
    return sorted(drawn)


@pytest.mark.parametrize(("least", "shards"), [(0, 2), (1, 2), (0.9, 1), (0.9, 3), (0.8, 2)])
def test_the_transform_finds_leaks_across_tables(rows, least, shards):
    reasons = {place: reason_of(place, rows, least) for place in rows if SPLITS[place[0] % 3] != "train"}
    stay = [place for place, reason in reasons.items() if reason is None]
    sizes = collections.Counter(cluster for cluster, _ in stay)
    lost = collections.Counter(reason for reason in reasons.values() if reason)
    lost["left_alone"] = sum(size == 1 for size in sizes.values())
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        cut = [members(rows[i::4]) for i in range(4)]
        clean = pipeline | beam.Create(cut, reshuffle=False) | RemoveLeakage(Leakage(near_duplicate=least), shards)
        kept = [place for place in stay if sizes[place[0]] > 1]
        assert_that(clean["main"] | "Places" >> beam.FlatMap(places), equal_to(kept), label="Kept")
        told = clean[TAG] | "Told" >> beam.FlatMap(lambda table: table["reason"].to_pylist())
        assert_that(told, equal_to(list(lost.elements())), label="Lost")
        removed = (
            clean["written"]
            | beam.FlatMap(lambda w: [(n.split(".")[-1], c) for n, c in w.counts.items() if "removed" in n])
            | beam.CombinePerKey(sum)
        )
        assert_that(removed, equal_to(list((+lost).items())), label="Counted")
    assert kept
    assert set(lost) - {"left_alone"} == set(REASONS_OF[least])


@pytest.mark.parametrize("wrong", [{"near_duplicate": 0.79}, {"near_duplicate": 1.1}, {"near_duplicate": -1}])
def test_thresholds_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        Leakage(**wrong)


@pytest.mark.parametrize("least", [0, 0.8, 0.9, 1])
def test_the_others_are_taken(least):
    assert Leakage(near_duplicate=least).near_duplicate == least
