"""Ingestion of one day: its log files to its daily table.

drop of a date -> ingest_day -> daily table, or the one that is there if the files are the same
"""

from __future__ import annotations

import contextlib
import datetime
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic

from jobs.display.console import warn, working
from jobs.nightly.erasure.suppressed import KEY, check_erased_users, suppressions_of
from jobs.nightly.warehouse import DAILY, check_columns, date_url, day_of, drop_of
from jobs.options.inputs import check_users, input_files, lack_users, warn_of_partial_columns
from jobs.workflows.erasure.rewriting import remove_leftovers
from pipelines.ingestion.days import Day, is_of_earlier_release
from schemas.artifacts.manifest import Source, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import BadDropError, QprError
from schemas.quantities import counted

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IngestConfig
    from pipelines.privacy.users import UserKey
    from pipelines.reading.sources import Source as LogFile

MAX_FAR_SHARE = 0.5
"""Maximum share of the rows with a time that are more than a day away from the date of their drop."""

_START_BYTES = 1 << 16
"""Bytes of text by which files of a drop are compared first: those of other requests differ in them."""


class Ingested(NamedTuple):
    """A daily table.

    Attributes:
        day: its date, place and manifest.
        unchanged: it was there already, made from the same files in the same way.
        without_users: a file has no user ids, and nobody has chosen how many users a question needs.
    """

    day: Day
    unchanged: bool
    without_users: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return its counts for a program."""
        counters = self.day.manifest.counters
        names = ("rows_read", "rows_kept", "rows_rejected", "rows_waiting", "rows_erased", "rows_off_date", "forms")
        return {
            "date": str(self.day.date),
            "digest": self.day.manifest.digest,
            "unchanged": self.unchanged,
            **{name: counters.get(name, 0) for name in names},
        }


def ingest_day(
    warehouse: str,
    date: datetime.date,
    config: IngestConfig,
    *,
    options: PipelineOptions,
    max_reject_ratio: float,
    user_key: UserKey | None = None,
) -> Ingested:
    """Make the daily table of a date, unless it is there, whole, made from the same files by the same settings.

    Equal files give equal bytes. A late or corrected drop replaces its day, and a day of an earlier release, whose
    answers have no ids, is made again. Rows of questions with too few users wait for those of other days if there is
    a key, else they are rejected.

    Raises:
        BadDropError: too many rows are rejected or of other days, the drop has a folder or lacks a column, or erased
            users cannot be recognized.
        QprError: there is no drop, or a file cannot be read.
    """
    from pipelines.engine.runner import run
    from pipelines.graphs import ingest
    from pipelines.reading.headers.columns import LOG_COLUMNS, with_needed
    from pipelines.summary.faults import fault_of_rows
    from pipelines.writing.run_report import check_sum, read_report

    files = input_files(drop_of(warehouse, date), config, example="")
    sources, inputs = distinct_files(files)
    sized = config.for_files(sources)
    configuration = sized.model_dump(mode="json") | ({KEY: user_key.fingerprint} if user_key else {})
    existing = day_of(warehouse, date)
    if existing and _same(existing, inputs, configuration) and _is_usable(existing):
        with contextlib.suppress(QprError):  # a killed run can have left the files of the drop before
            remove_leftovers(existing.url, dry_run=False)
        return Ingested(existing, unchanged=True)
    columns_of = check_columns(sources, with_needed(LOG_COLUMNS, config.validation.filters), config.column_names)
    warn_of_partial_columns(columns_of, config.column_names)
    check_users(sources, columns_of, config.column_names, config.privacy.options_of_users)
    suppression = suppressions_of(warehouse, [date], user_key).get(date)
    if suppression and suppression.users:
        before = _files_of_before(existing, config, inputs)
        check_erased_users(date, sources, config.column_names, ingested=before)
    _warn_of_repeats(warehouse, date, inputs)
    url = date_url(warehouse, DAILY, date)
    with Output(url, "day", overwrite=True) as target, working(f"Ingesting {counted(len(sources), 'file')} of {date}"):
        built = functools.partial(ingest.build, sources=sources, config=sized, date=date, user_key=user_key)
        graph = functools.partial(built, suppression=suppression, run_url=target.run_url)
        run(graph, options)
        report = read_report(target)
        counters = {"rows_rejected": 0, "rows_kept": 0, "members_rejected": 0} | report.counters
        others = sorted({"rows_waiting", "rows_erased"} & counters.keys())
        check_sum(counters, "rows_read", "rows_kept", "rows_rejected", *others)
        urls = [source.url for source in sources[:3]]
        if fault := fault_of_rows(counters, urls, max_reject_ratio) or fault_of_times(counters, date):
            raise BadDropError(f"drop of {date}: {fault}")
        manifest = target.publish(report.files, inputs=inputs, configuration=configuration, counters=counters)
    if off := counters.get("rows_off_date", 0):
        warn(f"{date}: {counted(off, 'row')} of {counters['rows_stamped']:,} with a time are of another day")
    if unread := counters.get("unreadable_timestamp", 0):
        cause = f"no time can be read from {counted(unread, 'value')} of the column timestamp"
        warn(f"{date}: {cause}. These rows count as of that day, whatever their times are. ISO 8601 can be read")
    return Ingested(Day(date, url, manifest), unchanged=False, without_users=_lack_users(columns_of, config))


def _files_of_before(existing: Day | None, config: IngestConfig, inputs: Sequence[Source]) -> set[str]:
    """Return the URLs of the files whose rows a day has already, read with the same columns."""
    if existing is None or ingested_with(existing).get("column_names") != config.column_names:
        return set()
    digests = {source.digest for source in existing.manifest.inputs}
    return {source.url for source in inputs if source.digest in digests}


def _lack_users(columns_of: Mapping[str, Sequence[str]], config: IngestConfig) -> bool:
    """Return whether a file has no user ids, where no option about users was given."""
    if config.privacy.options_of_users or "min_users" in config.privacy.model_fields_set:
        return False
    return bool(lack_users(columns_of, config.column_names))


def fault_of_times(counters: Mapping[str, int], date: datetime.date) -> str | None:
    """Return why the times of a day's rows are not those of its drop, or None.

    Args:
        counters: of the day.
        date: of its drop.
    """
    stamped = counters.get("rows_stamped", 0)
    far = counters.get("rows_far_off_date", 0)
    if far > MAX_FAR_SHARE * stamped:
        return (
            f"{far:,} of {counted(stamped, 'row')} with a time are more than a day away from {date}. Check that the "
            "files are in the folder of their day; times count in UTC"
        )
    return None


def distinct_files(
    files: Sequence[LogFile], on_repeat: Callable[[str], None] = warn
) -> tuple[list[LogFile], list[Source]]:
    """Return the files without those that repeat the rows of another one, and their entries in the manifest.

    ``on_repeat`` gets a sentence about each file that is left out. A file that cannot be read raises `QprError`.
    """
    from pipelines.reading.sources import digest_input

    by_digest: dict[str | None, tuple[LogFile, Source]] = {}
    repeats: list[tuple[LogFile, LogFile]] = []
    for file in files:
        digested = digest_input(file)
        first, _ = by_digest.setdefault(digested.digest, (file, digested))
        if first is not file:
            repeats.append((file, first))
    repeats += _repeated_texts([file for file, _ in by_digest.values()])
    for file, first in repeats:
        on_repeat(f"{file.url}: has the same rows as {first.url}; read once")
    repeated = {file.url for file, _ in repeats}
    pairs = [by_digest[digest] for digest in sorted(by_digest, key=str)]
    pairs = [(file, source) for file, source in pairs if file.url not in repeated]
    return [file for file, _ in pairs], [source for _, source in pairs]


def _repeated_texts(files: Sequence[LogFile]) -> list[tuple[LogFile, LogFile]]:
    """Return each file whose text an earlier one has too, packed or with other empty lines at its end, and that one.

    Only files that begin alike are read as a whole.
    """
    from pipelines.reading.lines import digest_text

    alike: dict[str, list[LogFile]] = {}
    texts = [file for file in files if file.is_text]
    for file in texts if len(texts) > 1 else ():
        alike.setdefault(digest_text(file, most=_START_BYTES), []).append(file)
    repeats = []
    for candidates in alike.values():
        first_of: dict[str, LogFile] = {}
        for file in candidates if len(candidates) > 1 else ():
            first = first_of.setdefault(digest_text(file), file)
            if first is not file:
                repeats.append((file, first))
    return repeats


def _same(day: Day, inputs: Sequence[Source], configuration: Mapping[str, Any]) -> bool:
    digests = [source.digest for source in inputs]
    return [source.digest for source in day.manifest.inputs] == digests and ingested_with(day) == configuration


def ingested_with(day: Day) -> dict[str, Any]:
    """Return the configuration of a day, with the defaults of options that its release did not have."""
    from pipelines.graphs.settings import IngestConfig

    stored = day.manifest.configuration
    try:
        config = IngestConfig.model_validate({name: value for name, value in stored.items() if name != KEY})
    except pydantic.ValidationError:  # of a later release, so other options in any case
        return stored
    return stored | config.model_dump(mode="json")


def _is_usable(day: Day) -> bool:
    """Return whether a day can stay: its files are as its manifest lists them, else warn, and have ids of answers."""
    try:
        for file in day.manifest.files:
            read_verified(day.url, file)
    except QprError:
        warn(f"{day.date}: a file of the day is damaged or gone, so the day is made again from its drop")
        return False
    return not is_of_earlier_release(day)


def _warn_of_repeats(warehouse: str, date: datetime.date, inputs: Sequence[Source]) -> None:
    """Warn of files that the day before or after has too: their rows would count twice."""
    for days in (-1, 1):
        other = day_of(warehouse, date + datetime.timedelta(days=days))
        repeated = {source.digest for source in other.manifest.inputs} if other else set()
        for source in inputs:
            if source.digest in repeated and other:
                warn(f"{source.url}: has the same bytes as a file of {other.date}; its rows count on both days")
