"""Questions and vectors in a collection of Qdrant.

vector tables -> upload -> collection of one version, and the alias that points to it

An upload takes minutes, so it fills a collection of its own; at its end the alias moves there in one step.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from schemas.errors import QprError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_IDS: Final = frozenset({"question_id", "cluster_id"})
"""Columns that become texts: readers of JSON round 64-bit numbers."""

_POINTS: Final = 512
"""Points a request: about a megabyte."""


def upload(
    tables: Iterable[pa.Table], client: QdrantClient, *, alias: str, version: str, dimension: int, overwrite: bool
) -> str:
    """Fill the collection ``<alias>-<version>``, point the alias to it and return its name.

    A point's id is the question's, as an unsigned number; its distance is Euclidean. Columns that filter searches are
    in the payload; the end of an answer's validity is a time in ISO 8601.

    Args:
        tables: `model.exports.vector_tables.vector_tables`.
        client: of a server or a local folder.
        alias: name for readers.
        version: of the index, part of a digest.
        dimension: of the vectors.
        overwrite: move an alias that points to another version.

    Raises:
        QprError: a collection has the name of the alias, or the alias exists and may not be moved.
    """
    from qdrant_client import models

    collection = f"{alias}-{version}"
    aliases = _aliases(client)
    if alias not in aliases and client.collection_exists(alias):
        raise QprError(f"{alias}: is a collection of Qdrant, not an alias. Choose another --collection")
    if aliases.get(alias) == collection:
        return collection
    if alias in aliases and not overwrite:
        raise QprError(
            f"{alias}: points to collection {aliases[alias]}. Choose another --collection or add --overwrite"
        )
    if client.collection_exists(collection):  # of an upload that did not end
        client.delete_collection(collection)
    vectors = models.VectorParams(size=dimension, distance=models.Distance.EUCLID)
    client.create_collection(collection, vectors_config=vectors)
    for points in _points(tables):
        client.upsert(collection, points=models.Batch(**points), wait=True)
    moved: list[Any] = [
        models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=collection, alias_name=alias))
    ]
    if alias in aliases:
        moved.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
    client.update_collection_aliases(change_aliases_operations=moved)
    return collection


def _written(name: str, value: Any) -> Any:
    """Return a value of a payload: ids as texts, times in ISO 8601."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    return str(value) if name in _IDS and value is not None else value


def _aliases(client: QdrantClient) -> dict[str, str]:
    return {alias.alias_name: alias.collection_name for alias in client.get_aliases().aliases}


def _points(tables: Iterable[pa.Table]) -> Iterator[dict[str, Any]]:
    for table in tables:
        for start in range(0, len(table), _POINTS):
            part = table.slice(start, _POINTS)
            rows = part.drop_columns("vector").to_pylist()
            payloads = [{name: _written(name, value) for name, value in row.items()} for row in rows]
            ids = part["question_id"].to_numpy().view(np.uint64).tolist()
            yield {"ids": ids, "vectors": part["vector"].to_pylist(), "payloads": payloads}
