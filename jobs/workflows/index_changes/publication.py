"""Publication of a changed index: opened and checked first, with BM25 over the live rows.

base, files of a change -> publish -> manifest, shape -> show
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from jobs.display.console import emit, say, two_columns, working
from jobs.workflows.index_changes.advice import Shape, shape_of
from model.index.index import Index
from model.index.lexical_files import write_weights
from model.index.settings import IndexSettings
from model.search.opening import open_index
from schemas.artifacts.manifest import Erased, File, Manifest, Source, read_manifest
from schemas.artifacts.writer import Output
from schemas.tables import LEXICAL, TOMBSTONES

_OF_A_VERSION: Final = frozenset({LEXICAL, TOMBSTONES, "rejected"})
"""Tables that each version writes again; the other files of the base stay."""


@dataclasses.dataclass(frozen=True)
class Base:
    """The version of an index that a run changes.

    Attributes:
        manifest: its own.
        index: opened, which checks all its parts.
    """

    manifest: Manifest
    index: Index

    @classmethod
    def of(cls, url: str) -> Base:
        """Return the present version of the index at ``url``.

        Raises:
            QprError: there is none, or it is damaged.
        """
        manifest = read_manifest(url, "index")
        return cls(manifest, open_index(url, manifest=manifest))

    @property
    def settings(self) -> IndexSettings:
        """Return the settings of the index."""
        return self.index.settings

    @property
    def built_from(self) -> tuple[Source, ...]:
        """Return the inputs of the build of the index but for the model, whatever has changed since."""
        if (sources := self.settings.built_from) is not None:
            return sources
        return tuple(source for source in self.manifest.inputs if source.digest != self.settings.model_digest)

    @property
    def kept(self) -> list[File]:
        """Return the files that stay: segments, model and confidence model."""
        return [file for file in self.manifest.files if file.table not in _OF_A_VERSION]


def publish(
    target: Output,
    base: Base,
    files: list[File],
    settings: IndexSettings,
    *,
    inputs: list[Source],
    counters: Mapping[str, int],
    tune: Callable[[IndexSettings, Index], IndexSettings] | None = None,
    erased: Sequence[Erased] = (),
) -> tuple[Manifest, Shape]:
    """Open a changed index as a reader would, add BM25 if the base has it, and publish it.

    Args:
        target: the index.
        base: the version before.
        files: of the changed index.
        settings: of the changed index.
        inputs: of the change.
        counters: of the change.
        tune: returns the settings to publish; None: those given.
        erased: erasures from the index so far, if this is one.

    Raises:
        QprError: the parts do not fit together, or the index cannot be published.
    """
    settings = settings.model_copy(update={"built_from": base.built_from})
    before = [Source(url=base.index.url, digest=base.manifest.digest)]
    model = [source for source in base.manifest.inputs if source.digest == settings.model_digest]
    configuration = settings.model_dump(exclude_none=True)
    draft = target.manifest(
        files, inputs=[*inputs, *before, *model], configuration=configuration, counters=dict(counters)
    )
    index = open_index(target.url, manifest=draft)
    settings = settings if tune is None else tune(settings, index)
    if base.manifest.of(LEXICAL):
        with working("Weighing words for BM25"):
            files = [*files, *write_weights(target, index.tables())]
    shape = shape_of(dataclasses.replace(index, settings=settings), draft)
    manifest = target.publish(
        files,
        inputs=draft.inputs,
        configuration=settings.model_dump(exclude_none=True),
        counters=draft.counters,
        distributions=base.manifest.distributions,
        erased=erased,
    )
    return manifest, shape


def show(url: str, manifest: Manifest, shape: Shape, counters: Mapping[str, int], *, as_json: bool) -> None:
    """Print a version of an index after a change, and whether to compact it.

    Args:
        url: of the index.
        manifest: of the present version.
        shape: of the present version.
        counters: of this run.
        as_json: print for a program.
    """
    questions = manifest.configuration["questions"]
    state = {
        "segments": shape.segments,
        "deleted_share": round(shape.deleted_share, 4),
        "compaction_advised": shape.reasons,
    }
    result = {"index": url, "digest": manifest.digest, "questions": questions, "counters": dict(counters), **state}
    rows = {**counters, "questions": questions, "segments": shape.segments}
    emit(result, as_json=as_json, table=lambda: two_columns(url, rows))
    if shape.reasons:
        say(f"Advice: {'; '.join(shape.reasons)}. Run: qpr index --output {shlex.quote(url)} --compact")
