"""Results of requests that are searched together, and the time that is remembered of them."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import faiss
import pytest

from jobs.web.versions.calls import Call, Listing
from jobs.web.versions.outcomes import FEW, outcomes, use_one_thread


class Searcher:
    def search_many(self, questions, k, *, mode=None, filters=None):
        return [[] for _ in questions]


PART = (("tenant", "acme"),)
PAST = Listing(1, frozenset({"pay"}), past=True)


@pytest.mark.parametrize(
    ("questions", "filters", "listing", "is_remembered"),
    [
        (FEW, (), None, True),
        (FEW, (), PAST._replace(past=False), True),
        (FEW + 1, (), None, False),
        (1, PART, None, False),
        (1, (), PAST, False),
    ],
    ids=["few questions", "documents of hits", "many questions", "a part of the rows", "rows without an answer"],
)
def test_only_the_time_of_few_questions_among_all_rows_is_remembered(questions, filters, listing, is_remembered):
    version = SimpleNamespace(searcher=Searcher(), seconds={}, without=lambda _: Searcher())
    call = Call(version, "search", 1, None, filters, listing)
    [first, second] = outcomes(call, [["a"] * (questions - 1), ["b"]])
    assert (len(first), len(second)) == (questions - 1, 1)
    assert (call.way in version.seconds) == is_remembered


def test_a_thread_that_searches_has_one_thread_of_faiss():
    def threads():
        faiss.omp_set_num_threads(3)
        use_one_thread()
        return faiss.omp_get_max_threads()

    with ThreadPoolExecutor(1) as pool:  # the number is that of a thread
        assert pool.submit(threads).result() == 1
