"""Short answers that unrelated facts share, and the choice of facts that get one.

facts -> draw_generic -> an index into GENERIC_POOL a fact, -1 for those that keep their own answer
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from pipelines.simulation.entities import names

UNANSWERED: Final = "I don't know."
"""Answer of a system that failed; the first of the kind ``unknown``."""


class Facts(Protocol):
    """Source of facts: `world.World` or `dataset_facts.ClusterFacts`."""

    def __len__(self) -> int: ...

    def popularity(self, rng: np.random.Generator) -> np.ndarray:
        """Return all facts, most popular first."""
        ...

    def gold(self, facts: np.ndarray) -> np.ndarray:
        """Return the gold cluster of each fact, int64."""
        ...

    def questions(self, facts: np.ndarray, *, wording: np.ndarray, alias: np.ndarray) -> pa.Array:
        """Return a question for each fact; ``wording`` in [0, 1) and the bool ``alias`` choose it."""
        ...

    def answers(self, facts: np.ndarray) -> pa.Array:
        """Return the answer of each fact."""
        ...

    def generic(self, facts: np.ndarray, choice: np.ndarray) -> np.ndarray:
        """Return the kind of generic answer of each fact, a key of `GENERIC_ANSWERS`."""
        ...


def _generic_answers() -> dict[str, list[str]]:
    all_names = names()

    def of(kind: str) -> list[str]:
        first = all_names.start[kind]
        listed: list[str] = all_names.pool.slice(first, all_names.count[kind]).to_pylist()
        return listed

    unknown = [UNANSWERED, "Sorry, I can't help with that.", "No answer found.", "Please try again."]
    return {"unknown": unknown, "yes_no": ["Yes", "No"], "number": of("number"), "year": of("year"), "date": of("day")}


GENERIC_ANSWERS: Final = _generic_answers()
GENERIC_POOL: Final = pa.array([answer for answers in GENERIC_ANSWERS.values() for answer in answers], pa.string())


def draw_generic(facts: Facts, active: np.ndarray, *, share: float, rng: np.random.Generator) -> np.ndarray:
    """Choose the facts with a generic answer, and the answer.

    Args:
        facts: source of the ids in ``active``.
        active: (n,) facts.
        share: probability that a fact gets a generic answer.
        rng: advanced; equal states give equal results.

    Returns:
        (n,) index into `GENERIC_POOL`, -1 for a fact that keeps its own answer. The first answers of a kind are the
        most frequent ones.
    """
    chosen, kind_choice, answer_choice = rng.random((3, len(active)))
    kinds = facts.generic(active, kind_choice)
    sizes = {kind: len(answers) for kind, answers in GENERIC_ANSWERS.items()}
    picked = np.full(len(active), -1)
    first = 0
    for kind, size in sizes.items():
        of_kind = kinds == kind
        picked[of_kind] = first + (size * answer_choice[of_kind] ** 2).astype(np.int64)
        first += size
    return np.where(chosen < share, picked, -1)
