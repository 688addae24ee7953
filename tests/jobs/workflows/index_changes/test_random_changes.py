"""Random sequences of changes against a dict, which is ranked by brute force.

The steps of the pipeline run one after the other without Beam, which would take half a second for each change.
"""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from pathlib import Path

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from jobs.workflows.index_changes import changing, compacting
from model.index import codes_files
from model.index.lexical import LAYOUT, Lexical
from model.index.lexical_files import lexical_arrays, open_lexical
from model.index.segments import builder
from model.index.shard_merge import nearest
from model.index.shards import build_shard, open_shard, train
from model.search.opening import open_index
from model.search.searcher import open_searcher
from pipelines.engine.shuffle import concatenate, split_by_shard
from pipelines.graphs import index as graph
from pipelines.graphs.settings import IndexConfig
from pipelines.writing.reported import Written
from pipelines.writing.run_report import entry_of
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.text import question_id

POOL = [
    *(f"how do I pay bill {n}" for n in range(6)),
    *(f"bill {n} pay I do how" for n in range(6)),  # at the same place as one of the above for a bag of words
    *("cancel flight", "flight cancel", "Cancel my flight!", "où est le bill", "?? pay ??", "c#", "東京 flight"),
]
FIRST = [f"pay bill number {n} of {n % 5}" for n in range(110)]
ASKED = ["pay bill 3", "flight cancel", "how do I pay bill number 7 of 2", "東京", "nothing shared", "cancel my flight"]
K = 9


def run_plainly(build, options):
    """Run the steps of the graph of an index in this process, in order."""
    given, written, parts, tables = build.keywords, [], [], []
    sharded = given["sharded"]

    def sort_out(outputs, kept):
        for output in outputs:
            if not isinstance(output, beam.pvalue.TaggedOutput):
                kept.append(output)
            elif isinstance(output.value, Written):
                written.append(output.value)

    for file in sharded.files:
        sort_out(graph.read_and_count(file), tables)
    split = [part for table in tables for part in split_by_shard(table, "question_id", sharded.shards)]
    for shard in sorted({shard for shard, _ in split}):
        merged = concatenate([content for number, content in split if number == shard])
        sort_out(graph.merge_and_count(merged, sharded.unchanged), parts)
    questions, encode, of = sum(count for count, _ in parts), sharded.encode, sharded.builder
    if parts:
        sample = [graph.sample_of(part, of, questions)[1] for part in parts]
        trained = graph.train((0, sample), encode, of, questions)
        for part in parts:
            place = (given["run_url"], sharded.shards, encode, of, trained, sharded.folder, given["finished"])
            written.extend(graph.build_shard(part, *place))
    report = json.dumps([entry_of(w) for w in written])
    storage.write_bytes(storage.join(given["run_url"], "report.json"), report.encode())


