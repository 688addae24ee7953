"""Searches of a graph that is walked, and of words that are ranked, as machine code."""

import pytest

from jobs.web import server
from model.index.graphs import walk
from model.index.words import loops
from model.search.opening import open_index
from model.search.searcher import open_searcher
from tests.support.csv_files import write_csv

pytestmark = pytest.mark.xdist_group("compiled_walks")  # several workers would compile the same loops at once
TEXTS = [f"how do I pay bill {n} of {place}" for n in range(60) for place in ("Rome", "Paris", "Oslo", "Lima")]
ASKED = ["pay bill 7 in Oslo", "how do I pay in Lima", "bill 33", "paris bill 12 how", "?"]


@pytest.fixture
def index(tmp_path, make_model, qpr, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(walk, "SMALLEST", 0)
    monkeypatch.setattr(loops, "SMALLEST", 0)
    make_model(tmp_path / "model")
    given = ("--questions", write_csv(tmp_path / "q.csv", [{"question": text} for text in TEXTS]))
    given += ("--model", tmp_path / "model", "--output", tmp_path / "index", "--factory", "HNSW4,SQ8,RFlat")
    assert qpr("index", *given, "--probes", 40).code == 0
    return tmp_path / "index"


@pytest.mark.parametrize("mode", ["dense", "bm25", "fusion"])
def test_hits_are_those_of_faiss_and_numpy(index, qpr, mode):
    for change in ([], ["--delete", write_csv(index.parent / "d.csv", [{"question": text} for text in TEXTS[::3]])]):
        if change:
            assert qpr("index", "--output", index, *change).code == 0
        plain, compiled = (open_searcher(str(index), mode=mode, compiled=given) for given in (False, True))
        assert [of.shard.walk is None for of in (*plain.index.codes, *compiled.index.codes)] == [True, False]
        words = [of.retrieval.lexical for of in (plain, compiled) if mode != "dense"]
        assert [of.loops is None for of in words] == [True, False][: len(words)]
        assert compiled.search_many(ASKED, 5) == plain.search_many(ASKED, 5)
        assert compiled.search(ASKED[0], 5) == plain.search(ASKED[0], 5)


def test_only_those_who_ask_for_it_get_it(index, qpr, monkeypatch):
    opened = []
    monkeypatch.setattr(
        server, "serve", lambda readable, _, opener, __: opened.append(opener(readable.url, certificate=None))
    )
    assert qpr("serve", "--index", index, "--mode", "fusion").code == 0
    assert opened[0].index.codes[0].shard.walk is not None
    assert opened[0].retrieval.lexical.loops is not None
    assert open_index(str(index)).codes[0].shard.walk is None
