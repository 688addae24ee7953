"""Quora's test questions as requests, half of which have no answer, and verdicts on their first hits.

dataset, index -> first_hits -> FirstHits; FirstHits, verdicts -> FirstHits.judged; FirstHits -> sheet -> pairs to read

A half of the test clusters is hidden in the index; the questions of that half have no answer then, and the others have
one. Then the other half is hidden. So each question is a request twice. Its own question is left out. The hit and its
probability are those of `qpr answer` without a certificate, in the way of searching that the index chose.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from model.confidence.features import NEIGHBOURS
from model.evaluation.evaluator import BATCH
from model.evaluation.relevance import Judgements, judgements, query_clusters
from model.guards.registry import fires
from model.search.judging import judged
from model.search.retrieval import Retrieval
from model.search.searcher import Searcher, open_searcher
from model.search.views import Views
from schemas.arrays import Bools, Float64s, Int64s
from schemas.artifacts.dataset import open_dataset

VERDICTS: Final = Path(__file__).with_name("quora_verdicts.json")
"""Pairs of ids of a test question and of a first hit that were read: those whose answer serves, and the others.

docs/decisions/0118-verdicts-on-quoras-requests.md describes which were read, by whom and by which rules."""


Texts = npt.NDArray[np.object_]
Split = Literal["validation", "test"]


class FirstHits(NamedTuple):
    """The first hit of each of n requests.

    Attributes:
        probability: (n,) that it is right; 0 without a hit.
        wrong: (n,) it is wrong by the labels, or there is none.
        guarded: (n,) a guard fires.
        questions: (n,) ids of the requests.
        hits: (n,) ids of the hits, -1 without one.
        asked: (n,) texts of the requests.
        texts: (n,) texts of the hits, empty without one.
    """

    probability: Float64s
    wrong: Bools
    guarded: Bools
    questions: Int64s
    hits: Int64s
    asked: Texts
    texts: Texts

    @property
    def unguarded(self) -> Float64s:
        """(n,) The probability, -1 where a guard fires."""
        return np.where(self.guarded, -1.0, self.probability)

    def most_probable(self) -> Int64s:
        """Return the (n,) numbers of the requests, those with the most probable hits without a guard first."""
        return np.argsort(-self.unguarded, kind="stable")

    def take(self, rows: Int64s) -> FirstHits:
        """Return some requests."""
        return FirstHits._make(values[rows] for values in self)

    def compared(self, verdicts: dict[tuple[int, int], bool]) -> dict[str, float]:
        """Return the share of the requests that were read, and the wrong ones by labels and by verdicts."""
        pairs = zip(self.questions.tolist(), self.hits.tolist(), strict=True)
        wrong = self.judged(verdicts)
        return {
            "read": float(np.mean([pair in verdicts for pair in pairs])),
            "wrong_by_labels": float(self.wrong.mean()),
            "wrong_by_verdicts": float(wrong.mean()),
            "right_by_verdicts_alone": float((self.wrong & ~wrong).mean()),
            "wrong_by_verdicts_alone": float((~self.wrong & wrong).mean()),
        }

    def judged(self, verdicts: dict[tuple[int, int], bool]) -> Bools:
        """Return (n,) whether the hit is wrong by the verdicts, and by the labels where there is none."""
        pairs = zip(self.questions.tolist(), self.hits.tolist(), self.wrong.tolist(), strict=True)
        return np.array([not verdicts.get((question, hit), not wrong) for question, hit, wrong in pairs])


def read_verdicts(path: Path = VERDICTS) -> dict[tuple[int, int], bool]:
    """Return whether the hit of a question serves it, by the ids of both."""
    read = json.loads(path.read_text("utf-8"))
    return {(question, hit): name == "right" for name in ("right", "wrong") for question, hit in read[name]}


def first_hits(dataset: str, index: str, split: Split = "test") -> FirstHits:
    """Search an index by each question of a split, with its paraphrases and without them."""
    queries, searcher = judgements(open_dataset(dataset).cluster_texts(split)), open_searcher(index)
    if searcher.confidence is None:
        raise SystemExit(f"{index}: has no confidence model. Build it from a dataset with validation clusters")
    hidden = query_clusters(queries) % 2
    parts = []
    for half in (0, 1):
        out = np.union1d(queries.ids[hidden == half], queries.relevant[(hidden == half)[queries.queries]])
        live = [ids[~np.isin(ids, out)] for ids in searcher.index.question_ids]
        view = Views(searcher.retrieval).among(np.concatenate(live))
        parts += [_found(searcher, view, queries, start) for start in range(0, len(queries), BATCH)]
    return FirstHits._make(map(np.concatenate, zip(*parts, strict=True)))


def _found(searcher: Searcher, view: Retrieval, queries: Judgements, start: int) -> FirstHits:
    """Return the first hits of a batch of questions."""
    assert searcher.confidence is not None
    part = slice(start, start + BATCH)
    ids, asked = queries.ids[part], queries.texts.slice(start, BATCH).to_pylist()
    found = view.find(asked, 1, ids, neighbours=NEIGHBOURS)
    is_hit = found.ranking.found[:, 0]
    records = iter(view.index.records(found.ranking.rows[found.ranking.found]))
    listed = [next(records) if there else None for there in is_hit.tolist()]
    judgement = judged(
        searcher.confidence, view.index, asked, found, [record for record in listed if record], exclude=ids
    )
    probability = np.zeros(len(asked)) if judgement is None else np.where(is_hit, judgement.probabilities[:, 0], 0)
    hits = np.where(is_hit, found.ranking.ids[:, 0], -1)
    texts = [record["text"] if record else "" for record in listed]
    guarded = [bool(text) and fires(query, text) is not None for query, text in zip(asked, texts, strict=True)]
    known = set(zip(queries.ids[queries.queries].tolist(), queries.relevant.tolist(), strict=True))
    wrong = [pair not in known for pair in zip(ids.tolist(), hits.tolist(), strict=True)]
    as_asked = (np.array(lines, object) for lines in (asked, texts))
    return FirstHits(probability, np.array(wrong), np.array(guarded), ids, hits, *as_asked)


def sheet(found: FirstHits, *, most: int, seed: int) -> pa.Table:
    """Return the different pairs of the ``most`` most probable requests without a guard, in a random order.

    Probabilities and labels are left out, so that a reader does not see them.
    """
    first = found.take(found.most_probable()[:most])
    pairs = dict(
        zip(zip(first.questions, first.hits, strict=True), zip(first.asked, first.texts, strict=True), strict=True)
    )
    order = random.Random(seed).sample(sorted(pairs), len(pairs))
    rows = [(*pair, *pairs[pair]) for pair in order]
    return pa.table([*zip(*rows, strict=True)], names=["question_id", "hit_id", "request", "hit"])
