"""Settings of FAISS: distances of each pair of vectors alone, matrix products, and the number of threads."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import faiss

_NEVER_BLAS, _BLAS_FROM = 2**31 - 1, 20  # the second is FAISS's own default


def measure_each_pair() -> None:
    """Make FAISS compute every distance from its two vectors alone, in this process, from now on.

    From 20 queries on it would multiply matrices instead, which rounds differently, so that a question's distances and
    even its list would depend on the other vectors of its batch.
    """
    faiss.cvar.distance_compute_blas_threshold = _NEVER_BLAS


def _search_alone() -> None:
    """Make FAISS work in the calling thread alone from now on."""
    faiss.omp_set_num_threads(1)


os.register_at_fork(after_in_child=_search_alone)  # the threads of a parent that has searched a batch are not in its
# child, and GNU's OpenMP would wait for them without end


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Make FAISS work in the calling thread alone: to wake up others takes longer than a call on little data."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def threads_of(queries: int) -> contextlib.AbstractContextManager[None]:
    """Return a context in which FAISS searches for some queries: in all of its threads, or in one for one query.

    It divides a flat shard of 10,000 rows or more between threads for one query, which rounds differently than in a
    batch and takes 4.5 times the CPU time on two cores, 8 times where threads spin while they wait.
    """
    return one_thread() if queries == 1 else contextlib.nullcontext()


@contextlib.contextmanager
def matrix_products() -> Iterator[None]:
    """Allow matrix products where always the same vectors are in a batch, such as k-means: 3 times faster.

    In one thread: on some processors a product rounds by how it is divided between threads, so that centroids would
    depend on the number of cores. IVF2000 of 128,000 questions takes 11.5 s instead of 6.1 on two cores.
    """
    from threadpoolctl import threadpool_limits  # searches do without it

    faiss.cvar.distance_compute_blas_threshold = _BLAS_FROM
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        measure_each_pair()
