"""A version is opened only if it is whole, finds its questions, and fits into memory."""

import numpy as np
import pytest

from jobs.web.versions import opening
from jobs.web.versions.clusters import ClusterRows
from jobs.web.versions.leases import Version, Versions
from jobs.web.versions.opening import open_version
from jobs.workflows.warehouses.version_reading import Readable
from schemas import words
from schemas.errors import QprError
from schemas.text import question_id


class Column:
    def __init__(self, ids):
        import pyarrow as pa

        self.table = pa.table({"cluster_id": pa.array(ids, pa.int64())})

    def __len__(self):
        return len(self.table)

    def row_batches(self, rows=2):
        return (np.arange(start, min(start + rows, len(self))) for start in range(0, len(self), rows))

    def questions(self, rows):
        return self.table.take(rows)


@pytest.mark.parametrize("ids", [[], [None], [None, 3, None], [2**63 - 1, -(2**63), 2**63 - 1, None, 0]])
def test_the_rows_of_a_cluster_are_those_with_its_id(ids):
    clusters = ClusterRows(Column(ids))
    for number in {0, 1, *(n for n in ids if n is not None)}:
        assert clusters.of(number).tolist() == [row for row, found in enumerate(ids) if found == number]


def version(name):
    return Version(name, name, Readable(name), None, None, [])


def test_a_version_stays_until_its_last_request_ends():
    versions = Versions(version("a"))
    with versions.lease() as first, versions.lease() as same:
        versions.swap(version("b"))
        assert (first.name, same.name, versions.current.name, versions.opened) == ("a", "a", "b", 2)
        with versions.lease() as second:
            versions.swap(version("c"))
            assert (second.name, versions.opened) == ("b", 3)
        assert versions.opened == 2
    assert versions.opened == 1
    with versions.lease() as last:
        assert last.name == "c"


def test_the_end_of_a_server_releases_all_versions():
    released = []
    old, new = version("old"), version("new")
    for each in (old, new):
        each.held.callback(released.append, each.name)
    versions = Versions(old)
    with versions.lease():
        versions.swap(new)
        assert released == []
        versions.close()
        assert sorted(released) == ["new", "old"]


@pytest.fixture
def index(publish):
    return publish(["pay my bill", "how do I pay", "cancel my flight"])


def opened(index, searcher=None):
    from model.search.searcher import open_searcher

    return open_version(Readable(str(index)), searcher or open_searcher)


def test_a_version_has_the_digest_of_its_content_and_canaries(index):
    from schemas.artifacts.manifest import read_manifest

    version = opened(index)
    assert version.name == read_manifest(str(index)).digest[:16]
    assert {number for _, number, _ in version.canaries} <= {
        question_id(text) for text in ("pay my bill", "how do I pay", "cancel my flight")
    }
    assert len(version.canaries) == 3


def test_an_index_whose_questions_do_not_find_themselves_is_refused(index, monkeypatch):
    from model.search.searcher import Searcher

    original = Searcher.search_many
    monkeypatch.setattr(
        Searcher, "search_many", lambda self, texts, k=10, **_: [hits[1:] for hits in original(self, texts, 2)]
    )
    with pytest.raises(QprError, match="does not find itself"):
        opened(index)


def test_an_index_that_does_not_fit_into_memory_is_refused(index, monkeypatch):
    monkeypatch.setattr(opening, "free_bytes", lambda: 0)
    with pytest.raises(QprError, match="0 MB are free"):
        opened(index)


def test_a_version_published_while_another_is_opened_is_opened_instead(index, publish):
    from model.search.searcher import open_searcher

    calls = []

    def overtaken(url, *, certificate):
        calls.append(url)
        if len(calls) == 1:
            publish(["another one"])
            raise QprError("a file is gone")
        return open_searcher(url)

    version = opened(index, overtaken)
    assert len(calls) == 2
    assert [text for text, _, _ in version.canaries] == ["another one"]


def test_an_index_that_never_rests_is_refused(index, publish):
    from model.search.searcher import open_searcher

    calls = []

    def overtaken(url, *, certificate):
        searcher = open_searcher(url)
        calls.append(url)
        publish([["another one"], ["pay my bill", "how do I pay", "cancel my flight"]][len(calls) % 2 == 0])
        return searcher

    with pytest.raises(QprError, match="changes faster"):
        opened(index, overtaken)


def test_the_first_question_in_another_script_waits_for_no_pattern(index):
    words._word.cache_clear()
    opened(index)
    assert words._word.cache_info().currsize == 1
