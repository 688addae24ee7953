"""Factory strings of indexes: flat, a graph or inverted lists, and the sample that trains them.

number of questions, dimension -> default_factory -> factory string -> lists_of, most_probes, sample_size, in_sample
"""

from __future__ import annotations

import math
import re

import numpy as np

from model.index.shard_files.graph import MOST_NEIGHBOURS
from model.index.shard_files.layout import MOST_BITS
from schemas.arrays import Bools, Int64s
from schemas.errors import QprError, UsageError
from schemas.quantities import counted

FLAT_BELOW = 10_000
"""Under this many questions exact search takes under 2 ms, so lists would only cost recall."""

LISTS_FROM = 1_000_000
"""From this many questions on lists are the default: a graph takes much more memory, most of all while it is built."""

MOST_PROBES_OF_A_GRAPH = 2**16
"""Probes from which on a search does not walk a graph but compares all vectors."""

LISTS_PER_ROOT = 2.73
"""Lists for each square root of the number of questions: 2,000 at Quora's 537,663, as in the paper (section 4.3)."""

POINTS_PER_LIST = 64
"""Questions in the training sample for each list."""

POINTS_OF_A_CODE = 64 * 256
"""Questions in the training sample of the codes of a graph or a product quantizer; those have 256 values each."""

FEWEST_POINTS_PER_LIST = 39
"""Under this, k-means gives centroids that FAISS warns about."""

_REFINED = ",RFlat"

FACTORY = (
    r"Flat|HNSW(?P<links>[1-9][0-9]?),(?:SQ[468]|SQfp16|SQbf16),RFlat|"
    r"IVF(?P<lists>[1-9][0-9]*)(?:_HNSW(?P<neighbours>[1-9][0-9]?))?,"
    r"(?:Flat|(?:SQ[468]|SQfp16|SQbf16|PQ(?P<parts>[1-9][0-9]*)(?:x(?P<bits>[1-9][0-9]?))?(?:np|fs)?)(?:,RFlat)?)"
)
"""The factory strings of indexes; `model.index.shard_files` reads the files that are built by them.

With ``_HNSW32`` the nearest centroids are found by a graph, which is approximate; `--exact` compares all of them. Codes
with ``x4fs`` are compared 32 at a time (André, Kermarrec and Le Scouarnec 2015, section 3). With ``,RFlat`` the shards
are flat, and one file holds the codes of all their vectors: the nearest codes are compared again by exact vectors.
``HNSW32,SQ8,RFlat`` links each code to up to 32 near ones, 64 on the lowest level, and a search walks along the links
(Malkov and Yashunin 2018).
"""

MOST_LISTS = 2**20
"""Under 64 of the questions each, more would take 67 million questions to train; FAISS allocates all lists at once."""


def default_factory(questions: int, dimension: int) -> str:
    """Return the FAISS factory for an index of this many questions.

    Under `FLAT_BELOW` it is exact. Under `LISTS_FROM` it is a graph of codes of 8 bits for each number of a vector, and
    from there on `lists_factory`. The exact vectors refine both.

    Args:
        questions: their number.
        dimension: of their vectors.
    """
    if questions < FLAT_BELOW:
        return "Flat"
    return f"HNSW32,SQ8{_REFINED}" if questions < LISTS_FROM else lists_factory(questions, dimension)


