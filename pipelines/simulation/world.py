"""All simulated facts: each fact type with each of its entities, numbered, with questions and answers.

fact_types x names -> World; fact ids -> questions, answers
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
import pyarrow as pa

from pipelines.simulation.entities import names
from pipelines.simulation.fact_types import ALIGNED, FactType, fact_types
from pipelines.simulation.templates import Templates, render

FACT_TYPES: Final[tuple[FactType, ...]] = fact_types()


class World:
    """The facts of `FACT_TYPES`; the ids of a type follow those of the types before it."""

    def __init__(self) -> None:
        self._names = names()
        sizes = [[self._names.count[kind] for kind in t.about] for t in FACT_TYPES]
        self._seconds = np.array([size[1] if len(size) == 2 else 1 for size in sizes])
        self._ends: np.ndarray = np.cumsum([int(np.prod(size)) for size in sizes])
        self._starts = np.concatenate([[0], self._ends[:-1]])
        self._wordings = np.array([len(t.wordings) for t in FACT_TYPES])
        self._first_wording = np.cumsum(self._wordings) - self._wordings
        self._questions = Templates.compile([w for t in FACT_TYPES for w in t.wordings])
        self._answers = Templates.compile([t.answer for t in FACT_TYPES])
        self._values = np.concatenate([_values_of(i, int(np.prod(size))) for i, size in enumerate(sizes)])
        self._pool_a = np.array([self._names.start[t.about[0]] for t in FACT_TYPES])
        self._pool_b = np.array([self._names.start[t.about[1]] if len(t.about) == 2 else 0 for t in FACT_TYPES])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def popularity(self, rng: np.random.Generator) -> np.ndarray:
        """Return all fact ids, most popular first: each type's first, then each type's second, and so on.

        So types with few entities are as popular as those with many, until their facts are used up.
        """
        sizes = np.diff(self._ends, prepend=0)
        places = np.concatenate([rng.permutation(size) + rng.random(size) for size in sizes.tolist()])
        return np.argsort(places, kind="stable")

    def gold(self, facts: np.ndarray) -> np.ndarray:
        """Return the ``gold_cluster`` of each fact: its id."""
        return facts

    def questions(self, facts: np.ndarray, *, wording: np.ndarray, alias: np.ndarray) -> pa.Array:
        """Return a question for each fact.

        Args:
            facts: (n,) fact ids.
            wording: (n,) in [0, 1), selects one of the fact's wordings.
            alias: (n,) bool, use the other name of the entity if it has one.
        """
        types = self._types(facts)
        which = self._first_wording[types] + (wording * self._wordings[types]).astype(np.int64)
        filling = self._filling(facts, types)
        filling[1:3] = np.where(alias, self._names.alias[filling[1:3]], filling[1:3])
        return render(self._questions, which, names=self._names.pool, filling=filling)

    def answers(self, facts: np.ndarray) -> pa.Array:
        """Return the answer of each fact."""
        types = self._types(facts)
        return render(self._answers, types, names=self._names.pool, filling=self._filling(facts, types))

    def generic(self, facts: np.ndarray, choice: np.ndarray) -> np.ndarray:
        """Return the kind of generic answer that suits each fact, one of `fact_types.Generic`."""
        del choice  # a fact of the world has one kind that suits it
        return np.take([t.generic for t in FACT_TYPES], self._types(facts))

    def _types(self, facts: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._ends, facts, side="right")

    def _filling(self, facts: np.ndarray, types: np.ndarray) -> np.ndarray:
        first, second = np.divmod(facts - self._starts[types], self._seconds[types])
        b = np.where(self._pool_b[types] > 0, self._pool_b[types] + second, 0)
        return np.stack([np.zeros_like(facts), self._pool_a[types] + first, b, self._values[facts]])


@functools.cache
def world() -> World:
    """Return the only world, equal in every process."""
    return World()


def _values_of(index: int, size: int) -> np.ndarray:
    """Return the pool index of the value of each fact of a type."""
    kind, pool = FACT_TYPES[index].value, names()
    if kind in ALIGNED:
        return pool.start[kind] + np.arange(size)
    drawn = np.random.default_rng(index).random(size)
    return pool.start[kind] + (drawn * pool.count[kind]).astype(np.int64)
