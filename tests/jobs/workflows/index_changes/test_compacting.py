"""Settings of a compaction: those that were given, those by the memory, or those of the index."""

from types import SimpleNamespace

import numpy as np
import pytest

from jobs.workflows.index_changes import compacting
from model.index.settings import IndexSettings, RecallFigures
from model.index.sizing.planning import Size
from pipelines.graphs.settings import IndexConfig
from schemas.artifacts.manifest import File
from schemas.errors import QprError


def file(table, rows, size, *, folder="run"):
    return File(path=f"{folder}/{table}/0", table=table, rows=rows, bytes=size, sha256="0" * 64)


class Rows(list):
    def rows_of(self, ids):
        return np.array([self.index(number) if number in self else -1 for number in ids.tolist()])


def base(*files, factory="IVF9,Flat", probes=3, recall=None, live=range(90)):
    """Return an index of 60 rows in the first segment and 40 in the next."""
    settings = IndexSettings(
        model_digest="d", factory=factory, probes=probes, dimension=16, questions=90, shards=5, distance="euclidean"
    )
    if recall is not None:
        figures = RecallFigures(queries=9, at_10=0.8, compared=40, **recall)
        settings = settings.model_copy(update={"recall": figures})
    stored = [file("ids", 60, 5_000), file("ids", 40, 3_000, folder="run/segments/0001"), file("model", 0, 700), *files]
    manifest = SimpleNamespace(of=lambda table: [one for one in stored if one.table == table])
    return SimpleNamespace(manifest=manifest, settings=settings, index=Rows(live))


@pytest.mark.parametrize(
    ("live", "given", "fault"),
    [
        ([7], {}, "index: nothing would be left of 1 question. Remove the folder"),
        ([6, 7], {"factory": "IVF3,PQ5"}, "IVF3,PQ5"),  # 16 numbers are not five equal parts
    ],
)
def test_an_index_of_nothing_or_by_a_wrong_factory_is_refused_before_it_is_written(live, given, fault):
    target, erased = SimpleNamespace(url="index"), np.array([7, 8])
    with pytest.raises(QprError, match=fault):
        compacting.compact(target, base(live=live), settings=IndexConfig(**given), options=None, erased=erased)


@pytest.mark.parametrize(
    ("given", "factory", "shards"),
    [
        ({}, "IVF9,Flat", 5),
        ({"shards": 2}, "IVF9,Flat", 2),
        ({"factory": "IVF3,SQ8"}, "IVF3,SQ8", 5),
        ({"preset": "tuned"}, None, 5),
        ({"preset": "tuned", "factory": "IVF3,SQ8"}, "IVF3,SQ8", 5),
        ({"preset": "paper"}, "IVF2000,Flat", 5),
    ],
)
def test_without_a_memory_what_is_not_given_stays(given, factory, shards):
    assert compacting._within_memory(base(), 80, IndexConfig(**given)) == (factory, shards)


@pytest.mark.parametrize(("folder", "factory"), [("run/segments/0002", None), ("run", "Flat")])
def test_the_factory_of_the_size_of_the_first_segment_is_chosen_again(folder, factory):
    large = base(
        file("ids", 10_000, 9, folder=folder), factory="Flat"
    )  # from 10,000 questions on another one is that of the size
    assert compacting._within_memory(large, 80, IndexConfig()) == (factory, 5)


@pytest.mark.parametrize(
    ("files", "given", "arguments"),
    [
        ([], {}, {"factory": None, "shards": 5, "more_shards": True}),
        ([file("lexical", 0, 1)], {"shards": 2}, {"factory": None, "shards": 2, "more_shards": False}),
        ([], {"factory": "IVF3,SQ8"}, {"factory": "IVF3,SQ8", "shards": 5, "more_shards": True}),
    ],
)
def test_within_a_memory_factory_and_shards_are_planned_by_what_the_index_has(monkeypatch, files, given, arguments):
    seen = {}

    def planned(size, **named):
        seen.update(named, size=size)
        return SimpleNamespace(factory="Flat", shards=16)

    monkeypatch.setattr(compacting, "planned", planned)
    assert compacting._within_memory(base(*files), 70, IndexConfig(memory_mb=900, **given)) == ("Flat", 16)
    size = Size(questions=70, dimension=16, text_bytes=80.0, model_bytes=700, encode_us=0.0, bm25=bool(files))
    assert seen == {"size": size, "memory_mb": 900, **arguments}


GIVEN, CHOSEN = {}, {"target": 0.5}


@pytest.mark.parametrize(
    ("recall", "given", "same", "expected"),
    [
        (None, {}, True, (None, 0.98)),
        (GIVEN, {}, True, (3, 0.98)),
        (GIVEN, {}, False, (None, 0.98)),
        (GIVEN, {"recall": 0.7}, True, (None, 0.7)),
        (GIVEN, {"preset": "tuned"}, True, (None, 0.98)),
        (CHOSEN, {}, True, (None, 0.5)),
        (CHOSEN, {"recall": 0.7}, True, (None, 0.7)),
        (CHOSEN, {"probes": 2}, True, (2, 0.98)),
        (CHOSEN, {"preset": "paper"}, False, (10, 0.98)),
    ],
)
def test_the_lists_to_search_are_those_given_or_those_of_the_index(recall, given, same, expected):
    assert compacting._probes(base(recall=recall), IndexConfig(**given), same=same) == expected
