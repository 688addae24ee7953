"""Record of a version: a consistent dataset, model and index, with their digests and metrics.

versions/00000042.json -> Version; Version -> versions/00000042.json
"""

from __future__ import annotations

import datetime
import secrets
import shlex
from typing import Annotated, Any

import pydantic

from schemas import __version__
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, Kind, Manifest, Sha256, first_fault, read_manifest
from schemas.artifacts.paths import checked_path
from schemas.errors import QprError

LAYOUT = 2
"""Layout of warehouses and version records that this code writes."""

_CONTENT = ("dataset", "model", "index", "splits", "test")


class Artefact(pydantic.BaseModel, frozen=True, extra="forbid"):
    """An artefact of a warehouse.

    Attributes:
        path: of its folder, below the warehouse.
        digest: of its manifest.
    """

    path: Annotated[str, pydantic.AfterValidator(checked_path)]
    digest: Sha256


class Training(pydantic.BaseModel, frozen=True, extra="forbid"):
    """The night on which a version's model was trained, and the dataset that it learned from."""

    date: datetime.date
    dataset: Artefact


class Version(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Result of a night: published, or refused by the gate.

    Attributes:
        layout: of the record.
        parent: number of the version before; None for the first.
        created: time of the record, in UTC.
        writer: a random number, so that no two writers have the same record.
        date: last day of the data.
        window_days: number of days that the window spans.
        days: number of days in it that have a drop.
        inputs: digest of the days and of the settings that this was made from.
        dataset, model, index, splits, report: artefacts that belong together; ``splits`` holds the split of every
            question that ever was in a cluster.
        index_options: digest of the options of the index; None in records of older releases.
        test: dataset whose test split is the frozen test set.
        trained: the training of the model.
        certificate: of the index, if there is one.
        metrics: of the index on test questions, and shares of kept questions, by name.
        changes: number of clusters by what became of them since the parent.
        rollback_of: number of the older version that this one equals.
        refused: why it was not published; None for a published one.
        uncertified: why it has no certificate; None for one that has, or for which no requests were given.
    """

    layout: int = pydantic.Field(default=LAYOUT, ge=1)
    code_version: str = __version__
    parent: int | None = pydantic.Field(default=None, ge=1)
    created: str = pydantic.Field(default_factory=lambda: stamp()["created"])
    writer: str = pydantic.Field(default_factory=lambda: stamp()["writer"])
    date: datetime.date
    window_days: int = pydantic.Field(ge=1)
    days: int = pydantic.Field(ge=1)
    inputs: Sha256
    dataset: Artefact
    model: Artefact
    index: Artefact
    index_options: Sha256 | None = None
    splits: Artefact
    report: Artefact
    test: Artefact
    trained: Training
    certificate: Artefact | None = None
    metrics: dict[str, pydantic.FiniteFloat] = {}
    changes: dict[str, int] = {}
    rollback_of: int | None = None
    refused: str | None = None
    uncertified: str | None = None

    @property
    def artefacts(self) -> dict[Artefact, Kind]:
        """Return every artefact that the record names, with its kind."""
        named: dict[Artefact, Kind] = {
            self.dataset: "dataset",
            self.model: "model",
            self.index: "index",
            self.splits: "splits",
            self.report: "report",
            self.test: "dataset",
            self.trained.dataset: "dataset",
        }
        return named | ({self.certificate: "certificate"} if self.certificate else {})

    def equals(self, before: Version) -> bool:
        """Return whether a night on an earlier version's days has made what that has, in the same or other folders.

        Without a certificate the earlier one's stays.
        """
        pairs = [(getattr(self, name), getattr(before, name)) for name in _CONTENT]
        return (
            all(ours.digest == theirs.digest for ours, theirs in pairs)
            and self.certificate in (None, before.certificate)
            and (self.date, self.days, self.trained.date, self.index_options)
            == (before.date, before.days, before.trained.date, before.index_options)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the record for a program."""
        return self.model_dump(mode="json")


def stamp() -> dict[str, str]:
    """Return the time and the random number of a new record."""
    return {
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "writer": secrets.token_hex(8),
    }


def parse_version(content: bytes, url: str) -> Version:
    """Return the record that a file holds.

    Raises:
        QprError: it is damaged, or of another layout.
    """
    try:
        version = Version.model_validate_json(content)
    except pydantic.ValidationError as error:
        is_cut_off = error.errors()[0]["type"] == "json_invalid"
        advice = _CUT_OFF if is_cut_off else _ADVICE
        raise QprError(f"{url}: no version record of layout {LAYOUT} ({first_fault(error)}). {advice}") from error
    if version.layout > LAYOUT:
        raise QprError(f"{url}: record of layout {version.layout}, this code reads up to {LAYOUT}. {_ADVICE}")
    return version


def is_there(warehouse: str, artefact: Artefact) -> bool:
    """Return whether an artefact is in its warehouse; `qpr gc` may have removed it."""
    return storage.exists(storage.join(warehouse, artefact.path, MANIFEST))


def rollback_command(warehouse: str) -> str:
    """Return the command that makes an older version current, for advice."""
    return f"qpr rollback --warehouse {shlex.quote(warehouse)} --to N"


def check_artefact(warehouse: str, artefact: Artefact, kind: Kind, *, version: str) -> Manifest:
    """Return the manifest of an artefact that a version names, also if questions were erased from it since.

    Raises:
        QprError: it is gone, or another one by now.
    """
    url = storage.join(warehouse, artefact.path)
    try:
        manifest = read_manifest(url, kind)
    except QprError as error:
        gone = "it does not exist; `qpr gc` removes what only older versions name"
        cause = str(error) if is_there(warehouse, artefact) else gone
        other = f"Use another version; `{rollback_command(warehouse)}` makes one current"
        raise QprError(f"{version} names {artefact.path}, which cannot be used: {cause}. {other}") from error
    if not manifest.is_or_was(artefact.digest):
        raise QprError(
            f"{version} names {artefact.path} with digest {artefact.digest[:12]}, but its digest is "
            f"{manifest.digest[:12]}. Something else than `qpr nightly` wrote there; use another version"
        )
    return manifest


_CUT_OFF = (
    "Restore the file from a copy. Without one, move it out of the folder: the newest record that is left is current"
)
"""Advice for a file that is no JSON, which no release has written."""
_ADVICE = "Upgrade question-paraphrase-retrieval, or restore the file from a copy"
