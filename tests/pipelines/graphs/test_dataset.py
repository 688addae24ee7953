import hashlib
import json

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pydantic
import pytest
from apache_beam.testing import test_pipeline
from apache_beam.testing.util import assert_that, equal_to

from pipelines.clusters.coherence import Coherence
from pipelines.clusters.settings import Gate
from pipelines.engine.shuffle import to_ipc
from pipelines.graphs.dataset import DigestInputs
from pipelines.graphs.judging import finish, judge
from pipelines.graphs.settings import Assembly
from pipelines.intermediate import MEMBERS
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.questions.token_frequencies import count_tokens
from pipelines.reading.sources import expand
from pipelines.writing.reported import Written
from schemas.artifacts import manifest
from schemas.tables import SPLITS, with_nulls

EVERYTHING = Assembly(gate=Gate(coherence="paper", min_coherence=0))


def members(clusters, splits):
    rows = [(c, q) for c, questions in clusters.items() for q in questions]
    columns = {
        "answer_id": [c for c, _ in rows],
        "question_id": [q for _, q in rows],
        "text": [f"text {q}" for _, q in rows],
        "events": [1] * len(rows),
        "token_ids": [[1, q] for _, q in rows],
        "bag_id": [q for _, q in rows],
        "split": [splits.get(c) for c, _ in rows],
    }
    return with_nulls(MEMBERS, columns)


def outputs(elements):
    """Return the tagged tables of a step by tag, and the untagged ones under None."""
    found = {}
    for element in elements:
        tag = getattr(element, "tag", None)
        found.setdefault(tag, []).append(element if tag is None else element.value)
    return found


CLUSTERS = {c: [10 * c, 10 * c + 1] for c in range(30)}


def joined(table):
    """Return a shard of a log whose neighbours were not sought."""
    return [to_ipc(table)], []


def test_a_given_split_stays_and_a_missing_one_is_decided_by_hash():
    given = {c: SPLITS[c % 3] for c in range(0, 30, 2)}
    table = members(CLUSTERS, given)
    weights = count_tokens(table["token_ids"])
    [believed] = outputs(judge(joined(table), EVERYTHING, weights))[None]
    [alone] = outputs(judge(joined(members(CLUSTERS, {})), EVERYTHING, weights))[None]
    found = dict(zip(believed["cluster_id"].to_pylist(), believed["split"].to_pylist(), strict=True))
    hashed = dict(zip(alone["cluster_id"].to_pylist(), alone["split"].to_pylist(), strict=True))
    assert found == hashed | given
    assert found != hashed
    assert set(hashed.values()) == set(SPLITS)


def test_splits_of_earlier_versions_stay_but_rejected_rows_have_none():
    clusters = CLUSTERS | {30: [300], 31: [310]}
    table = members(clusters, dict.fromkeys(clusters, "test"))
    judged = outputs(judge(joined(table), EVERYTHING, count_tokens(table["token_ids"]), has_earlier_splits=True))
    assert set(judged[None][0]["split"].to_pylist()) == {"test"}
    payloads = [json.loads(row) for row in judged["rejects"][0]["payload"].to_pylist()]
    assert [payload.get("split") for payload in payloads] == [None, None]


def test_clusters_of_one_answer_share_its_split():
    def one_by_one(table, *_):
        number = np.arange(len(table)) // 2 * 2  # two questions a group
        return Linked(number, np.ones(len(table)))

    table = members({c: [100 * c + n for n in range(8)] for c in range(30)}, {})
    [believed] = outputs(judge(joined(table), EVERYTHING, count_tokens(table["token_ids"]), one_by_one))[None]
    splits = {}
    for row in believed.to_pylist():
        splits.setdefault(row["answer_id"], set()).add(row["split"])
    assert len(set(believed["cluster_id"].to_pylist())) == 120
    assert all(len(of_answer) == 1 for of_answer in splits.values())
    assert set.union(*splits.values()) == set(SPLITS)


def test_train_is_finished_at_once_and_the_rest_after_leakage_each_split_by_itself():
    table = members(CLUSTERS, {c: SPLITS[c % 3] for c in CLUSTERS})
    weights = count_tokens(table["token_ids"])
    judged = outputs(judge(joined(table), EVERYTHING, weights))
    held_out = judged[None][0].filter(pa.array([s != "train" for s in judged[None][0]["split"].to_pylist()]))
    finished = outputs(finish(held_out, EVERYTHING, weights))
    assert {tag for tag in judged if tag} == {"clusters_train", "pairs_train", "places", "rejects", "written"}
    assert set(finished) == {f"{t}_{s}" for t in ("clusters", "pairs") for s in ("validation", "test")} | {"places"}
    for number, split in enumerate(SPLITS):
        [clusters] = (judged if split == "train" else finished)[f"clusters_{split}"]
        [pairs] = (judged if split == "train" else finished)[f"pairs_{split}"]
        assert clusters["cluster_id"].to_pylist() == pairs["cluster_id"].to_pylist() == list(range(number, 30, 3))
        assert set(clusters["split"].to_pylist()) == {split}
    placed = [q for one in (judged, finished) for t in one["places"] for q in t["question_id"].to_pylist()]
    assert sorted(placed) == sorted(q for questions in CLUSTERS.values() for q in questions)


def test_a_shard_without_believable_clusters_yields_no_table():
    table = members({1: [1], 2: [2]}, {})
    judged = outputs(judge(joined(table), EVERYTHING, count_tokens(table["token_ids"])))
    assert not {tag for tag in judged if tag and tag.startswith(("clusters", "pairs"))}
    assert len(judged["rejects"][0]) == 2
    assert judged["written"][0].counts["members_judged"] == 2


@pytest.mark.parametrize("wrong", [{"max_pairs_per_cluster": 0}, {"salted": "x"}])
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        Assembly(**wrong)
    assert Assembly().gate.coherence in Coherence._fields


def test_a_digest_is_of_the_bytes_as_they_are_stored(tmp_path, monkeypatch):
    content = b"abc" * 1_000_000  # several pieces
    (tmp_path / "a.csv").write_bytes(content)
    (tmp_path / "b.csv").write_bytes(b"b")
    monkeypatch.chdir(tmp_path)
    expected = [
        Written(None, {}, manifest.Source(url=f"{name}.csv", bytes=len(of), digest=hashlib.sha256(of).hexdigest()))
        for name, of in (("a", content), ("b", b"b"))
    ]
    sources = expand(["*.csv"])
    monkeypatch.chdir("/")  # as a worker may
    with test_pipeline.TestPipeline(runner="FnApiRunner") as pipeline:
        assert_that(pipeline | beam.Create(sources) | DigestInputs(), equal_to(expected))
