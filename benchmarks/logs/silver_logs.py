"""Logs with known clusters, several of which share an answer.

clusters and strays of a dataset, or a simulated log -> SilverLog
"""

from __future__ import annotations

import collections
import dataclasses
from typing import Literal

import numpy as np
import pyarrow as pa

from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.gold_logs import gold_of_known
from benchmarks.logs.known_logs import KnownLog
from pipelines.calibration.gold_labels import read_gold
from pipelines.intermediate import ASKED
from pipelines.questions.aggregation import name_questions
from pipelines.questions.memberships import merge_answers
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.reading.sources import expand
from schemas.errors import QprError
from schemas.tables import with_nulls
from schemas.text_arrays import key_all

ALONE, TWO_IN_ONE, MERGED, UNRELATED = range(4)
LARGEST_GROUP = 50
TOPIC_CLUSTERS = 4
"""Minimum number of clusters that share the word of a topic."""

LARGEST_TOPIC = 8

Alike = Literal["nothing", "rarest", "frequent", "topic"]
"""Word that the clusters of an answer share: none on purpose, the rarest word of all questions of each of them, or the
rarest of those words that at least `LARGEST_GROUP` clusters have, so that groups become as large as in log (b), or that
at least `TOPIC_CLUSTERS` have, so that groups are about one topic."""

LOGS: dict[str, Alike] = {"b": "nothing", "c": "rarest", "d": "frequent", "topic": "topic"}
"""Logs by the letters or the word that results name them by."""


class FewClustersError(QprError, ValueError):
    """There are too few clusters that share a word."""


@dataclasses.dataclass(frozen=True)
class SilverLog:
    """A log as the pipeline reads it, with its known clusters.

    Attributes:
        members: MEMBERS, merged and ordered by answer and question.
        gold: (R,) int64 cluster; a stray has a number of its own.
        kind: (R,) ALONE, TWO_IN_ONE, MERGED or UNRELATED: kind of the row's answer.
        weights: of the log's tokens.
    """

    members: pa.Table
    gold: np.ndarray
    kind: np.ndarray
    weights: TokenWeights


@dataclasses.dataclass(frozen=True)
class Composition:
    """Number of clusters and strays that share answers; the default is that of the logs that are scored.

    Attributes:
        merged: share of the clusters in answers of several clusters and strays.
        two_in_one: share of the clusters in answers of two clusters.
        strays: number of strays for each merged cluster, fewer where a word does not allow more.
        largest: maximum number of clusters of an answer.
        unrelated: number of answers with strays only, of the sizes of real clusters, for each cluster.
    """

    merged: float = 0.2
    two_in_one: float = 0.1
    strays: float = 1.0
    largest: int = LARGEST_GROUP
    unrelated: float = 0.1


def merged_log(source: Source, *, seed: int, alike: Alike, unrelated: float = 0.1) -> SilverLog:
    """Return a log in which clusters and strays share answers.

    Of the clusters 70 % are alone under their answer, 10 % two in one and 20 % merged in groups of 2 to 50 with a stray
    for each cluster, fewer where a word does not allow more. Other answers hold strays only.

    Args:
        source: where the questions come from.
        seed: of all choices.
        alike: similarity of the clusters and strays that share an answer.
        unrelated: number of answers with strays only, of the sizes of real clusters, for each cluster.
    """
    composition = Composition(largest=LARGEST_TOPIC if alike == "topic" else LARGEST_GROUP, unrelated=unrelated)
    return log_of(source, merged_answers(source, composition, np.random.default_rng(seed), alike=alike))


def merged_answers(
    source: Source, composition: Composition, generator: np.random.Generator, *, alike: Alike
) -> list[tuple[int, list[np.ndarray]]]:
    """Return the kind of each answer and the rows of its clusters; see `merged_log`."""
    draw = _Draw(source, generator, alike=alike)
    total = len(source.clusters)
    answers: list[tuple[int, list[np.ndarray]]] = []
    merged = int(composition.merged * total)
    while merged > 1:
        word, clusters = draw.clusters(min(int(generator.integers(2, composition.largest + 1)), merged))
        strays = draw.strays(round(composition.strays * len(clusters)), word)
        answers.append((MERGED, [*clusters, *strays[:, None]]))
        merged -= len(clusters)
    answers += [(TWO_IN_ONE, draw.clusters(2)[1]) for _ in range(int(composition.two_in_one * total / 2))]
    answers += [(ALONE, [cluster]) for cluster in draw.rest()]
    for number in generator.integers(total, size=int(composition.unrelated * total)):
        strays = draw.strays(len(source.clusters[number]), "")
        answers.append((UNRELATED, list(strays[:, None])))
    return answers


def log_of(source: Source, answers: list[tuple[int, list[np.ndarray]]]) -> SilverLog:
    """Return the log of these answers: kind of each, and the rows of its clusters."""
    parts = [(answer, kind, rows) for answer, (kind, groups) in enumerate(answers) for rows in groups]
    counts = [len(rows) for _, _, rows in parts]
    row = np.concatenate([rows for _, _, rows in parts])
    answer, kind = (np.repeat([part[i] for part in parts], counts) for i in (0, 1))
    gold = np.repeat(np.arange(len(parts)), counts)
    order = np.lexsort((source.ids[row], answer))
    row, answer, kind, gold = row[order], answer[order], kind[order], gold[order]
    texts = source.texts.take(pa.array(row))
    columns = {
        "question_id": pa.array(source.ids[row]),
        "key": key_all(texts),
        "text": texts,
        "answer_id": pa.array(answer),
        "answer": pa.array(answer).cast(pa.string()),
        "events": pa.array(np.ones(len(row), np.int64)),
    }
    named = name_questions(with_nulls(ASKED, columns))
    return SilverLog(merge_answers(named.members), gold, kind, named.token_counts)


