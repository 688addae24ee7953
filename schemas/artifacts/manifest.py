"""Manifest of an artefact, written last, with the digest of every file.

manifest.json -> read_manifest -> Manifest -> read_verified -> bytes

An artefact (a dataset, a model or an index) is a folder with ``manifest.json`` and one folder a run. Readers follow
the manifest and nothing else, so a killed run leaves the old version whole, on any store that can replace one file.
The manifest of an index may also list files in folders of older runs: the segments that a change leaves as they are.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import Annotated, Any, Literal, TypeVar

import pydantic
from pydantic_core import PydanticCustomError

from schemas import __version__
from schemas.artifacts import storage
from schemas.artifacts.paths import RUN_FOLDER, check_place, checked_path, why_no_artefact, with_article
from schemas.errors import DamagedError, GoneError, QprError
from schemas.tables import SCHEMA_VERSION

MANIFEST = "manifest.json"
REPORTS = "reports"
"""The table of reports on a run, with its times: listed and verified, but no part of the digest."""
Kind = Literal["dataset", "model", "index", "calibration", "reranker", "certificate", "day", "splits", "report"]
_KINDS: dict[str, tuple[str, set[str]]] = {
    "dataset": ("`qpr clusters` or `qpr quora`", {"questions", "clusters", "pairs", "rejected", "leakage"}),
    "model": ("`qpr train`", {"model"}),
    "index": ("`qpr index`", {"shards", "codes", "ids", "tombstones", "model", "lexical", "confidence", "rejected"}),
    "calibration": ("`qpr calibrate`", {"weights", "curves", "verdicts"}),
    "reranker": ("`qpr train-reranker`", {"reranker"}),
    "certificate": ("`qpr certify`", {"certificate"}),
    "day": ("`qpr ingest`", {"asked", "waiting", "rejected"}),
    "splits": ("`qpr nightly`", {"splits"}),
    "report": ("`qpr nightly`", {"changes", "evaluation", "ranks"}),
}
"""The commands that make an artefact, and the tables of its files, except `REPORTS`."""

_CHECKSUM = "checksum"
"""The last field of a manifest's file: SHA-256 of the others. Manifests of earlier releases have none."""

Count = Annotated[int, pydantic.Field(ge=0)]
Sha256 = Annotated[str, pydantic.Field(pattern="^[0-9a-f]{64}$")]
Settings = TypeVar("Settings", bound=pydantic.BaseModel)


