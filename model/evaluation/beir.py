"""Retrieval collections in the BEIR layout: exact search in them, and their judgements on an index.

folder of corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv -> read_beir -> Collection -> search -> ranked rows
Collection -> judged_questions -> Judgements, grades
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from model.encoders.interface import Encoder
from model.evaluation.relevance import Judgements
from model.index.shard_merge import nearest
from model.index.shards import build_shard, open_shard, train
from schemas.arrays import Int64s
from schemas.artifacts import storage
from schemas.errors import QprError

MAX_GRADE = 2**31 - 1
"""The largest score that trec_eval reads; sums of such gains are far from the end of a float64."""

_BATCH = 256
"""Queries searched together."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
"""Sign and digits. More than 20 are no score up to `MAX_GRADE`, and `int` refuses more than 4,300."""

_GZIP = b"\x1f\x8b"
"""First bytes of a gzip file."""


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
    own: Int64s
    judged: Int64s
    relevant: Int64s
    grades: Int64s
    missing: int


def read_beir(url: str, *, split: str = "test") -> Collection:
    """Read a collection; each file may be compressed by gzip and then end in ``.gz`` too.

    Raises:
        QprError: a file is missing, empty or damaged, a line of it does not have the layout, or no query has a
            relevant document.
    """
    documents = _texts(storage.join(url, "corpus.jsonl"))
    queries = _texts(storage.join(url, "queries.jsonl"))
    row_of = {name: row for row, name in enumerate(documents)}
    qrels = storage.join(url, "qrels", f"{split}.tsv")
    positive = [(q, d, grade) for (q, d), grade in _judgements(qrels).items() if grade > 0 and q in queries]
    judgements = [(q, d, grade) for q, d, grade in positive if q != d]  # a query may not retrieve itself
    if not judgements:
        other = " but the one with its own id, which it may not retrieve" if positive else ""
        step = "Give queries ids of their own" if positive else "Check that they belong together"
        raise QprError(f"{qrels}: no query of queries.jsonl has a relevant document there{other}. {step}")
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


def search(collection: Collection, encoder: Encoder, *, depth: int) -> Int64s:
    """Return the rows of the nearest documents of every query by exact search: (queries, depth), -1 where padded."""
    vectors = encoder.encode(collection.documents)
    shard = open_shard(build_shard(train("Flat", vectors[:0]), vectors))
    rows = np.arange(len(vectors))
    ranked = np.full((len(collection.queries), depth), -1, np.int64)
    query_vectors = encoder.encode(collection.queries)
    for start in range(0, len(query_vectors), _BATCH):
        part = slice(start, start + _BATCH)
        hits = nearest([shard], [rows], query_vectors[part], k=depth + 1, probes=1)
        ranked[part] = hits.without(collection.own[part], depth).ids
    return ranked


def judged_questions(collection: Collection, id_of: Callable[[str], int]) -> tuple[Judgements, Int64s]:
    """Return the judgements as those on the questions of an index, and the grade of each.

    Documents with the same question are one, with the highest of their grades. The question of the document with the
    query's own id is not relevant; a query without another relevant one is left out.

    Args:
        collection: at least one of whose judged documents is there.
        id_of: returns the id of a text's question in the index.

    Returns:
        Judgements of q queries, and (j,) grades. The id of a document that is not there is its negative number,
        counted from -2.
    """
    ids = np.array([id_of(text) for text in collection.documents], np.int64)
    own = np.where(collection.own < 0, -1, ids[collection.own])
    is_present = collection.relevant >= 0
    relevant = np.where(is_present, ids[np.maximum(collection.relevant, 0)], -2 - np.arange(len(is_present)))
    best_first = np.lexsort((-collection.grades, relevant, collection.judged))
    best_first = best_first[relevant[best_first] != own[collection.judged[best_first]]]
    pairs = np.column_stack([collection.judged[best_first], relevant[best_first]]).reshape(-1, 2)
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    judged_queries, queries = np.unique(pairs[:, 0], return_inverse=True)
    texts = pa.array(collection.queries, pa.string()).take(pa.array(judged_queries))
    return Judgements(own[judged_queries], texts, queries, pairs[:, 1]), collection.grades[best_first][first]


