"""Figures of an index and its peer: the same questions, the same exact search."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.retrieval import index
from benchmarks.retrieval.index import search_faiss, search_index, write_questions
from model.index.sizing import recall
from tests.support.commands import run


def test_as_many_different_questions_are_written_as_are_asked_for(tmp_path):
    write_questions(str(tmp_path / "q.parquet"), 1_234, seed=0)
    table = pq.read_table(tmp_path / "q.parquet")
    assert table.column_names == ["question"]
    assert len(table["question"].unique()) == 1_234


def test_an_index_and_a_plain_one_with_all_lists_find_everything(tmp_path, make_model, capsys, monkeypatch):
    monkeypatch.setattr(index, "SINGLE", 3)
    monkeypatch.setattr(recall, "QUERIES", 20)
    make_model(tmp_path / "model")
    pq.write_table(pa.table({"question": [f"w{n} w{n % 7} w{n % 11}" for n in range(400)]}), tmp_path / "q.parquet")
    given = ["--questions", tmp_path / "q.parquet", "--model", tmp_path / "model", "--output", tmp_path / "i"]
    assert run("index", *given, "--factory", "IVF8,Flat", "--probes", 8) == 0
    capsys.readouterr()
    search_index(str(tmp_path / "i"))
    search_faiss(str(tmp_path / "i"))
    ours, plain = map(json.loads, capsys.readouterr().out.splitlines())
    assert ours["recall_at_10"] == plain["recall_at_10"] == 1.0
    assert ours["probes"] == plain["probes"] == 8
    assert (ours["questions"], ours["factory"]) == (400, "IVF8,Flat")
    assert ours["bytes_a_vector"] > plain["bytes_a_vector"] > 4 * 8
    assert ours["p99_cpu_ms"] >= ours["p50_cpu_ms"] > 0
