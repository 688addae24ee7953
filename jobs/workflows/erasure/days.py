"""Erasure from the tables of a warehouse that are neither dataset nor index: daily tables and splits.

URL of a day, Erasure -> erase_from_day -> counts of what was erased; URL of splits -> erase_from_splits -> their number
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.workflows.erasure.rewriting import Changed, rewrite
from pipelines.ingestion.days import ADDED as ADDED_TO_DAYS
from pipelines.ingestion.days import COUNTS, WAITING, read_waiting, seal_rows
from pipelines.ingestion.earlier import ADDED as ADDED_TO_SPLITS
from pipelines.ingestion.earlier import EARLIER, forget, to_earlier_file
from pipelines.intermediate import ASKED, USER
from pipelines.privacy.erase import Erasure, erase_rejected, payloads_replaced
from pipelines.privacy.users import UserKey
from pipelines.writing.parquet import count, to_parquet
from schemas.artifacts import storage
from schemas.artifacts.manifest import File
from schemas.artifacts.table_files import read_rows
from schemas.tables import REJECTED

_REJECTED = "rejected"
_REPLACED = "payloads_replaced"
_WORDINGS = "waiting_wordings"
"""Count of the wordings that wait for further users, also of those without a row that counts."""


def erase_from_day(url: str, erasure: Erasure, key: UserKey | None, *, dry_run: bool) -> dict[str, int]:
    """Erase questions and users from a daily table; return the number of log rows and rejected rows that had them.

    Args:
        url: of the day.
        erasure: the questions and users.
        key: of its sealed rows.
        dry_run: count only.

    Raises:
        QprError: it is damaged, a run writes to it, or it cannot be written.
    """

    def change(file: File, content: bytes) -> Changed | None:
        if file.table == WAITING:
            return _waiting(url, file, content, erasure, key)
        is_counts = file.table == COUNTS
        schema = ASKED if is_counts else REJECTED
        before = _rows(url, file, content, schema, absent=ADDED_TO_DAYS if is_counts else ())
        after = _others(before, erasure.ids) if is_counts else erase_rejected(before, erasure)
        if after.equals(before):
            return None
        erased = collections.Counter[str]()
        if is_counts:
            erased["rows_kept"] = pc.sum(before["events"]).as_py() - (pc.sum(after["events"]).as_py() or 0)
            erased["forms"] = len(before) - len(after)
        else:
            erased.update(count(_REJECTED, before, ""))
            erased.subtract(count(_REJECTED, after, ""))
            erased[_REPLACED] = payloads_replaced(before, after)
        stored = pq.read_schema(pa.BufferReader(content)).names  # a day of an earlier release stays one
        left = after.select([name for name in after.column_names if name in stored])
        return Changed(to_parquet(left, file.table) if len(left) else b"", len(left), erased)

    counts = rewrite(url, "day", change, dry_run=dry_run, counters=_counters)
    erased = {
        "rows": counts["rows_kept"] + counts["rows_waiting"],
        "rejected": counts["rows_rejected"] + counts["members_rejected"],
    }
    return erased | {name: counts[name] for name in (_WORDINGS, _REPLACED) if counts[name]}


def erase_from_splits(url: str, erasure: Erasure, *, dry_run: bool) -> dict[str, int]:
    """Erase the ids of questions from an artefact of splits; return their number.

    Raises:
        QprError: it is damaged, a run writes to it, or it cannot be written.
    """

    def change(file: File, content: bytes) -> Changed | None:
        before = _rows(url, file, content, EARLIER, absent=ADDED_TO_SPLITS)
        after = forget(before, erasure.ids)
        if after.equals(before):
            return None
        splits = collections.Counter(before["split"].to_pylist())
        splits.subtract(after["split"].to_pylist())
        return Changed(to_earlier_file(after), len(after), {f"questions_{split}": n for split, n in splits.items()})

    counts = rewrite(url, "splits", change, dry_run=dry_run, counters=_less)
    return {"questions": counts.total()}


def _waiting(url: str, file: File, content: bytes, erasure: Erasure, key: UserKey | None) -> Changed | None:
    """Return a sealed file without questions, and without the rows of users."""
    before = read_waiting(content, key, name=storage.join(url, file.path), rows=file.rows)
    users = pa.array([int(user, 16) for user in erasure.user_hashes], pa.uint64())
    others = _others(before, erasure.ids)
    after = others.filter(pc.invert(pc.is_in(others[USER.name], value_set=users)))
    if len(after) == len(before) or key is None:
        return None
    gone = pc.sum(before["events"]).as_py() - (pc.sum(after["events"]).as_py() or 0)
    return Changed(
        seal_rows(after, key) if len(after) else b"",
        len(after),
        {"rows_waiting": gone, _WORDINGS: len(before) - len(after)},
    )


def _rows(url: str, file: File, content: bytes, schema: pa.Schema, absent: Sequence[str] = ()) -> pa.Table:
    name = storage.join(url, file.path)
    return pa.concat_tables(
        [schema.empty_table(), *read_rows(content, schema, name=name, rows=file.rows, absent=absent)]
    )


def _others(rows: pa.Table, ids: pa.Array) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(rows["question_id"], value_set=ids)))


def _less(before: Mapping[str, int], erased: Mapping[str, int]) -> dict[str, int]:
    left = collections.Counter(before)
    left.subtract({name: count for name, count in erased.items() if name in before})
    return dict(left)


def _counters(before: Mapping[str, int], erased: Mapping[str, int]) -> dict[str, int]:
    left = _less(before, erased)
    gone = left["rows_read"] - left["rows_kept"] - left.get("rows_rejected", 0) - left.get("rows_waiting", 0)
    return left | {"rows_erased": gone}
