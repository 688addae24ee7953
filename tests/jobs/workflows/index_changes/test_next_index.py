"""Index of the next dataset against a new build of the same dataset, and against damage and removal of the one before.

The steps of the pipeline run one after the other without Beam, which would take half a second for each index.
"""

import errno
import os
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest

from jobs.workflows import indexing
from jobs.workflows.index_changes import advice, next_index
from model.index import codes_files
from model.search.opening import open_index
from model.search.searcher import open_searcher
from pipelines.graphs import index as graph
from pipelines.graphs.settings import IndexConfig
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest, read_verified
from tests.jobs.workflows.index_changes.test_random_changes import run_plainly

WORDS = ("bill", "flight", "tram", "garden", "piano", "oven", "kettle", "lamp")
ASKED = ["pay the bill for piano 3", "lamp oven 7", "kettle 12", "nothing shared"]


def questions(first, last):
    return [f"how to pay {WORDS[n % 8]} for {WORDS[n // 8 % 8]} {n}" for n in range(first, last)]


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setattr(graph, "run", run_plainly)


@pytest.fixture
def nights(tmp_path, make_model, make_dataset):
    """Return a function that makes the index of the n-th dataset, built or from the index before."""
    make_model(tmp_path / "model", encoder="subword")

    def make(number, clusters, before=None, root=None, factory="Flat"):
        root = root or str(tmp_path)
        data, output = (storage.join(root, name) for name in (f"data{number}", f"index{number}"))
        make_dataset(data, clusters)
        if before is None:
            build(data, tmp_path / "model", output, factory)
        else:
            assert next_index.next_index(before, data, output=output, options=None) is not None
        return output

    return make


def build(data, model, output, factory="Flat"):
    config = IndexConfig(shards=2, factory=factory)
    indexing.build_index([data], config, model=str(model), output=output, overwrite=True, options=None, show=False)


def results(url):
    """Return all that a search can find: rows by id, vectors and BM25 of all ways to search."""
    index = open_index(url, exact=True)
    rows = index.questions(index.live_rows(np.arange(len(index)))).sort_by("question_id").to_pylist()
    ranking = index.rank(ASKED, len(index))
    ways = [open_searcher(url, mode=mode, exact=True).search_many(ASKED, 20) for mode in ("dense", "bm25", "fusion")]
    found = [[list(hits) for hits in way] for way in ways]
    return rows, ranking.ids.tolist(), ranking.scores.tolist(), found


@pytest.mark.parametrize("factory", ["Flat", "IVF1,PQ1x4fs,RFlat", "HNSW2,SQ8,RFlat"])
def test_nights_find_what_a_new_build_finds(nights, tmp_path, monkeypatch, factory):
    """Each night some questions go, some come, some change cluster and answer, and one changes its text."""
    monkeypatch.setattr(codes_files, "FLAT_SEGMENT_BELOW", 15)
    monkeypatch.setattr(advice, "RECALL_FALL", 1)  # codes of one byte, trained on 120 questions, do not last
    url = nights(0, [questions(0, 60), questions(60, 120)], factory=factory)
    first = [read_manifest(url).inputs[0].model_dump(exclude_none=True)]
    segments, coded = [], []
    for number in range(1, 6):
        start, last = 3 * number, 120 + 10 * number
        clusters = [questions(start, 70 + number), questions(70 + number, last)]
        clusters[0][0] = clusters[0][0].upper()
        before, url = url, nights(number, clusters, before=url)
        built = str(tmp_path / f"built{number}")
        build(str(tmp_path / f"data{number}"), tmp_path / "model", built, factory)
        assert results(url) == results(built)
        manifest = read_manifest(url)
        coded.append(len(manifest.of("codes")))
        segments.append(len({file.path.partition("/segments/")[2][:4] for file in manifest.of("shards")}))
        assert manifest.configuration["built_from"] == first
        assert [source.url for source in manifest.inputs][:1] == [str(tmp_path / f"data{number}")]
        assert manifest.counters["questions_deleted"] == 3
        assert manifest.counters["questions_encoded"] < 60
        assert {file.path.partition("/")[0] for file in manifest.files} == {manifest.run_id}
        storage.delete(before)  # what no version names may go: nothing else depends on it
        assert results(url) == results(built)
    assert max(segments) <= 4
    assert max(coded) == (0 if factory == "Flat" else 2)  # the first segment and a later one that is large
    assert not any("changed" in folder for folder, _, _ in os.walk(url))


def test_the_same_night_twice_has_the_same_digest_and_the_one_before_stays(nights, tmp_path):
    first = nights(0, [questions(0, 60)])
    digest, content = read_manifest(first).digest, results(first)
    second = nights(1, [questions(0, 70)], before=first)
    again = str(tmp_path / "again")
    next_index.next_index(first, str(tmp_path / "data1"), output=again, options=None)
    assert read_manifest(again).digest == read_manifest(second).digest
    assert (read_manifest(first).digest, results(first)) == (digest, content)