class _Draw:
    """Draws clusters and strays, each once, with a shared word if ``alike`` requires one."""

    def __init__(self, source: Source, generator: np.random.Generator, *, alike: Alike) -> None:
        self.source, self.generator = source, generator
        self.taken: set[int] = set()
        self.strays_taken: set[int] = set()
        self.word_of = [""] * len(source.clusters)
        self.strays_of_word: dict[str, list[int]] = {"": source.strays.tolist()}
        if alike != "nothing":
            self._index(least={"frequent": LARGEST_GROUP, "topic": TOPIC_CLUSTERS}.get(alike, 1))
        self.of_word: dict[str, list[int]] = collections.defaultdict(list)
        for number, word in enumerate(self.word_of):
            self.of_word[word].append(number)
        self.unshared = self.of_word.pop("", []) if alike != "nothing" else []

    def _index(self, *, least: int) -> None:
        words = self.source.words
        frequency = collections.Counter(w for s in words for w in s)
        common = [frozenset.intersection(*(words[row] for row in rows)) for rows in self.source.clusters]
        clusters_of = collections.Counter(word for shared in common for word in shared)
        for number, shared in enumerate(common):
            frequent = [word for word in shared if clusters_of[word] >= least]
            self.word_of[number] = min(frequent, key=lambda w: (frequency[w], w), default="")
        shared_words = set(self.word_of)
        self.strays_of_word |= {word: [] for word in shared_words - {""}}
        for row in self.source.strays.tolist():
            for word in words[row] & shared_words:  # a stray is listed under every word
                self.strays_of_word[word].append(row)

    def clusters(self, size: int) -> tuple[str, list[np.ndarray]]:
        """Take ``size`` clusters of one word; all clusters of the most frequent word if no word has that many."""
        enough = sorted(word for word, numbers in self.of_word.items() if len(numbers) >= size)
        word = (
            enough[self.generator.integers(len(enough))]
            if enough
            else max(sorted(self.of_word), key=lambda w: len(self.of_word[w]), default="")
        )
        if len(self.of_word[word]) < min(size, 2):
            raise FewClustersError("no two clusters that are left share a word. Take a larger dataset, or more of it")
        numbers, self.of_word[word] = self.of_word[word][:size], self.of_word[word][size:]
        return word, [self.source.clusters[number] for number in numbers]

    def strays(self, count: int, word: str) -> np.ndarray:
        """Take ``count`` strays with the word, or all of them if there are fewer."""
        taken: list[int] = []
        queue = self.strays_of_word[word]
        while queue and len(taken) < count:
            row = queue.pop()
            if row not in self.strays_taken:
                taken.append(row)
                self.strays_taken.add(row)
        return np.array(taken, np.int64)

    def rest(self) -> list[np.ndarray]:
        """Return the clusters not taken."""
        numbers = sorted([*self.unshared, *(n for ns in self.of_word.values() for n in ns)])
        return [self.source.clusters[number] for number in numbers]


def of_several(log: SilverLog) -> SilverLog:
    """Return the answers of a log that hold several clusters."""
    answer = np.unique(log.members["answer_id"].to_numpy(), return_inverse=True)[1]
    combined = answer * (log.gold.max(initial=0) + 1) + log.gold
    clusters = np.bincount(answer[np.unique(combined, return_index=True)[1]])
    return _only(log, (clusters > 1)[answer])


def thinned(log: SilverLog, *, seed: int) -> SilverLog:
    """Return the log with one question of each cluster under half of the answers: strays that are worded alike."""
    generator = np.random.default_rng(seed)
    answer = np.unique(log.members["answer_id"].to_numpy(), return_inverse=True)[1]
    thin = generator.random(answer.max(initial=0) + 1) < 0.5
    order = generator.permutation(len(answer))
    combined = answer * (log.gold.max(initial=0) + 1) + log.gold
    kept = ~thin[answer]
    kept[order[np.unique(combined[order], return_index=True)[1]]] = True
    return _only(log, kept)


def _only(log: SilverLog, rows: np.ndarray) -> SilverLog:
    return SilverLog(log.members.filter(pa.array(rows)), log.gold[rows], log.kind[rows], log.weights)


def simulated_log(path: str) -> SilverLog:
    """Return a simulated log; a question's gold cluster under an answer is that of most of its events there."""
    gold = read_gold(expand([path]), {"gold": "gold_cluster"})
    answer = np.unique(gold.members["answer_id"].to_numpy(), return_inverse=True)[1]
    members = gold.members.set_column(0, "answer_id", pa.array(answer))
    return SilverLog(members, gold.cluster, np.full(len(members), MERGED), gold.weights)


def silver_of_known(log: KnownLog) -> SilverLog:
    """Return a log whose questions are all judged, as the pipeline reads it."""
    gold = gold_of_known(log)[0]
    return SilverLog(gold.members, gold.cluster, np.full(len(gold.members), MERGED), gold.weights)