def _texts(url: str) -> dict[str, str]:
    """Return the text of each id of corpus.jsonl or queries.jsonl, in their order; a null text is an empty one."""
    texts: dict[str, str] = {}
    for where, line in _lines(url):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise QprError(f"{where}: not JSON ({error}). Write one object with _id and text a line") from error
        if not isinstance(entry, dict):
            raise QprError(f"{where}: not an object with _id and text. Write one object a line")
        name = _name(entry.get("_id"), where)
        if name in texts:
            raise QprError(f"{where}: a second _id {name}. Give each text an id of its own")
        texts[name] = f"{_text(entry, 'title', where)} {_text(entry, 'text', where)}".strip()
    if not texts:
        raise QprError(f"{url}: holds no text. Write one JSON object with _id and text a line")
    return texts


def _name(value: object, where: str) -> str:
    """Return an ``_id``, a string or a whole number, as qrels files write it."""
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise QprError(f"{where}: _id is {json.dumps(value)}. Give every object an _id that is a string")
    return str(value).strip()


def _text(entry: dict[str, object], field: str, where: str) -> str:
    """Return a field's string, empty where it is null or, but for the text, left out."""
    text = entry.get(field)
    if field == "text" and field not in entry:
        raise QprError(f"{where}: no text. Give every object an _id and a text")
    if text is None:
        return ""
    if not isinstance(text, str):
        raise QprError(f"{where}: {field} is {json.dumps(text)[:80]}, not a string. Write it as a string")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"{field} holds {error.object[error.start]!a}, half of a surrogate pair"
        raise QprError(f"{where}: {half}. Write the whole character") from error
    return text


def _judgements(url: str) -> dict[tuple[str, str], int]:
    """Return the score of each query and document of a qrels file; a header may stand on any line or be left out.

    A judgement that is repeated counts once.
    """
    scores: dict[tuple[str, str], int] = {}
    for where, line in _lines(url):
        row = [field.strip() for field in line.split("\t")]
        if row[-1].lower() == "score":
            continue
        if len(row) != 3 or not all(row):
            raise QprError(f"{where}: not query-id, corpus-id and score. Separate the three by tabs")
        query, document, written = row
        if not _WHOLE.fullmatch(written) or abs(int(written)) > MAX_GRADE:
            expected = f"a whole number of at most {MAX_GRADE:,}, 0 or less for a document that is not relevant"
            raise QprError(f"{where}: the score {written[:80]} is not {expected}. Correct it")
        score = scores.setdefault((query, document), int(written))
        if score != int(written):
            scored = f"query {query} and document {document} have the scores {score} and {written}"
            raise QprError(f"{where}: {scored}. Remove one of them")
    if not scores:
        raise QprError(f"{url}: holds no judgement. Write query-id, corpus-id and score a line, separated by tabs")
    return scores


def _lines(url: str) -> Iterator[tuple[str, str]]:
    """Yield file and number, as a message names them, and text of each line that is not blank; gzip is unpacked."""
    url = url if storage.exists(url) or not storage.exists(f"{url}.gz") else f"{url}.gz"
    content = storage.read_bytes(url)
    try:
        text = (gzip.decompress(content) if content.startswith(_GZIP) else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QprError(f"{url}: not UTF-8 at byte {error.start}. Convert it to UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise QprError(f"{url}: damaged gzip ({error}). Fetch the file again") from error
    lines = enumerate(text.split("\n"), start=1)  # splitlines() also cuts at line ends that JSON strings may hold
    return ((f"{url}, line {number}", line.removesuffix("\r")) for number, line in lines if line.strip())