def test_local_files_are_linked_and_only_new_vectors_are_written(nights):
    first = nights(0, [questions(0, 60)])
    second = nights(1, [questions(0, 66)], before=first)
    shards = [file for file in read_manifest(second).of("shards") if "/segments/" not in file.path]
    inodes = {os.stat(storage.join(first, file.path)).st_ino for file in read_manifest(first).of("shards")}
    assert {os.stat(storage.join(second, file.path)).st_ino for file in shards} == inodes
    [added] = [file for file in read_manifest(second).of("shards") if "/segments/0001/" in file.path]
    assert added.rows == 6


def test_a_file_system_without_links_gets_copies(nights, monkeypatch):
    first = nights(0, [questions(0, 60)])
    refuse = Mock(side_effect=PermissionError(errno.EPERM, "no hard links"))
    monkeypatch.setattr("schemas.artifacts.shared_files.os.link", refuse)
    second = nights(1, [questions(0, 66)], before=first)
    storage.delete(first)
    for file in read_manifest(second).files:
        read_verified(second, file)


def test_objects_are_copied_by_their_store(nights, memory):
    first = nights(0, [questions(0, 60)], root="memory://w")
    second = nights(1, [questions(0, 66)], before=first, root="memory://w")
    storage.delete(first)
    assert len(open_index(second)) == 66


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [
        ([questions(12, 60)], "20 % of its rows would be deleted"),
        ([questions(0, 121)], "its first segment would have 60 of 121 questions"),
        ([[*questions(0, 60), "?"]], "the dataset has 1 question that cannot be indexed"),
    ],
)
def test_a_new_build_is_due_when_too_much_has_changed(nights, tmp_path, make_dataset, capsys, clusters, reason):
    first = nights(0, [questions(0, 60)])
    make_dataset(tmp_path / "next", clusters)
    output = tmp_path / "none"
    assert next_index.next_index(first, str(tmp_path / "next"), output=str(output), options=None) is None
    assert f"building the index again: {reason}" in capsys.readouterr().err
    assert not output.exists()


def test_an_index_is_changed_up_to_the_limits(nights, tmp_path, make_dataset, monkeypatch, capsys):
    monkeypatch.setattr(next_index, "SEGMENTS", 2)
    first = nights(0, [questions(0, 60)])
    nights(1, [questions(0, 120)], before=first)  # half of the questions are new
    second = nights(2, [questions(11, 77)], before=first)  # a seventh of the rows is deleted
    make_dataset(tmp_path / "next", [questions(11, 80)])
    assert next_index.next_index(second, str(tmp_path / "next"), output=str(tmp_path / "none"), options=None) is None
    assert "building the index again: it would have over 2 segments" in capsys.readouterr().err


def test_a_damaged_file_of_the_index_before_is_one_line_and_leaves_nothing(nights, tmp_path, make_dataset):
    first = nights(0, [questions(0, 60)])
    [shard, *_] = read_manifest(first).of("shards")
    path = storage.join(first, shard.path)
    content = bytearray(storage.read_bytes(path))
    content[-1] ^= 1
    storage.write_bytes(path, bytes(content))
    make_dataset(tmp_path / "next", [questions(0, 66)])
    with pytest.raises(Exception, match="does not match the manifest's sha256"):
        next_index.next_index(first, str(tmp_path / "next"), output=str(tmp_path / "none"), options=None)
    assert not (tmp_path / "none").exists()


def test_the_next_segment_takes_in_those_that_are_no_larger():
    holders = np.repeat([0, 1, 2, 3, -1], [100, 9, 4, 2, 3])
    assert next_index._next_segment(holders, 3) == 1  # 3 + 2, then + 4, then + 9; never the first
    assert next_index._next_segment(np.repeat([0, 1, 2, -1], [100, 9, 4, 3]), 2) == 3


def test_rows_are_compared_by_text(nights, tmp_path, make_dataset):
    first = nights(0, [questions(0, 60)])
    make_dataset(tmp_path / "next", [questions(0, 30), questions(30, 60)])  # other answers and clusters
    second = str(tmp_path / "second")
    assert next_index.next_index(first, str(tmp_path / "next"), output=second, options=None).counters == {
        "questions_added": 0,
        "questions_deleted": 0,
        "questions_encoded": 0,
        "questions_kept": 60,
        "questions_read": 60,
        "questions_replaced": 0,
    }
    texts = pa.array(questions(0, 60))
    answers = {hit[0].answer for hit in open_searcher(second).search_many(texts.to_pylist(), 1)}
    assert len(answers) == 2
