"""The page of a version: its metrics, and the largest clusters that changed, with their questions.

warehouse, version -> write_version_report -> HTML

The page has questions, so it is made when somebody asks for it and stays outside of the warehouse, where an erasure
would have to find it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from jobs.display.rendering import render
from jobs.display.summary_tables import SummaryTable
from jobs.workflows.warehouses.version_figures import CHANGES, Figure, version_figures
from pipelines.summary.cluster_changes import SCHEMA, count_changes
from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified
from schemas.artifacts.table_files import read_rows
from schemas.errors import QprError, UsageError
from schemas.versions import history
from schemas.versions.version import Artefact, Version, is_there

_SECTIONS: Final = ("merged", "split", "gone", "shrank", "new", "grew")
"""Changes whose clusters are shown, those that most often are mistakes first."""

_SHOWN: Final = 10
"""Maximum number of cards of a section, and of clusters on each side of a card."""

_READ: Final = 10_000
"""Maximum number of clusters of a section from which the cards are made."""

_COLUMNS: Final = ["cluster_id", "answer", "size", "texts"]


class Change(NamedTuple):
    """Clusters of the version before that became the same clusters.

    Attributes:
        before: rows of the clusters table, those with most questions first, at most `_SHOWN`; empty for a new cluster.
        after: the same of this version; empty for clusters that are gone.
        hidden_before, hidden_after: number of further clusters.
    """

    before: Sequence[Mapping[str, Any]]
    after: Sequence[Mapping[str, Any]]
    hidden_before: int
    hidden_after: int


def write_version_report(warehouse: str, number: int | None, version: Version, file: str, *, overwrite: bool) -> None:
    """Write the page of a version.

    Args:
        warehouse: its URL.
        number: of the version; None for a refused one.
        version: its record.
        file: URL of the page.
        overwrite: replace a file.

    Raises:
        UsageError: the name does not end in .html.
        QprError: its report or dataset is gone or damaged, or the file exists.
    """
    if not file.endswith(".html"):
        raise UsageError(f"--report {file}: must end in .html")
    conditional_writes.refuse_existing(file, overwrite=overwrite, option="--report")
    page = version_page(warehouse, number, version)
    conditional_writes.write_result(file, page, overwrite=overwrite, option="--report")


def version_page(warehouse: str, number: int | None, version: Version) -> bytes:
    """Return the page of a version, UTF-8, without script or network.

    Raises:
        QprError: its report or dataset is gone or damaged.
    """
    changes = _read_changes(warehouse, version)
    earlier = history.made_after(warehouse, version)
    of_kind = {name: changes.filter(pc.equal(changes["change"], name)) for name in _SECTIONS}
    groups = {name: _largest(table) for name, table in of_kind.items()}
    old_ids = {cluster for cards in groups.values() for old, _ in cards for cluster in old}
    new_ids = {cluster for cards in groups.values() for _, new in cards for cluster in new}
    gone = earlier is not None and not is_there(warehouse, earlier[1].dataset)
    before = {} if earlier is None or gone else _clusters(warehouse, earlier[1].dataset, old_ids)
    after = _clusters(warehouse, version.dataset, new_ids)
    sections = [
        (CHANGES[name].capitalize(), len(of_kind[name]), [_card(old, new, before, after) for old, new in groups[name]])
        for name in _SECTIONS
        if groups[name]
    ]
    numbers = count_changes(changes)
    largest = max(numbers.values()) or 1
    tables = [
        SummaryTable(
            ("Clusters", "number"),
            [(CHANGES[name], f"{count:,}") for name, count in numbers.items()],
            bars=[count / largest for count in numbers.values()],
            note="Clusters of the version before by what became of them, and new ones. Clusters are compared by their "
            "questions.",
        ),
        SummaryTable(("Metric", "meaning", "value"), [*map(_metric_row, version_figures(version))], named=2),
    ]
    return render(
        "version_report.html",
        name="refused version" if number is None else f"version {number}",
        warehouse=warehouse,
        version=version,
        earlier=earlier[0] if earlier else None,
        tables=tables,
        sections=sections,
        gone=gone,
    ).encode()


def _metric_row(figure: Figure) -> tuple[str, str, str]:
    """Return the cells of a metric; its interval and limit stand behind its meaning, where a phone breaks the line."""
    bounds = f" {figure.bounds[0].upper()}{figure.bounds[1:]}." if figure.bounds else ""
    return figure.name, figure.meaning + bounds, figure.value


def _read_changes(warehouse: str, version: Version) -> pa.Table:
    """Return the table of changes."""
    for artefact in (version.report, version.dataset):
        if not is_there(warehouse, artefact):
            raise QprError(
                f"{warehouse}: {artefact.path} of this version is gone; `qpr gc` removes what only older versions "
                "name. Give --at another version"
            )
    url = storage.join(warehouse, version.report.path)
    read: list[pa.Table] = []
    for file in read_manifest(url, "report").of("changes"):
        name = storage.join(url, file.path)
        read += read_rows(read_verified(url, file), SCHEMA, name=name, rows=file.rows or 0)
    return pa.concat_tables([SCHEMA.empty_table(), *read])


def _largest(changes: pa.Table) -> list[tuple[list[int], list[int]]]:
    """Return ids before and after of the changes with most questions; clusters that became the same ones are one."""
    sizes = {"size": pc.max_element_wise(changes["size_before"], changes["size_after"]), "id": changes["cluster_id"]}
    order = pc.sort_indices(pa.table(sizes), sort_keys=[("size", "descending"), ("id", "ascending")])
    groups: dict[tuple[int, ...], tuple[list[int], list[int]]] = {}
    for row in changes.take(order[:_READ]).to_pylist():
        became, own = row["became"], row["cluster_id"]
        old, _ = groups.setdefault(tuple(became) or (own,), ([], became))
        old.extend([] if row["change"] == "new" else [own])
    return list(itertools.islice(groups.values(), _SHOWN))


def _clusters(warehouse: str, dataset: Artefact, ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return the clusters with some ids, but for those that were erased since."""
    chosen = pa.array(sorted(ids), pa.int64())
    parts = open_dataset(storage.join(warehouse, dataset.path)).parts("clusters", columns=_COLUMNS)
    kept = (part.filter(pc.is_in(part["cluster_id"], chosen)).to_pylist() for part in parts)
    return {row["cluster_id"]: row for row in itertools.chain.from_iterable(kept)}


def _card(old: Sequence[int], new: Sequence[int], before: Mapping[int, Any], after: Mapping[int, Any]) -> Change:
    old_rows, new_rows = _sorted(old, before), _sorted(new, after)
    hidden = len(old_rows[_SHOWN:]), len(new_rows[_SHOWN:])
    return Change(old_rows[:_SHOWN], new_rows[:_SHOWN], *hidden)


def _sorted(ids: Sequence[int], rows: Mapping[int, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of clusters, those with most questions first."""
    return sorted(
        (rows[cluster] for cluster in ids if cluster in rows), key=lambda row: (-row["size"], row["cluster_id"])
    )
