"""The task of `qpr index`: build an index, change one, or compact one.

options -> IndexRequest.run -> the work behind one of them
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

from schemas.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IndexConfig

_OF_READING: Final = frozenset({"column_names", "delimiter", "encoding"})
_OF_COMPACTION: Final = frozenset({"shards", "factory", "probes", "recall", "latency_ms", "memory_mb", "preset"})


@dataclasses.dataclass(frozen=True)
class IndexRequest:
    """The options that decide what is done.

    Attributes:
        questions: inputs of a new index.
        model: of a new index.
        overwrite: replace an index.
        add: inputs of questions to add.
        delete: files of questions to delete.
        compact: merge the segments.
        max_reject_ratio: maximum share of rows that cannot be read.
        dry_run: print the plan of a new index and write nothing.
    """

    questions: Sequence[str]
    model: str | None
    overwrite: bool
    add: Sequence[str]
    delete: Sequence[str]
    compact: bool
    max_reject_ratio: float = 1.0
    dry_run: bool = False

    def run(self, output: str, settings: IndexConfig, *, options: PipelineOptions, as_json: bool) -> None:
        """Build, change or compact an index.

        Args:
            output: folder of the index.
            settings: of the reading and of the index.
            options: Beam's.
            as_json: print for a program.

        Raises:
            UsageError: options contradict each other, or one is missing.
            QprError: it cannot be done.
        """
        changes = [name for name in ("add", "delete", "compact") if getattr(self, name)]
        if not changes:
            if not self.questions or self.model is None:
                missing = "--model" if self.questions else "--questions"
                raise UsageError(f"{missing} is missing: a new index needs --questions and --model; or --add, --delete")
            from jobs.workflows.indexing import build_index

            build_index(
                self.questions,
                settings,
                model=self.model,
                output=output,
                overwrite=self.overwrite,
                options=options,
                max_reject_ratio=self.max_reject_ratio,
                as_json=as_json,
                dry_run=self.dry_run,
            )
            return
        self._check(changes, settings)
        if self.compact:
            from jobs.workflows.index_changes.compacting import compact_index

            compact_index(output, settings=settings, options=options, as_json=as_json)
        else:
            from jobs.workflows.index_changes.changing import change_index

            change_index(
                output,
                add=self.add,
                delete=self.delete,
                settings=settings,
                options=options,
                max_reject_ratio=self.max_reject_ratio,
                as_json=as_json,
            )

    def _check(self, changes: Sequence[str], settings: IndexConfig) -> None:
        """Refuse options that do not belong to a change."""
        change = f"--{changes[0]}"
        for name in ("questions", "model", "overwrite", "dry_run"):
            if getattr(self, name):
                raise UsageError(
                    f"--{name.replace('_', '-')}: is of a new index and cannot be given with {change}. Leave one out"
                )
        if self.compact and len(changes) > 1:
            raise UsageError(f"--compact: cannot be given with {change}. Compact the index in a run of its own")
        allowed = _OF_COMPACTION if self.compact else _OF_READING
        if other := sorted(settings.model_fields_set - allowed):
            option = "column" if other[0] == "column_names" else other[0].replace("_", "-")
            raise UsageError(f"--{option}: cannot be given with {change}. Leave it out, or build a new index")
