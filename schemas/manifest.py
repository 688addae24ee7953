"""What makes an artefact complete: a manifest, written last, that lists every file with its digest.

manifest.json -> read_manifest -> Manifest -> read_verified -> bytes

An artefact (a dataset, a model or an index) is a folder with ``manifest.json`` and one folder a run. Readers follow
the manifest and nothing else, so a killed run leaves the old version whole, on any store that can replace one file.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Literal, TypeVar

import pydantic

from schemas import __version__, storage
from schemas.errors import QprError
from schemas.tables import SCHEMA_VERSION

MANIFEST = "manifest.json"
RUN_FOLDER = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
"""The name of a run's folder: when it began, and a random number."""
REPORTS = "reports"
"""The table of files that tell how a run went, its times too: listed and verified, but no part of the digest."""
Kind = Literal["dataset", "model", "index", "calibration", "reranker"]
_HOW_TO_MAKE = {
    "dataset": "`qpr clusters` or `qpr quora`",
    "model": "`qpr train`",
    "index": "`qpr index`",
    "calibration": "`qpr clusters --calibrate`",
    "reranker": "`qpr rerank`",
}


Settings = TypeVar("Settings", bound=pydantic.BaseModel)


class File(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One file of an artefact; ``path`` is relative to the manifest, ``rows`` is 0 where it holds no table."""

    path: str
    table: str
    rows: int
    bytes: int
    sha256: str


class Source(pydantic.BaseModel, frozen=True, extra="forbid"):
    """One input of a run: its URL, its size and, for an artefact, its digest."""

    url: str
    bytes: int | None = None
    digest: str | None = None


class _Version(pydantic.BaseModel):
    """What a manifest of any release holds; the fields of a newer one may be unknown."""

    schema_version: int


class Manifest(pydantic.BaseModel, frozen=True, extra="forbid"):
    """What a run read, did and wrote.

    ``distributions`` holds minimum, quartiles and maximum of what its tables hold, by name.
    """

    kind: Kind
    run_id: str
    created: str
    seconds: float
    code_version: str = __version__
    schema_version: int = SCHEMA_VERSION
    inputs: list[Source]
    configuration: dict[str, Any]
    counters: dict[str, int]
    distributions: dict[str, dict[str, float]] = {}
    files: list[File]

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the files' tables, names and digests: equal content, equal digest, whatever the run.

        Files of `REPORTS` do not count, and neither do the names of run folders.
        """
        files = [f for f in self.files if f.table != REPORTS]
        lines = sorted(f"{f.table} {RUN_FOLDER.sub('', f.path)} {f.sha256}" for f in files)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def of(self, table: str) -> list[File]:
        """Return the files of one table, in order of their path."""
        return sorted((f for f in self.files if f.table == table), key=lambda f: f.path)


def read_manifest(url: str, kind: Kind | None = None) -> Manifest:
    """Return the manifest of the artefact at ``url``.

    Raises:
        QprError: there is none, it is damaged, newer than this code, or of another kind.
    """
    wanted = kind or "artefact"
    how = f" Make one with {_HOW_TO_MAKE[kind]}." if kind else ""
    if not storage.exists(storage.join(url, MANIFEST)):
        state = "has no manifest.json, so no run has completed there" if storage.exists(url) else "does not exist"
        raise QprError(f"{url}: not {with_article(wanted)}: it {state}.{how}")
    content = storage.read_bytes(storage.join(url, MANIFEST))
    try:
        version = _Version.model_validate_json(content).schema_version
        manifest = Manifest.model_validate_json(content) if version <= SCHEMA_VERSION else None
    except pydantic.ValidationError as error:
        raise QprError(f"{url}/{MANIFEST}: damaged ({error.errors()[0]['msg']}). Make the {wanted} again") from error
    if manifest is None:
        versions = f"schema version {version}, this code knows {SCHEMA_VERSION}"
        raise QprError(f"{url}: written by a newer release ({versions}). Upgrade question-paraphrase-retrieval")
    if kind and manifest.kind != kind:
        raise QprError(f"{url}: holds {with_article(manifest.kind)}, not {with_article(kind)}.{how}")
    return manifest


def with_article(noun: str) -> str:
    """Return the noun after "a" or "an"."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def read_verified(url: str, file: File) -> bytes:
    """Return the bytes of one file of the artefact at ``url``.

    Raises:
        QprError: it is missing, or its content is not what the manifest says.
    """
    try:
        content = storage.read_bytes(storage.join(url, file.path))
    except QprError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise QprError(f"{url}/{file.path}: is gone, though the manifest lists it. Make it again") from error
        raise
    if len(content) != file.bytes or hashlib.sha256(content).hexdigest() != file.sha256:
        raise QprError(
            f"{url}/{file.path}: does not match the manifest's sha256; the file changed or is damaged. Make it again"
        )
    return content


def read_settings(url: str, manifest: Manifest, settings: type[Settings], *, again: str) -> Settings:
    """Return the configuration in a manifest as the settings of its kind.

    Args:
        url: where the artefact is.
        manifest: its own.
        settings: what its configuration is to be.
        again: what to do if it is not, such as "Build the index again".

    Raises:
        QprError: a field is missing, unknown or makes no sense.
    """
    try:
        return settings.model_validate(manifest.configuration)
    except pydantic.ValidationError as error:
        raise QprError(f"{url}/{MANIFEST}: configuration: {first_fault(error)}. {again}") from error


def first_fault(error: pydantic.ValidationError) -> str:
    """Return where the first fault of a document is and what is wrong there."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
