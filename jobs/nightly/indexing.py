"""Index of a night: from that of the version before by one more segment, or built again.

dataset, model, options of the index, version before -> index_of_night -> index artefact
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.nightly.steps import finished, key_of, named, place_of
from jobs.workflows.index_changes.next_index import next_index
from jobs.workflows.indexing import build_index
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.versions.version import Artefact, Version

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.graphs.settings import IndexConfig


def index_of_night(
    warehouse: str,
    dataset: Artefact,
    model: Artefact,
    config: IndexConfig,
    *,
    parent: Version | None,
    options: PipelineOptions,
) -> Artefact:
    """Make the index of a dataset and a model, unless it is there.

    With the encoder and the options of the version before, its index is the start: only questions that are new or
    changed are encoded, and others are deleted. `next_index` decides when that is no longer worth while.

    Args:
        warehouse: its URL.
        dataset: of the night.
        model: of the night.
        config: options of the index.
        parent: the version before.
        options: Beam's.

    Raises:
        QprError: the dataset, the model or the index before is damaged, or the index cannot be written.
    """
    before = None
    if parent and parent.model.digest == model.digest and parent.index_options == options_of(config):
        before = parent.index
        if parent.dataset.digest == dataset.digest:  # its index as it is now, maybe without erased questions
            return named(before.path, read_manifest(storage.join(warehouse, before.path), "index"))
    path = place_of("indexes", key_of(dataset.digest, model.digest, options_of(config), before and before.digest))
    if manifest := finished(warehouse, path, "index"):
        return named(path, manifest)
    output, questions = (storage.join(warehouse, place) for place in (path, dataset.path))
    changed = before and next_index(storage.join(warehouse, before.path), questions, output=output, options=options)
    if not changed:
        encoder = storage.join(warehouse, model.path)
        build_index([questions], config, model=encoder, output=output, overwrite=True, options=options, show=False)
    return named(path, changed or read_manifest(output, "index"))


def options_of(config: IndexConfig) -> str:
    """Return the digest of the options of an index, for the record of a version.

    It leaves out a share that is not given: warehouses from before that option keep their index.
    """
    left_out = {"answerable_share"} if config.answerable_share is None else None
    return key_of(config.model_dump(mode="json", exclude=left_out))
