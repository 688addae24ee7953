"""Plan of an index: the most exact factory within a memory budget, with predicted memory, disk and time.

numbers of questions and bytes -> planned -> Plan; arithmetic alone, so that a plan costs nothing and is always the same
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from model.index.factory import (
    FACTORY,
    FEWEST_POINTS_PER_LIST,
    FLAT_BELOW,
    default_factory,
    factory_of_codes,
    is_graph,
    lists_factory,
    lists_of,
    most_probes,
    refines,
    sample_size,
)
from model.index.linking.build import NEAREST
from schemas.errors import QprError
from schemas.quantities import counted

MOST_GRAPH_LISTS: Final = 4_096
"""Lists of a planned factory with codes: 8,600 at ten million questions would take k-means 15 minutes instead of 4."""

_MB: Final = 2**20
_BITS: Final = {"Flat": 32, "SQfp16": 16, "SQbf16": 16, "SQ8": 8, "SQ6": 6, "SQ4": 4}

# Fitted to builds of 15,000, 72,000 and 358,000 questions of dimension 256 and checked at others (decision 50).
_BUILD_BASE: Final = 340 * _MB  # Beam, Arrow, FAISS and the interpreter
_OPENED: Final = 68 * _MB  # distances of the sampled questions to a block of vectors
_SEARCH_BASE: Final = 165 * _MB  # of a search, beside the files of the index
_HELD_A_BYTE: Final = 1.0  # rows that the in-process engine holds, for each byte of text
_HELD_ROW: Final = 120  # and for each row
_KEPT: Final = 0.95  # of the memory of the largest stage, when the index is opened at the end
_SAMPLE_COPIES: Final = 2.0  # of the vectors of the training sample
_CODE_COPIES: Final = 2.6  # lists that grow by doubling, and the file
_LEXICAL_A_BYTE: Final = 16.0  # arrays of BM25 before they are sorted, for each byte of text
_LEXICAL_STORED: Final = 1.45  # bytes of its files, for each byte of text
_ID_ROW: Final = 32  # bytes of a row beside its texts
_GRAPH_NODE: Final = 300  # links of a centroid
_POINT: Final = 24.2  # of a graph of codes, beside twice as many links as in its factory
_NEAR_OTHER: Final = 12  # one of the nearest others of a point: its row and distance
_LINKING: Final = 100 * _MB  # of the threads that search for these

_START_S: Final = 2.0  # CPU seconds of any build
_QUERY_US: Final = 1_300.0  # of a query of the confidence model, and of a thousand of them for the comparison of modes
_ROW_US: Final = 16.0  # CPU microseconds of a row, without its vector
_LEXICAL_US: Final = 10.0  # more of a row with BM25
_KMEANS_GFLOPS: Final = 72.0  # products of k-means, and of lists of codes that are refined
_ADD_GFLOPS: Final = 26.0  # products that find the list of a vector
_GRAPH_US: Final = 0.08  # for each number of a vector, to find its list
_LINK_US: Final = 60.0  # to find the nearest others of one of 100,000 points and to link it
_LINK_NUMBER_US: Final = 0.36  # for each number of its vector
_LINK_GROWTH: Final = 0.1  # power of the number of points by which linking one takes longer
_BOUNDS_GFLOPS: Final = 36.0  # distances of the sampled questions to all


class Size(NamedTuple):
    """Size of what is indexed.

    Attributes:
        questions: rows to index; equal questions are merged later, so it may be too high.
        dimension: of a vector.
        text_bytes: mean bytes of a question with its answer and ids.
        model_bytes: of the model's files.
        encode_us: CPU microseconds to encode a question.
        bm25: with BM25.
        product_time: CPU time of products of matrices by that on the machine of the constants.
        queries: of the confidence model.
    """

    questions: int
    dimension: int
    text_bytes: float
    model_bytes: int
    encode_us: float
    bm25: bool = True
    product_time: float = 1.0
    queries: int = 0


class Plan(NamedTuple):
    """An index that can be built, and its predicted cost.

    Attributes:
        factory: FAISS factory of the shards.
        shards: their number.
        build_mb: peak resident memory of `qpr index`.
        search_mb: resident memory of a search once every page of the index has been read.
        disk_mb: size of the index.
        cpu_minutes: CPU time of `qpr index`.
    """

    factory: str
    shards: int
    build_mb: float
    search_mb: float
    disk_mb: float
    cpu_minutes: float

    @property
    def memory_mb(self) -> float:
        """Return the larger one of the memory of build and search."""
        return max(self.build_mb, self.search_mb)


def planned(
    size: Size,
    *,
    factory: str | None = None,
    shards: int = 8,
    more_shards: bool = False,
    memory_mb: float | None = None,
) -> Plan:
    """Return the plan with the most exact factory within the memory.

    Args:
        size: of what is indexed.
        factory: that was given; None: one by size.
        shards: their number.
        more_shards: up to 64 may be used, so that less of the index is in memory while it is built.
        memory_mb: bound of resident memory of build and search; None: no bound.

    Raises:
        QprError: no plan is within the memory.
    """
    numbers = [shards, *(number for number in (16, 32, 64) if more_shards and number > shards)]
    plans = _plans(size, factory, numbers)
    if memory_mb is None:
        return plans[0]
    for plan in plans:
        if plan.memory_mb <= memory_mb:
            return plan
    changes = {
        " or leave out --factory": _plans(size, None, numbers) if factory else [],
        " or add --no-bm25": _plans(size._replace(bm25=False), factory, numbers) if size.bm25 else [],
    }
    advice = next((step for step, others in changes.items() if _least(others) <= memory_mb), "")
    what = f"{counted(size.questions, 'question')} of dimension {size.dimension:,}"
    least = math.ceil(_least(plans))
    raise QprError(f"--memory-mb {memory_mb:g}: an index of {what} needs at least {least:,} MB. Raise it{advice}")


def _plans(size: Size, factory: str | None, numbers: Sequence[int]) -> list[Plan]:
    """Return a plan for each factory, the most exact first, and number of shards."""
    factories = [factory] if factory else [*_factories(size)]
    return [predicted(size, name, number) for name in factories for number in numbers]


def _least(plans: Sequence[Plan]) -> float:
    """Return the memory in MB of the plan with the least, infinity if there is no plan."""
    return min((plan.memory_mb for plan in plans), default=math.inf)


def predicted(size: Size, factory: str, shards: int) -> Plan:
    """Return the predicted cost of an index by a factory."""
    lists, graph = lists_of(factory), "_HNSW" in factory
    coded = code_bytes(factory, size.dimension) + (8 if lists else 0)
    centroids = lists * (4 * size.dimension + (_GRAPH_NODE if graph else 0))
    vector = 4 * size.dimension if refines(factory) else coded
    stored = size.questions * vector + shards * centroids
    if refines(factory):
        stored = size.questions * (vector + coded) + centroids
    ids = size.questions * (size.text_bytes + _ID_ROW)
    lexical = size.questions * (_LEXICAL_STORED * size.text_bytes + 8) if size.bm25 else 0.0
    disk = stored + ids + lexical + size.model_bytes
    sample = min(size.questions, sample_size(factory))
    held = size.questions * (_HELD_A_BYTE * size.text_bytes + _HELD_ROW)
    stages = (
        _SAMPLE_COPIES * 4 * size.dimension * sample,
        _CODE_COPIES * vector * size.questions / shards + 3 * centroids,
        _CODE_COPIES * coded * size.questions + 3 * centroids if refines(factory) else 0,
        _LINKING + size.questions * (coded + _NEAR_OTHER * (NEAREST + 1)) if is_graph(factory) else 0,
        _LEXICAL_A_BYTE * size.text_bytes * size.questions if size.bm25 else 0,
    )
    opened = stored + ids + (_OPENED if most_probes(factory) else 0)
    peak = max(held + max(stages), opened + _KEPT * max(stages))  # the engine frees its rows before the index is opened
    return Plan(
        factory=factory,
        shards=shards,
        build_mb=(_BUILD_BASE + size.model_bytes + peak) / _MB,
        search_mb=(_SEARCH_BASE + disk) / _MB,
        disk_mb=disk / _MB,
        cpu_minutes=_seconds(size, factory, sample) / 60,
    )


def code_bytes(factory: str, dimension: int) -> int:
    """Return the bytes of a vector in lists or a flat shard, without its id; with codes that are refined, of a code.

    The code of a graph counts with its links.
    """
    codes = factory_of_codes(factory).rpartition(",")[2]
    match = re.fullmatch(FACTORY, factory)
    assert match
    if codes in _BITS:
        links = round(8 * int(match["links"]) + _POINT) if match["links"] else 0
        return -(-_BITS[codes] * dimension // 8) + links
    parts = re.match(r"PQ([0-9]+)", codes)
    assert parts
    return -(-int(parts[1]) * int(match["bits"] or 8) // 8)


def _factories(size: Size) -> Iterator[str]:
    """Yield factories from the most exact to the smallest one; codes leave room for three of four rows to be merged."""
    factory = default_factory(size.questions, size.dimension)
    yield factory
    if size.questions < FLAT_BELOW:
        return
    if is_graph(factory):
        factory = lists_factory(size.questions, size.dimension)
        yield factory
    lists = min(
        MOST_GRAPH_LISTS,
        lists_of(factory),
        size.questions // (4 * FEWEST_POINTS_PER_LIST),
    )
    for codes in ("SQfp16", "SQ8", "SQ4"):
        yield f"IVF{lists}_HNSW32,{codes}"


def _seconds(size: Size, factory: str, sample: int) -> float:
    """Return the CPU seconds of a build."""
    lists, count = lists_of(factory), size.questions
    operations = 2 * size.dimension * lists
    gflops = _KMEANS_GFLOPS if refines(factory) else _ADD_GFLOPS
    linking = (_LINK_US + _LINK_NUMBER_US * size.dimension) * (count / 1e5) ** _LINK_GROWTH if is_graph(factory) else 0
    rows = _ROW_US + linking + (_LEXICAL_US if size.bm25 else 0)
    products = sample * operations * 10 / _KMEANS_GFLOPS / 1e9  # training: FAISS makes ten iterations
    if "_HNSW" in factory:
        rows += _GRAPH_US * size.dimension
    else:
        products += count * operations / gflops / 1e9
    if most_probes(factory):
        products += count * 2 * size.dimension * 1_000 / _BOUNDS_GFLOPS / 1e9  # of `recall.QUERIES`
    encoded = 1 if factory.endswith("Flat") else 2  # once more for the recall: codes are not the exact vectors
    queries = size.queries + min(size.queries, 1_000)
    microseconds = count * rows + queries * _QUERY_US + (count * encoded + queries) * size.encode_us
    return _START_S + microseconds / 1e6 + products * size.product_time
