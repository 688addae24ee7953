"""Commands on an index that was changed: deleted questions are nowhere, added and replaced ones everywhere."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from jobs.web.versions.opening import open_version
from jobs.workflows.index_changes import changing
from jobs.workflows.warehouses.version_reading import Readable
from model.certificates.version import first_difference
from model.search.searcher import open_searcher
from pipelines.graphs import index as graph
from pipelines.graphs.settings import IndexConfig
from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.manifest import MANIFEST, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.text import question_id
from tests.jobs.workflows.index_changes.test_random_changes import run_plainly

BILLS = [f"how do I pay bill number {n}" for n in range(6)]
FLIGHTS = ["cancel my flight", "flight cancel my"]


@pytest.fixture
def index(folder, make_model, make_dataset, qpr):
    """Return an index in which one question of a dataset is deleted, one replaced and one added."""
    if not (folder / "index").exists():
        make_model(folder / "model")
        make_dataset(folder / "data", [BILLS, FLIGHTS])
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert qpr("index", *given, "--shards", 2).code == 0
        folder.joinpath("new.csv").write_text(f"question,answer\nwho is he,Nobody\n{BILLS[2]},Otherwise\n")
        folder.joinpath("old.csv").write_text(f"question\n{BILLS[0]}\n")
        before = open_searcher(str(folder / "index")).version
        change = ("--add", folder / "new.csv", "--delete", folder / "old.csv")
        assert qpr("index", "--output", folder / "index", *change).code == 0
        after = open_searcher(str(folder / "index")).version
        assert first_difference(before, after).startswith("index was")  # so a certificate of before is refused
        assert first_difference(after, open_searcher(str(folder / "index")).version) is None
    return folder / "index"


@pytest.mark.parametrize("mode", ["dense", "bm25", "fusion", "exact"])
def test_searches_and_answers_are_of_the_live_questions(index, qpr, mode):
    asked = [BILLS[0], BILLS[2], "who is he"]
    done = qpr("search", "--index", index, "--mode", mode, "--json", "-k", 20, *asked)
    assert done.code == 0, done.err
    results = [[hit["text"] for hit in result["hits"]] for result in map(json.loads, done.out.splitlines())]
    assert all(BILLS[0] not in texts for texts in results)
    assert [texts[:1] for texts in results][1:] == [[BILLS[2]], ["who is he"]]
    lines = qpr("answer", "--index", index, "--mode", mode, "--json", *asked).out.splitlines()
    answers = [*map(json.loads, lines)]
    assert [answer["reason"] == "exact" for answer in answers] == [False, True, True]
    assert [answer["hit"]["answer"] for answer in answers[1:]] == ["Otherwise", "Nobody"]


def test_evaluation_counts_a_deleted_paraphrase_as_missing(index, folder, qpr):
    done = qpr("evaluate", "--dataset", folder / "data", "--split", "test", "--index", index, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["relevant_missing"] == 1


def test_an_export_holds_the_live_questions(index, tmp_path, qpr):
    assert qpr("export", "--index", index, "--to", "parquet", "--output", tmp_path / "x.parquet").code == 0
    table = pq.read_table(tmp_path / "x.parquet")
    answers = dict(zip(table["text"].to_pylist(), table["answer"].to_pylist(), strict=True))
    assert (len(table), answers["who is he"], answers[BILLS[2]]) == (8, "Nobody", "Otherwise")
    assert BILLS[0] not in answers


def test_the_server_opens_it_and_its_clusters_have_no_deleted_question(index):
    version = open_version(Readable(str(index)), open_searcher)
    searcher = version.searcher
    rows = searcher.index.rows_of(searcher.index.question_ids[0])
    assert set(version.clusters.of(0).tolist()) <= set(rows.tolist())
    cluster = searcher.search(BILLS[1], 1)[0].cluster_id
    texts = searcher.index.questions(version.clusters.of(cluster))["text"].to_pylist()
    assert sorted(texts) == sorted(set(BILLS) - {BILLS[0], BILLS[2]})  # the new row has no cluster


class KilledError(BaseException):
    """Ends a run without any of its cleaning up."""


@pytest.mark.parametrize("before", [1, 3, "manifest", "sweep"])
def test_a_killed_change_leaves_one_of_both_versions_and_a_rerun_completes_it(index, tmp_path, monkeypatch, before):
    url = str(tmp_path / "index")
    storage.locate(url)[0].put(str(index), url, recursive=True)
    old, count = read_manifest(url), 0

    def stopping(function, name):
        def run(*given, **options):
            nonlocal count
            count += name == "write"
            if before in (name, count):
                raise KilledError
            return function(*given, **options)

        return run

    tmp_path.joinpath("gone.csv").write_text(f"question\n{BILLS[4]}\n")
    tmp_path.joinpath("new.csv").write_text("question\nwho are they\n")
    given = {"add": [str(tmp_path / "new.csv")], "delete": [str(tmp_path / "gone.csv")]}
    with monkeypatch.context() as patched:
        patched.setattr(graph, "run", run_plainly)
        patched.setattr(storage, "write_bytes", stopping(storage.write_bytes, "write"))
        patched.setattr(conditional_writes, "replace", stopping(conditional_writes.replace, "manifest"))
        patched.setattr(Output, "_sweep", stopping(Output._sweep, "sweep"))
        patched.setattr(Output, "abandon", Output.release)  # the system frees the lock of a dead process
        with pytest.raises(KilledError):
            changing.change_index(url, **given, settings=IndexConfig(), options=None, as_json=True)
    manifest = read_manifest(url)
    assert (manifest == old) == (before != "sweep")
    assert all(read_verified(url, file) is not None for file in manifest.files)
    searcher = open_searcher(url)
    assert (searcher.index.rows_of(searcher.index.question_ids[0]) >= 0).any()
    with monkeypatch.context() as patched:
        patched.setattr(graph, "run", run_plainly)
        changing.change_index(url, **given, settings=IndexConfig(), options=None, as_json=True)
    texts = {hit.text for hit in open_searcher(url).search("how do I pay", 20)}
    assert ("who are they" in texts, BILLS[4] in texts) == (True, False)
    folders = {file.path.partition("/")[0] for file in read_manifest(url).files}
    if before != "sweep":  # then nothing changed, and the next change removes what is left
        assert set(storage.children(url)) == {*folders, MANIFEST}


@pytest.mark.parametrize("change", [("--add", "new.csv"), ("--delete", "old.csv"), ("--compact",)])
def test_a_change_beside_another_one_is_refused_without_advice_to_write_elsewhere(index, folder, qpr, change):
    option, *files = change
    with Output(str(index), "index", change=True) as other:
        refused = qpr("index", "--output", index, option, *(folder / name for name in files))
    assert refused.code == 1
    assert f"another run is writing there: run {other.run_id}" in refused.err
    assert refused.err.strip().endswith("Wait until it ends or stop it, then run this again")


def test_ids_of_deleted_questions_are_not_found(index):
    opened = open_searcher(str(index)).index
    asked = np.array([question_id(text) for text in (BILLS[0], BILLS[2], "who is he")])
    assert (opened.rows_of(asked) >= 0).tolist() == [False, True, True]
