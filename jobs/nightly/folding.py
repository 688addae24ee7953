"""Fold of a window: daily tables to a dataset, and the splits of its questions to those of all versions.

days -> check_days; days, earlier splits -> fold_days -> dataset -> remember_splits -> splits artefact
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from jobs.display.console import warn
from jobs.nightly.ingestion import ingested_with
from jobs.nightly.steps import finished, key_of, named, place_of
from jobs.nightly.warehouse import ingest_command, min_users_of
from jobs.workflows.dataset_publication import publish_dataset
from pipelines.ingestion.days import WAITING, Day, DayFile, beginning_of
from pipelines.ingestion.earlier import EARLIER, ids_by_split, read_earlier_file, remember, to_earlier_file
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import Manifest, Source
from schemas.artifacts.writer import Output
from schemas.errors import UsageError
from schemas.quantities import counted
from schemas.text import fold
from schemas.versions.version import Artefact, Version, check_artefact

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import ClustersConfig, IngestConfig
    from pipelines.privacy.users import UserKey


def check_days(
    warehouse: str,
    days: Sequence[Day],
    config: ClustersConfig,
    user_key: UserKey | None,
    parent: Version | None,
) -> str | None:
    """Check that days were ingested as a night asks for; warn of other options, and return the command against them.

    Warn of a night without verdicts on clusters after a version whose dataset was made with some, too.

    Args:
        warehouse: its URL.
        days: of the window, without those that the night itself ingests.
        config: of the night.
        user_key: of the night; the advice names its file.
        parent: the version before.

    Raises:
        UsageError: a day kept questions of fewer users, whose rows are not counted again.
    """
    made = finished(warehouse, parent.dataset.path, "dataset") if parent else None
    if made and made.configuration.get("assembly", {}).get("reviewed") and config.assembly.reviewed is None:
        warn(
            "the version before was made with --verdicts, which this night lacks: clusters that people judged to be "
            "wrong can be in it again. Give the file every night"
        )
    least = config.privacy.min_users
    lower = [day.date for day in days if min_users_of(day) < least]
    if lower:
        options = [f"--min-users {least}", *(["--user-key-file FILE"] if user_key else [])]
        again = ingest_command(warehouse, lower[0], lower[-1], *options)
        raise UsageError(
            f"--min-users {least}: {counted(len(lower), 'day')} ingested with a lower number. Run `{again}` with the "
            "other options of this night"
        )
    differing = [(day.date, options) for day in days if (options := _options_that_differ(day, config.ingestion))]
    if not differing:
        return None
    names = ", ".join(sorted({name for _, options in differing for name in options}))
    (first, _), (last, _) = differing[0], differing[-1]
    again = ingest_command(warehouse, first, last)
    warn(
        f"{counted(len(differing), 'day')} ingested with other options ({names}), the first {first}. Correct those of "
        f"this night, or run `{again}` with these to read the days again"
    )
    return again


def dated_digests(days: Sequence[Day]) -> list[list[str]]:
    """Return date and digest of each day: the date is the time of rows that have none, and decides which are newer."""
    return [[str(day.date), day.manifest.digest] for day in days]


def fold_days(
    warehouse: str,
    days: Sequence[Day],
    config: ClustersConfig,
    *,
    earlier: Artefact | None,
    options: PipelineOptions,
    max_reject_ratio: float,
    user_key: UserKey | None = None,
) -> Artefact:
    """Make the dataset of a window's days, unless it is there.

    Args:
        warehouse: its URL.
        days: the ingested days, at least one.
        config: how to make clusters.
        earlier: splits of the questions of all versions before.
        options: Beam's.
        max_reject_ratio: maximum share of rejected rows.
        user_key: of sealed rows and of hashes that are written.

    Raises:
        UnusableInputError: too many rows of the window are rejected, or no cluster is left.
        QprError: a daily table is damaged or sealed with another key.
    """
    from pipelines.graphs import from_days

    made_of = dated_digests(days), earlier and earlier.digest
    how = config.model_dump(mode="json", include={"assembly", "ambiguity", "shards"})
    if any(day.manifest.of(WAITING) for day in days):
        how |= {"min_users": config.privacy.min_users}
    if ignored := config.validation.ignored_answers:
        how |= {"ignored_answers": sorted({*map(fold, ignored)})}
    path = place_of("datasets", key_of(*made_of, how))
    if manifest := finished(warehouse, path, "dataset"):
        return named(path, manifest)
    splits = splits_files(warehouse, earlier)
    sources = from_days.sources_of(days)
    sized = config.for_files(sources)
    manifest, _ = publish_dataset(
        lambda pipeline, run: from_days.build(
            pipeline, days=days, earlier=splits, config=sized, run_url=run, user_key=user_key
        ),
        url=storage.join(warehouse, path),
        overwrite=True,
        message=f"Clustering {counted(len(days), 'day')}",
        sources=sources,
        configuration=sized,
        options=options,
        max_reject_ratio=max_reject_ratio,
    )
    return named(path, manifest)


def remember_splits(
    warehouse: str, dataset: Artefact, earlier: Artefact | None, before: pa.Table, *, days: Sequence[Day]
) -> Artefact:
    """Write split, clusters and first time of every question that ever was in a cluster, unless they are there.

    Args:
        warehouse: its URL.
        dataset: of the night.
        earlier: splits of all versions before.
        before: their content, by `read_splits`.
        days: of the night.

    Raises:
        QprError: the dataset or the earlier splits are damaged.
    """
    path = place_of("splits", key_of(dataset.digest, earlier and earlier.digest))
    if manifest := finished(warehouse, path, "splits"):
        return named(path, manifest)
    opened = open_dataset(storage.join(warehouse, dataset.path))
    clusters = opened.table("clusters", columns=["cluster_id", "answer_hash", "split", "question_ids"])
    questions = opened.table("questions", columns=["question_id", "first_seen", "last_seen"])
    table = remember(before, clusters, questions, beginning_of(min(day.date for day in days)))
    with Output(storage.join(warehouse, path), "splits", overwrite=True) as target:
        file = target.write("splits/splits.parquet", to_earlier_file(table), table="splits", rows=len(table))
        inputs = [Source(url=artefact.path, digest=artefact.digest) for artefact in (dataset, earlier) if artefact]
        counters = {f"questions_{split}": len(ids) for split, ids in ids_by_split(table).items()}
        manifest = target.publish([file], inputs=inputs, configuration={}, counters=counters)
    return named(path, manifest)


def splits_files(warehouse: str, splits: Artefact | None) -> list[DayFile]:
    """Return the files of a splits artefact, with absolute paths where they are local.

    Raises:
        QprError: it is gone or damaged.
    """
    if splits is None:
        return []
    manifest: Manifest = check_artefact(warehouse, splits, "splits", version="the version before")
    url = storage.join(warehouse, splits.path)
    return [DayFile(storage.local_path(url) or url, file) for file in manifest.of("splits")]


def read_splits(warehouse: str, splits: Artefact | None) -> pa.Table:
    """Return the questions of all versions, as EARLIER.

    Raises:
        QprError: a file is missing or damaged.
    """
    tables = [table for file in splits_files(warehouse, splits) for table in read_earlier_file(file)]
    return pa.concat_tables([EARLIER.empty_table(), *tables])


def _options_that_differ(day: Day, config: IngestConfig) -> list[str]:
    """Return the names of the options with which a day was ingested otherwise, whatever the number of shards.

    Answers that the day did not ignore are none: `fold_days` rejects their rows.
    """
    from jobs.display.option_names import option_rows  # only nights need the settings of pipelines

    how = config.model_dump(mode="json", exclude={"shards"})
    of_day = ingested_with(day)
    validation, ignored = of_day.get("validation", {}), how["validation"]["ignored_answers"]
    if {*map(fold, validation.get("ignored_answers", ()))} <= {*map(fold, ignored)}:
        of_day |= {"validation": validation | {"ignored_answers": ignored}}
    before, now = (set(option_rows({name: values.get(name) for name in how})) for values in (of_day, how))
    return sorted({option for option, _ in before ^ now})
