"""Questions, clusters and answers of a served version by their ids.

Version, id, values, blocked answers -> find_question, find_cluster -> document; id -> has_answer
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from jobs.web.messages.documents import ClusterDocument, IndexedQuestion, QuestionDocument, question_document
from jobs.web.messages.faults import Fault, explaining_refusals
from jobs.web.versions.leases import Version
from model.index.rows.answers import have_answers

if TYPE_CHECKING:
    from model.index.index import Index

CLUSTER_QUESTIONS: Final = 1000
"""Questions of a cluster that a response lists."""


def find_question(
    version: Version, question_id: int, filters: Mapping[str, str], blocked: frozenset[str]
) -> QuestionDocument:
    """Return a question of a version.

    Raises:
        Fault: there is none with this id that a search with these values finds (404), or it cannot be searched with
            them (422).
    """
    row = int(_part(version, filters).rows_of(np.array([question_id], np.int64))[0])
    if row < 0:
        raise Fault(404, "no question has this id", "not_found")
    return {"version": version.name, **_questions(version, [row], blocked)[0]}


def find_cluster(
    version: Version, cluster_id: int, filters: Mapping[str, str], blocked: frozenset[str]
) -> ClusterDocument:
    """Return the questions of a cluster that a search with these values finds.

    Raises:
        Fault: there are none with this id (404), or the version cannot be searched with these values (422).
    """
    part, rows = _part(version, filters), version.clusters.of(cluster_id)
    if part is not version.searcher.index and len(rows):
        rows = rows[part.rows_of(part.questions(rows)["question_id"].to_numpy()) >= 0]
    if not len(rows):
        raise Fault(404, "no cluster has this id", "not_found")
    questions = _questions(version, rows[:CLUSTER_QUESTIONS], blocked)
    return ClusterDocument(version=version.name, cluster_id=str(cluster_id), size=len(rows), questions=questions)


def has_answer(version: Version, answer_id: str) -> bool:
    """Return whether a question of a version has an answer, whatever its values and end."""
    sought = pa.array([answer_id])
    return any(have_answers(rows, sought).any() for rows in version.searcher.index.tables())


def _part(version: Version, filters: Mapping[str, str]) -> Index:
    """Return the index, in which only the rows with these values are found."""
    with explaining_refusals():
        return version.searcher.part(filters)


def _questions(version: Version, rows: Any, blocked: frozenset[str]) -> list[IndexedQuestion]:
    return [question_document(row, blocked=blocked) for row in version.searcher.index.questions(rows).to_pylist()]
