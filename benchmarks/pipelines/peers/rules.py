"""The rules of `qpr clusters` for one value at a time, as in a plain program.

`benchmarks.pipelines.clusters` checks that the peers with these rules write the same dataset.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping

from schemas.text import hash64

MASK = 2**64 - 1
SALT = hash64("qpr")
MIN_QUESTIONS = 1_000
MIN_COHERENCE, MAX_CLUSTER_SIZE, MAX_PAIRS = 0.1, 1_000, 10_000
"""Limits of `qpr clusters`, with which the peers write the same dataset."""


def mix(value: int, salt: int) -> int:
    """Return SplitMix64's finaliser of a value and a salt."""
    bits = ((value ^ salt) + 0x9E3779B97F4A7C15) & MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def split_of(cluster_id: int) -> str:
    """Return the split of a cluster: its place in the range of a hash."""
    place = (mix(cluster_id, SALT) >> 11) * 2.0**-53
    return "train" if place < 0.8 else "validation" if place < 0.9 else "test"


def coherences(token_sets: list[frozenset[str]], weight: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the paper's, the adjusted and the idf-weighted coherence of a cluster of two or more questions."""
    union = frozenset().union(*token_sets)
    n = len(token_sets)
    ratio = sum(map(len, token_sets)) / len(union)
    weights = {token: weight[token] for token in union}
    weighted = sum(sum(weights[t] for t in tokens) for tokens in token_sets) / sum(weights.values())
    return ratio / n, (ratio - 1) / (n - 1), (weighted - 1) / (n - 1)


def idf(frequency: Mapping[str, int], questions: int) -> dict[str, float]:
    """Return the weight of each token."""
    total = max(questions, MIN_QUESTIONS)
    return {token: math.log1p(total / n) for token, n in frequency.items()}


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent text; of equally frequent ones the smallest."""
    return min(counts, key=lambda text: (-counts[text], text.encode()))


def payload(question: str, answer: str, events: int, cluster_id: int, split: str | None) -> str:
    """Return the payload of the rejected table for a question of a cluster."""
    fields = {"question": question, "answer": answer, "events": events, "cluster_id": cluster_id, "split": split}
    return json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False)


def pairs_of(size: int, cluster_id: int, max_pairs: int) -> list[tuple[int, int]]:
    """Return the positions of the pairs of a cluster: all, or those whose index has the smallest hash."""
    pairs = list(itertools.combinations(range(size), 2))
    if len(pairs) <= max_pairs:
        return pairs
    return [pairs[i] for i in sorted(range(len(pairs)), key=lambda i: mix(i, cluster_id))[:max_pairs]]