def lists_factory(questions: int, dimension: int) -> str:
    """Return the FAISS factory of inverted lists for an index of this many questions, at least `FLAT_BELOW`.

    It has ``2.73 * sqrt(questions)`` lists, in whole hundreds, but never more than the questions can train. They hold
    codes of 2 bits for each number of a vector, 4 bits for two of them, which are refined by the exact vectors.

    Args:
        questions: their number.
        dimension: of their vectors.
    """
    lists = min(100 * round(LISTS_PER_ROOT * math.sqrt(questions) / 100), questions // FEWEST_POINTS_PER_LIST)
    return f"IVF{lists},{two_bit_codes(dimension)}{_REFINED}"


def two_bit_codes(dimension: int) -> str:
    """Return the product quantizer of 2 bits for each number of a vector; of 4 where the dimension is odd."""
    return f"PQ{dimension if dimension % 2 else dimension // 2}x4fs"


def refines(factory: str) -> bool:
    """Return whether an index has exact vectors in its shards and codes of them in a file of their own."""
    return factory.endswith(_REFINED)


def is_graph(factory: str) -> bool:
    """Return whether the codes of an index are the points of a graph."""
    return factory.startswith("HNSW")


def factory_of_shards(factory: str) -> str:
    """Return the factory of an index's shards."""
    return "Flat" if refines(factory) else factory


def factory_of_codes(factory: str) -> str:
    """Return the factory of lists and codes, without exact vectors that refine them."""
    return factory.removesuffix(_REFINED)


def checked_factory(factory: str) -> str:
    """Return a factory string that shards can be built by.

    Raises:
        ValueError: it does not match `FACTORY`, or has more than `MOST_LISTS`, `MOST_BITS` or `MOST_NEIGHBOURS`.
    """
    match = re.fullmatch(FACTORY, factory)
    if not match:
        kinds = "_HNSW32 or nothing, then Flat, SQ4, SQ6, SQ8, SQfp16, SQbf16 or PQm, and after codes ,RFlat or nothing"
        examples = "IVF2000,Flat or IVF2000,PQ128x4fs,RFlat"
        graph = "or be a graph of codes such as HNSW32,SQ8,RFlat"
        raise ValueError(f"must be Flat or start with IVF and a number, then {kinds}, such as {examples}, {graph}")
    # first by its digits, since `int` raises for more than 4,300 of them
    if len(match["lists"] or "") > len(str(MOST_LISTS)) or int(match["lists"] or 0) > MOST_LISTS:
        raise ValueError(f"asks for more than {MOST_LISTS:,} lists. Use fewer")
    if int(match["bits"] or 0) > MOST_BITS:
        raise ValueError(f"asks for codes of {match['bits']} bits. Use at most {MOST_BITS}")
    if not 2 <= (neighbours := int(match["neighbours"] or match["links"] or 2)) <= MOST_NEIGHBOURS:
        raise ValueError(f"asks for {counted(neighbours, 'neighbour')}. Use 2 to {MOST_NEIGHBOURS}, such as HNSW32")
    return factory


def lists_of(factory: str) -> int:
    """Return the number of inverted lists of a factory string, 0 for ``Flat`` and graphs.

    Raises:
        UsageError: `checked_factory` rejects it.
    """
    try:
        match = re.fullmatch(FACTORY, checked_factory(factory))
    except ValueError as error:
        raise UsageError(f"--factory {factory[:60]}: {error}") from error
    return int(match["lists"] or 0) if match else 0


def most_probes(factory: str) -> int:
    """Return the probes with which every vector is compared: the number of lists, 0 for ``Flat``.

    Raises:
        UsageError: `checked_factory` rejects it.
    """
    return lists_of(factory) or (MOST_PROBES_OF_A_GRAPH if is_graph(factory) else 0)


def check_questions(factory: str, questions: int) -> None:
    """Check that the questions suffice to train the lists and codes that all shards share.

    Raises:
        QprError: there are too few for the lists, or for the values of a code.
    """
    match = re.fullmatch(FACTORY, factory)
    values = 2 ** int(match["bits"] or 8) if match and "PQ" in factory else 0
    needed = max(FEWEST_POINTS_PER_LIST * lists_of(factory), values)
    if questions < needed:
        most_lists = questions // FEWEST_POINTS_PER_LIST
        use = f"Flat or IVF{most_lists},Flat" if most_lists else "Flat"
        raise QprError(
            f"--factory {factory}: needs {counted(needed, 'question')} to train on, there are {questions:,}. Use {use}"
        )


def sample_size(factory: str) -> int:
    """Return the number of questions that train a factory."""
    coded = "PQ" in factory or is_graph(factory)
    return max(POINTS_PER_LIST * lists_of(factory), POINTS_OF_A_CODE if coded else 0)


def in_sample(question_ids: Int64s, *, size: int, questions: int) -> Bools:
    """Return for each id whether it is in the training sample, about ``size`` of all ``questions``.

    An id is a hash, so the ids below a bound (as unsigned numbers) are a uniform sample, and the same one however the
    questions are spread over shards.
    """
    if size >= questions:
        return np.ones(len(question_ids), bool)
    bound = np.uint64(size * 2**64 // questions)  # ids are spread over 64 bits
    return question_ids.view(np.uint64) < bound
