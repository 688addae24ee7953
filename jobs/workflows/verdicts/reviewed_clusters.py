"""Verdicts of `qpr review` on clusters, for the next build.

file of `qpr review --export` -> with_reviewed -> ClustersConfig
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from schemas.errors import QprError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.clusters.settings import Reviewed
    from pipelines.graphs.settings import ClustersConfig

_KINDS: Final = {
    "right": "right",
    "cannot tell": "unclear",
    "unclear": "unclear",
    "stray": "stray",
    "several": "wrong",
    "wrong": "wrong",
}
"""Kinds of verdicts that have the same effect."""


def verdict_of_row(row: Mapping[str, str]) -> str:
    """Return the verdict of a row of an export or of a file by hand: that of ``judged``, or else of ``verdict``.

    Raises:
        QprError: both contradict each other, as after a change of one of them.
    """
    verdict, judged = row["verdict"].lower(), row["judged"].lower()
    if judged and verdict != judged and verdict != _KINDS.get(judged, verdict).replace("stray", "wrong"):
        fault = f"verdict {verdict[:40]!a} and judged {judged[:40]!a} contradict each other"
        raise QprError(f"{fault}. Change both, or empty the cell of judged")
    return judged or verdict


def with_reviewed(settings: ClustersConfig, file: str) -> ClustersConfig:
    """Return settings that keep wrong clusters and strays out of the dataset.

    Raises:
        UsageError: several files are given.
        QprError: the file cannot be read, or a row is no verdict on a cluster.
    """
    assembly = settings.assembly.model_copy(update={"reviewed": read_reviewed(file)})
    return settings.model_copy(update={"assembly": assembly})


def read_reviewed(file: str) -> Reviewed:
    """Return the clusters and strays that a file rejects.

    Raises:
        UsageError: several files are given.
        QprError: the file cannot be read, a row is no verdict on a cluster, or rows contradict each other about one.
    """
    from pipelines.calibration.verdicts.verdict_file import add_verdict
    from pipelines.clusters.reviewed import read_name
    from pipelines.clusters.settings import Reviewed
    from pipelines.reading.headers.columns import Column
    from pipelines.reading.reader import numbered_rows
    from pipelines.reading.sources import digest_input, only_file

    columns = [
        Column(name, pa.string(), required=name in ("verdict", "cluster_id"))
        for name in ("verdict", "cluster_id", "judged", "strays")
    ]
    source = only_file(file, option="--verdicts")
    wrong, strays = set[str](), set[tuple[str, str]]()
    kinds: dict[str, tuple[str, int]] = {}
    for number, row in numbered_rows(source, columns):
        texts = {name: (value or "").strip() for name, value in row.items()}
        if not texts["verdict"]:
            continue
        cluster, marked = texts["cluster_id"], texts["strays"].split()
        try:
            verdict = verdict_of_row(texts)
            for name in (cluster, *marked):
                read_name(name)
        except (ValueError, QprError) as error:
            advice = "" if isinstance(error, QprError) else ". Give a file of `qpr review --export`"
            raise QprError(f"{file}: row {number}: {error}{advice}") from error
        if verdict not in _KINDS:
            raise QprError(f"{file}: row {number}: verdict {verdict[:40]!a} is unknown. Write right or wrong")
        kind = _KINDS[verdict]  # of a stray that was erased there is no mark, and the other questions stay
        add_verdict(file, kinds, cluster, kind, number)
        if kind == "stray":
            strays |= {(cluster, question) for question in marked}
        elif kind == "wrong":
            wrong.add(cluster)
    digest = digest_input(source).digest or ""
    return Reviewed(verdicts=digest, wrong=tuple(sorted(wrong)), strays=tuple(sorted(strays)))
