"""Size cap: questions of an answer beyond `max_cluster_size` are rejected before the shuffle by answer.

MEMBERS of whole questions -> cut_surplus -> MEMBERS, SURPLUS; SURPLUS and the answers' names -> reject_surplus

Where answers are not split, the questions with the smallest ids represent all. A question with at least
`max_cluster_size` smaller ids in its own shard cannot be among them, so it is removed before the shuffle by answer, and
no worker ever holds all questions of an answer that half of the log got. Its votes for the answer's form still count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.clusters.splits import without_splits
from pipelines.engine.shuffle import concatenate, to_ipc
from pipelines.intermediate import MEMBERS, SURPLUS
from pipelines.writing.rejects import reject_members
from pipelines.writing.reported import Written
from schemas.ragged import ranks_in_runs, sizes_of_runs, starts_of_runs
from schemas.tables import with_nulls
from schemas.text_arrays import encode


@dataclasses.dataclass
class CutSurplus(beam.PTransform):
    """Cut every answer within its table.

    Input: MEMBERS tables, all rows of each question in one.
    Output: ``main``, MEMBERS tables; ``surplus``, SURPLUS tables as Arrow IPC bytes; ``written``, how many these are.

    Attributes:
        max_cluster_size: how many questions of an answer may be kept in the end.
    """

    max_cluster_size: int

    def expand(self, members: beam.PCollection[pa.Table]) -> dict[str, beam.PCollection[Any]]:
        """Cut each element."""
        cut = members | beam.FlatMap(_cut, self.max_cluster_size).with_outputs("surplus", "written", main="main")
        return {"main": cut.main, "surplus": cut.surplus, "written": cut.written}


def _cut(members: pa.Table, max_cluster_size: int) -> Iterator[Any]:
    kept, surplus = cut_surplus(members, max_cluster_size)
    yield kept
    if len(surplus):
        yield beam.pvalue.TaggedOutput("surplus", to_ipc(surplus))
        yield beam.pvalue.TaggedOutput("written", Written(None, {"members_judged": len(surplus)}))


class Cut(NamedTuple):
    """MEMBERS that may still be kept, with `votes` of the others for the form of their answer, and those as SURPLUS."""

    members: pa.Table
    surplus: pa.Table


def cut_surplus(members: pa.Table, max_cluster_size: int) -> Cut:
    """Take out of every answer all but the ``max_cluster_size`` questions with the smallest ids.

    Args:
        members: MEMBERS; all rows of each question are present.
        max_cluster_size: how many questions of an answer may be kept in the end.
    """
    ids = members["answer_id"].combine_chunks()
    counted = pc.value_counts(ids)
    large = counted.field("values").filter(pc.greater(counted.field("counts"), max_cluster_size))
    rows = np.flatnonzero(pc.is_in(ids, value_set=large).to_numpy(zero_copy_only=False))
    clusters, questions = ids.to_numpy()[rows], members["question_id"].to_numpy()[rows]
    order = np.lexsort((questions, clusters))
    rows, clusters, questions = rows[order], clusters[order], questions[order]
    places = starts_of_runs(clusters, questions)
    over = ranks_in_runs(starts_of_runs(clusters[places]), len(places)) >= max_cluster_size
    if not over.any():
        return Cut(members, SURPLUS.empty_table())
    events = np.add.reduceat(members["events"].to_numpy()[rows], places)[over]
    surplus = members.select(SURPLUS.names).take(pa.array(rows[places[over]]))
    cut = np.zeros(len(members), bool)
    cut[rows[np.repeat(over, sizes_of_runs(places, len(rows)))]] = True
    kept = members.filter(pa.array(~cut))
    return Cut(
        pa.concat_tables([kept, votes(members.filter(pa.array(cut)))]),
        surplus.set_column(SURPLUS.names.index("events"), "events", pa.array(events)),
    )


def votes(members: pa.Table) -> pa.Table:
    """Return MEMBERS rows with the number of events of each form of an answer; their text is null."""
    forms = encode(members["answer"])
    coded = pa.table({"answer_id": members["answer_id"], "answer": forms.indices, "events": members["events"]})
    counted = coded.group_by(["answer_id", "answer"], use_threads=False).aggregate([("events", "sum")])
    answers = pa.DictionaryArray.from_arrays(counted["answer"].combine_chunks(), forms.dictionary)
    return with_nulls(MEMBERS, {"answer_id": counted["answer_id"], "answer": answers, "events": counted["events_sum"]})


def reject_surplus(part: bytes, names: Sequence[pa.Table], *, with_split: bool = True) -> pa.Table:
    """Return REJECTS rows for SURPLUS, equal to those of one cluster with all of its questions.

    Args:
        part: the questions, as Arrow IPC bytes.
        names: ``answer_id`` and ``answer``, the most frequent form, of all answers that were cut.
        with_split: rows have the split of the question.
    """
    surplus, by_id = concatenate([part]), pa.concat_tables(names)
    if not with_split:
        surplus = without_splits(surplus)
    answers = by_id["answer"].take(pc.index_in(surplus["answer_id"], value_set=by_id["answer_id"]))
    members = surplus.append_column("answer", answers).append_column("cluster_id", surplus["answer_id"])
    return reject_members(members, stage="size", reason="over_max_cluster_size")
