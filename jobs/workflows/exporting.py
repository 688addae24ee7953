"""Work behind `qpr export`: an index as a Parquet file or a collection of Qdrant.

index URL -> export_index -> file or collection
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from jobs.display.console import emit, progress_bar, two_columns, warn
from model.choices import ExportFormat
from model.exports.vector_tables import vector_schema, vector_tables
from model.search.opening import open_index
from schemas.artifacts import storage
from schemas.artifacts.atomic_files import fill_atomically
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.artifacts.row_files import check_free, remove_partial, write_rows
from schemas.errors import QprError, UsageError, how_to_install

if TYPE_CHECKING:
    import pyarrow as pa
    from qdrant_client import QdrantClient

    from model.index.index import Index

COLLECTION = "questions"
"""Alias in Qdrant where none is given."""

API_KEY = "QDRANT_API_KEY"
"""Environment variable with the key of a Qdrant server; options stand in lists of processes."""

_SERVER: Final = ("http://", "https://")
_PLACES: Final = "Give a local folder, or a server such as http://localhost:6333"


def export_index(
    url: str, *, to: ExportFormat, output: str, collection: str | None, overwrite: bool, as_json: bool
) -> None:
    """Write all questions of an index with their vectors for another engine, and print a summary.

    Raises:
        QprError: the index cannot be read, or the output exists or cannot be written.
        UsageError: the output is no place of this kind, or a file gets a collection.
    """
    if to == "parquet":
        if collection is not None:
            raise UsageError(f"--collection {collection}: is of --to qdrant. Leave it out")
        if not output.endswith(".parquet"):
            raise UsageError(f"{output}: --to parquet needs a file name that ends in .parquet")
        check_free(output, overwrite=overwrite)
    manifest = read_manifest(url, "index")  # once: a new version can be published meanwhile
    index = open_index(url, manifest=manifest)
    result = {"index": url, "to": to, "output": output, "questions": len(index), "dimension": index.settings.dimension}
    with progress_bar() as bar:
        tables = _watched(index, bar)
        match to:
            case "parquet":
                write_rows(tables, output, schema=vector_schema(index.settings), overwrite=overwrite)
            case "qdrant":
                version, alias = manifest.digest[:12], collection or COLLECTION
                with _printed_warnings():
                    name = _to_qdrant(tables, index, output, alias, version=version, overwrite=overwrite)
                result |= {"collection": name, "alias": alias}
    emit(result, as_json=as_json, table=lambda: two_columns("Exported index", result))


def _watched(index: Index, bar: Any) -> Iterator[pa.Table]:
    task = bar.add_task("export", total=len(index))
    for table in vector_tables(index):
        yield table
        bar.advance(task, len(table))


def _to_qdrant(
    tables: Iterator[pa.Table], index: Index, output: str, collection: str, *, version: str, overwrite: bool
) -> str:
    from model.exports.qdrant import upload

    dimension = index.settings.dimension
    with _client(output) as client:
        try:
            return upload(tables, client, alias=collection, version=version, dimension=dimension, overwrite=overwrite)
        except QprError:
            raise
        except Exception as error:  # the client has an exception of its own for each transport
            cause = " ".join(str(error).split())[:200] or type(error).__name__
            raise QprError(f"{output}: Qdrant did not take the questions: {cause}. {_advice(error, output)}") from error


def _advice(error: Exception, output: str) -> str:
    if getattr(error, "status_code", None) in (401, 403):  # of a server's answer
        return f"Set the environment variable {API_KEY} to a key that may write"
    if output.startswith(_SERVER):
        return "Check that it runs, and its address"
    return "Check the folder and the free space of its disk"


@contextlib.contextmanager
def _printed_warnings() -> Iterator[None]:
    """Print the warnings of Qdrant's client in the block, each once and without its place in the source code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught):
        warn(text)


@contextlib.contextmanager
def _client(output: str) -> Iterator[QdrantClient]:
    """Open a server or a folder of Qdrant; a folder that is new appears when the block ends without an error."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise QprError(f"--to qdrant needs the package qdrant-client. {how_to_install('qdrant')}") from error
    if output.startswith(_SERVER):
        try:  # 60 s for a batch, not the client's 5; its check of versions would warn from a thread of its own
            server = QdrantClient(url=output, api_key=os.environ.get(API_KEY), timeout=60, check_compatibility=False)
        except (OSError, ValueError) as error:  # the client checks the address in this way alone
            raise UsageError(f"{output}: no address of a server ({error}). {_PLACES}") from error
        with contextlib.closing(server):
            yield server
        return
    folder = storage.local_path(output)
    if folder is None:
        raise UsageError(f"{output}: --to qdrant writes to no other store. {_PLACES}")
    if storage.exists(storage.join(folder, MANIFEST)):
        raise QprError(
            f"{output}: holds an artefact of qpr, which Qdrant's files would become a part of. Give a new folder"
        )
    folder = os.path.realpath(folder)  # a link to a folder that does not exist yet stays one
    if storage.exists(folder):
        with _opened(folder, output) as client:
            yield client
        return
    with storage.explained(output), fill_atomically(folder) as staged, _opened(staged, output) as client:
        yield client
    remove_partial(folder)


def _opened(folder: str, output: str) -> contextlib.closing[QdrantClient]:
    from qdrant_client import QdrantClient

    try:
        return contextlib.closing(QdrantClient(path=folder))
    except (OSError, RuntimeError, ValueError) as error:  # a file of it may be no JSON, or not Qdrant's
        advice = "Give a new folder, or end the program that uses it"
        raise QprError(f"{output}: cannot be opened as a folder of Qdrant: {error}. {advice}") from error
