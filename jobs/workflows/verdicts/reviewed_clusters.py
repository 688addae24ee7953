"""Verdicts of `qpr review` on clusters, for the next build.

file of `qpr review --export` -> with_reviewed -> ClustersConfig
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from schemas.errors import QprError

if TYPE_CHECKING:
    from pipelines.clusters.settings import Reviewed
    from pipelines.graphs.settings import ClustersConfig

_WRONG: Final = ("wrong", "several")
_KEPT: Final = ("right", "unclear", "cannot tell", "")


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
        QprError: the file cannot be read, or a row is no verdict on a cluster.
    """
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
    for number, row in numbered_rows(source, columns):
        texts = {name: (value or "").strip() for name, value in row.items()}
        verdict, cluster, marked = texts["judged"] or texts["verdict"], texts["cluster_id"], texts["strays"].split()
        try:
            for name in (cluster, *marked):
                read_name(name)
        except ValueError as error:
            raise QprError(f"{file}: row {number:,}: {error}. Give a file of `qpr review --export`") from error
        if verdict == "stray" and marked:
            strays |= {(cluster, question) for question in marked}
        elif verdict in (*_WRONG, "stray"):
            wrong.add(cluster)
        elif verdict not in _KEPT:
            raise QprError(f"{file}: row {number:,}: verdict {verdict[:40]!a} is unknown. Write right or wrong")
    digest = digest_input(source).digest or ""
    return Reviewed(verdicts=digest, wrong=tuple(sorted(wrong)), strays=tuple(sorted(strays)))