class File(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One file of an artefact; ``path`` is relative to the manifest, ``rows`` is 0 where it holds no table."""

    path: Annotated[str, pydantic.AfterValidator(checked_path)]
    table: str
    rows: Count
    bytes: Count
    sha256: Sha256


class Source(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One input of a run: its URL, size and digest; the digest of a file is the SHA-256 of its bytes."""

    url: str
    bytes: Count | None = None
    digest: str | None = None


class Erased(pydantic.BaseModel, frozen=True, extra="forbid"):
    """An erasure of questions: the digest that the artefact had before, and the day."""

    digest: Sha256
    on: datetime.date


class _Version(pydantic.BaseModel):
    """The field that manifests of all releases have; a newer one may have unknown fields."""

    schema_version: int = pydantic.Field(ge=1)


class Manifest(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Inputs, configuration, counters and files of a run.

    ``distributions`` holds minimum, quartiles and maximum of columns of its tables, by name, and measures of its
    confidence model. ``erased`` holds the erasures of questions from it, the oldest first.
    """

    kind: Kind
    run_id: str = pydantic.Field(pattern=f"^{RUN_FOLDER.pattern}$")
    created: str
    seconds: float = pydantic.Field(ge=0, allow_inf_nan=False)
    code_version: str = __version__
    schema_version: int = pydantic.Field(default=SCHEMA_VERSION, ge=1)
    inputs: list[Source]
    configuration: dict[str, Any]
    counters: dict[str, int]
    distributions: dict[str, dict[str, pydantic.FiniteFloat]] = {}
    erased: list[Erased] = []
    files: list[File]

    @pydantic.field_validator("files")
    @classmethod
    def _of_its_runs(cls, files: list[File], info: pydantic.ValidationInfo) -> list[File]:
        """Refuse files of another run, except in an index, files of unknown tables, and repeated files."""
        run_id, tables = info.data.get("run_id"), {REPORTS, *_KINDS.get(info.data.get("kind", ""), ("", set()))[1]}
        seen = set[str]()
        for file in files:
            of_older = info.data.get("kind") == "index" and RUN_FOLDER.fullmatch(file.path.partition("/")[0])
            if run_id is not None and not file.path.startswith(f"{run_id}/") and not of_older:
                raise ValueError(f"path {file.path!a} is not in the run's folder {run_id}")
            if "kind" in info.data and file.table not in tables:
                fault = {"path": f"{file.path!a}", "table": f"{file.table[:60]!a}", "known": ", ".join(sorted(tables))}
                raise PydanticCustomError("unknown_table", "{path} is of table {table}, not of {known}", fault)
            if file.path in seen:
                raise ValueError(f"path {file.path!a} is there twice")
            seen.add(file.path)
        return files

    @property
    def digest(self) -> str:
        """Return the SHA-256 of tables, names without run folders, and digests of all files but those of `REPORTS`."""
        lines = sorted(f"{f.table} {RUN_FOLDER.sub('', f.path)} {f.sha256}" for f in self.files if f.table != REPORTS)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def content(self) -> bytes:
        """Return the manifest as the bytes of its file, its checksum last; without an erasure it has no ``erased``."""
        text = self.model_dump_json(indent=2, exclude=None if self.erased else {"erased"})
        last = f',\n  "{_CHECKSUM}": "{json_digest(json.loads(text))}"\n}}'
        return (text.removesuffix("\n}") + last).encode()

    def is_or_was(self, digest: str) -> bool:
        """Return whether this is the artefact with a digest, or what an erasure has left of it."""
        return digest in {self.digest, *(erasure.digest for erasure in self.erased)}

    def erased_on(self, day: datetime.date | None = None) -> list[Erased]:
        """Return the erasures of an artefact that is made of this one by erasing questions, by default today in UTC."""
        return [*self.erased, Erased(digest=self.digest, on=day or datetime.datetime.now(datetime.UTC).date())]

    def of(self, table: str) -> list[File]:
        """Return the files of one table, in order of their path."""
        return sorted((f for f in self.files if f.table == table), key=lambda f: f.path)


def read_manifest(url: str, kind: Kind | None = None) -> Manifest:
    """Return the manifest of the artefact at ``url``, with the errors of `manifest_if_there` or if it has none."""
    manifest = manifest_if_there(url, kind)
    if manifest is None:
        raise QprError(f"{url}: {why_no_artefact(url, *_noun_and_command(kind))}")
    return manifest


def manifest_if_there(url: str, kind: Kind | None = None) -> Manifest | None:
    """Return the manifest of the artefact at ``url``, verified against its checksum; None if there is none.

    Raises:
        QprError: it is damaged, newer than this code, or of another kind.
    """
    noun, how = _noun_and_command(kind)
    file = storage.join(url, MANIFEST)
    check_place(url, MANIFEST)
    content = storage.read_if_there(file)
    if content is None:
        return None
    try:
        version = _Version.model_validate_json(content).schema_version
        fields = json.loads(content)  # pydantic has read it, and is the stricter one
        checksum = fields.pop(_CHECKSUM, None)
        manifest = Manifest.model_validate(fields) if version <= SCHEMA_VERSION else None
    except pydantic.ValidationError as error:
        advice = f"Make the {noun} again{or_upgrade(error)}"
        raise DamagedError(f"{file}: damaged ({first_fault(error)}). {advice}") from error
    if manifest is None:
        versions = f"schema version {version}, this code reads up to {SCHEMA_VERSION}"
        raise QprError(f"{url}: written by a newer release ({versions}). Upgrade question-paraphrase-retrieval")
    if checksum not in (None, json_digest(fields)):
        raise DamagedError(f"{file}: does not match its own checksum, so it is damaged. Make the {noun} again")
    if kind and manifest.kind != kind:
        raise QprError(f"{url}: holds {with_article(manifest.kind)}, not {with_article(kind)}{how}")
    return manifest


def _noun_and_command(kind: Kind | None) -> tuple[str, str]:
    return (kind, f". Make one with {_KINDS[kind][0]}") if kind else ("artefact", "")


def json_digest(value: Any) -> str:
    """Return the SHA-256 of a value that JSON can hold, whatever the layout of its file."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def read_verified(url: str, file: File) -> bytes:
    """Return the bytes of one file of the artefact at ``url``.

    Raises:
        GoneError: it is missing.
        QprError: it lies outside the artefact, or its content does not match the manifest.
    """
    size = check_place(url, file.path)
    try:
        same = size in (None, file.bytes)  # of a local file that is far too large nothing is read
        content = storage.read_bytes(storage.join(url, file.path)) if same else b""
    except QprError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise GoneError(f"{url}/{file.path}: is gone, though the manifest lists it. Make it again") from error
        raise
    check_digest(url, file, hashlib.sha256(content).hexdigest() if same and len(content) == file.bytes else "")
    return content


def check_digest(url: str, file: File, sha256: str) -> None:
    """Raise `QprError` if the digest of a file's content is not the one in the manifest."""
    if sha256 != file.sha256:
        fault = "does not match the manifest's sha256; the file changed or is damaged. Make it again"
        raise QprError(f"{url}/{file.path}: {fault}")


def read_settings(url: str, manifest: Manifest, settings: type[Settings], *, again: str) -> Settings:
    """Return the configuration in a manifest as the settings of its kind.

    Args:
        url: where the artefact is.
        manifest: its own.
        settings: the class of its configuration.
        again: the advice in an error, such as "Build the index again".

    Raises:
        QprError: a field is missing, unknown or invalid.
    """
    try:
        return settings.model_validate(manifest.configuration)
    except pydantic.ValidationError as error:
        advice = f"{again}{or_upgrade(error)}"
        raise QprError(f"{url}/{MANIFEST}: configuration: {first_fault(error)}. {advice}") from error


def or_upgrade(error: pydantic.ValidationError) -> str:
    """Return the advice to upgrade, if a document has a field, a kind or a table that this release does not have."""
    is_newer = any(fault["type"] in {"extra_forbidden", "literal_error", "unknown_table"} for fault in error.errors())
    return " or, if a newer release wrote it, upgrade question-paraphrase-retrieval" if is_newer else ""


def first_fault(error: pydantic.ValidationError) -> str:
    """Return place and description of the first fault of a document, without control characters."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part)[:60] for part in first["loc"])
    text = ": ".join(filter(None, (place, first["msg"].removeprefix("Value error, "))))
    return "".join(character if character.isprintable() else "?" for character in text)
