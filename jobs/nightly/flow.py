"""A night: ingest, fold, train or keep, index, evaluate, gate, publish.

date, settings -> run_night -> Outcome: a published version, a refused one, or nothing new

Each step writes one artefact and is skipped where it is there, so a killed night is completed by the next run.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs.display.console import say
from jobs.nightly.certifying import Sample, certified_again, certify_index, read_sample
from jobs.nightly.days import ingest_days
from jobs.nightly.erasure.suppressed import check_user_key
from jobs.nightly.folding import check_days, dated_digests, fold_days, read_splits, remember_splits
from jobs.nightly.gate.decision import kept_share, questions_moved, reason_to_refuse
from jobs.nightly.gate.evidence import Evidence, GateFiles, missed_canary, mix_of, read_files
from jobs.nightly.gate.label_precision import is_reviewed
from jobs.nightly.indexing import index_of_night, options_of
from jobs.nightly.mending import check_mended, check_whole, is_whole_again, missing
from jobs.nightly.outcome import Outcome
from jobs.nightly.reporting import frozen_test, write_report
from jobs.nightly.settings import NightTerms
from jobs.nightly.steps import key_of
from jobs.nightly.training import encoder_of_night, how_trained
from jobs.nightly.warehouse import days_that_left, every_day, first_of_window, in_window
from jobs.nightly.window.drops import changed_drops, check_drops
from jobs.nightly.window.row_counts import warn_of_unusual_rows
from model.evaluation.intervals import Interval
from pipelines.ingestion.earlier import ids_by_split
from schemas.artifacts import storage
from schemas.artifacts.manifest import Manifest, read_manifest
from schemas.versions import history
from schemas.versions.version import Artefact, Version, check_artefact

if TYPE_CHECKING:
    from pipelines.ingestion.days import Day


class _Night(NamedTuple):
    """Inputs and settings of a night, whatever the version is that it follows.

    Attributes:
        warehouse: its URL.
        days: of the window, ascending.
        date: last day of the window.
        inputs: digest of days and settings.
        terms: settings.
        files: of the gate.
        sample: judged requests of the certificate; None: none were given.
        reread: command that reads the days again that were ingested with other options; None: no day was.
    """

    warehouse: str
    days: Sequence[Day]
    date: datetime.date
    inputs: str
    terms: NightTerms
    files: GateFiles
    sample: Sample | None
    reread: str | None


def run_night(
    warehouse: str,
    dates: Sequence[datetime.date],
    terms: NightTerms,
    check_alone: Callable[[], None] = lambda: None,
) -> Outcome:
    """Ingest days, make dataset, model and index of the window that ends with the last one, and publish them.

    An earlier day than that of the current version is ingested again, and the window stays that of the current one.
    ``check_alone`` raises an error before a record is written if another run, such as an erasure, came meanwhile.

    Raises:
        ConflictError: another version was published meanwhile.
        QprError: a step failed; what it has finished is used by the next run.
    """
    files, sample = read_files(terms.gate), read_sample(terms.certificate)
    every = every_day(warehouse)
    check_user_key(warehouse, every, dates, terms.user_key, privacy=terms.clusters.privacy)
    now = history.current(warehouse)
    parent = now[1] if now else None
    last = max([dates[-1], *([parent.date] if parent else [])])
    before = [day for day in in_window(every, last, terms.night.window_days) if day.date not in dates]
    reread = check_days(warehouse, before, terms.clusters, terms.user_key, parent)
    ingested = ingest_days(
        warehouse,
        dates,
        terms.clusters.ingestion,
        options=terms.options,
        max_reject_ratio=terms.max_reject_ratio,
        user_key=terms.user_key,
        on_day=lambda done: say(f"{done.day.date}: {'unchanged' if done.unchanged else 'ingested'}"),
    )
    days = in_window([*before, *(done.day for done in ingested)], last, terms.night.window_days)
    waiting = check_drops(warehouse, dates, days, last, terms.night.window_days)
    changed = changed_drops(warehouse, dates, days, terms.clusters.ingestion)
    warn_of_unusual_rows(warehouse, dates, days)
    outcome = functools.partial(Outcome, not_ingested=waiting, changed=changed, ingested=ingested)
    inputs = key_of(dated_digests(days), _settings(terms))
    make = functools.partial(_made, _Night(warehouse, days, last, inputs, terms, files, sample, reread))
    is_new_test_made = not terms.night.new_test_set or (now and now[1].test == now[1].dataset)
    if now and now[1].inputs == inputs and is_new_test_made:
        if not (gone := missing(warehouse, *now)):
            again = certified_again(warehouse, *now, sample)
            check_alone()
            return _recorded(warehouse, again, outcome) if again else outcome(*now, unchanged=True)
        say(f"version {now[0]} lacks {', '.join(gone)}; making what it lacks again")
        base = history.made_after(warehouse, now[1])
        earlier = base[1].splits if base else None
        is_same = now[1].dataset.path not in gone or _folded(warehouse, days, terms, earlier) == now[1].dataset
        # another dataset than that of this version has to hold out what this one held out
        made = make(base, earlier if is_same else now[1].splits)
        if is_whole_again(now[1], made, gone):
            check_mended(warehouse, *now)
            return outcome(*now, unchanged=True, mended=gone)
        splits = now[1].splits if is_same else made.splits  # of a rollback the newest
        version = made.model_copy(update={"parent": now[0], "splits": splits})
        check_mended(warehouse, now[0], version)
    else:
        check_whole(warehouse, now)
        version = make(now, now[1].splits if now else None)
        if now and not version.refused and version.equals(now[1]):  # such as with options of a training on another day
            return outcome(*now, unchanged=True)
    check_alone()
    return _recorded(warehouse, version, outcome)


def _recorded(warehouse: str, version: Version, outcome: Callable[[int | None, Version], Outcome]) -> Outcome:
    """Publish a version, or keep the record of a refused one."""
    if version.refused:
        history.keep_refused(warehouse, version)
        return outcome(None, version)
    return outcome(history.publish(warehouse, version), version)


def _made(night: _Night, now: tuple[int, Version] | None, earlier: Artefact | None) -> Version:
    """Return the record of a night whose artefacts are written, refused or not.

    Args:
        night: its inputs and settings.
        now: the newest version before, with its number.
        earlier: splits of the questions of all versions before.
    """
    parent = now[1] if now else None
    dataset_before = _checked_dataset(night.warehouse, *now) if now else None
    dataset = _folded(night.warehouse, night.days, night.terms, earlier)
    before = read_splits(night.warehouse, earlier)
    splits = remember_splits(night.warehouse, dataset, earlier, before, days=night.days)
    version = _unjudged(night, now, dataset, splits)
    moved = questions_moved(ids_by_split(read_splits(night.warehouse, splits)), ids_by_split(before))
    evidence = _evidence(night, version, parent, dataset_before, moved)
    metrics = version.metrics | {"kept_share": kept_share(evidence.after)} | evidence.metrics
    return Version(**{**dict(version), "metrics": metrics, "refused": reason_to_refuse(night.terms.gate, evidence)})


def _checked_dataset(warehouse: str, number: int, version: Version) -> Manifest:
    """Return the manifest of the dataset of a version, all of whose artefacts are there."""
    checked = {
        artefact: check_artefact(warehouse, artefact, kind, version=f"version {number}")
        for artefact, kind in version.artefacts.items()
    }
    return checked[version.dataset]


def _unjudged(night: _Night, now: tuple[int, Version] | None, dataset: Artefact, splits: Artefact) -> Version:
    """Make the encoder, the index, the report and the certificate of a dataset; return their record before the gate."""
    warehouse, date, terms = night.warehouse, night.date, night.terms
    number, parent = now or (None, None)
    model, trained = encoder_of_night(warehouse, dataset, terms.encoder, terms.night.retrain, date=date, parent=parent)
    index = index_of_night(warehouse, dataset, model, terms.index, parent=parent, options=terms.options)
    test = frozen_test(warehouse, dataset, parent, is_new=terms.night.new_test_set)
    report, metrics, changes = write_report(warehouse, dataset, index, parent, test)
    certified = certify_index(warehouse, index, night.sample, date=date, parent=parent)
    return Version(
        parent=number,
        date=date,
        window_days=terms.night.window_days,
        days=len(night.days),
        inputs=night.inputs,
        dataset=dataset,
        model=model,
        index=index,
        index_options=options_of(terms.index),
        splits=splits,
        report=report,
        test=test,
        trained=trained,
        certificate=certified.artefact,
        uncertified=certified.reason,
        metrics=metrics,
        changes=changes,
    )


def _evidence(
    night: _Night, version: Version, parent: Version | None, dataset_before: Manifest | None, moved: int
) -> Evidence:
    """Return the evidence on the artefacts of a night."""
    files, limits = night.files, night.terms.gate
    dataset, index = (storage.join(night.warehouse, artefact.path) for artefact in (version.dataset, version.index))
    judged = functools.partial(is_reviewed, date=night.days[-1].date, days=limits.review_days)
    return Evidence(
        difference=Interval.of(version.metrics, "difference"),
        displaced=Interval.of(version.metrics, "new_questions"),
        queries=int(version.metrics.get("frozen_queries", 0)),
        is_trained=parent is None or version.model != parent.model,
        before=dataset_before.counters if dataset_before else None,
        after=read_manifest(dataset, "dataset").counters,
        moved=moved,
        missed=missed_canary(files, index, limits.canary_rank),
        review=files.review,
        is_reviewed=files.review is None or judged(night.warehouse, files.review, version.dataset),
        judge=dataset,
        mix=mix_of(night.days, dataset_before, _left(night, parent) if parent else []),
        reread=night.reread,
        canaries=len(files.canaries),
        uncertified=version.uncertified if night.terms.certificate.require_certificate else None,
    )


def _left(night: _Night, parent: Version) -> list[Day]:
    """Return the days that left the window since the version before."""
    first = first_of_window(night.date, night.terms.night.window_days)
    return days_that_left(night.warehouse, first, first_of_window(parent.date, parent.window_days))


def _folded(warehouse: str, days: Sequence[Day], terms: NightTerms, earlier: Artefact | None) -> Artefact:
    return fold_days(
        warehouse,
        days,
        terms.clusters,
        earlier=earlier,
        options=terms.options,
        max_reject_ratio=terms.max_reject_ratio,
        user_key=terms.user_key,
    )


def _settings(terms: NightTerms) -> list[Any]:
    """Return the settings that decide on the artefacts; limits of the gate do not."""
    clusters, index = (part.model_dump(mode="json") for part in (terms.clusters, terms.index))
    return [clusters, how_trained(terms.encoder), index, terms.night.model_dump(mode="json", exclude={"new_test_set"})]