class Changes(RuleBasedStateMachine):
    first: Path
    """An index of `FIRST`."""

    @initialize()
    def open_first(self):
        self.folder = Path(tempfile.mkdtemp())
        self.url = shutil.copytree(self.first, self.folder / "index")
        self.rows = {question_id(text): (text, None) for text in FIRST}

    def teardown(self):
        shutil.rmtree(self.folder)

    def change(self, *, add=(), delete=()):
        given = {}
        for name, rows in (("add", add), ("delete", delete)):
            path = self.folder / f"{name}.csv"
            with path.open("w", newline="") as file:
                csv.writer(file).writerows([("question", "answer"), *rows])
            given[name] = [str(path)] if rows else []
        changing.change_index(str(self.url), **given, settings=IndexConfig(), options=None, as_json=True)

    @rule(
        texts=st.lists(st.sampled_from(POOL), min_size=1, unique_by=question_id), answer=st.sampled_from(["", "a", "b"])
    )
    def add(self, texts, answer):
        self.change(add=[(text, answer) for text in texts])
        self.rows.update({question_id(text): (text, answer or None) for text in texts})

    @rule(texts=st.lists(st.sampled_from([*POOL, *FIRST]), min_size=1, max_size=8))
    def delete(self, texts):
        self.change(delete=[(text, "") for text in texts])
        for text in texts:
            self.rows.pop(question_id(text), None)

    @rule(
        texts=st.lists(st.sampled_from(POOL), min_size=1, max_size=4, unique_by=question_id),
        gone=st.lists(st.sampled_from([*POOL, *FIRST]), min_size=1, max_size=4),
    )
    def delete_and_add(self, texts, gone):
        self.change(add=[(text, "c") for text in texts], delete=[(text, "") for text in gone])
        for text in gone:
            self.rows.pop(question_id(text), None)
        self.rows.update({question_id(text): (text, "c") for text in texts})

    @precondition(lambda self: len(self.rows) >= 78)  # two lists need as many
    @rule()
    def compact(self):
        compacting.compact_index(str(self.url), settings=IndexConfig(), options=None, as_json=True)
        manifest = read_manifest(str(self.url))
        assert not manifest.of("tombstones")
        assert all("/segments/" not in file.path for file in manifest.files)

    @invariant()
    def is_as_a_new_index(self):
        index = open_index(str(self.url), exact=True)
        assert len(index) == len(self.rows)
        stored = index.questions(index.live_rows(np.arange(len(index)))).to_pylist()
        assert {row["question_id"]: (row["text"], row["answer"]) for row in stored} == self.rows
        ids = np.array(sorted(self.rows), np.int64)
        texts = [self.rows[number][0] for number in ids.tolist()]
        assert (index.questions(index.rows_of(ids))["question_id"].to_numpy() == ids).all()
        everything = np.array([question_id(text) for text in [*FIRST, *POOL]])
        assert ((index.rows_of(everything) >= 0) == np.isin(everything, ids)).all()
        vectors = index.encoder.encode(pa.array(texts))
        flat = open_shard(build_shard(train("Flat", vectors[:0]), vectors))
        expected = nearest([flat], [ids], index.encoder.encode(pa.array(ASKED)), k=K, probes=0)
        ranking = index.rank(ASKED, K)
        assert ranking.ids.tolist() == expected.ids.tolist()
        assert (-ranking.scores).tolist() == expected.distances.tolist()
        arrays = lexical_arrays([pa.table({"question_id": ids, "text": texts})])
        lexical = open_lexical(read_manifest(str(self.url)), index)
        assert lexical is not None
        rebuilt = Lexical.of({name: arrays[name].tobytes() for name in LAYOUT})
        ranking, expected = lexical.rank(ASKED, K), rebuilt.rank(ASKED, K)
        assert np.array_equal(ranking.ids, expected.ids)
        assert np.array_equal(ranking.scores, expected.scores)
        assert np.array_equal(ranking.rows[ranking.found], index.rows_of(ranking.ids[ranking.found]))
        [hits] = open_searcher(str(self.url), mode="fusion").search_many([texts[0]], 3)
        assert (hits[0].text, hits[0].answer) == self.rows[ids[0]]


@pytest.fixture(params=["IVF2,Flat", "IVF2,PQ1x4fs,RFlat", "HNSW2,SQ8,RFlat"])
def first(request, tmp_path, make_model, qpr):
    make_model(tmp_path / "model", encoder="subword")
    (tmp_path / "first.csv").write_text("\n".join(["question", *FIRST]))
    given = ("--questions", tmp_path / "first.csv", "--model", tmp_path / "model", "--shards", 2)
    assert qpr("index", *given, "--factory", request.param, "--output", tmp_path / "index").code == 0
    return tmp_path / "index"


def test_any_sequence_of_changes_gives_what_a_new_index_of_the_live_rows_gives(first, monkeypatch):
    monkeypatch.setattr(graph, "run", run_plainly)
    monkeypatch.setattr(builder, "FLAT_SEGMENT_BELOW", 5)
    monkeypatch.setattr(codes_files, "FLAT_SEGMENT_BELOW", 5)
    machine = type("Machine", (Changes,), {"first": first})
    run_state_machine_as_test(machine, settings=settings(max_examples=6, stateful_step_count=6))
