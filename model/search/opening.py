"""Opening of an index through its manifest.

index URL -> open_index -> Index
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from model.encoders.addresses import checked_address
from model.encoders.interface import Encoder
from model.encoders.loading import load_encoder
from model.index.consistency import (
    AGAIN,
    IdTable,
    check_codes,
    check_dimension,
    check_ids,
    check_parts,
    with_tombstones,
)
from model.index.factory import most_probes
from model.index.graphs.walk import compiled_walk
from model.index.index import Index
from model.index.segments.layout import in_order
from model.index.settings import IndexSettings
from model.index.shard_files.layout import ShardLayout, layout_of
from model.index.shards import Shard, open_shard
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, REPORTS, File, Manifest, read_manifest, read_settings
from schemas.artifacts.table_files import is_arrow
from schemas.artifacts.verified_files.files import VerifiedFiles, reading_threads, release
from schemas.errors import GoneError, QprError, UsageError
from schemas.tables import CODES, IDS, MODEL, SHARDS, TOMBSTONES

_MODEL = re.compile(f"[^/]+/{MODEL}/{re.escape(MANIFEST)}")

_Parameters = ParamSpec("_Parameters")
_Opened = TypeVar("_Opened")


def again_if_gone(opening: Callable[_Parameters, _Opened]) -> Callable[_Parameters, _Opened]:
    """Return a function that opens an index, and once more where a file of it was gone.

    While it was opened another version can have been published, after which the files of this one are removed.
    """

    @functools.wraps(opening)
    def opened(*given: _Parameters.args, **named: _Parameters.kwargs) -> _Opened:
        with contextlib.suppress(GoneError):
            return opening(*given, **named)
        return opening(*given, **named)

    return opened


def open_index(
    url: str,
    *,
    probes: int | None = None,
    exact: bool = False,
    verify: bool = False,
    compiled: bool = False,
    manifest: Manifest | None = None,
) -> Index:
    """Open the index at an fsspec URL; every byte that is read is checked against the manifest.

    The files of a local index are mapped into memory. One that was checked before, and has the same size, times and
    inode, is not checked again.

    Args:
        url: the index.
        probes: of a search, by default those of the index's settings. Without effect on flat shards.
        exact: compare all vectors.
        verify: check all files again.
        compiled: walk graphs as machine code (`model.index.graphs.walk`); to load it takes half a second, and the first
            time on a machine to compile it two more.
        manifest: of the index if it has been read, or of a run whose files are written and not published yet.

    Raises:
        QprError: there is no complete index, a file is missing or damaged, or its parts do not fit together.
        UsageError: probes is under 1.
    """
    if probes is not None and probes < 1:
        raise UsageError(f"--probes must be at least 1, got {probes}")
    manifest = manifest or read_manifest(url, "index")
    settings = read_settings(url, manifest, IndexSettings, again=AGAIN)
    stored = VerifiedFiles(url, verify=verify)
    shard_files, code_files, id_files = (in_order(manifest.of(table)) for table in (SHARDS, CODES, IDS))
    deletions = manifest.of(TOMBSTONES)
    with ThreadPoolExecutor(reading_threads()) as pool:  # digests and FAISS release the interpreter lock
        encoder = pool.submit(_encoder, url, manifest, settings, stored)
        shards = tuple(pool.map(lambda file: _shard(stored, file), shard_files))
        coded = tuple(pool.map(lambda file: _codes(stored, file, compiled=compiled), code_files))
        tables = tuple(pool.map(lambda file: _id_table(stored, file, settings), id_files))
        for file in deletions:
            name = storage.join(url, file.path)
            shards = with_tombstones(name, stored.read(file), shards, deleted=file.rows)
        check_parts(url, settings, files=shard_files, shards=shards, tables=tables)
        codes = check_codes(url, settings, files=code_files, codes=coded, shards=shard_files)
        ids = tuple(pool.map(IdTable.question_ids, tables))
    stored.check("distinct-ids-1", [*id_files, *deletions], lambda: check_ids(tables, ids, shards))
    check_dimension(url, settings, dimension=encoder.result().dimension, what="its model")
    chosen_probes = most_probes(settings.factory) if exact else (probes or settings.probes)
    stored.remember()
    return Index(url, settings, chosen_probes, encoder.result(), shards, ids, stored, tables, codes)


def _encoder(url: str, manifest: Manifest, settings: IndexSettings, stored: VerifiedFiles) -> Encoder:
    for file in manifest.of(REPORTS):
        stored.read(file)
    if settings.model_url is not None:
        encoder = _outside(checked_address(settings.model_url, of=url), url, settings.model_digest)
    elif (folder := model_folder(manifest)) is not None:
        model_url = storage.join(url, folder)
        digests = {f"{folder}/{file.path}": file.sha256 for file in read_manifest(model_url).files}
        for file in manifest.of(MODEL):
            if digests.get(file.path) != file.sha256:  # equal ones are checked as they are loaded: 100 MB read once
                stored.read(file)
        of_model = VerifiedFiles(model_url, verify=stored.verify)
        encoder = load_encoder(model_url, stored=of_model)
        of_model.remember()
    else:  # a folder that the index does not list could be anything, a link too
        raise QprError(f"{url}/{MANIFEST}: lists no {MODEL}/{MANIFEST}. {AGAIN}")
    if encoder.digest != settings.model_digest:
        models = f"holds model {encoder.digest[:12]}, its questions were encoded by {settings.model_digest[:12]}"
        raise QprError(f"{url}: {models}. Build the index again")
    return encoder


def _outside(address: str, url: str, digest: str) -> Encoder:
    """Return the encoder of an index that does not contain it."""
    try:
        encoder = load_encoder(address)
    except QprError as error:
        raise QprError(f"{url}: does not contain its model, which cannot be read: {error}") from error
    if encoder.digest != digest:
        models = f"was built with model {digest[:12]} at {address}, which is now {encoder.digest[:12]}"
        raise QprError(f"{url}: {models}. Restore that folder, or build the index again")
    return encoder


def model_folder(manifest: Manifest) -> str | None:
    """Return the folder of the model that an index contains, relative to the index; None where it lists none."""
    paths = [file.path for file in manifest.of(REPORTS)]
    return next((path.removesuffix(f"/{MANIFEST}") for path in paths if _MODEL.fullmatch(path)), None)


def _shard(stored: VerifiedFiles, file: File) -> Shard:
    content = stored.read(file)
    try:
        return open_shard(content, ShardLayout(*stored.fact("shard-2", [file], lambda: [*layout_of(content)])))
    except (ValueError, RuntimeError) as error:
        raise QprError(f"{stored.url}/{file.path}: is no shard of an index: {error}. {AGAIN}") from error


def _codes(stored: VerifiedFiles, file: File, *, compiled: bool) -> Shard:
    codes = _shard(stored, file)
    if compiled and codes.layout.graph and len(codes):
        return dataclasses.replace(codes, walk=compiled_walk(codes.faiss))
    if codes.lists:
        release(codes.content)  # FAISS has copied what it reads in blocks
    return codes


def _id_table(stored: VerifiedFiles, file: File, settings: IndexSettings) -> IdTable:
    name = storage.join(stored.url, file.path)
    table = IdTable(name, stored.read(file), file.rows, filters=settings.filters)
    if not is_arrow(table.content):
        return table
    stored.check("ids-1", [file], table.question_ids)
    return dataclasses.replace(table, checked=True)
