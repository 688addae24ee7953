"""Retrieval collections in the BEIR layout, and exact search in them.

folder of corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv -> read_beir -> Collection -> search -> ranked rows
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from model.encoding import Encoder
from model.nearest import nearest
from model.shards import build_shard, open_shard, train
from schemas import storage
from schemas.errors import QprError

Ints = npt.NDArray[np.int64]

_BATCH = 256


@dataclasses.dataclass(frozen=True)
class Collection:
    """Documents, queries and which document answers which query (Thakur et al. 2021).

    Attributes:
        documents: their texts, the title first where there is one.
        queries: texts of the queries that have a relevant document.
        own: (n,) row of the document with the query's own id, which it may not retrieve; -1 where there is none.
        judged: (j,) number of the query of each judgement.
        relevant: (j,) row of its document.
        grades: (j,) how relevant, at least 1.
        missing: judgements about documents that are not there; they count as not found.
    """

    documents: list[str]
    queries: list[str]
    own: Ints
    judged: Ints
    relevant: Ints
    grades: Ints
    missing: int


def read_beir(url: str, *, split: str = "test") -> Collection:
    """Read a collection.

    Raises:
        QprError: a file is missing, a line of it is not what the layout wants, or no query has a relevant document.
    """
    documents = _texts(storage.join(url, "corpus.jsonl"))
    queries = _texts(storage.join(url, "queries.jsonl"))
    row_of = {name: row for row, name in enumerate(documents)}
    qrels = storage.join(url, "qrels", f"{split}.tsv")
    judgements = [(q, d, grade) for q, d, grade in _judgements(qrels) if grade > 0 and q in queries]
    if not judgements:
        raise QprError(
            f"{qrels}: no query of queries.jsonl has a relevant document there. Check that they belong together"
        )
    number_of = {name: number for number, name in enumerate(dict.fromkeys(q for q, _, _ in judgements))}
    return Collection(
        documents=list(documents.values()),
        queries=[queries[name] for name in number_of],
        own=np.array([row_of.get(name, -1) for name in number_of], np.int64),
        judged=np.array([number_of[q] for q, _, _ in judgements], np.int64),
        relevant=np.array([row_of.get(d, -2) for _, d, _ in judgements], np.int64),
        grades=np.array([grade for _, _, grade in judgements], np.int64),
        missing=sum(d not in row_of for _, d, _ in judgements),
    )


def search(collection: Collection, encoder: Encoder, *, depth: int) -> Ints:
    """Return the rows of the nearest documents of every query by exact search: (queries, depth), -1 where padded."""
    vectors = encoder.encode(collection.documents)
    shard = open_shard(build_shard(train("Flat", vectors[:0]), vectors))
    rows = np.arange(len(vectors))
    found = np.full((len(collection.queries), depth), -1, np.int64)
    asked = encoder.encode(collection.queries)
    for start in range(0, len(asked), _BATCH):
        part = slice(start, start + _BATCH)
        hits = nearest([shard], [rows], asked[part], k=depth + 1, probes=1)
        found[part] = hits.without(collection.own[part], depth).ids
    return found


def _texts(url: str) -> dict[str, str]:
    """Return the text of each id of corpus.jsonl or queries.jsonl, in their order."""
    texts: dict[str, str] = {}
    for number, line in _lines(url):
        try:
            entry = json.loads(line)
            name, text = str(entry["_id"]), f"{entry.get('title') or ''} {entry['text'] or ''}".strip()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise QprError(f"{url}, line {number}: not an object with _id and text ({error})") from error
        if name in texts:
            raise QprError(f"{url}, line {number}: a second _id {name}. Give each text an id of its own")
        texts[name] = text
    return texts


def _judgements(url: str) -> Iterator[tuple[str, str, int]]:
    """Yield query id, document id and grade of each line after the header of a qrels file."""
    for number, line in _lines(url):
        row = line.split("\t")
        if number == 1 and row[-1].lower() == "score":
            continue
        try:
            query, document, grade = row
            yield query, document, int(grade)
        except ValueError as error:
            raise QprError(f"{url}, line {number}: not query-id, corpus-id and a whole score, tab-separated") from error


def _lines(url: str) -> Iterator[tuple[int, str]]:
    try:
        content = storage.read_bytes(url).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QprError(f"{url}: not UTF-8 at byte {error.start}") from error
    lines = enumerate(content.split("\n"), start=1)  # splitlines() also cuts at line ends that JSON strings may hold
    return ((number, line.removesuffix("\r")) for number, line in lines if line.strip())
